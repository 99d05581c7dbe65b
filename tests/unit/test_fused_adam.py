"""The fused kernel beyond plain descent: Adam, large batches in pieces, outputs, and orders drawn inside it."""

import math

import numpy as np
import pytest
from by_hand import by_hand, distance, made, nets, norm_of
from cases import advance_epochs, engine_for, random_feature_setting
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from saddlescope.engines import Fused, Jax
from saddlescope.engines.batch_order import BATCH, permutation
from saddlescope.engines.fused.call import Call
from saddlescope.engines.fused.kernel import MICRO
from saddlescope.engines.fused.order import seed_words
from saddlescope.engines.fused.packing import Packed
from saddlescope.losses import squared_error
from saddlescope.nets import low_rank
from saddlescope.optimisers import Adam, GradientDescent

EPS = {"float32": 2.0**-23, "float64": 2.0**-52}


@pytest.mark.parametrize("precision", ["float64", "float32"])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(
    nets(deepest=4), st.integers(1, 17), st.floats(0, 1), st.integers(1, 3), st.sampled_from([0.0, 0.9]),
    st.sampled_from([0.5, 0.999]), st.sampled_from([None, 0.3, 3.0]), st.integers(0, 999),
)  # fmt: skip
def test_adam_is_that_of_numpy(precision, made_net, batch, rest, epochs, b1, b2, clip, seed):
    """With an eps of the size of the gradient: a much smaller one makes whole steps of what is only rounding."""
    (net, *ends), samples = made_net, batch + round(rest * batch)
    size = norm_of(
        by_hand(made(net, GradientDescent(1.0), batch, samples, *ends, seed, precision=precision), 1, 0)[2]["v"]
    )
    assume(size > 0)
    scale = size if clip is None else min(size, clip * size)
    optimiser = Adam(1.0, b1, b2, eps=0.1 * scale, clip=None if clip is None else clip * size)
    setting = made(net, optimiser, batch, samples, *ends, seed, precision=precision)
    assert setting.engine.name == "fused"
    lr = 2.0**-7
    losses, params, memory, lengths, nearest, cancelled = by_hand(setting, epochs, lr)
    eps, tol = EPS[precision], {"float64": 1e-10, "float32": 1e-3}[precision]
    assume(nearest > 50 * eps and losses.max() < 100 * losses[0, 0])
    rough, tol = by_hand(setting, epochs, lr, precision)[1], tol + 10 * eps * cancelled
    engine = engine_for(setting)
    state, found = advance_epochs(engine, engine.start(), 0, epochs, lr)
    assert np.abs(found - losses).max() <= tol * losses.max()
    after = engine.params(state)
    for name, expected in params.items():
        moved, rounding = lr * net.rate(name) * lengths[name], losses.size * eps * np.abs(expected).max()
        assume(np.abs(rough[name] - expected).max() <= 0.1 * tol * moved + rounding)
        assert np.abs(after[name] - expected).max() <= tol * moved + rounding, name
    for kind in "vs":
        for name, expected in memory[kind].items():
            assert distance({name: state[1][kind][name]}, {name: expected}) <= 10 * tol or not expected.any(), (
                kind,
                name,
            )


def test_adam_is_that_of_the_jax_engine():
    """With the usual eps, where a change of the last bit at the start does not grow to matter in JAX either."""
    stable, rng = [], np.random.default_rng(0)
    for batch, samples, clip in ((1, 10, None), (4, 30, 1.0), (30, 30, None), (100, 250, 0.1)):
        net = low_rank(3, 2, 60)
        for seed, lr in enumerate((1e-4, 1e-3, 1e-2)):
            setting = made(net, Adam(1.0, clip=clip), batch, samples, 2, 2, seed)
            reference, fused = engine_for(setting.replace(engine=Jax())), engine_for(setting.replace(engine=Fused()))
            params, memory = reference.start()
            nudged = {k: v * (1 + 1e-15 * rng.choice([-1, 1], v.shape)) for k, v in params.items()}
            expected, other = (advance_epochs(reference, (p, memory), 0, 20, lr)[0][0] for p in (params, nudged))
            found = fused.params(advance_epochs(fused, fused.start(), 0, 20, lr)[0])
            stable.append(distance(other, expected) < 1e-10)
            assert not stable[-1] or distance(found, expected) < 1e-8, (batch, lr)
    assert np.mean(stable) > 0.6, "too few stable cases to say anything"


