"""The driver and the JAX engine, against loops written out in numpy."""

import equinox as eqx
import numpy as np
import pytest
from cases import TWO_POINTS, engine_for, linear_setting, minibatch_setting

from saddlescope.errors import InvalidInput
from saddlescope.nets import Net, Neuron, Tanh, Units, linear_units
from saddlescope.observables import FullLoss, GradientNorm, Observable, Parameters
from saddlescope.optimisers import (
    Adam,
    GradientDescent,
    NormScaledDescent,
)  # fmt: skip
from saddlescope.setting import Setting
from saddlescope.tasks import LinearTeacher, Moments, Samples, cosine
from saddlescope.training import every, log_spaced, on_cut, train
from saddlescope.training.save_at import SaveAt


def tanh_loss_and_gradient(params, x, y):
    """Mean squared error of Σ_i tanh(u_i · (x, 1)) v_i and its gradient, by hand."""
    x = np.concatenate([x, np.ones_like(x[:, :1])], axis=1)
    h = np.tanh(x @ params["u"].T)
    e = h @ params["v"] - y
    dv = 2 * h.T @ e / len(x)
    du = 2 * ((e @ params["v"].T) * (1 - h**2)).T @ x / len(x)
    return np.mean(np.sum(e**2, axis=1)), {"u": du, "v": dv}


def by_hand(setting, direction):
    """Minibatch training in numpy; `direction(gradient, memory)` is the optimiser."""
    data, params = setting.data(), setting.initial_params()
    memory, epochs, lr = {}, [], setting.optimiser.lr
    for epoch in range(setting.epochs):
        order, losses = setting.permutation(epoch), []
        for first in range(0, len(order), setting.batch):
            rows = order[first : first + setting.batch]
            loss, gradient = tanh_loss_and_gradient(params, data.x[rows], data.y[rows])
            losses.append(loss)
            step = (
                direction(gradient, memory | {"params": params})
                if direction is by_norm
                else direction(gradient, memory)
            )
            params = {k: params[k] - lr * step[k] for k in params}
        epochs.append(np.mean(losses))
    return np.array(epochs)


def plain(gradient, memory):
    return gradient


def momentum(gradient, memory):
    for k, g in gradient.items():
        memory[k] = 0.9 * memory.get(k, 0) + g
    return dict(memory)


def clipped(gradient, memory):
    norm = np.sqrt(sum(np.sum(g**2) for g in gradient.values()))
    return {k: g * min(1, 0.3 / norm) for k, g in gradient.items()}


def by_norm(gradient, memory):
    norm = np.sqrt(sum(np.sum(p**2) for p in memory["params"].values()))
    return {k: g * norm**-1.5 for k, g in gradient.items()}


def adam(gradient, memory):
    n = memory["n"] = memory.get("n", 0) + 1
    out = {}
    for k, g in gradient.items():
        m = memory[k, "m"] = 0.9 * memory.get((k, "m"), 0) + 0.1 * g
        v = memory[k, "v"] = 0.999 * memory.get((k, "v"), 0) + 0.001 * g**2
        out[k] = m / (1 - 0.9**n) / (np.sqrt(v / (1 - 0.999**n)) + 1e-8)
    return out


@pytest.mark.parametrize(
    ("optimiser", "direction"),
    [
        (GradientDescent(0.05), plain),
        (GradientDescent(0.02, momentum=0.9), momentum),
        (GradientDescent(0.05, clip=0.3), clipped),
        (Adam(0.01), adam),
        (NormScaledDescent(0.5, 1.5), by_norm),
    ],
    ids=["plain", "momentum", "clip", "adam", "by norm"],
)
def test_minibatch_is_the_loop_written_out(optimiser, direction):
    setting = minibatch_setting(optimiser=optimiser, schedule=None, stop=(), epochs=12)
    expected = by_hand(setting, direction)
    np.testing.assert_allclose(train(setting)["loss"].values, expected, rtol=1e-10)
    assert setting.task.size % setting.batch != 0, "the short last batch must be tested"


def test_full_batch_is_the_loop_written_out():
    setting = linear_setting(steps=200)
    u, v = (setting.initial_params()[k] for k in "uv")
    S = np.array(setting.task.covariance)
    losses = []
    for _ in range(201):
        E = v.T @ u - np.eye(2)
        losses.append(np.trace(E @ S @ E.T))
        v, u = v - 0.02 * u @ (E @ S).T, u - 0.02 * v @ (E @ S)
    np.testing.assert_allclose(train(setting)["loss"].values, losses, rtol=1e-9)


def test_moments_give_the_curve_of_the_samples():
    teacher = LinearTeacher(((1, 0), (0, 0.5)), ((1, 1), (1, 4)), samples=500)
    assert isinstance(engine_for(linear_setting(task=teacher)).statistics, Moments)
    assert isinstance(engine_for(linear_setting(task=teacher, train_on_moments=False)).statistics, Samples)
    reduced = train(linear_setting(task=teacher, steps=1500))["loss"].values
    sampled = train(linear_setting(task=teacher, steps=1500, train_on_moments=False))["loss"].values
    assert np.abs(reduced - sampled).max() < 1e-10
    late = reduced < 1e-6
    assert late.sum() > 100, "the run must reach small losses"
    np.testing.assert_allclose(reduced[late & (reduced > 1e-20)], sampled[late & (reduced > 1e-20)], rtol=1e-4)


