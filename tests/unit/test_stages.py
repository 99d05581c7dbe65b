"""Stages of made curves whose answers are known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from staircases import even, staircase

from saddlescope.stages import find_stages


@pytest.mark.parametrize("k", range(1, 9))
@pytest.mark.parametrize("noise", [0, 0.003, 0.03, 0.1])
def test_one_to_eight_stages_with_noise(k, noise):
    x, centres, levels, loss = even(k)
    loss = loss * (1 + noise * np.random.default_rng(k).standard_normal(len(x)))
    found = find_stages(loss, x)
    assert found.n_drops == len(found.all_falls) == k
    assert len(found.plateaus) == k + 1
    np.testing.assert_allclose([d.at for d in found.drops], centres, atol=0.01 if noise else 1e-4)
    np.testing.assert_allclose([p.level for p in found.plateaus], levels, rtol=1e-4 + noise)
    assert (found.noise > 0) == (noise > 0)
    for p, d in zip(found.plateaus, found.all_falls, strict=False):
        assert p.start < p.end <= d.start < d.at < d.end
    assert {p.kind for p in found.plateaus} <= ({"clean"} if noise < 0.01 else {"clean", "tilted"})


@pytest.mark.parametrize("log_time", [False, True])
def test_log_and_linear_time(log_time):
    time = np.arange(1, 20_000.0)
    loss = staircase(np.log(time), np.log([30, 400, 6000]), [4, 2, 1, 0.1], 0.1)
    found = find_stages(loss, time, log_time=log_time)
    assert found.n_drops == 3
    np.testing.assert_allclose([d.at for d in found.drops], [30, 400, 6000], rtol=0.02 if log_time else 0.2)


def test_unequal_plateaus_and_coarse_sampling():
    x = np.arange(3000.0)
    loss = staircase(x, [200, 1900, 2150], [5, 2, 1, 0.2], 8)
    for every in (1, 7, 30):
        found = find_stages(loss[::every], x[::every])
        assert found.n_drops == 3
        np.testing.assert_allclose([d.at for d in found.drops], [200, 1900, 2150], atol=1 + every / 2)


def test_non_uniform_time():
    time = np.sort(np.random.default_rng(0).uniform(0, 3000, 1500))
    found = find_stages(staircase(time, [800, 2000], [3, 1, 0.2], 20), time)
    np.testing.assert_allclose([d.at for d in found.drops], [800, 2000], rtol=0.01)


def test_flatness_of_two_logistics_against_the_closed_form():
    """Half way between two equal falls a distance D apart, each rate is e^(-D/2w) of its maximum times four."""
    x, w, D = np.arange(1000.0), 10.0, 200.0
    found = find_stages(staircase(x, [400, 400 + D], [3, 2, 1], w), x)
    assert found.plateaus[1].flatness == pytest.approx(8 * np.exp(-D / 2 / w), rel=0.02)
    assert found.plateaus[1].at == pytest.approx(500, abs=1)
    assert found.plateaus[1].level == pytest.approx(2, abs=1e-4)


@pytest.mark.parametrize(("distance", "kind"), [(200, "clean"), (80, "tilted")])
def test_clean_and_tilted(distance, kind):
    x = np.arange(1000.0)
    found = find_stages(staircase(x, [400, 400 + distance], [3, 2, 1], 10), x)
    assert found.plateaus[1].kind == kind


T = np.arange(1.0, 4000)
RNG = np.random.default_rng(2)
NOTHING = {
    "power law with spikes": ((1 + T / 50) ** -0.7 * np.where(T % 500 > 485, 3, 1), ["slope"]),
    "two noisy exponentials": (
        (np.exp(-T / 20) + 0.2 * np.exp(-T / 500)) * (1 + 0.005 * RNG.standard_normal(len(T))),
        ["slope"],
    ),
    "power law": (T**-0.5, ["slope"]),
    "exponential": (np.exp(-T / 300), ["slope"]),
    "line": (2 - T / 4000, ["slope"]),
    "rounded line": (np.round(1.5 - 0.0003 * np.arange(3000), 3), ["slope"]),
    "constant": (np.full(50, 3.0), []),
    "zero": (np.zeros(50), []),
    "rising": (T, []),
    "rising stairs": (staircase(T, [1000, 2500], [0.05, 0.55, 1.55], 10), []),
    "noise": (1 + 0.1 * np.random.default_rng(0).standard_normal(3000), []),
    "noisy line": (2 - T / 4000 + 0.05 * np.random.default_rng(1).standard_normal(len(T)), []),
}


@pytest.mark.parametrize("name", NOTHING)
def test_no_stage_at_all(name):
    loss, kinds = NOTHING[name]
    found = find_stages(loss)
    assert found.n_drops == 0
    assert [d.kind for d in found.all_falls] == kinds


@pytest.mark.parametrize("noise", [0.01, 0.02, 0.05])
def test_equal_falls_in_noise(noise):
    """Near the top a fall is a small share of the level; it must be seen beside the larger shares below."""
    x = np.arange(4000.0)
    loss = staircase(x, 4000 * np.arange(1, 9) / 9, np.arange(9, 0, -1), 8)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        assert find_stages(loss * (1 + noise * rng.standard_normal(len(x)))).n_drops == 8


def test_a_noisy_exponential_has_no_drops():
    for n in (200, 300, 400):
        decay = np.exp(-8 * np.arange(n) / n)
        for seed in range(5):
            rng = np.random.default_rng(seed)
            assert find_stages(decay * (1 + 0.02 * rng.standard_normal(n))).n_drops == 0


def test_a_drop_before_a_later_rise_keeps_its_level():
    x = np.arange(3000.0)
    loss = staircase(x, [600, 1800], [2, 0.55, 0.05], 15) + np.where(x > 2300, 0.6, 0)
    found = find_stages(loss)
    assert found.n_drops == 2
    assert found.drops[1].after == pytest.approx(0.05, rel=0.01)
    assert all(d.before > d.after for d in found.all_falls)


def test_initial_slope_is_told_apart():
    x = np.arange(2000.0)
    found = find_stages(2 * np.exp(-x / 50) + staircase(x, [1200], [1, 0.1], 15), x)
    assert [d.kind for d in found.all_falls] == ["slope", "drop"]
    assert found.n_drops == 1
    assert len(found.plateaus) == 2
    assert found.drops == found.all_falls[1:]
    assert found.all_falls[0].before == pytest.approx(3, rel=1e-3)


def test_a_fall_the_curve_ends_in_is_unfinished():
    x = np.arange(1000.0)
    found = find_stages(staircase(x, [400, 1000], [3, 1, 0], 20), x)
    assert [d.kind for d in found.all_falls] == ["drop", "unfinished"]
    assert found.drops == found.all_falls[:1]
    assert found.n_drops == 1


@pytest.mark.parametrize("smooth", [None, 3.0])
def test_spikes_that_come_back_are_no_drops(smooth):
    x = np.arange(3000.0)
    loss = staircase(x, [800, 2000], [3, 1, 0.1], 10)
    for at in (150, 1200, 1500, 2600):
        loss[at : at + 4] *= 10
    found = find_stages(loss, smooth=smooth)
    assert found.n_drops == 2
    np.testing.assert_allclose([d.at for d in found.drops], [800, 2000], atol=2)


def test_small_falls_are_no_drops():
    x = np.arange(2000.0)
    for share, count in ((0.03, 1), (0.08, 2)):
        found = find_stages(staircase(x, [600, 1400], [1, 1 - share, 0.2], 10))
        assert found.n_drops == count
    assert find_stages(staircase(x, [600, 1400], [1, 0.97, 0.2], 10), min_fall=0.01).n_drops == 2


def linear_net(target, steps):
    """Gradient descent on a two-layer linear net, written out (Fig. 1B of the simplicity paper)."""
    rng, S, losses = np.random.default_rng(0), np.array([[1, 1], [1, 4.0]]), []
    u, v = 1e-6 * rng.standard_normal((2, 50, 2))
    for _ in range(steps):
        E = v.T @ u - target
        losses.append(np.trace(E @ S @ E.T))
        v, u = v - 0.02 * u @ (E @ S).T, u - 0.02 * v @ (E @ S)
    return np.array(losses)


@pytest.mark.parametrize("steps", [2000, 6000])
def test_a_linear_net_down_to_rounding(steps):
    found = find_stages(linear_net(np.eye(2), steps))
    assert found.n_drops == len(found.all_falls) == 2
    assert found.plateaus[1].level == pytest.approx((5 - np.sqrt(13)) / 2, rel=1e-6)
    found = find_stages(linear_net(np.diag([1, 0.5]), steps))
    assert found.n_drops == len(found.all_falls) == 2
    assert found.plateaus[1].level == pytest.approx(0.5, rel=1e-2)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_random_staircases_are_recovered(data):
    """Any number of falls at least 0.1 apart, any levels a factor 0.2 to 0.8 apart, clean or noisy."""
    k = data.draw(st.integers(1, 6))
    gaps = data.draw(st.lists(st.floats(0.1, 0.2), min_size=k, max_size=k))
    ratios = data.draw(st.lists(st.floats(0.2, 0.8), min_size=k, max_size=k))
    noise = data.draw(st.sampled_from([0, 0.01, 0.05]))
    centres = np.cumsum(gaps)
    x = np.linspace(0, centres[-1] + 0.1, 3000)
    loss = staircase(x, centres, np.cumprod([1, *ratios]), 0.004)
    loss = loss * (1 + noise * np.random.default_rng(0).standard_normal(len(x)))
    found = find_stages(loss, x)
    assert found.n_drops == k
    np.testing.assert_allclose([d.at for d in found.drops], centres, atol=0.02)


def test_a_long_fall_is_known_by_its_fastest_part():
    """A steep first fall that goes over into slower ones without a plateau is not taken for a plateau."""
    t = np.arange(1300.0)
    loss = 1.4 / (1 + np.exp((t - 35) / 8)) + 0.12 * np.exp(-t / 250) + 0.005
    loss = loss * (1 + 0.04 * np.random.default_rng(1).standard_normal(len(t)))
    found = find_stages(loss)
    assert any(d.start < 35 < d.end and d.before > 1.2 for d in found.all_falls), found
    for p in found.plateaus:
        assert loss[int(p.start) : int(p.end)].max() < 0.5 or p.end < 40, found


def test_a_first_drop_hardly_faster_than_the_noise_has_a_plateau_before_it():
    centres = np.cumsum([0.1015625, 0.1953125, 0.109375, 0.109375])
    x = np.linspace(0, centres[-1] + 0.1, 3000)
    loss = staircase(x, centres, np.cumprod([1, 0.75, 0.5, 0.5, 0.203125]), 0.004)
    found = find_stages(loss * (1 + 0.05 * np.random.default_rng(0).standard_normal(len(x))), x)
    assert [d.kind for d in found.all_falls] == ["drop"] * 4
