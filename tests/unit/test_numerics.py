"""The guard of numerics.VERSION: recorded numbers.

If this fails for a reason you mean, raise the version and record anew (run this file). Draws and orders are recorded
bit by bit; losses to 1e-12 and 1e-9, since processors differ in the last bits. That they agree bit by bit on one
machine is tested by running them twice, in two processes and beside others.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from cases import linear_setting, minibatch_setting

from saddlescope import numerics
from saddlescope.nets import linear_units
from saddlescope.serialization.part import array_hash
from saddlescope.sweeps import sweep
from saddlescope.tasks import LinearTeacher
from saddlescope.training import train

RECORDED = {
    "version": 2,
    "draw": "2f1dc07042d2e05a",
    "order": [28, 3, 24, 14, 0, 5],
    "linear": [5.0000000000484865, 4.996694269449203, 1.303798565484785, 0.6972243683940607, 0.697224280049261],
    "minibatch": [1.2954291251512196, 0.7373966429897756, 0.5234695378564969, 0.6121856212062784],
}


def numbers():
    linear, minibatch = train(linear_setting())["loss"].values, train(minibatch_setting())["loss"].values
    return {
        "version": numerics.VERSION,
        "draw": array_hash(linear_setting().initial_params()["u"])[:16],
        "order": minibatch_setting().permutation(3)[:6].tolist(),
        "linear": linear[[0, 100, 150, 200, 300]].tolist(),
        "minibatch": minibatch[[0, 10, 30, 59]].tolist(),
    }


def test_numbers_are_those_recorded():
    found = numbers()
    for name in ("version", "draw", "order"):
        assert found[name] == RECORDED[name]
    np.testing.assert_allclose(found["linear"], RECORDED["linear"], rtol=1e-12)
    np.testing.assert_allclose(found["minibatch"], RECORDED["minibatch"], rtol=1e-9)  # 300 steps of a nonlinear net


CHILD = """
import sys
sys.path.insert(0, sys.argv[1])
from cases import linear_setting, minibatch_setting
from saddlescope.training import train
print([x.hex() for make in (linear_setting, minibatch_setting) for x in train(make())["loss"].values.tolist()])
"""


def bits(run):
    return [x.hex() for x in run["loss"].values.tolist()]


def test_same_bits_in_a_second_process():
    here = bits(train(linear_setting())) + bits(train(minibatch_setting()))
    folder = str(Path(__file__).parents[1])
    child = subprocess.run([sys.executable, "-c", CHILD, folder], capture_output=True, text=True, check=True)
    assert json.loads(child.stdout.replace("'", '"')) == here


def wide_setting(seed):
    """Large enough for BLAS to use several threads, if it may."""
    teacher = LinearTeacher(np.eye(10, 400), np.eye(400) + 0.1, samples=2000)
    return linear_setting(task=teacher, net=linear_units(5, 0.1), steps=3, seed=seed)


def test_same_bits_of_large_data_in_workers():
    alone, beside = (sweep(wide_setting, [{"seed": 0}, {"seed": 1}], workers=n) for n in (1, 2))
    np.testing.assert_array_equal(alone["loss"], beside["loss"])


def test_same_bits_beside_others_in_workers():
    points = [{"seed": s} for s in range(3)]
    alone = sweep(minibatch_setting, points)
    beside = sweep(minibatch_setting, points, workers=2)
    np.testing.assert_array_equal(alone["loss"], beside["loss"])
    np.testing.assert_array_equal(alone["hash"], beside["hash"])


if __name__ == "__main__":
    print(json.dumps(numbers(), indent=4))
