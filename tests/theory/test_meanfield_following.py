"""Flows on nodes from a given state, and the times of levels, against scipy's DOP853 with events and a closed form."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from saddlescope.errors import InvalidInput
from saddlescope.meanfield import GaussianMixing, Measure, PseudoHuber, StartLaw, meanfield
from saddlescope.meanfield.following import follow_system, times_of_levels
from saddlescope.meanfield.nodes import NodeSystem
from saddlescope.nets.activation import Erf, LeakyReLU, Tanh

STEP = Measure([-0.5, 0.5], [1.0, 0.0])
SIGNS = Measure([-0.5, 0.5], [1.0, -1.0], [0.75, 0.25])
MOVES = StartLaw(0.5, 0.7, 1.0)
BIASED = GaussianMixing(1.0, 0.5)
NETS = {
    "tanh, from its noise": meanfield(STEP, 2, 1, Tanh(), start=StartLaw(0, 0, 1)),
    "erf, three blocks": meanfield(SIGNS, 1, 2, Erf(), start=MOVES, residual=PseudoHuber()),
    "a fading schedule": meanfield(SIGNS, 1, 1, Tanh(), start=MOVES, schedules=lambda t: 0.2 + jnp.exp(-t)),
    "kinks that are crossed": meanfield(STEP, 1, 1, LeakyReLU(0.1), mixing=BIASED, start=(MOVES, StartLaw(2, 0, 1))),
}


def minus_loss(system, state):
    return -system.loss(state)


def by_scipy(system, start, T, events=(), times=None):
    """A solution of another method, and what makes a state of its numbers; `events` has functions and levels."""
    leaves, tree = jax.tree.flatten(start)
    ends = np.cumsum([leaf.size for leaf in leaves])[:-1]

    def state_of(z):
        parts = zip(jnp.split(z, ends), leaves, strict=True)
        return tree.unflatten([part.reshape(leaf.shape) for part, leaf in parts])

    @jax.jit
    def velocity(t, z):
        return jnp.concatenate([a.ravel() for a in jax.tree.leaves(system.velocity(t, state_of(z)))])

    def event(of, level):
        number = jax.jit(lambda z: of(system, state_of(z)))

        def gap(_, z):
            return float(number(z)) - level

        gap.direction = 1
        return gap

    z = np.concatenate([np.ravel(leaf) for leaf in leaves])
    exact = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-12, "t_eval": times}
    return solve_ivp(velocity, (0, T), z, events=[event(*e) for e in events], **exact), state_of


@pytest.mark.parametrize("of", [NodeSystem.overlap, minus_loss], ids=["overlap", "minus loss"])
@pytest.mark.parametrize("name", NETS)
def test_times_of_levels_are_those_of_events(name, of):
    """The tolerance of a step bounds states, not times: so the number is compared, and at a small tolerance the time.

    A hundred tolerances are a few dozen steps, each with an error of up to rtol times 1 plus the largest weight, 4.
    """
    system, start = NETS[name].net(12, 0).system()
    T = 12.0
    flow, state_of = by_scipy(system, start, T)
    first, last = (float(of(system, state_of(z))) for z in (flow.y[:, 0], flow.y[:, -1]))
    levels = first + (last - first) * np.array([0.05, 0.1, 0.5, 0.9])
    for rtol in (1e-6, 1e-8):
        found = times_of_levels(system, start, of, levels, T, rtol)
        there, _ = by_scipy(system, start, T, times=found)
        assert [float(of(system, state_of(z))) for z in there.y.T] == pytest.approx(levels, abs=100 * rtol)
    events, _ = by_scipy(system, start, T, [(of, level) for level in levels])
    wanted = np.array([t[0] for t in events.t_events])
    assert np.abs(times_of_levels(system, start, of, levels, T, 1e-11) - wanted).max() < 1e-7


def test_a_kink_is_crossed_on_the_way():
    """Else the case above would say nothing about kinks."""
    net = NETS["kinks that are crossed"].net(12, 0)
    channels = follow_system(*net.system(), np.linspace(0, 12, 13)).channels[0]
    fields = np.einsum("tpk,nk->tpn", channels, net.frozen[1][:, :-1]) + net.frozen[1][:, -1]
    assert (np.ptp(np.sign(fields), axis=0) == 2).sum() >= 2


def test_one_point_in_closed_form():
    """One block, one point, loss u²/2: ŷ = y + (ŷ₀ − y) exp(−Kt), so that yŷ = c at ln((y − ŷ₀)/(y − c/y))/K."""
    y = 2.0
    limit = meanfield(Measure([0.5], [y]), 1, 0, Erf(), start=StartLaw(0.3))
    system, start = limit.net(20, 0).system()
    K, first = float(system.kernel[0, 0]), float(system.first[0, 0])
    levels = y * (first + (y - first) * np.array([0.01, 0.5, 0.99]))
    wanted = np.log((y - first) / (y - levels / y)) / K
    found = times_of_levels(system, start, NodeSystem.overlap, levels, 100.0 / K, rtol=1e-10)
    assert found == pytest.approx(wanted, rel=1e-8)
    times = np.linspace(0, 3 / K, 4)
    course = follow_system(system, start, times, rtol=1e-10)
    residuals = (first - y) * np.exp(-K * times)
    assert course.channels[-1][:, 0, 0] == pytest.approx(y + residuals, abs=1e-8)
    assert course.speed == pytest.approx(np.abs(residuals), abs=1e-8)


def test_levels_at_the_start_and_levels_that_are_never_reached():
    """The start counts as reached, to the last bit; 2 is more than E y², which no flow of this net passes."""
    system, start = NETS["erf, three blocks"].net(12, 0).system()
    first = float(system.overlap(start))
    found = times_of_levels(system, start, NodeSystem.overlap, (first - 1, first, first + 0.1, 2.0), 12.0)
    assert found[:2].tolist() == [0, 0]
    assert 0 < found[2] < 12
    assert found[3] == np.inf
    assert times_of_levels(system, start, NodeSystem.overlap, (first - 1, first), 12.0).tolist() == [0, 0]


def test_levels_within_one_step_have_times_of_their_own():
    system, start = NETS["tanh, from its noise"].net(12, 0).system()
    level = float(system.overlap(start)) + 0.1
    found = times_of_levels(system, start, NodeSystem.overlap, level + 1e-6 * np.arange(3), 100.0)
    assert (np.diff(found) > 0).all()
    assert found[1] - found[0] == pytest.approx(found[2] - found[1], rel=1e-3)
    assert times_of_levels(system, start, NodeSystem.overlap, [level], 100.0)[0] == pytest.approx(found[0], rel=1e-12)


@pytest.mark.parametrize("name", NETS)
def test_a_course_is_that_of_scipy(name):
    system, start = NETS[name].net(12, 0).system()
    times = np.linspace(0, 12, 5)
    flow, state_of = by_scipy(system, start, 12.0, times=times)
    course = follow_system(system, start, times, rtol=1e-10)
    for i, (t, z) in enumerate(zip(times, flow.y.T, strict=True)):
        state = state_of(z)
        rates = jax.tree.leaves(system.velocity(t, state))
        assert course.loss[i] == pytest.approx(float(system.loss(state)), abs=1e-7)
        assert course.slopes[i] == pytest.approx(np.asarray(system.slopes(state)), abs=1e-6)
        assert course.speed[i] == pytest.approx(max(float(jnp.abs(r).max()) for r in rates), abs=1e-6)
        for mine, theirs in zip(course.channels, system.channels(state), strict=True):
            assert mine[i] == pytest.approx(np.asarray(theirs), abs=1e-7)


@pytest.mark.parametrize(("levels", "T"), [((), 1.0), ((0.5, 0.1), 1.0), ((0.1, 0.1), 1.0), ((0.1,), 0.0)])
def test_levels_that_do_not_rise_and_times_that_are_none_are_refused(levels, T):
    system, start = NETS["tanh, from its noise"].net(12, 0).system()
    with pytest.raises(InvalidInput, match=r"rising numbers|positive time"):
        times_of_levels(system, start, NodeSystem.overlap, levels, T)
