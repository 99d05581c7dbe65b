"""The checks of the mean-field experiments can fail; printed equations by hand."""

import numpy as np
import pytest
import xarray as xr

from saddlescope.papers.meanfield import exact_limit, grid, printed_equations, wellposed
from saddlescope.results import Results
from saddlescope.theory.meanfield.printed import PrintedNet, printed_rates


def results_of(**columns):
    """Results with one run per row: a column is one value per run, or one row per run."""
    made = {k: (("run", "entry") if np.ndim(v) == 2 else "run", np.asarray(v)) for k, v in columns.items()}
    count = len(next(iter(columns.values())))
    axes = {k: made.pop(k) for k in ("activation", "epsilon", "blocks") if k in made}
    return Results(
        xr.Dataset(made | {"finite": ("run", np.ones(count, bool))}, axes), xr.Dataset(coords={"run": range(count)})
    )


def test_printed_rates_of_two_blocks_by_hand():
    """One neuron per block, one point: ŷ = w₂ tanh(L₂ f), f = w₁ tanh(L₁ x)."""
    net = PrintedNet((np.array([[2.0]]), np.array([[0.5]])), (np.array([[0.3]]), np.array([1.5])))
    f = 0.3 * np.tanh(2 * 0.7)
    d = 1.5 * np.tanh(0.5 * f) - 1.0
    first = -d * np.tanh(1.4) * 0.5 * (1 - np.tanh(0.5 * f) ** 2) * 1.5
    found = printed_rates(net, np.array([[0.7]]), np.array([1.0]), as_in_text=True)
    assert found[0] == pytest.approx(np.array([[first]]))
    assert found[1] == pytest.approx(-d * np.tanh(0.5 * f))


def test_a_gap_refutes_the_gradient():
    check = printed_equations.is_gradient("right")
    assert check(results_of(right=[1e-15] * 8, blocks=[2, 3] * 4)).holds
    mixed = check(results_of(right=[1e-15, 1.0] * 4, blocks=[2, 3] * 4))
    assert mixed.partly
    assert "does not hold for 3 blocks" in mixed.evidence
    assert not check(results_of(right=[1.0] * 8, blocks=[2, 3] * 4)).holds
    assert check(results_of(right=[-1.0, 1e-15] * 4, blocks=[2, 3] * 4)).counts[0].n == 4


def test_one_right_reading_of_an_equation_is_enough():
    check = printed_equations.is_gradient("text", "eq3")
    assert check(results_of(text=[1e-15] * 4, eq3=[1.0] * 4, blocks=[3] * 4)).holds
    assert not check(results_of(text=[0.5] * 4, eq3=[1.0] * 4, blocks=[3] * 4)).holds


def test_channels_of_rank_one_are_seen():
    same = results_of(rank_printed=[1e-16] * 4, rank_right=[0.3] * 4)
    assert not printed_equations.channels_differ(same).holds
    assert printed_equations.index_is_needed(same).holds
    assert not printed_equations.index_is_needed(results_of(rank_printed=[0.2] * 4, rank_right=[0.3] * 4)).holds


def test_starts_that_separate_refute_uniqueness():
    names, gaps = ["erf", "leaky ReLU"] * 4, [1e-11, 1.0] * 4
    found = results_of(activation=names, epsilon=[1e-12] * 8, apart=gaps, nets_apart=gaps, nets_apart_most=gaps)
    assert wellposed.limit_stays_together()(found).partly
    assert wellposed.nets_stay_together(found).partly
    assert wellposed.limit_stays_together(wellposed.SMOOTH)(found).holds
    assert wellposed.kinks_separate(found).holds
    together = results_of(activation=names, epsilon=[1e-12] * 8, apart=[1e-11] * 8, nets_apart=[1e-11] * 8)
    assert wellposed.limit_stays_together()(together).holds
    assert not wellposed.kinks_separate(together).holds


def test_picard_must_stop_and_end_at_the_flow():
    axes = dict(activation=["erf"] * 4, epsilon=[1e-9] * 4)
    good, slow, far = ([[1.0, 1e-12]] * 4, [1e-5] * 4), ([[1.0, 1e-3]] * 4, [1e-5] * 4), ([[1.0, 1e-12]] * 4, [0.1] * 4)
    for (picard, gap), holds in ((good, True), (slow, False), (far, False)):
        assert wellposed.picard_converges(results_of(picard=picard, picard_gap=gap, **axes)).holds == holds


def test_a_solver_that_says_too_little_is_found():
    check = exact_limit.within_stated("memory", ["memory_error"])
    assert check(results_of(memory_gap=[1e-9] * 4, memory_error=[1e-8] * 4)).holds
    assert not check(results_of(memory_gap=[1e-7] * 4, memory_error=[1e-8] * 4)).holds
    for gap, good in ((9e-9, True), (2e-8, False)):
        assert exact_limit.eight_digits(results_of(long_gap=[gap] * 4, long_steps=[85] * 4)).holds == good
    orders = {p: [[float(n) ** -p for n in exact_limit.STEPS]] * 4 for p in (5, 2)}
    assert exact_limit.order_is_five(results_of(order_errors=orders[5])).holds
    assert not exact_limit.order_is_five(results_of(order_errors=orders[2])).holds


def test_a_grid_of_first_order_is_found():
    assert grid.converges(results_of(order=[-2.0] * 4)).holds
    assert not grid.converges(results_of(order=[-1.0] * 4)).holds
    for last, good in ((1e-2, False), (1e-4, True)):
        errors = [[1e-1, last]] * 4
        assert grid.is_exact_enough(results_of(error=errors, loss=[0.1] * 4)).holds == good
