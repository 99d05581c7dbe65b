"""Stages in noise: what is measured of the noise, and what is made of correlated, spiked and rounded curves."""

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d
from staircases import as_logged, even, staircase, wandering

from saddlescope.stages import find_stages
from saddlescope.stages.level import Level
from saddlescope.stages.lines import Lines, line_through
from saddlescope.stages.noise import Noise, is_noisy
from saddlescope.stages.rounding import quantum, unrounded
from saddlescope.stages.spikes import without_outliers

N = 4000
X = np.arange(float(N))


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8, 0.9])
def test_noise_is_measured_with_its_correlation(rho):
    """Of AR(1) noise a mean over many points deviates by s √((1 + ρ) / (1 − ρ)) / √L; drops must not count as noise."""
    loss = staircase(X, [900, 2100, 3000], [4, 2, 1, 0.4], 30) * (
        1 + 0.02 * wandering(np.random.default_rng(3), rho, N)
    )
    found = Noise(loss, Level(loss))
    long = 0.02 * np.sqrt((1 + rho) / (1 - rho))
    assert np.median(found.table[-1]) == pytest.approx(long, rel=0.35)
    assert np.median(found.of_means(3, np.arange(N))) < 1.2 * long


def noisy(loss):
    return is_noisy(loss, Level(loss))


def test_a_curve_that_only_falls_has_no_noise():
    assert not noisy(even(3)[3])
    assert not noisy((1 + X / 50) ** -0.7)
    assert not noisy(3.1 + 3.8 * np.exp(-(((X - 1500) / 400) ** 2)))  # one rise and one fall
    assert noisy(even(3)[3] * (1 + 1e-3 * np.random.default_rng(0).standard_normal(2000)))


def test_noise_at_the_rounding_of_floats_is_none():
    loss = np.maximum(np.exp(-X / 20), 1e-17) * np.where(X > 800, np.random.default_rng(0).uniform(1, 9, N), 1)
    assert not noisy(loss)


HIDING = {
    "repeated": lambda noise: np.repeat(noise[::8], 8)[:N],
    "interpolated": lambda noise: np.interp(X, X[::8], noise[::8]),
    "filtered": lambda noise: gaussian_filter1d(noise, 6),
    "smoothed twice": lambda noise: as_logged(as_logged(noise, 0.95), 0.95),
    "in a part": lambda noise: np.where(X < 3700, 0, noise),
}


@pytest.mark.parametrize("how", HIDING)
def test_noise_whose_neighbours_hide_it_makes_no_drops(how):
    for seed in range(4):
        noise = 1 + HIDING[how](0.05 * np.random.default_rng(seed).standard_normal(N))
        smooth = how in ("filtered", "smoothed twice")  # a fall hides such noise: it then has no rises
        for clean in (2.3 + 0 * X, (1 + X / 500) ** -0.9, 2.3 - 2 * X / N)[: 1 if smooth else 3]:
            assert noisy(clean * noise)
            assert find_stages(clean * noise).n_drops == 0


def test_a_log_that_repeats_each_value_has_the_drops_of_the_values():
    noise = 1 + 0.05 * np.random.default_rng(0).standard_normal(N)
    for loss in ((1 + X / 500) ** -0.9, even(3, N)[3], even(3, N)[3] * noise):
        once, again = find_stages(loss[::8], X[::8]), find_stages(np.repeat(loss[::8], 8), X)
        assert [d.at for d in again.drops] == pytest.approx([d.at for d in once.drops], abs=8)


def test_lines_through_flanks_are_those_of_polyfit():
    rng = np.random.default_rng(1)
    time = 1e7 + np.cumsum(rng.exponential(size=300))
    loss = 1e3 + rng.standard_normal(300) + 0.3 * np.arange(300)
    lines = Lines(loss, time, 47)
    start, length = 7 * lines.cell, lines.length
    slope, value = np.polyfit(time[start : start + length] - 1e7, loss[start : start + length], 1)
    for line in (lines.lines.at(7), line_through(loss[start : start + length], time[start : start + length])):
        assert float(line.slope) == pytest.approx(slope, rel=1e-9)
        assert float(line.value(1e7 + 60)) == pytest.approx(slope * 60 + value, rel=1e-9)


