"""Checks of the mean-field experiments on made-up numbers: one case that holds and one that does not."""

from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

from saddlescope.papers.meanfield import (
    assumptions,
    bounds,
    channel_collapse,
    counterexamples,
    error_growth,
    exact_limit,
    fig2,
    fig5_6,
    fig8_9,
    fig10,
    fig10_limit,
    finite_steps,
    finite_width,
    frequency_order,
    frequency_table,
)
from saddlescope.results import Results


def made(axes, dims=("entry", "more"), **columns):
    """Results with these axes; a column has one value, row or table per run."""
    columns = {k: np.asarray(v) for k, v in columns.items()}
    count = len(next(iter(columns.values())))
    data = {k: (("run", *dims[: v.ndim - 1]), v) for k, v in columns.items()} | {
        "finite": ("run", np.ones(count, bool))
    }
    coords = {k: ("run", np.asarray(v)) for k, v in axes.items()}
    return Results(xr.Dataset(data, coords), xr.Dataset(coords={"run": range(count)}))


def test_a_law_that_grows_is_not_bounded():
    even, growing = [[0.9, 1.0, 1.0]] * 4, [[2.7, 4.1, 5.0]] * 4
    assert assumptions.bounded("x")(made({}, x=even)).holds
    assert not assumptions.bounded("x")(made({}, x=growing)).holds
    few = [[0.9, 1.0, 1.0]] * 3 + [[0.5, 1.0, 1.0]]  # the largest of a hundred draws happens to be small
    assert assumptions.bounded("x")(made({}, x=few)).holds


def test_two_targets_at_one_input_refute():
    found = assumptions.zero_mean_slope(made({}, noisy_loss=[0.1, 1.5], plain_loss=[0.0, 0.0]))
    assert not found.holds
    assert found.exact
    assert assumptions.zero_mean_slope(made({}, noisy_loss=[0.0, 0.0], plain_loss=[0.0, 0.0])).holds
    assert assumptions.noisy_loss(0.7, -0.7) == 0


def test_a_net_counts_once_for_all_times():
    times = {"T": [1.0, 4.0] * 4}
    refuted = bounds.at_start(made(times, output_at_start=[1e-3] * 8))
    assert refuted.counts[0].n == 4
    assert not refuted.holds
    assert bounds.at_start(made(times, output_at_start=[0.0] * 8)).holds


def test_a_layer_whose_neurons_move_alike_has_collapsed():
    starts = {"case": ["independent", "zero mean"] * 2}
    rows = [[0.7, 0.8, 0.8], [0.0, 0.0, np.nan]] * 2
    assert channel_collapse.no_collapse(made(starts, spread=rows)).partly
    assert channel_collapse.no_collapse(made(starts, spread=[[0.7, 0.8, np.nan]] * 4)).holds
    one_layer = [[0.7, 1e-9, 0.8]] * 4
    assert not channel_collapse.no_collapse(made(starts, spread=one_layer)).holds


def test_spread_of_changes_is_zero_for_a_translation():
    moves = {0: np.full((2, 5, 1), 3.0), 1: np.linspace(-1, 1, 5)[None, :, None] * np.ones((2, 1, 1))}
    flow = SimpleNamespace(weights_at=lambda block, frozen: moves[block])
    found = channel_collapse.spread_of_changes(flow, [None, None])
    assert found[:2] == pytest.approx([0, 1])
    assert np.isnan(found[2])


def test_channels_that_grow_are_not_bounded():
    for growth, reach, holds in ((1e-9, 1.2, True), (0.1, 1.2, False), (0.0, 0.0, False)):
        found = counterexamples.channels_bounded(made({}, reach_growth=[growth] * 4, largest_reach=[reach] * 4))
        assert found.holds is holds


@pytest.mark.parametrize(
    ("grow", "apart", "word"), [("slowly", 0.0, "fails"), ("slowly", 1.0, "holds"), ("fast", 0.0, "open")]
)
def test_a_reason_is_asked_only_where_there_is_an_effect(grow, apart, word):
    ranks, rng = np.repeat([1, 4, 16], 4), np.random.default_rng(0)
    size = np.sqrt(ranks) if grow == "slowly" else np.exp(0.5 * ranks)
    sup = size[:, None, None] * np.exp(rng.normal(0, 0.02, (12, 10, len(error_growth.TIMES))))
    found = error_growth.by_specialisation(made({"r": ranks}, ("net", "save"), sup=sup, apart=[apart] * 12))
    assert found is not None
    assert (found.holds, found.unclear) == {"fails": (False, False), "holds": (True, False), "open": (False, True)}[
        word
    ]


def test_a_stated_error_as_large_as_the_target_says_nothing():
    check = exact_limit.within_stated("memory", ["memory_error"])
    assert check(made({}, memory_gap=[0.2] * 4, memory_error=[0.3] * 4)).holds
    assert not check(made({}, memory_gap=[0.2] * 4, memory_error=[1.0] * 4)).holds


def test_a_density_that_leans_is_not_symmetric():
    bump = np.exp(-(np.linspace(-3, 3, 60) ** 2))
    leaning = bump * (1 + 0.3 * (np.arange(60) < 30))
    for drawn, holds in ((bump, True), (leaning, False)):
        columns = {"w2_last": [drawn] * 8, "w2_count": [10_000] * 8, "w2_butler_last": [1.0] * 8}
        rest = {f"w2_{n}": [0.0] * 8 for n in ("butler_first", "moved", "ks", "skewness_last")}
        assert fig10.symmetric("w2")(made({"net": ["a"] * 8}, **columns, **rest)).holds is holds


