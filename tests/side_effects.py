"""What a user's program finds changed, and what calls give in it: run as a script by test_side_effects.py.

It imports, trains and calls, in this order, and prints one JSON object with what each of them changed or gave.
"""

import json
import os
import pickle
import sys

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg  # noqa: F401  (has a BLAS of its own)
from threadpoolctl import threadpool_info

try:
    import torch
except ImportError:
    torch = None


def state():
    """All that belongs to the user's program and that numerics might touch."""
    return {
        "environment": dict(os.environ),
        "x64": bool(jax.config.jax_enable_x64),
        "compiled code": jax.config.jax_compilation_cache_dir,
        "floats": [str(jnp.ones(2).dtype), str(jnp.asarray(np.ones(2)).dtype)],
        "blas": {p["filepath"]: p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"},
        "torch": None if torch is None else torch.get_num_threads(),
        "backends": [name for name in sys.modules if name.startswith("matplotlib.backends.backend_")],
    }


def changes(before):
    """What is not as it was; a library that was loaded meanwhile is none."""
    after = state()
    after["blas"] = {path: n for path, n in after["blas"].items() if path in before["blas"]}
    return [name for name in before if before[name] != after[name]]


def modules():
    """Every module of the package that is imported without a paper's own settings."""
    import pkgutil

    import saddlescope

    found = [m.name for m in pkgutil.walk_packages(saddlescope.__path__, "saddlescope.")]
    return [m for m in found if not m.endswith(("__main__", "netcdf_reader_process"))]


def after_imports():
    from importlib import import_module

    before, found = state(), {}
    for name in ["saddlescope", *modules()]:
        import_module(name)
        if changed := changes(before):
            return {name: changed}
    import saddlescope

    for name in saddlescope.__all__:
        getattr(saddlescope, name)
    return found


def plain(tree):
    """Every number of a tree, as bits; a word is the numbers of its letters."""
    leaves = [list(map(ord, a)) if isinstance(a, str) else a for a in jax.tree.leaves(tree)]
    return [np.asarray(leaf).astype(float).tobytes().hex() for leaf in leaves]


def calls(path):
    """Name → a call that is not training."""
    from cases import linear_setting, of_kind, quadratic_setting, random_feature_setting, relu_setting

    from saddlescope import explain, find_stages
    from saddlescope.errors import InvalidInput
    from saddlescope.explanations import diagnose
    from saddlescope.nets import Neuron, ReLU, Tanh
    from saddlescope.observables import ByRank, EffectiveWidth, FullLoss, Sharpness, SingularValues
    from saddlescope.results import Run
    from saddlescope.tasks import Moments, Samples
    from saddlescope.theory import (
        KINDS,
        Prediction,
        data_with_fixed_point,
        embed,
        escape_steps,
        manifold_residual,
        nearest_embedded,
        perturbed,
        properties,
        reduce,
        relax,
        saddle,
        silent_rate,
    )  # fmt: skip
    from saddlescope.training import loss_at, observe_at, observe_saved

    with open(path, "rb") as file:
        run = pickle.load(file)
    setting, relu = linear_setting(steps=run["loss"].size - 1), relu_setting()
    rng = lambda: np.random.default_rng(0)  # noqa: E731
    x, y = rng().standard_normal((2, 40, 2))
    params = {"u": run["param_u"].values[3], "v": run["param_v"].values[3]}
    net, data, zero = setting.net, setting.statistics(), {n: 0 * w for n, w in params.items()}
    small = {n: w[:2] for n, w in params.items()}
    narrow = type(net)(2, net.unit, 1.0)

    def predicted(prediction):
        """Of the first setting that the theory speaks of."""
        for made in (setting, relu, quadratic_setting(), random_feature_setting()):
            try:
                given = (made, Run(run)) if prediction.conditional else (made,)
                return {n: _numbers(v) for n, (_, v) in prediction(*given).items()}
            except InvalidInput:
                continue
        return "none of these"

    observe = (FullLoss(), SingularValues(), EffectiveWidth(ByRank()), Sharpness())
    given = {
        "find_stages": lambda: [[p.start, p.end, p.level] for p in find_stages(run["loss"].values).plateaus],
        "hash": lambda: setting.replace(seed=3).hash,
        "data": lambda: [relu.data(), random_feature_setting().data()],
        "statistics": lambda: setting.statistics(),
        "initial_params": lambda: [setting.initial_params(), random_feature_setting().initial_params()],
        "properties": lambda: [list(vars(properties(Neuron(a), 3)).values()) for a in (ReLU(), Tanh())],
        "nearest_embedded": lambda: (lambda n: [n.distance, n.level, n.point, n.residual])(
            nearest_embedded(net, params, data, 1, 2, 2)
        ),
        "relax": lambda: relax(narrow, small, data),
        "saddle": lambda: list(vars(saddle(net, zero, data)).values())[1:4],
        "perturbed": lambda: perturbed(net, params, 0, data, rng(), draws=4),
        "silent_rate": lambda: silent_rate(net, zero, data, tries=2),
        "escape_steps": lambda: escape_steps(net, params, zero, data, 0.01, 0.1, 2000),
        "embed": lambda: [embed(small, 5, kind) for kind in KINDS],
        "manifold_residual": lambda: [manifold_residual(params, kind, 2) for kind in KINDS],
        "reduce": lambda: [reduce(params, kind, 2) for kind in KINDS],
        "moments": lambda: (lambda m: [m, m.yx, m.power])(Moments.of(Samples(x, y))),
        "data_with_fixed_point": lambda: data_with_fixed_point(narrow, small, x, rng()),
        "explain": lambda: explain(run).text(),
        "diagnose": lambda: [[d.level, d.distance or 0.0, d.predicted or 0.0] for d in diagnose(run)],
        "observe_saved": lambda: [v.values for v in observe_saved(run, observe).data_vars.values()],
        "observe_at": lambda: observe_at(setting, params, observe),
        "loss_at": lambda: loss_at(setting, params),
    }
    for prediction in of_kind(Prediction):
        name = f"{type(prediction).__name__} {len(given)}"
        given[name] = lambda prediction=prediction: predicted(prediction)
    return given


def _numbers(values):
    values = np.asarray(values)
    return values if values.dtype.kind in "fiub" else " ".join(map(str, values.ravel()))


def after_calls(path):
    before, values = state(), {}
    for name, call in calls(path).items():
        values[name] = plain(call())
        if changed := changes(before):
            return {"changed": {name: changed}}
    return {"changed": {}, "values": values}


def after_training():
    from cases import linear_setting

    from saddlescope.observables import Parameters
    from saddlescope.training import train

    before = state()
    run = train(linear_setting(), (Parameters(),), quiet=True)
    return {"changed": changes(before), "values": plain([run["loss"].values, run["param_u"].values])}


if __name__ == "__main__":
    found = {"imports": after_imports(), "train": after_training(), "calls": after_calls(sys.argv[1])}
    print(json.dumps(found))
