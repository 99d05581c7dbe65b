"""Escape directions against answers from outside: brute force over angles, closed forms, finite differences."""

import re
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import nnls

from saddlescope import escape_directions
from saddlescope.errors import InvalidInput
from saddlescope.theory.escape.candidates import find_candidates, shares_of
from saddlescope.theory.escape.clarke import stationarity
from saddlescope.theory.escape.collapse import collapse_last, deepen, on_sphere
from saddlescope.theory.escape.gradient import gradient_of
from saddlescope.theory.escape.kinks import kinks_of
from saddlescope.theory.escape.localized import circle, localized_loss, norm_of
from saddlescope.theory.escape.polish import polish
from saddlescope.theory.escape.problem import problem_of
from saddlescope.theory.escape.prune import prune
from saddlescope.theory.escape.search import PROJECTED, TANGENT, Rule, descend, random_starts

HALF = [np.array([[1, 0], [0, 1], [-1, 0], [0, -1]]) / 2, np.array([[1, -1, 1, -1]]) / 2, np.array([[-1.0]])]


def drawn(rng, *widths):
    return on_sphere([rng.standard_normal((b, a)) for a, b in pairwise(widths)])


def gaussian(seed, inputs=2, points=8, outputs=1):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((inputs, points)), rng.standard_normal((outputs, points))


# ---- Example 1 ----


@pytest.fixture(scope="module")
def example1():
    return escape_directions(*circle(8), depth=3, width=16, restarts=64)


def test_example_1_has_the_two_speeds_of_the_paper(example1):
    assert example1.speeds[0] == pytest.approx(0.5, abs=1e-10)
    assert np.abs(example1.speeds - (np.sqrt(2) - 1)).min() < 1e-10
    assert example1.best.ranks == (2, 1, 1)
    assert example1.best.widths == (4, 1)
    assert example1.best.ratios == pytest.approx((0.5, 0, 0), abs=1e-8)
    assert example1.best.relu == pytest.approx((0.5, 0.5), abs=1e-6)


def test_weights_are_on_the_sphere_and_have_the_speed(example1):
    X, G = circle(8)
    for d in example1.directions:
        assert norm_of(d.weights) ** 2 == pytest.approx(3)
        assert [np.linalg.norm(w) for w in d.weights] == pytest.approx([1] * 3)
        assert -localized_loss(d.weights, X, G) == pytest.approx(d.speed, abs=1e-14)
        assert d.imbalance < 1e-6


def test_it_prints_as_a_table(example1):
    lines = str(example1).splitlines()
    assert lines[1].split() == ["speed", "share", "ranks", "neurons", "ReLU", "residual"]
    assert lines[2].startswith("0.500000000")
    assert lines[-1].startswith("Certified")
    assert example1.status == "certified"
    assert 0 < example1.shares.sum() + example1.dead <= 1 + 1e-12


@pytest.mark.parametrize("width", [1, 2, 3])
def test_narrow_nets_never_pass_the_rank_one_speed(width):
    found = escape_directions(*circle(8), depth=3, width=width, restarts=64)
    assert found.speeds[0] == pytest.approx(np.sqrt(2) - 1, abs=1e-9)
    assert found.speeds.max() <= np.sqrt(2) - 1 + 1e-9


def test_the_same_seed_gives_the_same_answer():
    one, two = (escape_directions(*circle(8), restarts=8, seed=3) for _ in range(2))
    assert np.array_equal(one.speeds, two.speeds)
    assert np.array_equal(one.shares, two.shares)


# ---- Other answers from outside ----


def best_neuron_2d(X, G, angles=20_001):
    """max over u of ‖Gσ(Xᵀu)‖ by a fine grid, refined around its best angle."""
    low, high = 0.0, 2 * np.pi
    for _ in range(4):
        phi = np.linspace(low, high, angles)
        values = np.linalg.norm(np.maximum(np.stack([np.cos(phi), np.sin(phi)], 1) @ X, 0) @ G.T, axis=1)
        best = phi[np.argmax(values)]
        width = 4 * (high - low) / angles
        low, high = best - width, best + width
    return values.max()


@pytest.mark.parametrize(("seed", "outputs"), [(0, 1), (1, 1), (2, 3), (3, 3)])
def test_depth_2_is_the_best_neuron_by_brute_force(seed, outputs):
    X, G = gaussian(seed, 2, 9, outputs)
    found = escape_directions(X, G, depth=2, width=8, restarts=32)
    assert found.speeds[0] == pytest.approx(best_neuron_2d(X, G), rel=1e-9)
    assert found.best.ranks == (1, 1)


