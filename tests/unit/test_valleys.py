"""What the valleys experiments count, on curves whose answer is known."""

import numpy as np
import pytest
import xarray as xr

from saddlescope.experiment import find, keys
from saddlescope.papers.valleys import _adam, _baseline, _escape, _partials, _symmetry, fig8, valley_or_noise
from saddlescope.papers.valleys.one_plateau_one_frequency import gains, one_to_one
from saddlescope.results import Results
from saddlescope.stages.value import Drop


def test_an_excursion_goes_up_tenfold_and_comes_back():
    loss = np.ones(100)
    loss[20:23] = (3, 30, 4)  # one
    loss[50:52] = 5  # too low
    loss[80:] = 50  # does not come back
    assert [(a, b) for a, b, _ in _adam.excursions(loss)] == [(19, 23)]
    assert _adam.excursions(loss)[0][2] == 30
    assert not _adam.excursions(np.linspace(100, 1, 50))


def test_fall_and_rise_of_a_dip():
    fall, rise = np.linspace(0, -3, 31)[:-1], np.linspace(-3, 0, 11)
    (found,) = _adam.dips(10.0 ** np.concatenate([np.zeros(5), fall, rise, np.zeros(5)]))
    assert found == (5 + 1, 2)  # half a decade: a sixth of each side, and one point more where it falls between two


def test_times_to_escape_and_censoring():
    run = xr.Dataset({"loss": ("epoch", [1.5, 1.45, 1.3, 0.8, 0.05])})
    found = _escape.digest(run, None)
    assert (found["escape_1.4"], found["censored_1.4"]) == (3.0, False)
    assert (found["escape_0.1"], found["censored_0.1"]) == (5.0, False)
    late = _escape.digest(run.isel(epoch=slice(4)), None)
    assert (late["escape_0.1"], late["censored_0.1"]) == (4.0, True)


def escapes(times, late):
    measured = xr.Dataset(
        {"escape_1.4": ("run", times), "censored_1.4": ("run", late), "finite": ("run", [True] * len(times))},
        {"lr": ("run", [0.01, 0.005, 0.01, 0.005]), "bs": ("run", [1, 1, 5, 5])},
    )
    return Results(measured, xr.Dataset(coords={"run": range(len(times))}))


def test_exponents_in_epochs_and_steps():
    """T = B / lr epochs: -1 in the rate, 1 in the batch; in steps, ⌈768/B⌉ an epoch, almost 0."""
    results = escapes([100.0, 200.0, 500.0, 1000.0], [False] * 4)
    (a, b), _, _ = _escape.fitted(results, "1.4", "epochs")
    assert (a, b) == pytest.approx((-1, 1))
    (_, b), _, _ = _escape.fitted(results, "1.4", "steps")
    assert b == pytest.approx(1 + np.log(154 / 768) / np.log(5))
    assert _escape.median(escapes([1.0, 2.0, 3.0, 4.0], [True, True, True, False]), "1.4") == np.inf


def test_extrema_and_bending_of_known_channels():
    x = np.linspace(-1, 1, 401)
    waves = np.stack([np.cos(2 * np.pi * 3 * x), np.cos(2 * np.pi * 3 * x) * 5 + 2], axis=1)
    assert _partials.extrema(waves) == pytest.approx(5.5)  # 6 minima and 5 maxima inside
    middle = (np.cos(40 * x) * np.exp(-((x / 0.2) ** 2)))[:, None]
    inside, outside = _partials.bending(middle)
    assert inside > 100 * outside
    assert _partials.leaders(np.stack([x, -x, 0 * x], axis=1)) <= 2


@pytest.mark.parametrize("power", [0.5, 1.0])
def test_displacement_exponent(power):
    at = np.arange(0, 2001, 10)
    sizes = np.stack([at**power, -(at**power)], axis=1).astype(float)
    assert fig8.displacement_exponent(at, sizes) == pytest.approx(power, abs=0.02)


