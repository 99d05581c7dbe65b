"""The pieces of the escape paper's conjectures that have an answer from outside."""

import numpy as np
import pytest

from saddlescope.claims import FAILS, HOLDS, UNCLEAR
from saddlescope.papers.escape import conjecture1, predicts_success, second_saddle
from saddlescope.papers.escape._cubes import certified_speed, points_of
from saddlescope.papers.escape._example1 import starts_of
from saddlescope.results import Results, collect, named
from saddlescope.statistics import auc
from saddlescope.theory.escape.localized import circle, localized_loss


def circuit(k):
    """Eq. 2 in k orthogonal planes: four neurons that read one direction in each."""
    four = np.array([[0, 1], [1, 0], [0, -1], [-1, 0]]) / 2
    return [np.tile(four, k) / np.sqrt(k), np.array([[1, -1, 1, -1]]) / 2, -np.ones((1, 1))]


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_certified_speed_of_several_planes_is_attained(k):
    X, G = points_of(f"planes{k}")
    weights = circuit(k)
    assert np.allclose([np.sum(w**2) for w in weights], 1)
    assert -localized_loss(weights, X, G) == pytest.approx(certified_speed(f"planes{k}"), abs=1e-9)


def test_a_cube_in_two_dimensions_is_example_1():
    found = {
        tuple(np.round((*x, g), 9)) for x, g in zip(points_of("cube2")[0].T, points_of("cube2")[1][0], strict=True)
    }
    X, G = circle(8)
    assert found == {tuple(np.round((*x, g), 9) + 0.0) for x, g in zip(X.T, G[0], strict=True)}


def test_the_width_for_half_lies_between_its_ends():
    low, middle, high = conjecture1.half_width({4: (20, 200), 16: (180, 200)})
    assert middle == pytest.approx(8)
    assert low < middle < high
    assert conjecture1.half_width({4: (0, 50), 16: (1, 50)})[1] == np.inf
    assert conjecture1.half_width({4: (50, 50)})[1] == pytest.approx(4)


def test_shares_by_width_that_grow_fall_or_do_neither():
    grows, falls = conjecture1.word_of_growth, conjecture1.word_of_fall
    assert grows({4: (10, 200), 8: (180, 200)}) == HOLDS
    assert grows({4: (8, 200), 8: (180, 200), 16: (170, 200), 32: (160, 200), 64: (150, 200)}) == FAILS  # step by step
    assert grows({4: (100, 200), 8: (104, 200)}) == UNCLEAR
    assert falls({4: (0, 200), 8: (24, 200), 16: (5, 200)}) == HOLDS
    assert falls({4: (0, 200), 8: (84, 200), 16: (60, 200)}) == UNCLEAR
    assert falls({4: (0, 200), 8: (84, 200), 16: (90, 200)}) == FAILS


def wide(paper, long=None):
    """Restarts at width 128 by the paper's rule, and by the longer one if it was tried: how many of 50 succeed."""
    rows = {"paper": paper, "long": long}
    points = [{"data": "circle12", "width": 128, "rule": r, "seed": s} for r, k in rows.items() if k for s in range(2)]
    cells = [{"speed": ("restart", np.arange(50) < rows[p["rule"]]), "best": 1.0} for p in points]
    cells = [named({n: (v[0], v[1].astype(float)) if isinstance(v, tuple) else v for n, v in c.items()}) for c in cells]
    return Results(collect(cells, points), collect([named({})] * len(points), points))


def test_few_successes_fail_only_where_more_steps_do_not_help():
    assert conjecture1.widest_finds(wide(45)).holds
    assert conjecture1.widest_finds(wide(10)).unclear  # nothing longer was tried
    assert conjecture1.widest_finds(wide(10, 30)).unclear  # more steps help
    stuck = conjecture1.widest_finds(wide(10, 10))
    assert not stuck.holds
    assert not stuck.unclear