@pytest.mark.parametrize(("depth", "outputs"), [(2, 1), (3, 3), (4, 2)])
def test_rank_one_inputs_have_the_closed_form(depth, outputs):
    """Inputs uvᵀ with v ≥ 0: s* = ‖Gv‖‖u‖ at any depth (proof of Prop. A.6)."""
    rng = np.random.default_rng(depth)
    u, v = rng.standard_normal(5), np.abs(rng.standard_normal(7))
    G = rng.standard_normal((outputs, 7))
    found = escape_directions(np.outer(u, v), G, depth=depth, width=6, restarts=16)
    assert found.speeds[0] == pytest.approx(np.linalg.norm(G @ v) * np.linalg.norm(u), rel=1e-9)
    assert found.best.rank_one


def test_positive_gradients_make_depth_useless():
    """For G ≥ 0 the best net is one neuron at any depth: σ(Σ a z) ≤ Σ|a| z."""
    X, G = gaussian(5, 2, 9)
    G = np.abs(G)
    deep = escape_directions(X, G, depth=4, width=8, restarts=32)
    assert deep.speeds[0] == pytest.approx(best_neuron_2d(X, G), rel=1e-9)


def test_speeds_scale_and_rotate_with_the_data():
    X, G = gaussian(6, 3, 10)
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    one = escape_directions(X, G, restarts=32)
    two = escape_directions(5 * turn @ X, G / 3, restarts=32)
    assert two.speeds[0] == pytest.approx(5 / 3 * one.speeds[0], rel=1e-9)


def test_inputs_that_span_less_than_their_space():
    X, G = gaussian(7, 2, 8)
    lifted = np.linalg.qr(np.random.default_rng(1).standard_normal((40, 2)))[0]
    found = escape_directions(lifted @ X, G, restarts=16)
    assert found.best.weights[0].shape[1] == 40
    assert found.speeds[0] == pytest.approx(escape_directions(X, G, restarts=16).speeds[0], rel=1e-9)


def test_without_a_first_order_escape_it_says_so():
    found = escape_directions(*circle(6), depth=2, width=8, restarts=16)
    assert found.best is None
    assert found.speeds.size == 0
    assert "no first-order escape" in str(found)


def test_lifted_starts_keep_the_speed_at_depth_8():
    found = escape_directions(*circle(8), depth=8, width=8, restarts=4)
    assert found.speeds[0] == pytest.approx(0.5, abs=1e-9)
    assert found.best.ranks == (2, 1, 1, 1, 1, 1, 1, 1)
    assert found.best.residual < 1e-6


# ---- Clarke ----


def test_the_optimum_is_stationary_in_clarkes_sense_only():
    found = stationarity(HALF, *circle(8))
    assert found.residual < 1e-12
    assert found.plain == pytest.approx(np.sqrt(2 / 3))
    assert found.kinks == 12
    assert found.slopes[1][0, 1::2] == pytest.approx(np.sqrt(2) / 4)


@pytest.mark.parametrize("size", [1e-2, 1e-4])
def test_a_perturbed_point_is_not_stationary(size):
    rng = np.random.default_rng(0)
    moved = on_sphere([w + size * rng.standard_normal(w.shape) for w in HALF])
    assert stationarity(moved, *circle(8)).residual > 0.1


def test_a_point_on_kinks_that_is_no_optimum_is_not_stationary():
    """The same four neurons with other signs: all the kinks, and no choice of slopes."""
    X, G = circle(8)
    other = [HALF[0], np.array([[1, -1, -1, 1]]) / 2, HALF[2]]
    assert stationarity(other, X, np.roll(G, 1) * np.arange(1, 9)).residual > 0.1


def test_slopes_found_make_the_gradient_what_is_claimed():
    X, G = circle(8)
    found = stationarity(HALF, X, G)
    gradient = gradient_of(HALF, X, G, found.slopes)
    for g, w in zip(gradient, HALF, strict=True):
        assert g == pytest.approx(-0.5 * w, abs=1e-12)
    for slope, mask in zip(found.slopes, kinks_of(HALF, X, True).masks, strict=True):
        assert np.all((slope >= 0) & (slope <= 1))
        assert np.isin(slope[~mask], (0, 1)).all()


