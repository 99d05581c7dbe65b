"""The three solvers of the limit against each other, and what a flow knows of other neurons and inputs."""

import numpy as np
import pytest
from scipy.stats import norm

from saddlescope.meanfield import Measure, meanfield
from saddlescope.meanfield.by_memory import _march
from saddlescope.meanfield.laws import (
    GaussianMixing,
    LaplaceMixing,
    RademacherMixing,
    StartLaw,
    UniformMixing,
)
from saddlescope.meanfield.memory import MemorySolver
from saddlescope.meanfield.solve import best_solver
from saddlescope.meanfield.step_length import StepLength
from saddlescope.nets import Erf, LeakyReLU, RoundedLeakyReLU, Tanh
from saddlescope.numerics import reproducible
from saddlescope.theory.meanfield.kernel import closed_form
from saddlescope.theory.meanfield.pairs import ERF

TWO = Measure([-0.5, 0.5], [1.0, -1.0], [0.4, 0.6])
MOVES = StartLaw(mean=(0.5, 0.1), slope=(0.7, -0.2))
FIRST = StartLaw(0.3, (0.5, -0.4), atoms=(((0.2,), (0.5, -0.3)),))
LAST = StartLaw(0.2, 0.6, atoms=(((0.3, -0.5), 0.8),))


def two_channels(depth, **more):
    starts = (FIRST, *[MOVES] * (depth - 1), LAST)
    return meanfield(TWO, 2, depth, Erf(), start=starts, **more)


def gap(a, b, name="output"):
    return float(np.abs(a.data[name].values - b.data[name].values).max())


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("mixing", [GaussianMixing(), GaussianMixing(0.8, 0.5)])
def test_memory_form_and_quadrature_agree(depth, mixing):
    """Within the sum of their stated errors, in outputs, channels, signals and B; with start atoms and slopes."""
    limit = two_channels(depth, mixing=mixing)
    nodes = 24 if mixing.has_bias else 32
    exact, rule = limit.flow(8.0, times=9), limit.flow(8.0, times=9, solver="quadrature", nodes=nodes)
    assert exact.solver == "memory"
    assert exact.error < 1e-6
    assert gap(exact, rule) < exact.error + rule.error
    for name in ("channels", "signal", "B"):
        assert gap(exact, rule, name) < 10 * (exact.error + rule.error)
    assert exact.loss.values == pytest.approx(rule.loss.values, abs=2 * (exact.error + rule.error))


def test_rank_one_to_ten_digits():
    """Sixty Hermite nodes are exact enough for erf at rank 1 to show the order of the memory form's error."""
    limit = meanfield(TWO, 1, 1, Erf(), start=StartLaw(0.5, 0.7))
    exact = limit.flow(10.0, times=6, rtol=1e-11)
    assert gap(exact, limit.flow(10.0, times=6, solver="quadrature", nodes=80, rtol=1e-12)) < 1e-9


def test_leaky_relu_without_a_kink_on_the_way():
    """Targets of one sign keep f away from 0: the rule of |L| is exact, and both solvers agree to their steps."""
    limit = meanfield(Measure([-0.5, 0.5], [1.0, 2.0]), 1, 1, LeakyReLU(0.1), start=StartLaw(1.0, 0.5))
    exact, rule = limit.flow(5.0, times=6), limit.flow(5.0, times=6, solver="quadrature")
    assert exact.data.attrs["on_floor"] == 0
    assert gap(exact, rule) < 1e-7


def test_order_of_the_memory_form():
    """With fixed steps the error falls as h⁵; a slope from halved steps, against the finest."""
    limit = meanfield(TWO, 1, 1, Erf(), start=StartLaw(0.5, 0.7))

    def end(steps):
        solver = MemorySolver(limit.problem, ERF, 0.0, 1e9, 0.0)
        solver.length.next = 4.0  # cut short at every time
        for time in np.linspace(0, 4, steps + 1)[1:]:
            solver.advance(time)
        assert solver.steps == steps
        return solver.saved().stage.channels[-1]

    with reproducible():
        counts, finest = [8, 16, 32], end(256)
        errors = [np.abs(end(n) - finest).max() for n in counts]
    slope = -np.polyfit(np.log(counts), np.log(errors), 1)[0]
    assert 4.5 < slope < 5.6


