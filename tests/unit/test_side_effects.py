"""Importing and calling the package leaves the user's program as it was, and gives the same numbers in it."""

import json
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from cases import linear_setting

from saddlescope.numerics import ENVIRONMENT
from saddlescope.observables import Parameters
from saddlescope.storage.compiled_code import EVERYTHING, FOLDER
from saddlescope.training import every, train

TESTS = Path(__file__).parents[1]
OURS = {*ENVIRONMENT, *EVERYTHING, FOLDER}
CLOSE = 1e-12  # the user's own threads may add in another order


def in_fresh_process(run_file, ours=False):
    """What tests/side_effects.py says in a program without our environment, or with it."""
    theirs = {name: value for name, value in os.environ.items() if name not in OURS}
    theirs["PYTHONPATH"] = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, TESTS / "side_effects.py", run_file],
        env=theirs | ENVIRONMENT if ours else theirs,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def numbers(bits):
    return [np.frombuffer(bytes.fromhex(b)) for b in bits]


@pytest.fixture(scope="module")
def run_file(tmp_path_factory):
    """A run with two plateaus and its weights, trained here."""
    run = train(linear_setting(steps=1500), (Parameters(),), every(50, 1500), quiet=True)
    path = tmp_path_factory.mktemp("run") / "run.pickle"
    path.write_bytes(pickle.dumps(run))
    return path


@pytest.fixture(scope="module")
def found(run_file):
    """In a program without our environment, and in one with it: a process takes long to start and to compile."""
    with ThreadPoolExecutor(2) as both:
        return tuple(both.map(lambda ours: in_fresh_process(run_file, ours), (False, True)))


def test_imports_change_nothing(found):
    assert found[0]["imports"] == {}


def test_calls_change_nothing_and_give_the_same_numbers(found):
    alone, ours = (one["calls"] for one in found)
    assert alone["changed"] == {}
    assert ours["changed"] == {}
    assert alone["values"].keys() == ours["values"].keys()
    for name, expected in ours["values"].items():
        assert expected, name
        for a, b in zip(numbers(alone["values"][name]), numbers(expected), strict=True):
            size = np.abs(b[np.isfinite(b)]).max(initial=0)
            np.testing.assert_allclose(a, b, rtol=CLOSE, atol=CLOSE * size, err_msg=name)


def test_training_gives_the_same_bits_and_changes_nothing(found):
    alone, ours = (one["train"] for one in found)
    assert alone["changed"] == []
    assert alone["values"] == ours["values"]
    assert numbers(alone["values"])[0].size == 301


def test_this_test_sees_a_change():
    """It would notice: with our environment the user's floats are doubles."""
    code = "import os, jax; from side_effects import state, changes; b = state(); os.environ['A'] = '1'; "
    code += "jax.config.update('jax_enable_x64', True); print(sorted(changes(b)))"
    env = {n: v for n, v in os.environ.items() if n not in OURS} | {"PYTHONPATH": str(TESTS)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "['environment', 'floats', 'x64']"


READING = ("stages", "list", "ls", "show", "verify")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What `run` writes, and a curve beside it."""
    out = tmp_path_factory.mktemp("out")
    words = ["run", "simplicity.fig1b", "--quick", "--quiet", "--out", str(out)]
    done = subprocess.run([sys.executable, "-m", "saddlescope", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    steps = np.arange(300)
    curve = np.column_stack([steps, 1 / (1 + np.exp((steps - 150) / 5))])
    np.savetxt(out / "curve.csv", curve, delimiter=",", header="step,loss", comments="")
    return out


CODE = """
import json, sys
from saddlescope.cli import main
found = {}
for command, *words in json.loads(sys.argv[1]):
    sys.argv[1:] = [command, *words]
    try:
        main()
    except SystemExit as end:
        found[command] = [end.code or 0, "jax" in sys.modules]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def after_reading(folder):
    """Status and whether JAX is there after each command, one after the other in one fresh process."""
    result = str(folder / "simplicity.fig1b.quick")
    what = dict.fromkeys(READING, result) | {"stages": str(folder / "curve.csv"), "list": str(folder)}
    words = [sys.executable, "-c", CODE, json.dumps([*what.items()])]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("command", READING)
def test_reading_commands_do_without_jax(after_reading, command):
    assert after_reading[command] == [0, False]