def hull_distance(columns):
    """From zero to the convex hull of the columns."""
    shares = nnls(np.vstack([columns, np.ones(columns.shape[1])]), np.append(np.zeros(len(columns)), 1.0))[0]
    return np.linalg.norm(columns @ shares) / shares.sum()


def sampled_residual(weights, X, G, size=1e-7, draws=3000):
    """‖∇L0 + sρ‖/‖sρ‖ by gradient sampling: gradients of nets around this one, from automatic signs alone."""
    rng, speed = np.random.default_rng(0), -localized_loss(weights, X, G)
    found = []
    for _ in range(draws):
        moved = [w + size * rng.standard_normal(w.shape) for w in weights]
        found.append(np.concatenate([g.ravel() for g in gradient_of(moved, X, G)]))
    own = np.concatenate([speed * w.ravel() for w in weights])
    return hull_distance(np.unique(np.round(found, 5), axis=0).T + own[:, None]) / np.linalg.norm(own)


SMOOTH = [np.array([[1.0, 0]]), np.array([[1.0]])], np.array([[0, 0, 1.0], [1, -1, 0]]), np.array([[5, -5, -1.0]])


def test_opposite_points_at_a_kink_have_one_slope():
    """L0 is smooth there: 5σ(z) − 5σ(−z) = 5z. Free slopes would give zero."""
    found = stationarity(*SMOOTH)
    assert found.residual == pytest.approx(5 / np.sqrt(2))
    assert found.sufficient
    assert sampled_residual(*SMOOTH) == pytest.approx(found.residual, abs=1e-4)


@pytest.mark.parametrize("seed", range(12))
def test_the_residual_is_that_of_gradient_sampling(seed):
    """Points on few lines of the plane, with both signs and several sizes, and neurons across these lines."""
    rng = np.random.default_rng(seed)
    lines = rng.standard_normal((2, 2))
    X = np.concatenate([lines * rng.choice([-2, -1, 1, 3], 2) for _ in range(4)], axis=1)
    G = rng.standard_normal((1, 8))
    across = np.array([[-lines[1, k], lines[0, k]] for k in range(2)])
    weights = on_sphere([across, rng.standard_normal((1, 2))])
    found = stationarity(weights, X, G)
    assert found.kinks == 8
    assert found.sufficient
    assert sampled_residual(weights, X, G) == pytest.approx(found.residual, rel=1e-4, abs=1e-4)


def test_three_points_of_a_plane_are_marked_as_necessary_only():
    """At u across the plane, signs of x, y and x + y have 6 patterns of 8: free slopes are more than Clarke's."""
    X = np.array([[1.0, 0, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1]])
    weights, G = [np.array([[0, 0, 1.0]]), np.array([[1.0]])], np.array([[-1.0, -1, 1, -1]])
    found = stationarity(weights, X, G)
    assert found.residual < 1e-12
    assert found.sufficient == (sampled_residual(weights, X, G) < 1e-3)
    steep = stationarity(weights, X, np.array([[1.0, 1, -3, -1]]))
    assert steep.residual <= sampled_residual(weights, X, np.array([[1.0, 1, -3, -1]])) + 1e-6


@pytest.mark.parametrize("points", [6, 8, 12])
def test_directions_of_circles_are_stationary_by_gradient_sampling(points):
    X, G = circle(points)
    best = escape_directions(X, G, depth=3, width=8, restarts=32).best
    assert best.sufficient
    assert best.residual < 1e-6
    assert sampled_residual(best.weights, X, G, size=1e-5) < 1e-3


def test_points_at_zero_or_without_weight_are_no_kinks():
    X, G = circle(8)
    one = stationarity(HALF, X, G)
    other = stationarity(HALF, np.c_[X, [0, 0], [1, 0]], np.c_[G, [1], [0]])
    assert other.kinks == one.kinks
    assert other.sufficient


# ---- The parts ----


def test_the_gradient_is_that_of_finite_differences():
    rng = np.random.default_rng(0)
    X, G = gaussian(0, 3, 7, 2)
    weights = drawn(rng, 3, 5, 4, 2)
    found = gradient_of(weights, X, G)
    for layer, w in enumerate(weights):
        for place in np.ndindex(w.shape):
            ends = []
            for sign in (1, -1):
                moved = [v.copy() for v in weights]
                moved[layer][place] += sign * 1e-6
                ends.append(localized_loss(moved, X, G))
            assert found[layer][place] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-7)