@pytest.mark.parametrize("length", [6, 7, 13, 40, 47])
def test_scatter_of_white_noise_is_its_variance(length):
    loss = 5 + 0.1 * np.random.default_rng(2).standard_normal(200_000)
    lines = Lines(loss, np.arange(200_000.0), length)
    assert np.mean(lines.scatter(np.arange(0, len(lines.time) - 100, 5))) == pytest.approx(0.01, rel=0.03)


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
    assert np.abs(unrounded(line, 0.01) - (2 - X / 4000)).max() < 0.006
    few = np.round(0.7 - X / 28_000, 2)  # 14 changes
    assert find_stages(few).n_drops == 0
    sharp = np.round(np.where(X < 2000, 0.7 - X / 40_000, 0.3 - X / 40_000), 2)
    assert [d.at for d in find_stages(sharp).drops] == pytest.approx([2000], abs=1)


def test_a_drop_after_a_rise_is_where_it_is():
    for high, long in [(0.1, 200), (0.3, 61), (0.6, 607)]:
        loss = np.where(X < 2000, 2 * (1 + high * np.clip((X - 2000 + long) / long, 0, 1)), 1.0)
        for noise in (0.0, 0.02, 0.1):
            found = find_stages(loss * (1 + noise * np.random.default_rng(0).standard_normal(N)))
            assert [d.at for d in found.drops] == pytest.approx([2000], abs=4)
            assert any(t.kind == "rise" for t in found.trends) or long < 600


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


def test_a_time_without_points_is_no_drop():
    """A slow fall that was not logged for a while, as over a pause: the loss after it is lower, but not suddenly."""
    t = np.concatenate([np.arange(1000), np.arange(4000, 5000)])
    noise = 1 + 0.02 * np.random.default_rng(0).standard_normal(2000)
    assert find_stages((3 - t / 2500) * noise, t).n_drops == 0
    assert find_stages(np.where(t < 4500, 3, 2) * noise, t).n_drops == 1


def test_losses_below_zero_are_seen_as_if_they_were_above():
    """A loss minus a constant has the same drops, if they are large against the range; and one point below zero
    changes nothing."""
    rng = np.random.default_rng(0)
    loss = staircase(X, [1000, 2000, 3000], [4, 3, 2, 1], 10) + 0.05 * rng.standard_normal(N)
    for shift in (0, 2.5, 10):
        np.testing.assert_allclose([d.at for d in find_stages(loss - shift).drops], [1000, 2000, 3000], atol=40)
    deep = np.exp(staircase(X, [1000, 2000, 3000], [0, -4, -8, -12], 30)) * (1 + 0.02 * rng.standard_normal(N))
    whole = find_stages(deep)
    deep[3500] = -1e-7
    assert find_stages(deep).n_drops == whole.n_drops == 3


def test_small_steps_do_not_add_up_to_a_drop():
    for share in (0.03, 0.04):
        steps = staircase(X, np.arange(200, 4000, 200), (1 - share) ** np.arange(20), 2)
        assert find_stages(steps).n_drops == 0
        assert find_stages(steps, min_fall=0.02).n_drops == 19


def test_noise_in_log_time():
    rng, t = np.random.default_rng(0), np.arange(1.0, 20_001)
    loss = staircase(np.log(t), np.log([30, 600, 8000]), [4, 2, 1, 0.4], 0.05)
    found = find_stages(loss * (1 + 0.05 * rng.standard_normal(len(t))), t, log_time=True)
    np.testing.assert_allclose(np.log([d.at for d in found.drops][-2:]), np.log([600, 8000]), atol=0.1)
    last = found.drops[-1]
    assert last.rate == pytest.approx(0.6 / 4 / 0.05, rel=0.4)  # of a logistic step, per unit of log time
    assert found.plateaus[-1].end == t[-1]
    smooth = find_stages(1 / (1 + np.log(t)) * (1 + 0.05 * rng.standard_normal(len(t))), t, log_time=True)
    assert smooth.n_drops == 0
