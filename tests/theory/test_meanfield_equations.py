"""The mean-field equations on nodes against automatic differentiation of the explicit loss, and against scipy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from saddlescope.meanfield import GemanMcClure, Measure, PseudoHuber, Squared, meanfield
from saddlescope.meanfield.laws import GaussianFeatures, GaussianMixing, StartLaw, UniformMixing
from saddlescope.meanfield.laws.features import with_one
from saddlescope.nets import Erf, RoundedLeakyReLU, Sigmoid, Tanh
from saddlescope.numerics import reproducible

RNG = np.random.default_rng(0)
POINTS = Measure(RNG.standard_normal((5, 2)), RNG.standard_normal((5, 2)), [0.1, 0.3, 0.2, 0.25, 0.15])
TWO = Measure([-0.5, 0.5], [1.0, -1.0])
MOVES = StartLaw(mean=0.5, slope=0.7)


def explicit_loss(weights, net):
    """The loss of the net as the paper draws it: sums over neurons, nothing but weights."""
    limit, f = net.limit, jnp.asarray(net.limit.measure.x)
    for w, frozen in zip(weights, net.frozen, strict=True):
        f = limit.activation(f @ frozen[:, :-1].T + frozen[:, -1]) @ w / len(frozen)
    residuals = limit.residual.value(f - limit.measure.y).sum(axis=1)
    return jnp.asarray(limit.measure.weights) @ residuals


@reproducible()
def gap_to_autodiff(limit, width=17, seed=3):
    """The largest difference of the right-hand side and −n times the gradient, in all weights."""
    net = limit.net(width, seed)
    system, state = net.system()
    gamma_rate, rates = system.velocity(0.3, state)
    gradients = jax.grad(explicit_loss)(tuple(map(jnp.asarray, net.start)), net)
    features = np.asarray(limit.activation(with_one(limit.measure.x) @ net.frozen[0].T))
    found = [-features.T @ np.asarray(gamma_rate), *map(np.asarray, rates)]
    scale = max(np.abs(g).max() for g in found)
    return max(np.abs(f + width * np.asarray(g)).max() for f, g in zip(found, gradients, strict=True)) / scale


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("mixing", [GaussianMixing(), GaussianMixing(1.0, 0.7), UniformMixing(1.3, 0.4)])
def test_the_right_hand_side_is_the_gradient(depth, mixing):
    limit = meanfield(POINTS, 3, depth, Tanh(), mixing=mixing)
    assert gap_to_autodiff(limit) < 1e-10


@pytest.mark.parametrize("activation", [Erf(), Sigmoid(), RoundedLeakyReLU(0.2)])
@pytest.mark.parametrize("residual", [Squared(), PseudoHuber(0.5), GemanMcClure(2.0)])
def test_with_every_smooth_activation_and_residual(activation, residual):
    assert gap_to_autodiff(meanfield(POINTS, 2, 2, activation, residual=residual)) < 1e-10


def test_a_wrong_equation_is_seen(monkeypatch):
    """A control: without φ' the backward equation is another one."""
    from saddlescope.meanfield import nodes

    right = nodes.value_and_slope
    monkeypatch.setattr(nodes, "value_and_slope", lambda phi, z: (right(phi, z)[0], jnp.ones_like(z)))
    assert gap_to_autodiff(meanfield(POINTS, 3, 2, Tanh())) > 1e-3


@pytest.mark.parametrize("activation", [Tanh(), Erf()])
def test_scipy_agrees(activation):
    """DOP853 with its own steps, on the same right-hand side, to 1e-7."""
    net = meanfield(TWO, 2, 2, activation, start=MOVES).net(24, 1)
    flow = net.flow(8.0, times=5, rtol=1e-10)
    with reproducible():
        system, state = net.system()
        flat, restore = jax.flatten_util.ravel_pytree(state)
        rate = jax.jit(lambda t, z: jax.flatten_util.ravel_pytree(system.velocity(t, restore(z)))[0])
        times = flow.data.time.values
        found = solve_ivp(rate, (0, 8), np.asarray(flat), "DOP853", times, rtol=1e-11, atol=1e-12)
        outputs = np.stack([system.channels(restore(jnp.asarray(z)))[-1] for z in found.y.T])
    assert np.abs(outputs - flow.data.output.values).max() < 1e-7