@pytest.mark.parametrize("rule", [TANGENT, PROJECTED])
def test_the_batch_does_what_a_plain_loop_does(rule):
    X, G = gaussian(1, 3, 6, 2)
    short = Rule(rule.lr, rule.power, 20, rule.normalised)
    starts = random_starts(np.random.default_rng(2), 3, [3, 4, 4, 2])
    ends = descend(starts, X, G, short, instants=4)
    for k in range(3):
        weights = [w[k] for w in starts]
        for t in range(20):
            gradient, lr = gradient_of(weights, X, G), rule.lr * (1 - t / 20) ** rule.power
            if rule.normalised:
                along = sum(np.sum(g * w) for g, w in zip(gradient, weights, strict=True)) / 3
                gradient = [g - along * w for g, w in zip(gradient, weights, strict=True)]
                lr /= norm_of(gradient)
            weights = [w - lr * g for w, g in zip(weights, gradient, strict=True)]
            weights = [np.sqrt(3) / norm_of(weights) * w for w in weights]
        for a, b in zip(ends.weights, weights, strict=True):
            assert a[k] == pytest.approx(b, abs=1e-10)
        assert ends.speeds[k] == pytest.approx(-localized_loss(weights, X, G), abs=1e-10)
        assert ends.traces[k, 0] == pytest.approx(-localized_loss([w[k] for w in starts], X, G))


@pytest.mark.parametrize("seed", range(10))
def test_a_deeper_net_is_no_slower(seed):
    rng = np.random.default_rng(seed)
    X, G = gaussian(seed, 3, 6, 2)
    weights = drawn(rng, 3, 5, 4, 2)
    if localized_loss(weights, X, G) > 0:
        weights[-1] = -weights[-1]
    before = localized_loss(weights, X, G)
    assert localized_loss(collapse_last(weights, X, G), X, G) <= before + 1e-12
    deeper = deepen(weights, X, G, layers=2)
    assert len(deeper) == 5
    assert norm_of(deeper) ** 2 == pytest.approx(5)
    assert localized_loss(deeper, X, G) <= before + 1e-12
    assert [len(w) for w in deeper[1:]] == [1, 1, 1, 2]


def test_pruning_merges_copies_and_cuts_what_nobody_reads():
    X, G = circle(8)
    first = np.concatenate([HALF[0], HALF[0][:1] * 0.3, [[0.2, 0.1]]])
    second = np.concatenate([HALF[1], [[0.3, 0.0]]], axis=1)
    second[0, 0] *= 0.5
    small = prune([first, second, HALF[2]], X, G)
    assert [w.shape for w in small] == [(4, 2), (1, 4), (1, 1)]
    assert -localized_loss(polish(small, X, G), X, G) == pytest.approx(0.5, abs=1e-9)


def test_polish_never_slows_and_reaches_the_kink():
    X, G = circle(8)
    rng = np.random.default_rng(4)
    near = on_sphere([w + 0.02 * rng.standard_normal(w.shape) for w in HALF])
    end = polish(near, X, G)
    assert -localized_loss(near, X, G) < 0.5 - 1e-3
    assert -localized_loss(end, X, G) == pytest.approx(0.5, abs=1e-12)


def test_speed_without_lifts_does_not_know_the_shallower_net():
    """What `speed_vs_depth` relies on: without lifts a single dead start finds nothing, with them it has s*(2)."""
    p = problem_of(*circle(8))
    seed = next(s for s in range(50) if not len(find_candidates(p.X, p.G, 3, 1, 1, s, lift=False).speeds))
    with_lifts = find_candidates(p.X, p.G, 3, 1, 1, seed)
    below = find_candidates(p.X, p.G, 2, 1, 1, seed)
    assert with_lifts.speeds.max(initial=0) >= below.speeds.max(initial=0)


def test_shares_count_ends_near_a_speed():
    shares = shares_of(np.array([0.5, 0.4]), np.array([0.5, 0.4999, 0.45, 0.4, 0.0]))
    assert shares == pytest.approx([0.4, 0.2])


@pytest.mark.parametrize("seed", range(5))
def test_no_direction_exceeds_the_bound(seed):
    X, G = gaussian(seed, 3, 5, 2)
    found = escape_directions(X, G, depth=3, width=6, restarts=8)
    assert found.speeds[0] <= found.bound + 1e-9
    assert found.bound <= np.linalg.norm(X, 2) * np.linalg.norm(G, 2) + 1e-9