def test_adam_with_eps_zero_is_left_to_jax():
    setting = random_feature_setting(optimiser=Adam(0.01, eps=0.0))
    assert setting.engine.name == "jax"
    assert "eps" in (Fused().why_not(setting) or "")


@pytest.mark.parametrize(
    "optimiser", [GradientDescent(1.0, 0.5, 0.3), GradientDescent(1.0), Adam(1.0, eps=0.1, clip=0.3)]
)
@pytest.mark.parametrize("batch", [MICRO, MICRO + 1, 3 * MICRO - 1, 200])
def test_a_large_batch_in_pieces_is_one_batch(batch, optimiser):
    """Gradient, norm and update of pieces that are not equal, with a last batch of another number of pieces."""
    setting = made(low_rank(4, 3, 70), optimiser, batch, 2 * batch + batch // 3, 3, 2, batch)
    engine = engine_for(setting)
    state, losses = advance_epochs(engine, engine.start(), 0, 3, 0.05)
    expected = by_hand(setting, 3, 0.05)
    np.testing.assert_allclose(losses, expected[0], rtol=1e-12)
    assert distance(engine.params(state), expected[1]) < 1e-12


@settings(max_examples=30, deadline=None)
@given(nets(), st.integers(1, 150), st.integers(1, 80), st.integers(0, 99))
def test_outputs_of_all_blocks_are_those_of_the_net(made_net, rows, batch, seed):
    (net, *ends) = made_net
    setting = made(net, GradientDescent(0.01), batch, 2 * batch, *ends, seed)
    engine, x = engine_for(setting), np.random.default_rng(seed).standard_normal((rows, ends[0]))
    state, _ = advance_epochs(engine, engine.start(), 0, 1, 0.01)
    expected = [np.asarray(f) for f in net.channels(engine.params(state), x)]
    found = engine.channels(state, x)
    assert [f.shape for f in found] == [f.shape for f in expected]
    for one, other in zip(found, expected, strict=True):
        assert np.abs(one - other).max() <= 1e-12 * max(1, np.abs(other).max())
    loss = squared_error(net, engine.params(state), setting.data())
    assert engine.loss(state) == pytest.approx(float(loss), rel=1e-12)


def test_looking_at_outputs_leaves_the_run_as_it_is():
    setting = random_feature_setting(optimiser=Adam(0.01))
    one, other = engine_for(setting), engine_for(setting)
    state, _ = advance_epochs(one, one.start(), 0, 3, 0.01)
    one.channels(state, np.zeros((7, 1)))
    again, losses = advance_epochs(one, state, 3, 3, 0.01)
    _, expected = advance_epochs(other, other.start(), 0, 6, 0.01)
    np.testing.assert_array_equal(losses, expected[3:])
    assert one.channels(state, np.zeros((0, 1)))[-1].shape == (0, 1)
    assert same_params(one.params(again), one.params(advance_epochs(one, state, 3, 3, 0.01)[0]))


def same_params(a, b):
    return all(np.array_equal(a[k], b[k]) for k in b)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**140) | st.integers(0, 9), st.integers(0, 2**31), st.integers(1, 400))
def test_orders_are_numpys(seed, epoch, samples):
    packed = Packed((1, 1), (1,), samples, samples, "float64")
    call = Call(packed, np.zeros((samples, 1)), np.zeros((samples, 1)), seed_words(seed, BATCH))
    call.train(0, 1, 0.0, epoch)
    np.testing.assert_array_equal(packed.order, permutation(seed, epoch, samples))


def test_the_bias_correction_counts_the_steps_of_the_whole_run():
    setting = random_feature_setting(optimiser=Adam(0.01))
    engine = engine_for(setting)
    state = engine.start()
    after, _ = advance_epochs(engine, state, 0, 1, 0.01)
    late, _ = engine.advance(state, 10**6, 1, 0.01)
    first, _ = engine.advance(state, 0, 1, 0.01)
    gradient = {k: v / 0.1 for k, v in first[1]["v"].items()}
    moved = {k: state[0][k] - first[0][k] for k in gradient}
    big = max(gradient, key=lambda k: np.abs(gradient[k]).max())
    at = np.unravel_index(np.abs(gradient[big]).argmax(), gradient[big].shape)
    assert moved[big][at] == pytest.approx(math.copysign(0.01, gradient[big][at]), rel=1e-6)  # m̂ / √ŝ is ±1 at first
    assert not same_params(late[0], first[0])
    assert not same_params(after[0], state[0])