def test_unevenness_of_a_gaussian_and_of_an_exponential():
    places = np.linspace(-8, 12, 4001)
    assert fig10_limit.unevenness(places, np.exp(-((places - 1) ** 2) / 2)) < 1e-3
    # F(1 + x) + F(1 - x) - 1 of e^{-w} is largest at x = 0, where F = 1 - 1/e, among x below 1
    assert fig10_limit.unevenness(places, np.where(places >= 0, np.exp(-places), 0)) == pytest.approx(
        1 - 2 / np.e, abs=5e-3
    )


def test_a_net_counts_once_for_both_of_its_weights():
    near, far = [0.05] * 20, [0.05] * 18 + [0.2] * 2
    for second, holds in ((near, True), (far, False)):
        columns = {"w1_last_distance": near, "w2_last_distance": second}
        found = fig10_limit.as_near_as_a_sample(made({"width": [256] * 20}, **columns))
        assert found.counts[0].n == 20
        assert found.holds is holds


def test_each_kind_of_net_must_become_more_symmetric():
    nets = {"net": ["a"] * 5 + ["b"] * 5}
    common = {"test_error": [1e-3] * 10, "odd_untrained": [0.7] * 10}
    found = fig8_9.more_symmetric_than_drawn(made(nets, odd=[0.1] * 10, **common))
    assert found is not None
    assert found.holds
    mixed = fig8_9.more_symmetric_than_drawn(made(nets, odd=[0.1] * 5 + [0.9] * 5, **common))
    assert mixed is not None
    assert mixed.partly


def test_the_cuts_of_a_run_are_one_case():
    axes = {"net": [fig2.LOW] * 6, "momentum": [0.0] * 6}
    falls = [[0.1, 0.6, 0.9, np.nan]] * 6
    found = fig2.falls_at_cuts(made(axes, fall_at_cut=falls))
    assert found is not None
    assert found.holds
    assert found.counts[0].n == 6
    rising = fig2.falls_at_cuts(made(axes, fall_at_cut=[*falls[:5], [0.1, 0.6, 1.1, np.nan]]))
    assert rising is not None
    assert not rising.holds
    assert not rising.unclear


@pytest.mark.parametrize(("change", "word"), [(1.0, "holds"), (-1.0, "fails"), (0.0, "open")])
def test_growth_is_decided_by_the_interval_of_its_mean(change, word):
    rng, at = np.random.default_rng(1), np.arange(21)
    values = 4 + change * at / 20 + rng.normal(0, 0.3, (12, 21))
    results = made({"epochs": [20] * 12}, ("instant",), at=[at] * 12, largest=values, level=np.full((12, 21), 0.5))
    found = fig5_6.grown_by(20)(results)
    assert (found.holds, found.unclear) == {"holds": (True, False), "fails": (False, False), "open": (False, True)}[
        word
    ]


def test_steps_beyond_the_lemma_are_left_out():
    length = np.tile([2.0, 1.0, 0.25, 0.0625], 5)
    noise = np.exp(np.random.default_rng(0).normal(0, 0.02, 20))
    gap = np.where(length > 1, 50.0, np.sqrt(length)) * noise
    axes = {"case": ["erf"] * 20, "method": [finite_steps.SINGLE] * 20}
    for sup, holds in ((gap, True), (length * noise, False)):
        found = finite_steps.slope_of(finite_steps.SINGLE)(made(axes, length=length, sup=sup))
        assert found is not None
        assert found.holds is holds


@pytest.mark.parametrize(
    ("factors", "word"), [((0.95, 0.95), "holds"), ((1.5, 1.3), "fails"), ((0.8, 1.4), "fails"), ((1.1, 1.1), "open")]
)
def test_a_deterministic_matrix_may_be_a_tenth_worse(factors, word):
    case, n, seed = (a.ravel() for a in np.meshgrid(["erf", "Sobol"], [32, 64], range(4)))
    rng = np.random.default_rng(2)
    factor = np.where(case == "erf", 1.0, np.where(n == 32, *factors))
    rms = factor[:, None] * np.exp(rng.normal(0, 0.1, (16, 10)))
    found = finite_width.no_worse(made({"case": case, "n": n, "seed": seed}, ("net",), rms=rms))
    assert found is not None
    assert (found.holds, found.unclear) == {"holds": (True, False), "fails": (False, False), "open": (False, True)}[
        word
    ]


def test_slopes_of_all_dimensions_lie_in_the_band_and_their_difference_is_said():
    case, n = (a.ravel() for a in np.meshgrid(finite_width.DIMENSIONS, [32, 512, 8192]))
    noise = np.exp(np.random.default_rng(3).normal(0, 0.02, (9, 10)))
    for other, holds in ((-0.48, True), (-0.3, False)):
        slope = np.where(case == "d = 4", other, -0.5)
        found = finite_width.same_in_dimensions(made({"case": case, "n": n}, ("net",), rms=(n**slope)[:, None] * noise))
        assert found is not None
        assert found.holds is holds
        assert "they differ by up to" in found.evidence


def test_channels_differ_by_a_share_of_their_size():
    axes = {"net": ["rank 2"] * 4}
    for gap, holds in ((1e-10, False), (0.5, True)):
        found = frequency_order.channels_differ(made(axes, channel_gap=[gap] * 4, channel_size=[1.0] * 4))
        assert found is not None
        assert found.holds is holds


def test_rank_100_saves_less_than_the_paper_says():
    found = frequency_table.fewer(None)
    assert found.partly
    assert found.exact
    assert "does not hold for rank 100" in found.evidence
