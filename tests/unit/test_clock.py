"""The clock is the optimiser step: what is read, stopped and stored within an epoch."""

import numpy as np
import pytest
from cases import engine_for, minibatch_setting, random_feature_setting

from saddlescope.engines import Jax
from saddlescope.errors import InvalidInput
from saddlescope.observables import FullLoss, Parameters
from saddlescope.optimisers import GradientDescent, LossBelow, WarmUp
from saddlescope.training import SaveAt, every, every_epoch, train

MADE = {
    "jax": lambda **more: minibatch_setting(stop=(), **more),
    "fused": random_feature_setting,
    "random features in jax": lambda **more: random_feature_setting(engine=Jax(), **more),
}


@pytest.mark.parametrize("make", MADE.values(), ids=list(MADE))
def test_saves_within_epochs_move_nothing(make):
    """Reading at every third step cuts the run into other calls; the old points stay where they were, bit for bit."""
    setting = make(epochs=12)
    rare = train(setting, Parameters(), every_epoch(4, 12))
    often = train(setting, Parameters(), every(3, setting.budget) | every_epoch(4, 12))
    np.testing.assert_array_equal(rare["loss"], often["loss"])
    at = np.isin(often["saved_step"], rare["saved_step"])
    for name in (n for n in rare.data_vars if str(n).startswith("param_")):
        np.testing.assert_array_equal(often[name].values[at], rare[name].values)
    assert (often["saved_step"].values[:4] == [0, 3, 6, 9]).all()
    assert (often["saved_epoch"] == often["saved_step"] // setting.steps_per_epoch).all()


def test_steps_within_an_epoch_are_those_of_the_loop_written_out():
    """After k steps the weights are those of k steps of plain numpy descent, in the epoch's order of samples."""
    setting = random_feature_setting(engine=Jax(), epochs=2, optimiser=GradientDescent(0.01))
    run = train(setting, Parameters(), every(1, setting.budget), per_step=True)
    data, params = setting.data(), setting.initial_params()
    order = setting.permutation(0)
    losses = []
    for k in range(3):
        rows = order[k * setting.batch : (k + 1) * setting.batch]
        h, blocks = data.x[rows], range(len(setting.net.widths))
        inputs, features = [], []
        for j in blocks:
            inputs.append(h)
            features.append(np.maximum(h @ params[f"A{j}"].T + params[f"b{j}"], 0))
            h = params[f"c{j}"] + features[-1] @ params[f"C{j}"].T
        error = h - data.y[rows]
        losses.append(np.mean(np.sum(error**2, axis=1)))
        back = 2 * error / len(rows)
        for j in reversed(blocks):
            slope = back @ params[f"C{j}"] * (features[j] > 0)
            params = params | {
                f"C{j}": params[f"C{j}"] - 0.01 * back.T @ features[j],
                f"c{j}": params[f"c{j}"] - 0.01 * back.sum(0),
            }
            back = slope @ params[f"A{j}"]
    np.testing.assert_allclose(run["step_loss"].values[0, :3], losses, rtol=1e-12)
    np.testing.assert_allclose(run["param_C1"].values[3], params["C1"], rtol=1e-11)


@pytest.mark.parametrize("make", MADE.values(), ids=list(MADE))
def test_a_budget_may_end_within_an_epoch(make):
    setting = make(epochs=None, steps=20)
    run, whole = train(setting, FullLoss(), per_step=True), train(make(epochs=5), per_step=True)
    each = setting.steps_per_epoch
    done, rest = divmod(20, each)
    np.testing.assert_array_equal(run["loss"][:done], whole["loss"][:done])
    assert run["saved_step"].values[-1] == 20
    assert run.sizes["epoch"] == done + (rest > 0)
    if rest:
        last = run["step_loss"].values[-1]
        np.testing.assert_array_equal(last[:rest], whole["step_loss"].values[done, :rest])
        assert np.isnan(last[rest:]).all()
        assert float(run["loss"][-1]) == np.mean(last[:rest])


def test_a_stop_rule_may_look_within_an_epoch():
    setting = minibatch_setting(stop=(), epochs=30)
    losses = train(setting, per_step=True)["step_loss"].values.ravel()
    level = float(np.sort(losses)[3])
    first = int(np.argmax(losses < level)) + 1
    run = train(setting.replace(stop=(LossBelow(level, within_epochs=True),)), FullLoss())
    assert run["event_step"].values[-1] == first
    assert str(run["status"].values) == f"stopped: loss below {level:g}"


def test_a_warm_up_raises_the_learning_rate_step_by_step():
    """With a loss of constant slope the way of each step is its learning rate."""
    setting = minibatch_setting(stop=(), epochs=4, schedule=WarmUp(8), optimiser=GradientDescent(1e-6))
    run = train(setting, Parameters(), every(1, setting.budget))
    plain = train(setting.replace(schedule=None), Parameters(), every(1, setting.budget))
    ways = [np.linalg.norm(np.diff(r["param_v"].values, axis=0), axis=(1, 2)) for r in (run, plain)]
    shares = np.minimum(1, np.arange(1, len(ways[0]) + 1) / 8)
    np.testing.assert_allclose(ways[0] / ways[1], shares, rtol=1e-3)
    assert not (run["event_kind"] == "cut").any()


@pytest.mark.parametrize("make", MADE.values(), ids=list(MADE))
def test_a_run_is_stopped_and_resumed_within_an_epoch(tmp_path, make):
    """A call of the engine that ends within an epoch leaves a checkpoint there; resumed, the bits are the same."""
    setting, path = make(epochs=6), tmp_path / "run.npz"
    stepper = type(engine_for(setting))
    whole, calls, original = train(setting, FullLoss(), every(2, 8)), [], stepper.advance

    def advance(self, *given):
        calls.append(given[1])
        if len(calls) == 4:
            raise KeyboardInterrupt
        return original(self, *given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stepper, "advance", advance)
        with pytest.raises(KeyboardInterrupt):
            train(setting, FullLoss(), every(2, 8), checkpoint=path)
    with np.load(path) as file:
        assert int(file["history.step"]) == 6
        assert int(file["history.step"]) % setting.steps_per_epoch
    again = train(setting, FullLoss(), every(2, 8), checkpoint=path)
    times = ["cpu_seconds", "wall_seconds"]
    assert again.drop_vars(times).identical(whole.drop_vars(times))


def test_save_times_in_epochs_are_of_minibatch_runs():
    with pytest.raises(InvalidInput, match="no epochs"):
        train(minibatch_setting(batch=None, epochs=None, steps=9), (), every_epoch(2, 4))
    with pytest.raises(InvalidInput, match="epoch 7, lies beyond the end at 6"):
        train(minibatch_setting(epochs=6), (), SaveAt(epochs=(7,)))