def test_particles_agree_within_their_error():
    limit = two_channels(1)
    drawn = limit.flow(4.0, times=5, solver="particles", count=2048, seed=1)
    assert gap(limit.flow(4.0, times=5), drawn) < drawn.error


@pytest.mark.parametrize("mixing", [UniformMixing(), UniformMixing(1.5, 0.5), LaplaceMixing(), RademacherMixing()])
def test_other_laws_by_quadrature_and_particles(mixing):
    limit = meanfield(TWO, 2, 1, Tanh(), mixing=mixing, start=MOVES_TO_ONE)
    rule = limit.flow(4.0, times=5)
    assert rule.solver == "quadrature"
    drawn = limit.flow(4.0, times=5, solver="particles", count=2048)
    assert gap(rule, drawn) < drawn.error + rule.error
    assert rule.error < 1e-3


MOVES_TO_ONE = StartLaw(0.5, 0.7)


def test_the_limit_is_the_mean_of_wide_nets():
    """Eight nets of width 4,096: five standard errors, and nothing like the start's distance."""
    limit = meanfield(TWO, 2, 1, Erf(), start=MOVES_TO_ONE)
    exact = limit.flow(4.0, times=3).data.output.values[-1]
    nets = np.stack([limit.net(4096, s).flow(4.0, times=3).data.output.values[-1] for s in range(8)])
    error = nets.std(axis=0, ddof=1) / np.sqrt(8)
    assert (np.abs(nets.mean(axis=0) - exact) < 5 * error + 1e-3).all()
    assert error.max() < 0.02


@pytest.mark.parametrize("solver", ["memory", "quadrature"])
def test_weights_of_given_neurons(solver):
    """Against a quadrature flow in which these neurons are nodes of weight 0 from the start."""
    limit = two_channels(1, mixing=GaussianMixing(0.8, 0.5))
    rng = np.random.default_rng(0)
    flow = limit.flow(4.0, times=4, solver=solver)
    other = limit.flow(4.0, times=4, solver="quadrature", nodes=20)
    for block, law in ((0, limit.features), (1, limit.mixing)):
        frozen = law.draw(rng, 6, 1 if block == 0 else 2)
        found = flow.weights_at(block, frozen)
        assert found.shape == (4, 6, 2 if block == 0 else 1)
        assert np.abs(found[0]).max() == 0
        assert np.abs(found - other.weights_at(block, frozen)).max() < 1e-5
        assert np.abs(found[-1]).max() > 0.01


def test_weights_give_the_channels():
    """f = E w φ over neurons, with w from `weights_at`: a Monte-Carlo average within six deviations."""
    limit = meanfield(TWO, 1, 1, Erf(), start=StartLaw(0.5, 0.7, std=0.0))
    flow, count = limit.flow(4.0, times=2), 40_000
    with reproducible():
        frozen = limit.mixing.draw(np.random.default_rng(1), count, 1)
        w = limit.starts[1].average(frozen, 1, limit.activation) + flow.weights_at(1, frozen)[-1]
        inputs = np.hstack([flow.data.channels.values[-1, 0], np.ones((2, 1))])
        terms = w * np.asarray(limit.activation(frozen @ inputs.T))
    error = terms.std(axis=0) / np.sqrt(count)
    assert (np.abs(terms.mean(axis=0) - flow.data.output.values[-1, :, 0]) < 6 * error).all()


@pytest.mark.parametrize("solver", ["memory", "quadrature"])
def test_channels_at_any_input(solver):
    """At the data they are the flow's own; elsewhere those of a flow with more points of weight 0."""
    limit = two_channels(2)
    flow = limit.flow(3.0, times=3, solver=solver)
    own = flow.channels_at([-0.5, 0.5])
    assert np.abs(own.output.values - flow.data.output.values).max() < 1e-12
    assert np.abs(own.channels.values - flow.data.channels.values).max() < 1e-12
    more = meanfield(
        Measure([-0.5, 0.5, 0.1, 2.0], [1.0, -1.0, 0.0, 0.0], [0.4, 0.6, 0.0, 0.0]), 2, 2, Erf(), start=limit.starts
    ).flow(3.0, times=3)
    there = flow.channels_at([0.1, 2.0])
    assert np.abs(there.output.values - more.data.output.values[:, 2:]).max() < 1e-5
    assert np.abs(there.channels.values - more.data.channels.values[:, :, 2:]).max() < 1e-5


