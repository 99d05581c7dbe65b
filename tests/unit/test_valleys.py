"""What the valleys experiments count, on curves whose answer is known."""

import numpy as np
import pytest
import xarray as xr

from saddlescope.checks import mean_odd_share
from saddlescope.claims import CheckResult
from saddlescope.papers.valleys import _adam, _baseline, _escape, _partials, _published, fig8, valley_or_noise
from saddlescope.papers.valleys._draws import decided_by_draws
from saddlescope.papers.valleys._runs import cannot_refute
from saddlescope.papers.valleys.one_plateau_one_frequency import at_cut, gains, goes_up, learned_first, one_to_one
from saddlescope.papers.valleys.schedule_failures import fewer_fail
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


def test_late_growth_is_that_of_the_spread_over_the_last_fifth():
    at = np.arange(0, 101)
    early = np.stack([np.minimum(at, 50), -np.minimum(at, 50)], axis=1).astype(float)
    evenly = np.stack([at, -at], axis=1).astype(float)
    assert fig8.late_growth(at, early) == 1
    assert fig8.late_growth(at, evenly) == pytest.approx(fig8.EVENLY)
    assert fig8.late_growth(at, np.stack([101.0 - at, at - 101.0], axis=1)) < 0.1  # it shrinks


def grown(growth):
    runs = len(growth)
    found = {"growth": growth, "last_loss": np.full(runs, 0.09), "epochs": np.full(runs, 900)}
    measured = xr.Dataset({name: ("run", values) for name, values in found.items()})
    return Results(measured, xr.Dataset(coords={"run": range(runs)}))


def words_of(found):
    return found.holds, found.partly, found.unclear


def test_spreads_diverge_where_they_grow_and_not_where_they_shrink():
    scatter = np.exp(0.1 * np.sin(np.arange(12)))
    assert words_of(fig8.diverges(grown(1.4 * scatter))) == (True, False, False)
    assert words_of(fig8.diverges(grown(scatter))) == (False, False, False)
    assert words_of(fig8.diverges(grown(0.6 * scatter))) == (False, False, False)
    assert words_of(fig8.diverges(grown(np.array([0.5, 3.0, 1.0])))) == (False, False, True)
    assert words_of(fig8.is_stable()(grown(scatter))) == (True, False, False)
    assert words_of(fig8.is_stable()(grown(np.tile([0.5, 2.0], 6)))) == (False, False, False)  # though 1 in the mean
    assert words_of(fig8.is_stable()(grown(np.array([0.9, 1.6, 1.1])))) == (False, False, True)


def test_readings_of_the_same_draws_are_not_added():
    """Two readings of 6 draws are no 12 runs: each is decided for itself, and together a draw counts once."""
    good, bad, most = np.ones(6), np.zeros(6), np.array([1, 1, 1, 1, 0, 0])
    found = decided_by_draws({"a": good, "b": most}, "")
    assert [(c.good, c.n) for c in found.counts] == [(4, 6), (6, 6), (4, 6)]
    assert words_of(found) == (False, False, True)
    assert words_of(decided_by_draws({"a": good, "b": good}, "")) == (True, False, False)
    assert words_of(decided_by_draws({"a": good, "b": bad}, "")) == (False, True, False)
    assert words_of(decided_by_draws({"a": bad, "b": bad}, "")) == (False, False, False)
    unknown = decided_by_draws({"a": [1, 1, np.nan], "b": [1, 0, 0]}, "")
    assert [(c.good, c.n) for c in unknown.counts] == [(1, 2), (2, 2), (1, 3)]


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
    assert found([40, 20, 50, 13, 9], 7) == (False, False, False)  # three in their intervals are no part of the truth
    assert _published.agree(column_of([1, 2], [1, 2], [np.nan, 1])) is None
    assert [_published.allowed(n) for n in (5, 10, 25)] == [1, 2, 3]


