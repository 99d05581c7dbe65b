"""The logic of the mean-field theory experiments: chances, lost leads, quadrature, paths and their checks."""

import numpy as np
import pytest
import xarray as xr

from saddlescope.papers.meanfield import (
    _lemma_claims,
    _lemma_paths,
    _step_claims,
    one_spike,
    rounded_kink,
    superposition,
)
from saddlescope.papers.meanfield._quadrature import (
    gaussian_average,
    sphere_average,
    uniform_average,
)
from saddlescope.papers.meanfield._step_runs import _beyond, _is_lost, _three, chance_of_distinct
from saddlescope.papers.meanfield.kernel import by_kind
from saddlescope.results import Results, collect


def made(points, **arrays):
    """Results with these values, one run per point."""
    runs = [xr.Dataset({name: _variable(values[i]) for name, values in arrays.items()}) for i in range(len(points))]
    return Results(collect(runs, points), collect([xr.Dataset()] * len(points), points))


def _variable(value):
    return ("k", np.asarray(value)) if np.ndim(value) else value


@pytest.mark.parametrize("degrees", [0, 30, 90, 150, 180])
def test_chance_of_distinct_winners_in_the_plane(degrees):
    """Two vectors at angle θ in the plane: θ/90° up to a right angle, then back."""
    expected = min(degrees, 180 - degrees) / 90
    assert chance_of_distinct(np.radians(degrees), 2, 0) == pytest.approx(expected, abs=0.03)


def test_chance_at_a_right_angle_in_four_dimensions_exceeds_independence():
    assert 0.75 < chance_of_distinct(np.pi / 2, 4, 1) < 1


def test_a_lead_is_lost_by_crossing_not_by_a_jump():
    times = np.array([0.0, 1.0, 2.0])
    assert _is_lost(np.array([0.3, 0.1, -0.1]), np.full(3, -0.2), times)
    assert not _is_lost(np.array([0.3, -0.1, 0.1]), np.full(3, -0.1), times)
    assert not _is_lost(np.array([3.0, 2.0, -5.0]), np.full(3, -1.0), times)  # a jump that no rate explains


def test_brute_force_averages_know_easy_integrals():
    relu = lambda z: np.maximum(z, 0)  # noqa: E731
    u, v = np.array([1.0, 0.0, 0.0]), np.array([0.0, 2.0, 0.0])
    assert gaussian_average(relu, u, u) == pytest.approx(0.5, abs=1e-12)
    assert gaussian_average(relu, u, v) == pytest.approx(2 / (2 * np.pi), abs=1e-12)
    assert sphere_average(relu, u, u) == pytest.approx(0.5 / 3, abs=1e-12)
    assert uniform_average(lambda z: z, 0.3, 0.8) == pytest.approx((1 + 0.24) / 3, abs=1e-12)


def test_paths_across_zero_have_channels_of_both_signs():
    neurons = _lemma_paths.drawn_neurons("leaky", 2, np.random.default_rng(0))
    one, two = _lemma_paths.across_zero(neurons, 1e-3)
    np.testing.assert_allclose(neurons.channels(one[0]), 5e-4, atol=1e-12)
    np.testing.assert_allclose(neurons.channels(two[0]), -5e-4, atol=1e-12)


def test_large_second_layer_keeps_the_start():
    neurons = _lemma_paths.drawn_neurons("tanh", 2, np.random.default_rng(0))
    w1, w2 = _lemma_paths.large_second_layer(neurons, 7.0)
    np.testing.assert_array_equal(w1[0], neurons.start[0])
    np.testing.assert_array_equal(w2[0], neurons.start[1])
    np.testing.assert_allclose(np.abs(w2[-1]), 7.0)


def seeds_of(activations, n=4):
    return [dict(activation=a, seed=s) for a in activations for s in range(n)]


