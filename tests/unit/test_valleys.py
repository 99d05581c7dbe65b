"""What the valleys experiments count, on curves whose answer is known."""

import numpy as np
import pytest
import xarray as xr

from saddlescope.checks import mean_odd_share
from saddlescope.papers.valleys import _adam, _baseline, _escape, _partials, _published, fig8, valley_or_noise
from saddlescope.papers.valleys.one_plateau_one_frequency import at_cut, gains, learned_first, one_to_one
from saddlescope.results import Results
from saddlescope.stages.value import Drop
from saddlescope.workflows.find import experiment_keys as keys
from saddlescope.workflows.find import find_experiment as find


def test_jumps_and_dips_are_told_apart_with_their_two_sides():
    height = np.zeros(2000)
    height[300:302], height[302:342] = (1.0, 2.0), np.linspace(2, 0, 40)  # up at once, slowly down, with a zigzag
    height[303:330:2] -= 0.7  # a zigzag: one spike all the same
    height[900:921] = -1.5 * (1 - np.abs(np.arange(-10, 11)) / 10)  # a dip, alike on both sides
    height[1500:1510] = 0.8  # too low
    found = sorted(_adam.spikes(10.0**height))
    assert [round(h, 6) for h, *_ in found] == [-1.5, 2.0]
    (_, fall, rise), (_, up, down) = found
    assert fall == rise
    assert down > 8 * up
    assert not _adam.spikes(np.geomspace(1, 1e-6, 2000))  # a steady fall has none


def test_floors_between_jumps_are_no_dips():
    loss = np.full(4000, 1e-3)
    for at in range(100, 4000, 200):
        loss[at : at + 60] = 1e-3 * 10 ** np.linspace(2, 0, 60)
    assert {np.sign(h) for h, *_ in _adam.spikes(loss)} == {1.0}


def test_a_frequency_is_learned_at_its_first_crossing_whatever_noise_does_later():
    at = np.arange(60)
    errors = np.stack([np.where(at < 20, 1.0, 0.1), np.where(at < 40, 1.0, 0.1), np.ones(60)], axis=1)
    errors[50, 0] = 0.9  # late noise
    errors[5, 1] = 0.2  # early noise
    np.testing.assert_array_equal(learned_first(at, errors), [20, 40, np.nan])


def test_times_to_escape_and_censoring():
    run = xr.Dataset({"loss": ("epoch", [1.5, 1.45, 1.3, 0.8, 0.05])})
    found = _escape.analyse(run, None)
    assert (found["escape_1.4"], found["censored_1.4"]) == (3.0, False)
    assert (found["escape_0.1"], found["censored_0.1"]) == (5.0, False)
    late = _escape.analyse(run.isel(epoch=slice(4)), None)
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
    bump, wave = np.exp(-(((x - 0.3) / 0.1) ** 2)), np.cos(2 * np.pi * 4 * x)
    local, spread = _partials.locality(np.stack([bump, wave], axis=1))
    assert local > 0.8
    assert spread == pytest.approx(0.25, abs=0.01)


def test_late_moves_are_those_of_the_last_fifth():
    at = np.arange(0, 101)
    early = np.stack([np.minimum(at, 50), -np.minimum(at, 50)], axis=1).astype(float)
    late = np.stack([np.maximum(at - 80, 0) + 1, -np.maximum(at - 80, 0) - 1], axis=1).astype(float)
    assert fig8.late_move(at, early) == 0
    assert fig8.late_move(at, late) == pytest.approx(20 / 21)


def test_what_a_drop_is_made_of():
    """One cut of each kind."""
    run = xr.Dataset({
        "before": ("cut", np.ones(6)), "cut": ("cut", [0.95, 0.25, 0.25, 0.25, 0.25, 0.25]),
        "uncut": ("cut", [1, 0.4, 1, 1, 1, 0.9]), "averaged": ("cut", [0.1, 1, 0.4, 1, 1, 0.9]),
        "calm": ("cut", [0.1, 1, 1, 0.3, 1, 0.9]), "calm_averaged": ("cut", [0.1, 1, 0.4, 0.3, 1, 0.9]),
        "sharp_before": ("cut", [9, 0.5, 9, 9, 0.5, 0.5]), "sharp_after": ("cut", [9, 9, 9, 9, 1.5, 0.5]),
    })  # fmt: skip
    assert valley_or_noise.kinds(run).tolist() == ["", "anyway", "inside", "calm", "entry", "neither"]
    assert valley_or_noise.enters(run).tolist() == [False, True, False, False, True, False]
    assert valley_or_noise.was_inside(run).tolist() == [True, False, True, False, False, False]


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
    assert mean_odd_share(run) == pytest.approx(0.15)
    assert mean_odd_share(run, 0) == pytest.approx(0.5)


def sweep_results(errors, seeds):
    measured = xr.Dataset({"test_error": ("run", errors)}, {"seed": ("run", seeds)})
    return Results(measured, xr.Dataset(coords={"run": range(len(errors))}))


def test_counts_are_a_mean_over_seeds():
    results = sweep_results([1e-3, np.nan, 1e-3, 9e-3], [0, 0, 1, 1])
    published, ours, _, verdict = _baseline.count_row(results, "worked", 2)
    assert (published, ours, verdict) == (2, 1.5, "holds")
    assert not _baseline.whole(results)


def column_of(published, ours, half):
    published, ours, half = (np.array(v, float) for v in (published, ours, half))
    return _published.Column(
        "worked", [f"batch {k}" for k in range(len(ours))], published, ours, ours - half, ours + half
    )


def test_published_numbers_must_be_told_from_the_same_in_another_order():
    ours = [14, 19, 17, 12, 9]

    def found(published, half):
        result = _published.agree(column_of(published, ours, [half] * 5))
        assert result is not None
        return result.holds, result.partly, result.unclear

    assert found([15, 20, 19, 13, 9], 7) == (True, False, False)
    assert found([9, 13, 19, 20, 15], 11) == (False, False, True)  # though each lies in its interval
    assert found([40, 20, 50, 13, 9], 7) == (False, True, False)
    assert _published.agree(column_of([1, 2], [1, 2], [np.nan, 1])) is None
    assert [_published.allowed(n) for n in (5, 10, 25)] == [1, 2, 3]


def test_drops_at_cuts_are_told_from_others():
    assert at_cut(drop(50, 60), np.array([10, 49]))
    assert at_cut(drop(50, 60), np.array([55]))
    assert not at_cut(drop(50, 60), np.array([10, 61]))


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