def test_scalars_are_kept_at_every_tick_however_observables_are_saved():
    run = train(linear_setting(steps=137), (FullLoss(),), SaveAt((5,)))
    assert run.sizes["step"] == 138
    assert run["saved_step"].values.tolist() == [5, 137]
    assert run["full_loss"].values[0] == run["loss"].values[5]
    per_step = train(minibatch_setting(epochs=4), per_step=True)
    assert per_step["step_loss"].shape == (4, 5)
    np.testing.assert_allclose(per_step["step_loss"].mean("batch"), per_step["loss"], rtol=1e-15)
    assert train(linear_setting(steps=9), per_step=True).sizes["step"] == 10


def test_saving_does_not_change_the_run():
    once, often = train(linear_setting()), train(linear_setting(), (GradientNorm(),), every(7, 300))
    np.testing.assert_array_equal(once["loss"], often["loss"])


@pytest.mark.parametrize("make", [linear_setting, minibatch_setting], ids=["full batch", "minibatch"])
def test_divergence_marks_the_run_and_keeps_the_curve(make):
    net = linear_units(5, 1.0) if make is linear_setting else Units(8, Neuron(Tanh(), bias=True), 1.0)
    setting = make(optimiser=GradientDescent(50.0), net=net)
    run = train(setting, (Parameters(),), SaveAt((0, 1)))
    assert str(run["status"].values).startswith("diverged at")
    assert not np.isfinite(run["loss"].values[-1])
    assert np.isfinite(run["loss"].values[:-1]).all()
    assert run["event_kind"].values.tolist()[-1] == "diverged"
    assert np.isfinite(run["param_u"].values).all()


class Root(Net):
    """√w at one sample: its gradient at w = 0 is infinite, so that the first step ends in nothing."""

    def init(self, rng, inputs, outputs):
        return {"w": np.zeros((inputs, outputs))}

    def __call__(self, params, x):
        return x @ params["w"] ** 0.5


@pytest.mark.parametrize("batch", [None, 2])
def test_divergence_in_the_very_last_step_is_seen(batch):
    budget = {"steps": 1} if batch is None else {"epochs": 1, "batch": batch}
    run = train(Setting(TWO_POINTS, Root(), GradientDescent(0.1), **budget))
    assert str(run["status"].values).startswith("diverged")
    assert run["event_kind"].values.tolist() == ["diverged"]


def test_arguments_of_another_kind_are_refused():
    for bad, sentence in (
        (dict(save_at=[0, 10]), "`save_at` must be of the kind SaveAt"),
        (dict(observe=[Parameters]), "of the kind Observable"),
    ):
        with pytest.raises(InvalidInput, match=sentence):
            train(linear_setting(), **bad)
    with pytest.raises(InvalidInput, match="of the kind Setting"):
        train(TWO_POINTS)
    assert "full_loss" in train(linear_setting(steps=3), FullLoss())


def test_names_of_observables_are_their_own():
    for bad in ((FullLoss(), FullLoss()), (Named(),)):
        with pytest.raises(InvalidInput, match="names of their own"):
            train(linear_setting(), bad)
    with pytest.raises(InvalidInput, match="One `after` for all cuts"):
        on_cut(5) | on_cut(10)


class Named(Observable):
    name = "loss"

    def __call__(self, snapshot):
        return snapshot.lr


def test_save_times():
    assert every(10, 25).steps == (0, 10, 20, 25)
    times = log_spaced(9, 10_000).steps
    assert times[0] == 0
    assert times[1] == 1
    assert times[-1] == 10_000
    ratios = np.diff(np.log(times[3:]))
    assert ratios.max() / ratios.min() < 1.1
    with pytest.raises(InvalidInput, match="beyond the end at 300"):
        train(linear_setting(), (), every(10, 301))
    with pytest.raises(InvalidInput, match="count from 0"):
        SaveAt((-1,))


def test_setting_with_another_seed_gives_other_numbers_and_the_same_one_the_same():
    a, b, c = (train(linear_setting(seed=s))["loss"].values for s in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)
    base = minibatch_setting(seed=3)
    for name in ("init_seed", "batch_seed"):
        other = minibatch_setting(seed=3, **{name: 4})
        assert other.hash != base.hash
        assert not np.array_equal(train(base)["loss"], train(other)["loss"])


TRACED = []


class Traced(Net):
    """A net that notes each time it is with_traced_floats: once a compilation."""

    scale: float = 0.1

    def init(self, rng, inputs, outputs):
        return {"w": self.scale * rng.standard_normal((inputs, outputs))}

    def __call__(self, params, x):
        TRACED.append(1)
        return x @ params["w"]


def test_one_compilation_serves_every_number():
    teacher = LinearTeacher(((1, 0), (0, 1)), ((1, 0), (0, 1)), samples=20)
    train(linear_setting(task=teacher, net=Traced()))
    once = len(TRACED)
    for lr, scale, seed in ((0.011, 0.2, 1), (0.012, 0.3, 2)):
        train(linear_setting(task=teacher, net=Traced(scale), optimiser=GradientDescent(lr), seed=seed, steps=500))
    assert 0 < once == len(TRACED)


def test_only_the_parameters_asked_for_are_kept():
    kept = [name for name in train(linear_setting(steps=3), (Parameters(("u",)),)).variables if "param_" in str(name)]
    assert kept == ["param_u"]
    with pytest.raises(InvalidInput, match="This net trains"):
        train(linear_setting(steps=3), (Parameters(("w",)),))


def test_a_net_learns_from_arrays_cast_to_the_precision():
    run = train(minibatch_setting(precision="float32", epochs=2), (Parameters(),), SaveAt((0,)))
    assert run["param_u"].dtype == np.float32
    assert cosine(1, 30).data(np.random.default_rng(0)).x.dtype == np.float64
    assert eqx.tree_equal(minibatch_setting(), minibatch_setting())