def test_dead_restarts_are_read_from_their_speeds():
    assert conjecture1.slower_ends(wide(49)).holds
    assert not conjecture1.slower_ends(wide(20)).holds


def test_auc_by_counting_pairs_and_its_interval_by_bootstrap():
    rng = np.random.default_rng(0)
    good = rng.random(400) < 0.3
    scores = rng.standard_normal(400) + good
    pairs = np.mean(scores[good][:, None] > scores[~good])
    value, half = auc(scores, good)
    assert value == pytest.approx(pairs)
    drawn = [_resampled(rng, scores, good) for _ in range(400)]
    assert half == pytest.approx(1.96 * np.std(drawn), rel=0.15)
    assert auc(np.zeros(10), np.arange(10) < 5)[0] == 0.5


def _resampled(rng, scores, good):
    rows = rng.integers(len(good), size=len(good))
    s, g = scores[rows], good[rows]
    return np.mean(s[g][:, None] > s[~g])


def test_the_circuit_score_by_loops():
    first, second, last = starts_of(5, 0, 3)
    X, G = circle(8)
    found = predicts_success.circuit_score(np.maximum(first @ X, 0), second, last[:, 0], G[0])
    for r in range(3):
        best = 0.0
        for tau in (1, -1):
            points = [j for j in range(8) if G[0, j] == -tau]
            for sign in (1, -1):
                for i in range(5):
                    parts = []
                    for k, j in enumerate(points):
                        paths = sign * (-1) ** k * second[r, i]
                        parts.append(max(max(p, 0) * max(w @ X[:, j], 0) for p, w in zip(paths, first[r], strict=True)))
                    best = max(best, tau * last[r, 0, i] * min(parts))
        assert found[r] == pytest.approx(best)


def test_the_weights_of_eq_2_have_the_largest_circuit_score():
    """|W3| · 1/2 · 1/2, and none on the sphere of random starts is above."""
    first, second, last = (w[None] for w in circuit(1))
    X, G = circle(8)
    score = predicts_success.circuit_score(np.maximum(first @ X, 0), second, last[:, 0], G[0])
    assert score == pytest.approx(0.25)
    along, second, last = starts_of(16, 1, 50)
    assert predicts_success.circuit_score(np.maximum(along @ X, 0), second, last[:, 0], G[0]).max() < 0.25


def test_the_clock_and_line_of_a_second_path():
    """v' = s v² has 1/v on a line of slope -s in t = Σ c/‖θ‖²."""
    steps = np.arange(0, 100, 10)
    matrices = [np.full((10, 2, 2), 0.5)] * 4  # ‖θ‖² = 4
    t = second_saddle._time(matrices, steps, 2.0)
    assert np.allclose(t, steps * 0.5)
    slope, left = second_saddle._line(t, 60 - 0.3 * t)
    assert slope == pytest.approx(-0.3)
    assert left < 1e-20


def test_rates_that_a_residual_predicts():
    """Positive activations of rank one: both predictions are ‖R h‖, the closed form of one path."""
    rng = np.random.default_rng(0)
    h = np.abs(rng.standard_normal(40))
    inputs = np.outer(np.abs(rng.standard_normal(5)), h)
    residual = rng.standard_normal((3, 40))
    expected = np.linalg.norm(residual @ h) * np.linalg.norm(inputs) / np.linalg.norm(h)
    assert second_saddle._searched(inputs, residual, 3) == pytest.approx(expected, rel=1e-3)


def second_escapes(measured, instants=9.0):
    points = [{"seed": k} for k in range(12)]
    found = dict(measured=measured, relu=0.3, open=0.4, instants=instants)
    return Results(collect([named(found)] * 12, points), collect([named({})] * 12, points))


def test_a_second_path_that_shrinks_counts_against_its_rate():
    check = second_saddle.rate_is("relu")
    assert check(second_escapes(0.3)).holds
    assert not check(second_escapes(-0.3)).holds
    assert not check(second_escapes(-0.3)).unclear
    assert check(second_escapes(0.0, instants=2.0)).unclear
