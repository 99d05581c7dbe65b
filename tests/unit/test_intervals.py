"""Intervals and exponents, against closed forms, scipy and simulation."""

from math import comb

import numpy as np
import pytest
from scipy import stats

from saddlescope.statistics import (
    apart,
    exponents,
    mean_of,
    one_more,
    one_more_count,
    rank_correlation,
    same_share,
    student,
    wilson,
    wilson_clear_of_half,
)


def test_interval_of_a_mean_is_scipys():
    values = np.array([1.0, 2.5, 3.0, 4.5, 4.0])
    mean, half = mean_of(values)
    low, high = stats.t.interval(0.95, 4, values.mean(), stats.sem(values))
    assert (mean - half, mean + half) == pytest.approx((low, high))
    assert np.isnan(mean_of([3.0])[1])


def test_share_interval_is_wilsons():
    assert wilson(0, 5) == pytest.approx((0, 0.4345), abs=1e-3)
    found = stats.binomtest(7, 20).proportion_ci(method="wilson")
    assert wilson(7, 20) == pytest.approx((found.low, found.high), abs=1e-4)


def test_wilson_interval_against_the_textbook():
    assert wilson(20, 20) == (pytest.approx(20 / (20 + 1.96**2)), 1.0)
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-3)


@pytest.mark.parametrize("share", [0.6, 0.75, 0.8, 0.9, 1.0])
def test_the_interval_leaves_one_half_where_said(share):
    n = wilson_clear_of_half(share)
    assert wilson(share * n, n)[0] >= 0.5
    assert wilson(share * (n - 1), n - 1)[0] < 0.5


@pytest.mark.parametrize(("a", "n", "b", "m"), [(8, 10, 3, 10), (0, 5, 5, 5), (87, 130, 90, 130), (1, 30, 9, 30)])
def test_same_share_is_fishers_test_by_brute_force(a, n, b, m):
    def chance(k):
        return comb(n, k) * comb(m, a + b - k) / comb(n + m, a + b)

    p = sum(chance(k) for k in range(max(0, a + b - m), min(n, a + b) + 1) if chance(k) <= chance(a) * (1 + 1e-9))
    for level in (0.01, 0.05):
        assert same_share(a, n, b, m, level) == (p >= level)
    assert same_share(0, 0, b, m)


def test_one_more_value_lies_inside_as_often_as_said():
    draws = np.random.default_rng(0).normal(size=(4000, 6))
    inside = [low <= row[5] <= high for row in draws for low, high in [one_more(row[:5])]]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.012)
    assert np.isnan(one_more([1.0])[0])


@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
def test_one_more_count_covers_at_least_as_often_as_said(share):
    rng = np.random.default_rng(1)
    seen, coming = rng.binomial(200, share, 600), rng.binomial(40, share, 600)
    inside = [low <= c <= high for s, c in zip(seen, coming, strict=True) for low, high in [one_more_count(s, 200, 40)]]
    assert np.mean(inside) >= 0.95


def test_means_apart():
    assert apart((1.0, 0.2), (2.0, 0.3))
    assert not apart((1.0, 0.6), (2.0, 0.5))
    assert not apart((1.0, np.nan), (2.0, 0.1))


def test_rank_correlation_is_spearmans():
    x, y = np.random.default_rng(2).normal(size=(2, 30))
    y[3] = y[4]
    assert rank_correlation(x, y) == pytest.approx(stats.spearmanr(x, y)[0])


def test_exponents_without_censoring_are_scipys():
    rng = np.random.default_rng(3)
    x = rng.uniform(1, 100, 40)
    time = 5 * x**-0.7 * np.exp(0.1 * rng.normal(size=40))
    (e,), (half,) = exponents(x[:, None], time)
    found = stats.linregress(np.log(x), np.log(time))
    assert e == pytest.approx(found.slope)
    assert half == pytest.approx(found.stderr * stats.t.ppf(0.975, 38))


def test_censored_runs_are_neither_dropped_nor_taken_for_events():
    """True exponent -1; the slowest third is censored. Dropping those, or taking the cap for the event, is biased."""
    rng = np.random.default_rng(4)
    found = {"censored": [], "dropped": [], "taken": []}
    for _ in range(30):
        x = np.geomspace(1, 10, 60)
        time = 100 / x * np.exp(0.4 * rng.normal(size=60))
        cap = 60.0
        late = time > cap
        seen = np.minimum(time, cap)
        found["censored"].append(exponents(x[:, None], seen, late)[0][0])
        found["dropped"].append(exponents(x[~late, None], seen[~late])[0][0])
        found["taken"].append(exponents(x[:, None], seen)[0][0])
    means = {k: np.mean(v) for k, v in found.items()}
    assert means["censored"] == pytest.approx(-1, abs=0.04)
    assert means["dropped"] > -0.93
    assert means["taken"] > -0.85


def test_interval_of_a_censored_exponent_covers_the_truth():
    rng, inside = np.random.default_rng(5), []
    for _ in range(150):
        x = np.exp(rng.uniform(0, 2, (40, 2)))
        time = 10 * x[:, 0] ** -1 * x[:, 1] ** 0.5 * np.exp(0.3 * rng.normal(size=40))
        late = time > 15
        e, half = exponents(x, np.minimum(time, 15), late)
        inside.append(abs(e - (-1, 0.5)) <= half)
    assert np.mean(inside) == pytest.approx(0.95, abs=0.035)


def test_too_few_events_give_no_exponent():
    e, half = exponents([[1.0], [2.0], [4.0]], [10.0, 10.0, 10.0], [True, True, False])
    assert np.isnan(e).all()
    assert np.isnan(half).all()
    assert student(5) == pytest.approx(2.776, abs=1e-3)
