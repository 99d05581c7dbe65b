"""The fused kernel against steps written out in numpy, autodiff and the JAX engine; and bad numbers."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from by_hand import by_hand, distance, loss_and_gradient, made, nets, norm_of, same
from cases import advance_epochs, engine_for, random_feature_setting
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from saddlescope.engines import Jax
from saddlescope.engines.fused.call import Call
from saddlescope.engines.fused.kernel import train_steps
from saddlescope.engines.fused.order import seed_words
from saddlescope.engines.fused.packing import Packed
from saddlescope.losses import SquaredError
from saddlescope.nets import Gaussian, LeakyReLU, MeanField, ReLU, UniformFanIn, low_rank
from saddlescope.nets.random_feature_net import RandomFeatureNet
from saddlescope.observables import Parameters
from saddlescope.optimisers import GradientDescent
from saddlescope.setting import Setting
from saddlescope.tasks import ArrayTask, Samples
from saddlescope.training import every, train

EPS = {"float32": 2.0**-23, "float64": 2.0**-52}


@pytest.fixture(autouse=True)
def one_compilation_a_precision():
    yield
    precisions = {s[0].dtype for s in train_steps.signatures}
    assert len(train_steps.signatures) == len(precisions) <= 2


@settings(max_examples=8, deadline=None)
@given(nets(), st.integers(1, 9), st.integers(0, 999))
def test_the_gradient_by_hand_is_that_of_autodiff(made_net, samples, seed):
    (net, inputs, outputs), rng = made_net, np.random.default_rng(seed)
    params = net.init(rng, inputs, outputs)
    x, y = rng.standard_normal((samples, inputs)), rng.standard_normal((samples, outputs))
    loss, gradient, _ = loss_and_gradient(net, params, x, y)
    expected, autodiff = jax.jit(lambda p, s: SquaredError().with_gradient(net, p, s))(params, Samples(x, y))
    assert loss == pytest.approx(float(expected), rel=1e-12)
    assert gradient.keys() == autodiff.keys()
    for name, g in autodiff.items():
        assert np.linalg.norm(gradient[name] - g) <= 1e-11 * np.linalg.norm(g), name


@pytest.mark.parametrize("precision", ["float64", "float32"])
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(
    nets(), st.integers(1, 17), st.floats(0, 1), st.integers(1, 2), st.sampled_from([None, 0.0, 0.5]),
    st.sampled_from([None, 0.3, 3.0]), st.integers(0, 999),
)  # fmt: skip
def test_steps_are_those_of_numpy(precision, made_net, batch, rest, epochs, momentum, clip, seed):
    """`clip` is given in units of the norms of the first epoch's one or two gradients together: at 0.3 it bites.

    An entry of a gradient is a sum that may cancel, and so may one step and the next: errors are measured by the norm
    of the whole array's gradients, summed over the steps. A velocity is such a sum itself; parameters may differ by
    their own rounding too. The kernel's norm is a sum of products of samples: where gradients of samples cancel, the
    clipped step is less exact by as much. Where float32 cannot do it in numpy either, nothing is asked.
    """
    (net, *ends), samples = made_net, batch + round(rest * batch)
    size = norm_of(by_hand(made(net, GradientDescent(1.0), batch, samples, *ends, seed, precision=precision), 1, 0)[3])
    assume(size > 0)
    optimiser = GradientDescent(1.0, momentum, None if clip is None else clip * size)
    setting = made(net, optimiser, batch, samples, *ends, seed, precision=precision)
    lr = 2.0 ** round(math.log2(0.1 / min(size, optimiser.clip or math.inf)))
    losses, params, memory, lengths, nearest, cancelled = by_hand(setting, epochs, lr)
    eps, tol = EPS[precision], {"float64": 1e-10, "float32": 1e-4}[precision]
    assume(nearest > 50 * eps and losses.max() < 100 * losses[0, 0])
    rough, tol = by_hand(setting, epochs, lr, precision)[1], tol + eps * cancelled
    engine = engine_for(setting)
    state, found = advance_epochs(engine, engine.start(), 0, epochs, lr)
    assert np.abs(found - losses).max() <= tol * losses.max()
    after = engine.params(state)
    for name, expected in params.items():
        moved, rounding = lr * net.rate(name) * lengths[name], losses.size * eps * np.abs(expected).max()
        assume(np.abs(rough[name] - expected).max() <= 0.1 * tol * moved + rounding)
        assert np.abs(after[name] - expected).max() <= tol * moved + rounding, name
        if momentum and name in memory["v"]:
            assert np.linalg.norm(state[1]["v"][name] - memory["v"][name]) <= tol * lengths[name], name


@pytest.mark.parametrize("batch", range(1, 10))
def test_the_norm_is_right_where_it_comes_from_products_of_features_and_beyond(batch):
    """On both sides of batch² = 4 outputs and of batch 8, with a short last batch that may lie on the other side."""
    for rank in {max(1, -(-batch * batch // 4) + d) for d in (-1, 0)}:
        optimiser = GradientDescent(1.0, momentum=0.5, clip=0.01)
        setting = made(low_rank(rank, 2, 60), optimiser, batch, 2 * batch + batch // 2, 2, 1, batch)
        engine = engine_for(setting)
        after = engine.params(advance_epochs(engine, engine.start(), 0, 2, 1.0)[0])
        assert distance(after, by_hand(setting, 2, 1.0)[1]) < 1e-13


def test_trajectories_are_those_of_the_jax_engine():
    """After 50 steps, where a change of the last bit at the start does not grow to matter in JAX either."""
    stable, rng = [], np.random.default_rng(0)
    for batch, samples, epochs, kind, more in (
        (1, 10, 5, UniformFanIn(), dict(clip=1.0)), (3, 29, 5, MeanField(), dict(momentum=0.5)),
        (7, 30, 10, Gaussian(), dict(momentum=0.5, clip=1.0)), (17, 30, 25, Gaussian(), {}),
    ):  # fmt: skip
        ranks = rng.integers(1, 9, rng.integers(1, 5)).tolist()
        net = RandomFeatureNet(ranks, [rng.integers(9, 120)] * (len(ranks) + 1), parameterisation=kind)
        optimiser = GradientDescent(1.0, **more)
        for seed, lr in enumerate((0.003, 0.01, 0.03, 0.1, 0.3, 1.0)):
            reference = engine_for(made(net, optimiser, batch, samples, 2, 2, seed, engine=Jax()))
            fused = engine_for(made(net, optimiser, batch, samples, 2, 2, seed))
            params, memory = reference.start()
            nudged = {k: v * (1 + 1e-15 * rng.choice([-1, 1], v.shape)) for k, v in params.items()}
            expected, other = (advance_epochs(reference, (p, memory), 0, epochs, lr)[0][0] for p in (params, nudged))
            found = fused.params(advance_epochs(fused, fused.start(), 0, epochs, lr)[0])
            stable.append(distance(other, expected) < 1e-10)
            assert not stable[-1] or distance(found, expected) < 1e-9, (batch, lr)
    assert np.mean(stable) > 0.6, "too few stable cases to say anything"


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_a_diverged_run_is_marked_and_keeps_its_curve(precision):
    setting = random_feature_setting(optimiser=GradientDescent(1e6), batch=30, epochs=50, precision=precision)
    assert setting.engine.name == "fused"
    run = train(setting, (Parameters(),), every(1, 1))
    assert str(run["status"].values).startswith("diverged at epoch")
    assert run["event_kind"].values.tolist() == ["diverged"]
    losses = run["loss"].values
    assert len(losses) > 1
    assert np.isfinite(losses[:-1]).all()
    assert not np.isfinite(losses[-1])
    assert all(np.isfinite(run[f"param_{k}"].values).all() for k in ("C0", "c2"))


def test_divergence_in_the_very_last_step_is_seen_without_a_warning():
    run = train(random_feature_setting(optimiser=GradientDescent(1e200), batch=30, epochs=1))
    assert str(run["status"].values) == "diverged at epoch 1"
    assert np.isfinite(run["loss"].values).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["C0", "c0", "C1", "c1", "C2", "c2"])
@pytest.mark.parametrize("activation", [ReLU(), LeakyReLU()])
def test_what_is_not_a_number_is_never_hidden(activation, where, bad):
    """Not by the activation, nor the clipping."""
    for clip in (None, 1.0):
        net = low_rank(3, 2, 20, activation=activation)
        engine = engine_for(random_feature_setting(net=net, optimiser=GradientDescent(0.01, None, clip)))
        trained, memory = engine.start()
        trained = trained | {where: np.full_like(trained[where], 0.1)}
        trained[where].flat[0] = bad
        (after, _), losses = advance_epochs(engine, (trained, memory), 0, 1, 0.01)
        assert not np.isfinite(losses).any()
        assert not np.isfinite(after[where].flat[0])


def test_relu_does_not_hide_it_from_the_jax_engine_either():
    for activation, slope in ((ReLU(), 0.0), (LeakyReLU(0.3), 0.3)):
        at = jnp.array([-2.0, 0.0, 2.0, np.nan])
        np.testing.assert_array_equal(activation(at), [-2 * slope, 0, 2, np.nan])
        np.testing.assert_array_equal(jax.vmap(jax.grad(activation))(at[:3]), [slope, slope, 1])


@pytest.mark.parametrize("clip", [None, 1.0])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_gradients_that_cancel_are_no_gradient(precision, clip):
    """Two samples with one input and targets ±1: the best is 0, with loss 1, and there the run must stay."""
    task = ArrayTask([[0.3], [0.3]], [[1.0], [-1.0]])
    for seed in range(3):
        optimiser = GradientDescent(0.05, clip=clip)
        setting = Setting(task, low_rank(1, 1, 7), optimiser, batch=2, epochs=1000, precision=precision, seed=seed)
        run = train(setting)
        assert str(run["status"].values) == "finished"
        assert run["loss"].values[-1] == pytest.approx(1, abs=10 * EPS[precision])


def test_without_clipping_a_norm_that_overflows_plays_no_part():
    """Gradients of 1e20 have squares beyond float32, in batches by Gram products and without them."""
    for samples in (1, 3):
        rng = np.random.default_rng(samples)
        task = ArrayTask(1e5 * rng.uniform(0.5, 1, (samples, 1)), 1e15 * rng.uniform(0.5, 1, (samples, 1)))
        setting = Setting(
            task, low_rank(1, 1, 20), GradientDescent(1e-22), batch=samples, epochs=5, precision="float32"
        )
        run, expected = train(setting), by_hand(setting, 5, 1e-22)[0]
        np.testing.assert_allclose(run["loss"], expected[:, 0], rtol=1e-4)


def test_no_epochs_no_error_and_no_gradient_leave_the_parameters():
    packed, rng = Packed((2, 3, 1), (30, 50), 4, 5, "float64"), np.random.default_rng(0)
    net = RandomFeatureNet((3,), (30, 50))
    params = net.init(rng, 2, 1)
    packed.freeze(params)
    packed.set(net.trained(params), {})
    x = rng.standard_normal((5, 2))
    assert Call(packed, x, np.ones((5, 1)), seed_words(0), clip=1.0).train(0, 0, 1.0).shape == (0,)
    assert same(packed.get(), net.trained(params))
    for tiny in (0.0, 5e-324):
        zero = {k: 0 * v for k, v in net.trained(params).items()}
        packed.set(zero, {})
        losses = Call(packed, x, np.full((5, 1), tiny), seed_words(0), clip=1.0).train(0, 18, 0.1)
        assert np.array_equal(losses, np.zeros(18))
        assert same(packed.get(), zero)
