"""Checks about limits and starts can fail: assumptions one by one, slopes beside luck, shares by their intervals."""

import numpy as np
import pytest
import xarray as xr

from saddlescope.claims import FAILS, HOLDS, UNCLEAR
from saddlescope.meanfield import Measure, StartLaw, meanfield
from saddlescope.meanfield.laws import GaussianMixing
from saddlescope.nets.activation import LeakyReLU, Sigmoid, Tanh
from saddlescope.papers.meanfield import global_convergence, relu_degeneracy, stationary_start
from saddlescope.papers.meanfield._kinds import KINDS, assumptions, meets_all, scaled_moments
from saddlescope.results import Results, collect


def test_every_assumption_can_fail():
    """Each is broken by one limit, and nothing else is."""
    good = assumptions(KINDS["b-bounded"].limit, 0.0, 0.0, 0.0)
    assert [n for n, met in good.items() if not met] == ["C.4 full support"]
    data = Measure([-0.5, 0.5], [1.0, 0.0])
    twins = Measure([0.5, 0.5], [1.0, 0.0])
    broken = {
        "C.1 φ' ≥ 1/K": assumptions(meanfield(data, 1, 1, Sigmoid()), 0.0, 0.0, 0.0),
        "C.1 |L| ≤ K": assumptions(meanfield(data, 1, 1, LeakyReLU(0.1), mixing=GaussianMixing()), 0.0, 0.0, 0.0),
        "C.3 one target per x": assumptions(meanfield(twins, 1, 1, Tanh()), 0.0, 0.0, 0.0),
        "C.3 ∂ℓ bounded": assumptions(KINDS["b-leaky"].limit, 0.0, 0.0, 0.0),
        "C.5 below zero's loss": assumptions(KINDS["a-leaky"].limit, 0.25, 0.0, 0.0),
        "C.6 converges": assumptions(KINDS["b-leaky"].limit, 0.0, 1e-3, 0.0),
        "C.1 φ(H) bounded": assumptions(KINDS["b-leaky"].limit, 0.0, 0.0, 0.1),
    }
    for name, found in broken.items():
        assert not found[name]
    assert meets_all(good)
    assert not meets_all(broken["C.6 converges"])


def test_moments_of_a_start_by_hand():
    """E|z| = √(2/π), E z² = 1 and E z⁴ = 3; with a mean, E w² = mean² + std²."""
    moments = scaled_moments(StartLaw(0, 0, 1))
    assert moments[[0, 1, 3]] == pytest.approx(
        [np.sqrt(2 / np.pi), 1 / np.sqrt(2), 3**0.25 / 2], rel=1e-5
    )  # |z| has a kink
    assert scaled_moments(StartLaw(1, 0, 2))[1] == pytest.approx(np.sqrt(5 / 2), rel=1e-5)


def test_a_slope_beside_luck_is_found_with_its_interval():
    rng = np.random.default_rng(0)
    x, luck = np.repeat([4.0, 6.0, 8.0], 20), rng.standard_normal(60)
    y = 1.5 * x + 0.9 * luck + 0.01 * rng.standard_normal(60)
    slope, half = stationary_start.slope_of(x, y, luck)
    assert abs(slope - 1.5) < half < 0.01
    plain, wide = stationary_start.slope_of(x, y, np.zeros(60))
    assert abs(plain - 1.5) < wide
    assert wide > 20 * half
    assert np.isnan(stationary_start.slope_of(x[:5] * 0, y[:5], luck[:5])[1])


def made(points, **arrays):
    runs = [
        xr.Dataset({name: ("k", v[i]) if np.ndim(v[i]) else v[i] for name, v in arrays.items()})
        for i in range(len(points))
    ]
    return Results(collect(runs, points), collect([xr.Dataset()] * len(points), points))


def test_a_net_has_left_where_it_goes_on_to_one_half():
    points = [dict(form="tanh, 2 blocks", width=128, seed=s) for s in range(8)]
    assert stationary_start.all_leave(made(points, time=[3.0] * 8, half_time=[5.0] * 8)).holds
    back = made(points, time=[3.0] * 8, half_time=[5.0] * 7 + [stationary_start.NONE])
    assert not stationary_start.all_leave(back).holds


def test_nets_that_never_leave_have_no_time_to_fit():
    points = [dict(form="leaky, 2 blocks", width=n, seed=s) for n in (128, 512, 2048) for s in range(4)]
    time = [np.log(p["width"]) + 0.01 * p["seed"] for p in points]
    arrays = dict(from_draw=[-1.0] * 12, from_law=[7.0] * 12, rate=[0.5] * 12, average_rate=[0.5] * 12)
    left = made(points, time=time, half_time=[t + 1 for t in time], **arrays)
    assert stationary_start.two_blocks(left).holds
    held = stationary_start.NONE
    some = made(points, time=[held, *time[1:]], half_time=[held, *(t + 1 for t in time[1:])], **arrays)
    found = stationary_start.two_blocks(some)
    assert found.holds
    assert "1 of 12 nets do not leave" in found.evidence
    assert "4 of 12 later" in stationary_start.from_law(left).evidence
    assert "5 of 12 later" in stationary_start.from_law(some).evidence


def test_a_loss_must_fall_and_settle():
    points = [dict(case="erf 1 squared", width=256, seed=s) for s in range(2)]
    times = np.linspace(0, 1, global_convergence.TIMES)

    def judged(losses):
        return global_convergence.falls(made(points, limit_loss=[losses] * 2, limit_rises=[np.diff(losses).max()] * 2))

    assert judged(np.exp(-40 * times)).holds
    assert judged(0.3 + np.exp(-40 * times)).holds  # a limit above the minimum
    assert judged(1 - times / 2).unclear  # still on its way
    rising = judged(np.exp(-40 * times) + 1e-3 * times)
    assert not rising.holds
    assert not rising.unclear


def test_slow_nets_are_no_limits():
    points = [dict(rank=r, width=16, seed=s) for r in (1, 8) for s in range(12)]
    slow, kink = relu_degeneracy.SLOW, relu_degeneracy.CAUSES.index("at the kink")

    def judged(check, first, cause):
        bad = [p["seed"] < first for p in points]
        return check(made(points, failed=bad, cause=[cause if b else -1 for b in bad]))

    assert judged(relu_degeneracy.fits, 1, slow).holds
    assert judged(relu_degeneracy.fits, 9, slow).unclear  # all would fit, or most would not
    assert not judged(relu_degeneracy.fits, 9, kink).unclear
    assert judged(relu_degeneracy.paper_event, 9, slow) is None
    assert not judged(relu_degeneracy.paper_event, 9, kink).holds
    assert judged(relu_degeneracy.paper_event, 9, 0).holds


def test_shares_are_compared_by_their_intervals():
    assert relu_degeneracy.rarer((20, 40), (1, 40)) == HOLDS
    assert relu_degeneracy.rarer((1, 40), (20, 40)) == FAILS
    assert relu_degeneracy.rarer((4, 24), (0, 24)) == UNCLEAR