def test_where_restarts_miss_the_optimum_the_certificate_has_it():
    found = escape_directions(*circle(8), depth=3, width=4, restarts=1)
    assert found.status == "certified"
    assert found.best.speed == pytest.approx(0.5, abs=1e-8)


def test_the_bound_can_be_reached():
    """One point: s* = ‖x‖‖g‖, which is the bound."""
    X, G = np.array([[3.0], [4.0]]), np.array([[1.0], [2.0]])
    found = escape_directions(X, G, depth=3, width=4, restarts=8)
    assert found.status == "certified"
    assert found.speeds[0] == pytest.approx(5 * np.sqrt(5))


# ---- Bad input ----

X8, G8 = circle(8)


@pytest.mark.parametrize(
    ("X", "G", "sizes", "words"),
    [
        (X8, G8[:, :7], {}, "one column per point"),
        (X8, G8[0], {}, "one column per point"),
        (X8[0], G8, {}, "(inputs, points)"),
        (X8, 0 * G8, {}, "G is zero"),
        (0 * X8, G8, {}, "X is zero"),
        (X8, np.where(G8 > 0, np.nan, 1), {}, "not finite"),
        (X8, G8, {"depth": 1}, "depth 2 or more"),
        (X8, G8, {"width": 0}, "width must be 1"),
        (X8, G8, {"restarts": 0}, "restarts must be 1"),
        (X8, G8, {"depth": 2.5}, "whole numbers"),
        (X8, G8, {"seed": -1}, "seed must be 0"),
        (X8 + 1j, G8, {}, "real numbers"),
        ([["a"]], [[1.0]], {}, "real numbers"),
        (1e200 * X8, 1e200 * G8, {}, "too large or too small together"),
    ],
)
def test_bad_input_is_one_sentence(X, G, sizes, words):
    with pytest.raises(InvalidInput, match=re.escape(words)) as found:
        escape_directions(X, G, **sizes)
    assert "\n" not in str(found.value)


def test_points_without_weight_change_nothing():
    """A far point with G = 0 neither kills the restarts nor certifies what is not the best."""
    X, G = gaussian(0, 8, 30, 1)
    G[:, 3] = 0
    far = X.copy()
    far[:, 3] *= 1e8
    one, other = (escape_directions(x, G, depth=3, width=4, restarts=16) for x in (X, far))
    assert other.best.speed == pytest.approx(one.best.speed, rel=1e-6)
    assert other.status == one.status == "found"


def test_where_nothing_was_found_the_bound_is_said():
    found = escape_directions(*circle(6), depth=3, width=1, restarts=16)
    assert found.status == "bounded"
    assert "0.4641" in str(found)
    assert "no direction was found" in str(found)
    assert "no first-order escape" not in str(found)


@pytest.mark.parametrize(("width", "restarts"), [(8, 64), (4, 1), (16, 8)])
def test_the_optimum_is_listed_once_with_its_share(width, restarts):
    found = escape_directions(*circle(8), depth=3, width=width, restarts=restarts)
    assert found.status == "certified"
    assert np.all(np.diff(found.speeds) < -1e-4)
    ends = find_candidates(*problem_of(*circle(8))[:2], 3, width, restarts, 0).ends * problem_of(*circle(8)).scale
    assert found.shares[0] == pytest.approx(np.mean(np.abs(ends - 0.5) <= 5e-4))


@pytest.mark.parametrize("size", [1e-200, 1e-12, 1e200])
def test_the_size_of_the_data_is_that_of_the_speed(size):
    X, G = gaussian(0, 2, 5)
    one, other = (escape_directions(x, G, depth=3, width=4, restarts=8) for x in (X, size * X))
    assert other.speeds / size == pytest.approx(one.speeds)
    assert other.bound / size == pytest.approx(one.bound)
    assert other.status == one.status == "certified"
    assert other.best.residual < 1e-6
    assert len(str(other).splitlines()[2]) < 80


def test_the_three_words_of_status():
    assert escape_directions(*gaussian(0, 2, 5), restarts=4).status == "certified"
    assert escape_directions(*gaussian(0, 2, 40), restarts=4).status == "bounded"
    assert escape_directions(*gaussian(0, 8, 40), restarts=4).status == "found"
