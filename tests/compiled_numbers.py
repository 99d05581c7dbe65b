"""Numbers of many compiled functions, one line of bits per name: run as a script by test_compiled_code.py.

The last line says how often JAX asked for compiled code on disk, and how often it was there.
"""

import hashlib
import warnings

from saddlescope.numerics import set_environment
from saddlescope.storage.compiled_code import keep_compiled_code

set_environment()
keep_compiled_code()

import jax  # noqa: E402
import numpy as np  # noqa: E402
from cases import linear_setting, minibatch_setting, random_feature_setting, relu_setting  # noqa: E402

from saddlescope.engines import Jax  # noqa: E402
from saddlescope.observables import ByRank, EffectiveWidth, FullLoss, GradientNorm, Parameters, Sharpness  # noqa: E402
from saddlescope.optimisers import Adam, GradientFlow  # noqa: E402
from saddlescope.theory import NarrowLevels, ReducedWidth  # noqa: E402
from saddlescope.training import every, train  # noqa: E402

RUNS = {
    "linear": (linear_setting(), (EffectiveWidth(ByRank()), GradientNorm(), Parameters())),
    "relu": (relu_setting(steps=100), (Sharpness(5),)),
    "float32": (minibatch_setting(precision="float32", optimiser=Adam(0.01), epochs=20), (FullLoss(), Parameters())),
    "features": (random_feature_setting(engine=Jax(), epochs=10), (GradientNorm(),)),
    "flow": (linear_setting(optimiser=GradientFlow(0.01), steps=20), (FullLoss(),)),
}
THEORY = {
    "levels": lambda: NarrowLevels(2, tries=2)(relu_setting()),
    "reduced": lambda: ReducedWidth()(linear_setting(steps=200)),
}


def bits(values):
    """Of every variable that is a number, in the order of the names."""
    arrays = [np.asarray(values[name]) for name in sorted(values) if name not in ("cpu_seconds", "wall_seconds")]
    return hashlib.sha256(b"".join(a.tobytes() for a in arrays if a.dtype.kind in "fiub")).hexdigest()


def main():
    events = []
    jax.monitoring.register_event_listener(lambda event, **_: events.append(event))
    warnings.simplefilter("default", append=True)  # a warning that is not hidden is seen
    for name, (setting, observe) in RUNS.items():
        run = train(setting, observe, every(3, setting.budget), quiet=True)
        print(name, bits({str(n): v.values for n, v in run.data_vars.items()}))
    for name, theory in THEORY.items():
        print(name, bits({n: values for n, (_, values) in theory().items()}))
    kinds = ("compile_requests_use_cache", "cache_hits")
    print(*(sum(event.endswith(kind) for event in events) for kind in kinds))


if __name__ == "__main__":
    main()
