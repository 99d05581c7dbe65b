"""Stages in noise: what is measured of the noise, and what is made of correlated, spiked and rounded curves."""

import numpy as np
import pytest
from staircases import as_logged, even, staircase, wandering

from saddlescope.stages import find_stages
from saddlescope.stages.gaps import Flanks
from saddlescope.stages.noise import Noise, is_noisy, quantum, unrounded, without_outliers

N = 4000
X = np.arange(float(N))


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8, 0.9])
def test_noise_is_measured_with_its_correlation(rho):
    """Of AR(1) noise a mean over many points deviates by s √((1 + ρ) / (1 − ρ)) / √L; drops must not count as noise."""
    loss = staircase(X, [900, 2100, 3000], [4, 2, 1, 0.4], 30) * (
        1 + 0.02 * wandering(np.random.default_rng(3), rho, N)
    )
    found = Noise(loss)
    long = 0.02 * np.sqrt((1 + rho) / (1 - rho))
    assert np.median(found.table[-1]) == pytest.approx(long, rel=0.35)
    assert np.median(found.of_means(3, np.arange(N))) < 1.2 * long


def test_a_curve_that_only_falls_has_no_noise():
    assert not is_noisy(even(3)[3])
    assert not is_noisy((1 + X / 50) ** -0.7)
    assert is_noisy(even(3)[3] * (1 + 1e-3 * np.random.default_rng(0).standard_normal(2000)))


def test_noise_at_the_rounding_of_floats_is_none():
    loss = np.maximum(np.exp(-X / 20), 1e-17) * np.where(X > 800, np.random.default_rng(0).uniform(1, 9, N), 1)
    assert not is_noisy(loss)


def test_lines_through_flanks_are_those_of_polyfit():
    loss = np.random.default_rng(1).standard_normal(100) + 0.3 * np.arange(100)
    value, slope, mean = Flanks(loss).line(np.array([20]), 31, np.array([60]))
    expected = np.polyfit(np.arange(20, 51), loss[20:51], 1)
    assert float(slope[0]) == pytest.approx(expected[0], rel=1e-9)
    assert float(value[0]) == pytest.approx(np.polyval(expected, 60), rel=1e-9)
    assert float(mean[0]) == pytest.approx(loss[20:51].mean(), rel=1e-9)


def test_misfit_of_white_noise_is_twice_its_variance():
    loss = 5 + 0.1 * np.random.default_rng(2).standard_normal(200_000)
    starts = np.arange(0, 199_000, 50)
    assert np.mean(Flanks(loss).misfit(starts, 40)) == pytest.approx(2 * 0.01, rel=0.1)


@pytest.mark.parametrize(("rho", "share"), [(0.5, 0.05), (0.8, 0.05), (0.9, 0.05), (0.95, 0.02)])
def test_correlated_noise_is_not_taken_for_drops(rho, share):
    for seed in range(4):
        noise = 1 + share * wandering(np.random.default_rng(seed), rho, N)
        assert find_stages(2.3 * noise).n_drops == 0
        found = find_stages(staircase(X, [1000, 2000, 3000], [4, 2, 1, 0.4], 10) * noise)
        np.testing.assert_allclose([d.at for d in found.drops], [1000, 2000, 3000], atol=40)
        assert min(d.deviations for d in found.drops) > 5


@pytest.mark.parametrize("keep", [0.9, 0.98])
def test_a_log_that_was_smoothed(keep):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        raw = staircase(X, [1000, 2000, 3000], [4, 2, 1, 0.4], 10) * (1 + 0.05 * rng.standard_normal(N))
        found = find_stages(as_logged(raw, keep))
        assert found.n_drops == 3
        power = (1 + X / 50) ** -0.5 * (1 + 0.05 * rng.standard_normal(N))
        assert find_stages(as_logged(power, keep)).n_drops == 0


def test_spikes_are_listed_and_make_no_drops():
    rng = np.random.default_rng(0)
    loss = staircase(X, [1000, 2000, 3000], [4, 2, 1, 0.4], 10) * (1 + 0.05 * rng.standard_normal(N))
    at = np.sort(rng.choice(N, 15, replace=False))
    loss[at] *= 4
    found = find_stages(loss)
    assert found.n_drops == 3
    assert set(at) <= set(found.spikes)
    assert len(found.spikes) < 25
    assert not without_outliers(even(2)[3])[1].any()


def test_a_rounded_log_keeps_its_drops_and_gets_no_others():
    steps = staircase(X, [1000, 2000, 3000], [2, 1.2, 0.7, 0.3], 40)
    assert find_stages(np.round(steps, 2)).n_drops == 3
    assert find_stages(np.round(2 * (1 + X / 100) ** -0.5, 2)).n_drops == 0
    line = np.round(2 - X / 4000, 2)
    assert quantum(line) == pytest.approx(0.01)
    assert np.abs(unrounded(line) - (2 - X / 4000)).max() < 0.006


def test_levels_lie_in_their_intervals():
    """Of many plateaus with known levels, about 95 % in 95 % intervals: not below 85, nor all far inside."""
    inside, sizes = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        loss = staircase(X, [1300, 2600], [3, 1.5, 0.6], 5) * (1 + 0.05 * wandering(rng, 0.7, N))
        for p, level in zip(find_stages(loss).plateaus, [3, 1.5, 0.6], strict=True):
            inside.append(p.level_interval[0] <= level <= p.level_interval[1])
            sizes.append(abs(p.level - level) / (p.level_interval[1] - p.level))
    assert np.mean(inside) > 0.85
    assert np.median(sizes) > 0.15


def test_what_is_shaded_is_near_its_level():
    """Also where the fall before it relaxes over decades: 65–2000 is no plateau if the loss at 65 is 2."""
    t = np.arange(2000.0)
    loss = 3 / (1 + np.exp((t - 60) / 5)) + 1e-25
    last = find_stages(loss).plateaus[-1]
    inside = loss[(t >= last.start) & (t <= last.end)]
    assert inside.max() <= 1.2 * last.level
    assert last.band == pytest.approx((inside.min(), inside.max()))


def test_the_tail_of_a_power_law_is_a_slow_fall_not_one_plateau():
    found = find_stages((1 + X / 20) ** -0.7)
    last = found.plateaus[-1]
    assert last.band[1] < 1.25 * last.band[0]
    assert any(t.kind == "slow fall" for t in found.trends)


def test_a_loss_that_rises_and_falls_says_so():
    loss = 3.1 + 3.8 * np.exp(-(((X - 1500) / 400) ** 2))
    found = find_stages(loss)
    assert any(t.kind == "rise" for t in found.trends)
    assert all(p.band[1] < 1.3 * p.band[0] for p in found.plateaus)


def test_shoulders_are_listed():
    found = find_stages(staircase(X, [1000, 1160], [3, 2, 1], 30))
    assert found.n_drops == 1 or {d.kind for d in found.all_falls} == {"drop", "shoulder"}
    strict = find_stages(staircase(X, [1000, 1250], [3, 2, 1], 30), prominence=50)
    assert "shoulder" in {d.kind for d in strict.all_falls}


def test_noise_that_hides_the_answer_is_said():
    rng = np.random.default_rng(0)
    found = find_stages(1 + 0.5 * wandering(rng, 0.9, 200).clip(-1.9, 3))
    assert found.n_drops == 0
    assert "cannot tell" in str(found)
