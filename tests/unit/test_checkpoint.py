"""Checkpoints: a run that was stopped, killed or cut anywhere gives the same bits."""

import subprocess
import sys
import time
from pathlib import Path

import jax
import numpy as np
import pytest
from cases import engine_for, image_setting, linear_setting, minibatch_setting
from hypothesis import given, settings
from hypothesis import strategies as st

from saddlescope.engines import jax_loop
from saddlescope.errors import InvalidInput
from saddlescope.observables import FullLoss, GradientNorm, Parameters, TopSingularValues
from saddlescope.optimisers import Adam, GradientDescent
from saddlescope.training import every, log_spaced, on_cut, train


def interrupted(setting, path, after, observe=(), save_at=None):
    """Train, but die in the engine's call number `after`, as Ctrl-C would make it."""
    original, calls = jax_loop.JaxStepper.advance, []

    def advance(self, *args):
        calls.append(1)
        if len(calls) > after:
            raise KeyboardInterrupt
        return original(self, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jax_loop.JaxStepper, "advance", advance)
        train(setting, observe, save_at, checkpoint=path)


@pytest.mark.parametrize("make", [linear_setting, minibatch_setting], ids=["full batch", "minibatch"])
@pytest.mark.parametrize("optimiser", [GradientDescent(0.03), Adam(0.01)], ids=["descent", "adam"])
def test_resume_gives_the_same_bits(tmp_path, make, optimiser):
    setting = make(optimiser=optimiser)
    observe, save_at = (Parameters(), GradientNorm()), every(13, 60) | on_cut(after=5)
    whole = train(setting, observe, save_at)
    for after in (0, 1, 3):
        with pytest.raises(KeyboardInterrupt):
            interrupted(setting, tmp_path / "run.npz", after, observe, save_at)
    with np.load(tmp_path / "run.npz") as file:
        assert file["history.step"] >= 4, "there must be something to resume from"
    resumed = train(setting, observe, save_at, checkpoint=tmp_path / "run.npz")
    times = ["cpu_seconds", "wall_seconds"]
    assert resumed.drop_vars(times).identical(whole.drop_vars(times))
    again = train(setting, observe, save_at, checkpoint=tmp_path / "run.npz")
    assert again.drop_vars(times).identical(whole.drop_vars(times))


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_a_run_stopped_inside_an_epoch_resumes_to_the_same_bits(tmp_path, precision):
    """Nine steps per epoch; observables are read inside epochs, on a log-spaced schedule too."""
    setting = image_setting(epochs=12, precision=precision)
    observe, save_at = (TopSingularValues(3),), log_spaced(9, setting.budget) | every(5, setting.budget)
    whole, path = train(setting, observe, save_at), tmp_path / "run.npz"
    reached = []
    for after in (3, 4, 5):
        with pytest.raises(KeyboardInterrupt):
            interrupted(setting, path, after, observe, save_at)
        with np.load(path) as file:
            reached.append(int(file["history.step"]))
    assert any(step % setting.steps_per_epoch for step in reached), "stopped at ends of epochs alone"
    resumed = train(setting, observe, save_at, checkpoint=path)
    times = ["cpu_seconds", "wall_seconds"]
    assert resumed.drop_vars(times).identical(whole.drop_vars(times))


KILLED = """
import sys
sys.path.insert(0, sys.argv[1])
from cases import minibatch_setting
from saddlescope.training import driver, every, on_cut, train
from saddlescope.observables import Parameters
driver.CHECKPOINT_SECONDS = 0.0
setting = minibatch_setting(epochs=1500, stop=())
train(setting, (Parameters(),), every(50, 1500) | on_cut(after=10), checkpoint=sys.argv[2])
"""


def test_a_minibatch_run_killed_and_resumed_gives_the_same_bits(tmp_path):
    """SIGKILL, several times, wherever it strikes; then to the end."""
    path, tests = tmp_path / "run.npz", Path(__file__).parents[1]
    setting, save_at = minibatch_setting(epochs=1500, stop=()), every(50, 1500) | on_cut(after=10)
    reached = []
    for _ in range(3):
        child = subprocess.Popen([sys.executable, "-c", KILLED, str(tests), str(path)])
        seen = path.stat().st_mtime_ns if path.exists() else None
        while child.poll() is None and (not path.exists() or path.stat().st_mtime_ns == seen):
            time.sleep(0.01)
        time.sleep(0.1)
        child.kill()
        child.wait()
        with np.load(path) as file:
            reached.append(len(file["history.losses"]))
    assert reached == sorted(reached)
    assert reached[0] < 1500, "killed only after the end: make the run longer"
    resumed = train(setting, (Parameters(),), save_at, checkpoint=path)
    whole = train(setting, (Parameters(),), save_at)
    times = ["cpu_seconds", "wall_seconds"]
    assert resumed.drop_vars(times).identical(whole.drop_vars(times))


@settings(max_examples=8, deadline=None)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=4))
def test_bits_do_not_depend_on_where_a_run_is_cut(pieces):
    for setting in (linear_setting(), minibatch_setting()):
        engine = engine_for(setting)
        total = sum(pieces)
        whole = engine.advance(engine.start(), 0, min(total, engine.max_steps), 0.03)
        state, tick, rows = engine.start(), 0, []
        for n in pieces:
            n = min(n, engine.max_steps - tick)
            if n:
                state, losses = engine.advance(state, tick, n, 0.03)
                tick, rows = tick + n, [*rows, losses]
        np.testing.assert_array_equal(np.concatenate(rows), whole[1])
        for a, b in zip(jax.tree.leaves(state), jax.tree.leaves(whole[0]), strict=True):
            np.testing.assert_array_equal(a, b)


def test_checkpoints_of_others_and_damaged_ones_are_refused(tmp_path):
    path = tmp_path / "run.npz"
    train(linear_setting(), checkpoint=path)
    with pytest.raises(InvalidInput, match="belongs to another setting"):
        train(linear_setting(seed=1), checkpoint=path)
    for changed in (dict(observe=(FullLoss(),)), dict(save_at=every(10, 20))):
        with pytest.raises(InvalidInput, match="belongs to another setting"):
            train(linear_setting(), checkpoint=path, **changed)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(InvalidInput, match="damaged"):
        train(linear_setting(), checkpoint=path)