def test_what_a_drop_is_made_of():
    """One cut of each kind."""
    run = xr.Dataset({
        "before": ("cut", np.ones(6)), "cut": ("cut", [0.95, 0.25, 0.25, 0.25, 0.25, 0.25]),
        "uncut": ("cut", [1, 0.4, 1, 1, 1, 0.9]), "averaged": ("cut", [0.1, 1, 0.4, 1, 1, 0.9]),
        "calm": ("cut", [0.1, 1, 1, 0.3, 1, 0.9]), "sharp_after": ("cut", [9, 9, 9, 9, 1.5, 0.5]),
    })  # fmt: skip
    assert valley_or_noise.kinds(run).tolist() == ["", "anyway", "average", "calm", "valley", "neither"]
    assert valley_or_noise.behind_walls(run).tolist() == [False, True, True, False, True, False]


def drop(start, end):
    return Drop(start, end, (start + end) / 2, 1.0, 0.5, 0.1, "drop")


def test_one_drop_one_frequency():
    drops = [drop(10, 20), drop(50, 60)]
    assert one_to_one(np.array([15.0, 55.0]), drops)
    assert not one_to_one(np.array([15.0, 18.0]), drops)  # both in one drop
    assert not one_to_one(np.array([15.0, 35.0]), drops)  # on a plateau
    assert not one_to_one(np.array([15.0, np.nan]), drops)  # never
    assert not one_to_one(np.array([15.0]), drops)  # a drop too many
    at = np.arange(0, 101, 5)
    found = gains(at, np.where(at < 50, 1.0, 4.0), np.array([50.0, np.nan]))
    assert found[0] == 3
    assert np.isnan(found[1])


def test_odd_share_is_taken_over_the_second_half_of_the_hidden_blocks():
    shares = (0.9, 0.8, 0.2, 0.1, 0.0)  # the last is the output
    run = xr.Dataset({f"symmetry_defect_{k}": (("saved", f"c{k}"), [[0.5, 0.5], [s, s]]) for k, s in enumerate(shares)})
    assert _symmetry.asymmetry(run) == pytest.approx(0.15)
    assert _symmetry.asymmetry(run, 0) == pytest.approx(0.5)


def sweep_results(outcomes, seeds):
    measured = xr.Dataset({"outcome": ("run", outcomes)}, {"seed": ("run", seeds)})
    return Results(measured, xr.Dataset(coords={"run": range(len(outcomes))}))


def test_counts_are_a_mean_over_seeds():
    results = sweep_results(["worked", "failed", "worked", "worked"], [0, 0, 1, 1])
    published, ours, _, verdict = _baseline.count_row(results, "worked", 2)
    assert (published, ours, verdict) == (2, 1.5, "holds")
    assert not _baseline.whole(results)


def test_the_baseline_sweep_has_750_settings_a_seed():
    for rank, runs in ((5, 5 * 750), (10, 750 + 4 * 429), (20, 750)):
        experiment = find(f"valleys.sweep_rank{rank}")
        assert len(experiment.plan(experiment.full).points) == runs


def test_files_with_an_underscore_are_no_experiments():
    assert not [key for key in keys() if "._" in key]


def test_the_published_runs_of_rank_10_are_the_first_429():
    """In the order factor, N, batch, depth; their numbers by batch size are the paper's."""
    from saddlescope.papers.valleys import sweep_rank10 as rank10

    points = [(f, b, bs, L) for f in (1, 2, 3, 4, 5) for b in _baseline.BASES for bs in _baseline.BATCHES
              for L in range(1, 2 * f + 1)][:429]  # fmt: skip
    assert [sum(p[2] == bs for p in points) for bs in _baseline.BATCHES] == list(rank10.RUNS.values())
    plan = rank10.experiment.plan(rank10.experiment.full)
    of_a_seed = [
        [tuple(p[k] for k in ("factor", "base", "bs", "L")) for p in plan.points if p["seed"] == s] for s in (0, 1)
    ]
    assert len(of_a_seed[0]) == 750
    assert set(of_a_seed[1]) == set(points)