@pytest.mark.parametrize("residual", [Squared(), PseudoHuber(), GemanMcClure()])
def test_the_loss_never_rises(residual):
    for flow in (
        meanfield(TWO, 2, 2, Erf(), start=MOVES, residual=residual).flow(10.0),
        meanfield(TWO, 2, 2, Tanh(), residual=residual).net(32).flow(10.0),
    ):
        assert (np.diff(flow.loss.values) < 1e-12).all()
        assert flow.loss.values[-1] < flow.loss.values[0]


def test_depth_zero_is_a_matrix_exponential():
    """ŷ − y = e^{−KΠt} (ŷ(0) − y) for random features alone, in the limit and in a net."""
    limit = meanfield(POINTS, 1, 0, Erf(), start=StartLaw(mean=0.3, slope=0.4))
    K, pi, y = limit.first_kernel(POINTS.x, POINTS.x), np.diag(POINTS.weights), POINTS.y
    flow = limit.flow(3.0, times=4)
    for t, output in zip(flow.data.time.values, flow.data.output.values, strict=True):
        assert np.abs(output - y - expm(-t * K @ pi) @ (limit.first_channels(POINTS.x) - y)).max() < 1e-8
    net = limit.net(40, 2)
    Z = net.features(POINTS.x)
    own = net.flow(3.0, times=2).data.output.values[-1]
    start = Z @ net.start[0] / 40
    assert np.abs(own - y - expm(-3 * Z @ Z.T / 40 @ pi) @ (start - y)).max() < 1e-8


def ramp(t):
    return 1.0 / (1.0 + t)


def test_a_schedule_of_all_blocks_is_another_clock():
    """With one ξ(t) for all blocks the flow at time t is the plain one at ∫ξ = ln(1 + t)."""
    for made in (lambda **kw: meanfield(TWO, 2, 1, Erf(), start=MOVES, **kw),):
        plain, slow = made(), made(schedules=ramp)
        t = 6.0
        fast = plain.flow(np.log1p(t), times=2).data.output.values[-1]
        assert np.abs(slow.flow(t, times=2).data.output.values[-1] - fast).max() < 1e-7
        nets = plain.net(30).flow(np.log1p(t), times=2), slow.net(30).flow(t, times=2)
        assert np.abs(nets[0].data.output.values[-1] - nets[1].data.output.values[-1]).max() < 1e-7


def zero(t):
    return 0.0


def one(t):
    return 1.0


def test_a_schedule_of_zero_holds_a_block():
    limit = meanfield(TWO, 2, 1, Erf(), start=MOVES, schedules=(zero, one))
    data = limit.flow(3.0, times=3).data
    assert np.abs(data.channels.values - data.channels.values[0]).max() == 0
    assert data.loss.values[-1] < data.loss.values[0]


@pytest.mark.parametrize("residual", [Squared(), PseudoHuber(0.3), GemanMcClure(0.7)])
def test_derivatives_of_residuals(residual):
    u, step = np.linspace(-3, 3, 41), 1e-6
    numeric = (residual.value(u + step) - residual.value(u - step)) / (2 * step)
    assert np.abs(residual.derivative(u) - numeric).max() < 1e-9
    assert residual.value(np.zeros(1)) == 0
    assert (residual.value(u) >= 0).all()
    assert (np.sign(residual.derivative(u)) == np.sign(u)).all()


def test_residuals_by_hand():
    """√(1 + u²/δ²) and u²/(1 + u²/δ²), written otherwise; and u²/2 near zero."""
    u = np.linspace(-2, 2, 9)
    assert np.allclose(PseudoHuber(0.5).value(u), 0.25 * (np.hypot(1, 2 * u) - 1))
    assert np.allclose(GemanMcClure(2.0).value(u), 2 * u**2 / (4 + u**2))
    for residual in (PseudoHuber(0.5), GemanMcClure(2.0)):
        assert residual.value(np.array(1e-4)) == pytest.approx(5e-9, rel=1e-6)


def test_one_step_of_descent_is_one_of_the_gradient():
    """n × gradient times the step, by autodiff; and a one-point step sees that point alone."""
    net = meanfield(POINTS, 2, 1, Tanh(), features=GaussianFeatures()).net(12, 5)
    gamma, (weights,) = net.descend(0.1, 0.1)
    with reproducible():
        gradient = jax.grad(explicit_loss)(tuple(map(jnp.asarray, net.start)), net)
    assert np.abs(weights - (net.start[1] - 0.1 * 12 * np.asarray(gradient[1]))).max() < 1e-12
    assert (np.abs(gamma).max(axis=1) > 0).all()
    alone, _ = net.descend(0.1, 0.1, seed=0)
    assert (np.abs(alone).max(axis=1) > 0).sum() == 1