def test_channels_of_a_net_at_any_input():
    """Against the net's own weights, put through its own layers."""
    net = meanfield(TWO, 2, 1, Tanh()).net(30, 1)
    flow = net.flow(2.0, times=3)
    w = [s + flow.weights_at(b, f)[-1] for b, (s, f) in enumerate(zip(net.start, net.frozen, strict=True))]
    f = np.array([[0.3], [-1.0]])
    for weights, frozen in zip(w, net.frozen, strict=True):
        f = np.tanh(f @ frozen[:, :-1].T + frozen[:, -1]) @ weights / 30
    assert np.abs(flow.channels_at([0.3, -1.0]).output.values[-1] - f).max() < 1e-10


# ---- Densities ----


def test_density_at_the_start_is_that_of_the_law():
    """w⁰ = mean + slope (L + b) + noise is Gaussian, with variance slope² (σ_L² + σ_b²) + std²."""
    limit = meanfield(TWO, 1, 1, Erf(), start=StartLaw(0.5, 0.7, std=0.6))
    flow = limit.flow(2.0, times=3)
    for block, spread in ((0, 2.0), (1, 1.0)):
        density = flow.density(block, time=0.0)
        wanted = norm.pdf(density.w, 0.5, np.sqrt(0.49 * spread + 0.36))
        assert np.abs(density.values - wanted).max() < 2e-3
        assert float(density.integrate("w")) == pytest.approx(1, abs=1e-3)


def test_density_is_that_of_wide_nets():
    """Five deviations of a histogram of 40 bins, of a net of 20,000 neurons that follow the limit."""
    limit = meanfield(TWO, 1, 1, Erf(), start=StartLaw(0.5, 0.7, std=0.5))
    flow, count, rng = limit.flow(6.0, times=2), 20_000, np.random.default_rng(2)
    with reproducible():
        for block, law in ((0, limit.features), (1, limit.mixing)):
            frozen = law.draw(rng, count, 1)
            w = limit.starts[block].draw(rng, frozen, 1, limit.activation) + flow.weights_at(block, frozen)[-1]
            heights, edges = np.histogram(w, 40, density=True)
            density = flow.density(block, at=(edges[1:] + edges[:-1]) / 2).values
            error = np.sqrt(np.maximum(density, 1e-4) / (count * np.diff(edges)))
            assert (np.abs(heights - density) < 5 * error + 0.01 * density.max()).all()


def test_density_without_noise_is_a_histogram():
    limit = meanfield(TWO, 1, 1, Erf(), start=StartLaw(0.5, 0.7, std=0.0))
    density = limit.flow(2.0, times=2).density(1, time=0)
    assert density.attrs["kind"] == "histogram"
    assert float(density.integrate("w")) == pytest.approx(1, abs=0.05)
    of_net = limit.net(500).flow(2.0, times=2).density(0)
    assert float(of_net.integrate("w")) == pytest.approx(1, abs=0.05)


# ---- Which solver; long times; kinks ----


@pytest.mark.parametrize(
    ("rank", "activation", "mixing", "T", "name"),
    [
        (2, Erf(), None, 40, "memory"),
        (9, LeakyReLU(0.1), None, 40, "memory"),
        (2, Tanh(), None, 40, "quadrature"),
        (9, Tanh(), None, 40, "particles"),
        (2, Erf(), UniformMixing(), 40, "quadrature"),
        (2, Erf(), None, 1e5, "quadrature"),
        (9, Erf(), RademacherMixing(), 40, "quadrature"),
    ],
)
def test_the_best_solver_is_chosen(rank, activation, mixing, T, name):
    assert best_solver(meanfield(TWO, rank, 1, activation, mixing=mixing), T) == name