def test_constants_that_grow_fail_for_their_activation_alone():
    m = np.arange(40)
    still = 0.5**m
    good = np.exp(-np.cumsum(np.log(m + 1.0))) * 3.0**m  # 3^m/m! or so
    points = seeds_of(("tanh", "leaky"))
    from saddlescope.theory.meanfield.difference import smallest_constants

    gaps = [good if p["activation"] == "tanh" else still for p in points]
    ks = [np.append(smallest_constants(g, 1.0), 0.0) for g in gaps]
    found = _lemma_claims.constants_do_not_grow(made(points, gaps=gaps, constants=ks))
    assert found.partly
    assert "does not hold for leaky" in found.evidence


def test_a_left_side_above_its_right_side_refutes():
    points = seeds_of(("tanh",), 8)
    assert _lemma_claims.at_most_one("d1")(made(points, d1=[0.5] * 8)).holds
    one_over = _lemma_claims.at_most_one("d1")(made(points, d1=[0.5] * 7 + [1.01]))
    assert not one_over.holds
    assert not one_over.unclear


def test_inequality_is_refuted_by_one_net():
    points = [dict(activation="tanh", delta=0.5, rank=2, seed=s) for s in range(8)]
    held = [10] * 8
    check = _step_claims.inequality("worst")
    assert check(made(points, worst=[-1e-15] * 8, held=held)).holds
    assert not check(made(points, worst=[-1e-15] * 7 + [-1e-6], held=held)).holds


def test_a_share_that_depends_on_the_rank_is_told():
    points = [dict(activation="tanh", delta=0.5, rank=r, seed=s) for r in (2, 4) for s in range(20)]
    check = _step_claims.in_most("kept_lead", "kept", chance=True)
    both = check(made(points, kept_lead=[p["rank"] == 2 for p in points]))
    assert both.partly
    assert "by chance 38%" in both.evidence
    assert "does not hold for tanh, δ = 0.5, rank 4 (0 of 20)" in both.evidence
    assert check(made(points, kept_lead=[1] * 40)).holds
    two = [p for p in points if p["rank"] == 2]
    assert check(made(two, kept_lead=[p["seed"] < 12 for p in two])).unclear


def test_winners_by_chance_are_compared_with_their_expectation():
    def judged(chance, seeds):
        points = [dict(activation="tanh", delta=d, rank=2, seed=s) for d in (0.5, 1.0) for s in range(seeds)]
        half = [p["seed"] % 2 for p in points]
        return _step_claims.as_chance(made(points, distinct=half, chance=[chance] * len(points)))

    assert judged(0.5, 200).holds
    assert judged(0.5, 20).unclear  # nets of one seed count once
    other = judged(0.05, 200)
    assert not other.holds
    assert not other.unclear


def test_one_constant_is_refuted_but_not_shown_by_few_nets():
    points = [dict(activation="tanh", delta=0.5, rank=2, seed=s) for s in range(3)]
    assert _step_claims.one_constant(made(points, largest_remainder=[1.0, 2.0, 3.0])).unclear
    refuted = _step_claims.one_constant(made(points, largest_remainder=[1.0, 2.0, 30.0]))
    assert not refuted.holds
    assert not refuted.unclear


def test_kinks_are_counted_without_leaky_runs():
    points = [dict(activation="tanh", delta=0.5, rank=2, seed=s) for s in range(8)]
    assert _step_claims.slides(made(points, on_floor=[0.0] * 8)).holds


def test_a_path_that_rises_too_little_is_seen():
    times = np.linspace(0, 1, 5)
    np.testing.assert_allclose(_beyond(times**3, 3 * times**2, times), 0, atol=1e-15)
    assert _beyond(times**3, 4 * times**2, times).min() < -0.1
    assert _three(np.array([True, True, True, False, True])).tolist() == [True, False, False]