def test_counts_of_groups_of_different_sizes_are_compared_as_shares():
    """Totals of 50 to 250 alone would set the order of the counts."""
    errors, factors, bases = np.ones(30), np.repeat([1, 2], [10, 20]), np.concatenate([np.arange(5)] * 6)
    measured = xr.Dataset(
        {"test_error": ("run", errors)},
        {"factor": ("run", factors), "base": ("run", bases), "bs": ("run", np.zeros(30, int)),
         "L": ("run", np.zeros(30, int)), "seed": ("run", np.tile(np.repeat([0, 1], 5), 3))},
    )  # fmt: skip
    results = Results(measured, xr.Dataset(coords={"run": range(30)}))
    for factor in (1, 2):
        assert _published.share_of("failed")(results.select(factor=factor))[0] == 1


def test_an_interval_agrees_with_a_number_only_where_it_is_narrow():
    assert _baseline.tells(76, 47, 96)
    assert not _baseline.tells(76, 30, 96)
    assert not _baseline.tells(76, 47, 160)


def batches(errors):
    """Five seeds of five batch sizes with three runs each; `errors` has the seeds, the batches and the runs."""
    seed, bs, _ = np.indices(errors.shape)
    axes = {"seed": ("run", seed.ravel()), "bs": ("run", np.array(_baseline.BATCHES)[bs.ravel()])}
    measured = xr.Dataset({"test_error": ("run", errors.ravel())}, axes)
    return Results(measured, xr.Dataset(coords={"run": range(errors.size)}))


def test_larger_batches_must_do_worse_in_the_mean_over_seeds():
    scatter = np.exp(np.random.default_rng(0).standard_normal((5, 5, 3)) / 10)
    worse = np.array([1e-3, 1e-3, 1e-3, 1e-2, 1e-2])[:, None] * np.array([1.0, 1.0, 20.0])
    assert words_of(_baseline.large_batches_worse(batches(worse * scatter))) == (True, False, False)
    assert words_of(_baseline.large_batches_worse(batches(worse[::-1] * scatter))) != (True, False, False)
    alike = np.exp(3 * np.random.default_rng(1).standard_normal((5, 5, 3)))
    assert words_of(_baseline.large_batches_worse(batches(alike))) == (False, False, True)


def test_what_was_run_shorter_refutes_nothing():
    yes, no = (lambda results, holds=holds: CheckResult(holds, "seen") for holds in (True, False))
    assert words_of(cannot_refute(yes, "shorter")(None)) == (True, False, False)
    told = cannot_refute(no, "shorter")(None)
    assert words_of(told) == (False, False, True)
    assert told.evidence == "seen; shorter"


def gained(*rows):
    """One run per row of gains, padded as collected runs are."""
    wide = max(map(len, rows))
    measured = xr.Dataset({"gain": (("run", "frequency"), [[*row, *[np.nan] * (wide - len(row))] for row in rows])})
    return Results(measured, xr.Dataset(coords={"run": range(len(rows))}))


def test_a_number_goes_up_at_each_frequency_or_only_at_some():
    up = goes_up("gain")(gained(*[[1.0, 2.0]] * 12))
    assert words_of(up) == (True, False, False)
    assert [(c.good, c.n) for c in up.counts] == [(12, 12), (12, 12), (12, 12)]
    first = goes_up("gain")(gained(*[[1.0, -2.0]] * 12))
    assert words_of(first) == (False, True, False)
    assert [(c.good, c.n) for c in first.counts] == [(0, 12), (12, 12), (0, 12)]


def failing(halving, fixed):
    outcome = ["failed"] * halving + ["worked"] * (12 - halving) + ["failed"] * fixed + ["worked"] * (12 - fixed)
    axes = {"rule": ("run", ["halving"] * 12 + ["fixed"] * 12), "L": ("run", [5] * 24)}
    return Results(xr.Dataset({"outcome": ("run", outcome)}, axes), xr.Dataset(coords={"run": range(24)}))


def test_half_as_many_fail_is_decided_by_the_interval():
    assert words_of(fewer_fail(failing(12, 1))) == (True, False, False)
    assert words_of(fewer_fail(failing(12, 5))) == (False, False, True)  # seven of twelve are gone: more than half
    assert words_of(fewer_fail(failing(12, 12))) == (False, False, False)


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