def test_implicit_steps_go_far():
    """To T = 10⁶ in some hundred steps; and at T = 20 they agree with explicit ones."""
    limit = meanfield(TWO, 1, 1, Tanh(), start=StartLaw(0.5, 0.7))
    plain, implicit = (limit.flow(20.0, times=5, implicit=i, rtol=1e-8, nodes=16) for i in (False, True))
    assert gap(plain, implicit) < 1e-6
    far = limit.flow(1e6, times=5, implicit=True, rtol=1e-8, nodes=16)
    assert far.data.attrs["steps"] < 1000
    assert far.loss.values[-1] < 1e-20


def test_the_share_on_the_floor_is_told_and_in_the_error():
    """Opposite targets and f near 0: the flow slides along the kink; a rounded activation does not."""
    start = StartLaw(0.5, 0.7)
    kinked = meanfield(TWO, 1, 1, LeakyReLU(0.1), start=start).flow(40.0, times=5)
    assert kinked.data.attrs["on_floor"] > 0.001
    assert kinked.error > 1e-5
    assert "on the shortest step" in str(kinked)
    rounded = meanfield(TWO, 1, 1, RoundedLeakyReLU(0.2), start=start).flow(10.0, times=5)
    assert rounded.data.attrs["on_floor"] == 0


def test_the_stated_error_holds_for_the_rough_run():
    """Two flows of other tolerances differ by no more than the worse one says."""
    limit = two_channels(1)
    rough, fine = limit.flow(10.0, times=3, rtol=1e-6), limit.flow(10.0, times=3, rtol=1e-10)
    assert gap(rough, fine) < rough.error


def test_many_saved_times_change_nothing():
    limit = two_channels(1)
    code = (ERF, 0.0)
    with reproducible():
        ends = [_march(limit, code, np.linspace(0, 6, n), 1e-9, 0.0)[1][-1].stage.channels[-1] for n in (2, 50)]
    assert np.abs(ends[0] - ends[1]).max() < 1e-7


@pytest.mark.parametrize("activation", [LeakyReLU(0.1), Erf()])
def test_a_step_that_overflows_is_rejected(activation):
    """A step of 10⁶⁰ has no finite error. NaN must neither be taken nor stay as long as it is."""
    limit = meanfield(TWO, 1, 1, activation, mixing=GaussianMixing(1.0, 1.0), start=StartLaw(0.5, 0.7))
    solver = MemorySolver(limit.problem, *closed_form(activation), 1e-6, 1e-3)
    with reproducible():
        error = solver._try(1e60)[0]
    assert not np.isfinite(error)
    assert not solver.length.takes(1e60, error, 1e61, last=False)
    assert solver.length.next < 1e60


def test_steps_are_held_at_the_floor_on_a_kink_alone():
    """Errors ∝ h are a kink's, and steps of the floor are taken there; errors ∝ h⁵ ask for shorter steps."""
    for order, shortest in ((1, 0.01), (5, 0.0)):
        length, tried = StepLength(0.01, 1e-9), []
        for _ in range(40):
            h = length.next
            if length.takes(h, 1e4 * (h / 0.01) ** order, 100.0, last=False):
                tried.append(h)
        assert tried, order
        assert (np.median(tried) == pytest.approx(0.01)) == (shortest > 0)
        assert order == 1 or max(tried) < 0.01


def test_a_floor_that_is_a_gap_of_saved_times_ends():
    """0.04 between saved times is 0.0400000000000027 after rounding: longer than a floor of 0.04."""
    data = Measure([-0.5, 0.5], [1.0, -1.0])
    limit = meanfield(data, 2, 1, LeakyReLU(0.1), start=StartLaw(mean=1.0))
    flow = limit.flow(30.0, times=76, rtol=1e-6, floor=0.04, solver="memory")
    assert flow.data.attrs["on_floor"] > 0


def test_eight_digits():
    """Two points, 40 units of time; `benchmarks/meanfield.py` has its CPU time."""
    limit = meanfield(Measure([-0.5, 0.5], [1.0, -1.0]), 1, 1, Erf(), start=StartLaw(0.5, 0.7))
    exact = limit.flow(40.0, times=5, rtol=1e-11)
    flow = limit.flow(40.0, times=5, rtol=1e-8)
    assert flow.solver == "memory"
    assert gap(flow, exact) < 1e-8