def test_growth_of_bounded_activations_is_at_most_a_square():
    points = seeds_of(("tanh",), 8)
    check, below = _lemma_claims.power_of_two, [0.9] * 8
    assert check(made(points, over_bound=below, exponents=[[0.8, 1.0]] * 8)).holds
    assert not check(made(points, over_bound=below, exponents=[[0.8, 1.0]] * 7 + [[3.0, 6.0]])).holds
    assert not check(made(points, over_bound=[1.1] * 8, exponents=[[0.8, 1.0]] * 8)).holds


def test_a_time_to_leave_is_a_line_in_the_limit():
    def judged(power, last=None):
        points = [dict(rounding=s, width=w, seed=0) for w in (rounded_kink.LIMIT, 256) for s in (0.2, 0.1, 0.05, 0.025)]
        left = [32 + 8 * p["rounding"] ** -(power if p["width"] == rounded_kink.LIMIT else 2) for p in points]
        return rounded_kink.linear_in_inverse(made(points, left=left if last is None else [*left[:3], last, *left[4:]]))

    assert judged(1.0).holds  # nets, which would fail, stand beside it
    assert not judged(0.5).holds
    assert not judged(1.0, last=-1.0).holds  # one that does not leave
    assert rounded_kink.linear_in_inverse(made([dict(rounding=0.1, width=256, seed=0)], left=[1.0])) is None


def test_rates_are_asked_at_other_places_and_at_the_data():
    points = seeds_of(("tanh",), 8)
    small, large = [1e-9] * 8, [1e-9] * 7 + [1e-3]
    assert superposition.rates_of_kernel(made(points, rate_gap=small, split_gap=small)).holds
    assert not superposition.rates_of_kernel(made(points, rate_gap=large, split_gap=small)).holds
    assert not superposition.rates_of_kernel(made(points, rate_gap=small, split_gap=large)).holds


def test_where_a_flow_ends_is_asked_at_its_end():
    points = [dict(law="gauss", seed=s) for s in range(8)]
    check, near = one_spike.ends_on_curve, [1e-3] * 8
    assert check(made(points, end_gap=[1e-9] * 8, left=near)).holds
    assert not check(made(points, end_gap=[0.1] * 8, left=near)).holds
    assert check(made(points, end_gap=[-0.9] * 8, left=[1.0] * 8)).unclear  # nothing is learned


def test_identities_of_a_law_count_once():
    points = [dict(law=law, seed=s) for law in ("gauss", "laplace") for s in range(4)]
    assert one_spike.identities(made(points, half_gap=[1e-15] * 8)).holds
    assert one_spike.identities(made(points, half_gap=[1e-15] * 4 + [0.1] * 4)).partly


def test_few_nets_do_not_say_that_every_radius_fails():
    points = seeds_of(("tanh",), 8)
    norms = [1.0] * 8
    one_serves = made(points, outside=[[3.0, 2.0, 0.9]] * 8, iterate_norm=norms)
    assert _lemma_claims.stays_inside(one_serves).holds
    assert not _lemma_claims.stays_inside(made(points, outside=[[3.0, 2.0, 1.5]] * 8, iterate_norm=norms)).holds


def test_a_fact_about_kinds_can_hold_for_some():
    points = [dict(law=law, activation=a, seed=0) for law in ("gauss", "uniform") for a in ("relu", "tanh")]
    check = by_kind(lambda r: r.smallest > 0, lambda r: "negative")
    found = check(made(points, smallest=[1.0, -1.0, 1.0, 1.0]))
    assert found.partly
    assert "tanh, gauss (negative)" in found.evidence
    assert check(made(points, smallest=[1.0] * 4)).holds
    among = by_kind(lambda r: r.smallest > 0, lambda r: "negative", among=lambda r: r.law.item() == "gauss")
    assert "true for 1 of 2 kinds" in among(made(points, smallest=[1.0, -1.0, 1.0, 1.0])).evidence
    assert by_kind(bool, str, among=lambda r: False)(made(points, smallest=[1.0] * 4)) is None
