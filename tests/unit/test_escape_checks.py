"""Checks of the escape paper's theory experiments: each can fail, and says nothing where nothing was judged."""

import numpy as np
import pytest

from saddlescope.papers.escape import (
    certificate,
    controls,
    escape_time,
    example1,
    fig8,
    localized,
    prop22,
    prop33,
    prop34,
    qtime,
    random_data,
    small_start,
    speed_vs_depth,
    t1_bound,
    taken_direction,
    thm31,
)
from saddlescope.papers.escape._data import data_of
from saddlescope.papers.escape._draws import data_sets, every_run_of
from saddlescope.papers.escape._ends import SETTLED, End, fastest_end, is_rank_one, known_speed, second_value
from saddlescope.papers.escape._example1 import converged, runs_of
from saddlescope.papers.escape._flows import outputs_of, stepped_time
from saddlescope.papers.escape._localized_runs import formulas
from saddlescope.results import Results, collect, named
from saddlescope.theory.escape.growth import first_time
from saddlescope.theory.escape.localized import circle
from saddlescope.theory.escape.one_neuron import one_neuron_direction, one_neuron_weights

MANY = 8


def made(points, **columns):
    """Results with one run per point; columns are one value per run, or (axes, one array per run)."""
    rows = []
    for k in range(len(points)):
        cell = {n: (v[0], np.asarray(v[1][k])) if isinstance(v, tuple) else v[k] for n, v in columns.items()}
        rows.append(named(cell))
    return Results(collect(rows, points), collect([named({})] * len(points), points))


def seeds(n=MANY, **more):
    return [{**more, "seed": k} for k in range(n)]


# ---- Ends of a search, and flows from any start ----


def test_ends_are_not_pruned():
    """Eight points at depth 2 have several neurons of speed √2 - 1: an end mixes them, a pruned net would not."""
    X, G = circle(8)
    end = fastest_end(X, G, 2, 8, 8, 0)
    assert end.speed == pytest.approx(np.sqrt(2) - 1, rel=SETTLED)
    assert [w.shape for w in end.weights] == [(8, 2), (1, 8)]
    assert not is_rank_one(second_value(end.weights[0]))


def test_ends_of_gaussian_data_are_rank_one_and_as_fast_as_the_certificate():
    X, G = data_of("gauss", 0, 2, 6, 3)
    end = fastest_end(X, G, 2, 6, 8, 0)
    assert end.reaches(known_speed(X, G, 2))
    assert not end.reaches(1.01 * end.speed)
    assert all(is_rank_one(second_value(w)) for w in end.weights)


def test_nothing_escapes_from_six_points_at_depth_2():
    end = fastest_end(*circle(6), 2, 4, 8, 0)
    assert end == End([], 0.0)
    assert not end.reaches(0.0)


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_small_steps_arrive_at_the_exact_time_along_a_direction(depth):
    rng = np.random.default_rng(1)
    X, G = rng.standard_normal((3, 8)), rng.standard_normal((2, 8)) / 8
    u, y, speed = one_neuron_direction(X, G, rng)
    rho = one_neuron_weights(u, y, depth, (3,) * (depth - 1))
    level = 3**depth * np.linalg.norm(outputs_of(rho, X))
    exact = first_time(level, np.sqrt(depth), speed, np.linalg.norm(outputs_of(rho, X)), depth)
    assert stepped_time(rho, X, G, level) == pytest.approx(exact, rel=1e-2)


def test_a_net_that_only_shrinks_never_arrives():
    one = np.ones((1, 1))
    assert stepped_time([one] * 3, one, one, 10.0) == np.inf


def test_free_weights_converge_to_layers_of_norm_one():
    ends = runs_of(3, 0, 8)
    best = int(np.argmax(ends.speeds))
    before = [w[best] for w in ends.weights]
    assert max(abs(np.sum(w**2) - 1) for w in before) > 1e-3
    assert max(abs(np.sum(w**2) - 1) for w in converged(before)) < 1e-6


# ---- Checks on made numbers ----


def gaussian(second, settled=True, escapes=True):
    columns = dict(escapes=[escapes] * MANY, settled=[settled] * MANY, gain=[0.0] * MANY, residual=[0.0] * MANY)
    return made(seeds(points=6), second=("layer", [second] * MANY), **columns)


def test_layers_of_random_data_may_have_a_second_value():
    assert random_data.rank_one_layers(2)(gaussian([0.5, 1e-9, 0.0])).holds
    assert not random_data.rank_one_layers(1)(gaussian([0.5, 1e-9, 0.0])).holds
    assert not random_data.rank_one_layers(2)(gaussian([0.5, 0.1, 0.0])).holds
    assert not random_data.abstract_ratio(gaussian([1.0, 0.9, 0.0])).holds  # 2^(1/4) · 0.9 is above 1
    assert random_data.abstract_ratio(gaussian([1.0, 0.8, 0.0])).holds


def test_draws_without_a_direction_decide_nothing():
    nothing = gaussian([0.0, 0.0, 0.0], settled=False, escapes=False)
    for check in (random_data.rank_one_layers(1), random_data.abstract_ratio, random_data.stationary):
        assert check(nothing) is None
    assert random_data.depth_gains_nothing(nothing) is None


def ends(ratio, speed=0.4, optimal=True):
    columns = dict(speed=[speed] * MANY, linear_speed=[0.0] * MANY, optimal=[optimal] * MANY)
    return made(seeds(data="circle8"), ratio=("layer", [ratio] * MANY), **columns)


def test_a_shallow_end_may_mix_neurons():
    assert not controls.rank_one(1, "data")(ends([0.4, 0.0, 0.0])).holds
    assert controls.rank_one(2, "data")(ends([0.4, 0.0, 0.0])).holds
    assert controls.first_not_rank_one(ends([0.4, 0.0, 0.0])).holds
    assert not controls.first_not_rank_one(ends([1e-3, 0.0, 0.0])).holds
    for nothing in (ends([0.4, 0.0, 0.0], speed=0.0), ends([0.4, 0.0, 0.0], optimal=False)):
        assert controls.rank_one(1, "data")(nothing) is None  # no escape, or not the fastest
        assert controls.first_not_rank_one(nothing) is None


def by_depth(ranks, speeds=(0.0, 0.4, 0.5, 0.5)):
    """Nets of depth 2, 3 and 4 with these ranks."""
    return made(
        seeds(data="circle8"),
        rank=(("deep", "layer"), [ranks] * MANY),
        speed=("depth", [speeds] * MANY),
    )


def test_the_middle_layers_are_judged_and_the_last_two_are_not():
    assert speed_vs_depth.middle_rank_one(by_depth([[2, 1, 0, 0], [2, 1, 1, 0], [2, 1, 9, 9]])).holds
    assert not speed_vs_depth.middle_rank_one(by_depth([[2, 1, 0, 0], [2, 1, 1, 0], [2, 2, 1, 1]])).holds
    assert speed_vs_depth.middle_rank_one(by_depth([[2, 1, 0], [2, 1, 1]])) is None  # no depth above three


def test_the_converse_needs_a_net_of_rank_one_layers():
    assert not speed_vs_depth.converse(by_depth([[2, 1, 0, 0], [2, 1, 1, 0], [2, 1, 1, 1]])).holds
    assert speed_vs_depth.converse(by_depth([[2, 1, 0, 0], [2, 2, 1, 0], [2, 1, 1, 1]])) is None


def constants(of_depth):
    points = [{"data": "circle8", "depth": d, "seed": s} for s in range(MANY) for d in (2, 3)]
    return made(points, constant=[of_depth[p["depth"]] for p in points])


def test_a_constant_that_grows_with_depth_is_noticed():
    assert thm31.constant_falls(constants({2: 40.0, 3: 30.0})).holds
    assert not thm31.constant_falls(constants({2: 30.0, 3: 30.001})).holds


def test_a_late_layer_counts_and_an_empty_limit_does_not():
    ok = dict(asked=[2] * MANY, late=[0] * MANY, empty=[1] * MANY)
    assert thm31.layer_before(made(seeds(), **ok)).holds
    assert not thm31.layer_before(made(seeds(), **(ok | {"late": [1] * MANY}))).holds
    assert thm31.layer_before(made(seeds(), **(ok | {"asked": [0] * MANY}))) is None


def test_slower_ends_are_left_out_of_the_theorem():
    literal = ("layer", [[-1.0, 1.3, -1.0]] * MANY)
    points = seeds(data="circle8", depth=3)
    assert not thm31.literal(made(points, literal=literal, optimal=[True] * MANY)).holds
    assert thm31.literal(made(points, literal=literal, optimal=[False] * MANY)) is None


def test_runs_on_one_data_set_are_one_case():
    points = [{"data": d, "depth": k, "seed": s} for d in ("circle8", "gauss") for k in (2, 3) for s in range(2)]
    keys = data_sets(made(points))
    assert set(keys) == {("circle8",), ("gauss", 0), ("gauss", 1)}
    assert every_run_of(keys, [True] * 7 + [False]).tolist() == [True, True, False]


def theorem(sets, ratio, constant=0.1, bound=0.2):
    """Nets of depth 2 and 3 on so many data sets, with these ratios in all layers."""
    points = [{"data": "aligned", "depth": d, "seed": s} for s in range(sets) for d in (2, 3)]
    n = len(points)
    columns = dict(weights=("layer", [[ratio] * 3] * n), printed=("layer", [[bound] * 3] * n))
    return made(points, optimal=[True] * n, constant=[constant] * n, **columns)


def test_a_bound_is_decided_by_data_sets_not_by_depths():
    check = thm31.bounded("weights", "printed", False)
    assert check(theorem(4, 0.1)).holds
    assert check(theorem(3, 0.1)).unclear  # six nets
    assert not check(theorem(4, 0.3)).holds
    assert check(theorem(4, 0.1, bound=2.0)) is None


def test_the_appendix_without_its_premise_fails_where_its_bound_is_negative():
    assert thm31.without_premise(theorem(4, 0.1)).holds  # 8 · 0.1/(1 − 0.1)
    assert not thm31.without_premise(theorem(4, 0.0, constant=1.5)).holds
    assert not thm31.without_premise(theorem(4, 0.95)).holds


def test_a_net_above_the_bound_counts_against_its_whole_draw():
    points = [{"eps": e, "seed": s} for e in (0.01, 0.1) for s in range(4)]
    columns = dict(moved_bound=[0.1] * 8)
    assert prop33.all_fast_nets(made(points, moved=[0.05] * 8, **columns)).holds
    found = prop33.all_fast_nets(made(points, moved=[0.05] * 7 + [0.2], **columns))
    assert (found.counts[0].good, found.counts[0].n) == (3, 4)
    assert prop33.closed_form(made(points, closed_gap=[1e-15] * 8)).holds
    assert not prop33.closed_form(made(points, closed_gap=[1e-15] * 7 + [1e-3])).holds


def traces(speed, waits):
    """Two widths, four restarts each: half of them end at √2 − 1 and were on the rank-one curve all the time."""
    points = [{"width": w, "seed": 0} for w in (4, 8)]
    speeds = [[speed] * 4 + [fig8.RANK_ONE] * 4] * 2
    return made(points, speed=("restart", speeds), waits=("restart", [[waits] * 4 + [0.9] * 4] * 2))


def test_waits_at_the_rank_one_direction_are_seen():
    assert fig8.passes_rank_one(traces(0.5, 0.0)).holds
    assert not fig8.passes_rank_one(traces(0.5, 0.3)).holds
    blind = traces(0.5, 0.0)
    blind = Results(blind.measured.assign(waits=0 * blind.measured.waits), blind.predicted)
    assert fig8.passes_rank_one(blind).unclear  # those that end there are not seen either
    assert fig8.passes_rank_one(traces(0.3, 0.0)) is None
    assert fig8.both_colours(traces(0.5, 0.0)).holds
    assert not fig8.both_colours(traces(0.45, 0.0)).holds


def rates(turn, growth, norm):
    """By α, from the largest to the smallest."""
    columns = dict(turn_speed=turn, growth_speed=growth, half_way_norm=norm)
    return made(seeds(), **{name: ("alpha", [values] * MANY) for name, values in columns.items()})


def test_the_direction_against_the_norm_and_against_its_relative_growth():
    found = rates([1.0, 1e-4], [1.0, 1e-4], [1.0, 1e-4])  # L = 3
    assert qtime.absolute_speeds(found).holds
    assert not qtime.relative_speeds(found).holds
    assert not qtime.absolute_speeds(rates([1.0, 1e-4], [1.0, 1.0], [1.0, 1e-4])).holds
    assert qtime.relative_speeds(rates([1.0, 1.0], [1.0, 1e-4], [1.0, 1e-4])).holds


@pytest.mark.parametrize("cost", ["squared", "cross-entropy"])
def test_eq_1_at_random_targets(cost):
    found = formulas(cost, (3, 12), np.random.default_rng(0))
    assert found["order"] == pytest.approx(2, abs=0.05)
    assert max(found["gradient_gap"], found["remainder_gap"]) < localized.ROUNDING
    check = localized.of_formulas(("gradient_gap", "remainder_gap"), 0, localized.ROUNDING, "gaps")
    ok = dict(gradient_gap=[1e-15] * MANY)
    assert check(made(seeds(), remainder_gap=[1e-15] * MANY, **ok)).holds
    assert not check(made(seeds(), remainder_gap=[1e-3] * MANY, **ok)).holds


def test_a_start_that_does_not_escape_has_not_left_along_rank_two():
    for escaped, holds in ((True, True), (False, False)):
        points = seeds(net="relu", scale=1e-8)
        ratio = ("layer", [[1.0, 0.1, 0.0]] * MANY)
        results = made(points, speed=[0.5] * MANY, escaped=[escaped] * MANY, ratio=ratio)
        assert small_start.direction_found(results).holds == holds


def test_the_widest_nets_are_asked_for_the_optimal_direction():
    points = [{"data": "circle", "width": w, "start": 1e-4, "seed": k} for w in (8, 32) for k in range(MANY)]
    check = taken_direction.optimal("circle")
    for narrow, wide, holds in ((0.8, 0.99, True), (0.99, 0.8, False)):
        shares = [narrow if p["width"] == 8 else wide for p in points]
        assert check(made(points, left=[True] * 2 * MANY, speed_share=shares)).holds == holds


def test_every_net_of_a_run_is_lifted():
    results = by_depth([[2, 1, 0, 0], [2, 1, 1, 0], [2, 1, 1, 1]])
    lifted = [np.tile([0.0, 0.0, worst], (MANY, 1)) for worst in (0.0, 1e-3)]
    found = [Results(results.measured.assign(lifted_loss=(("run", "deep"), v)), results.predicted) for v in lifted]
    assert speed_vs_depth.lifting_keeps(found[0]).holds
    assert speed_vs_depth.lifting_keeps(found[0]).counts[0].n == MANY
    assert not speed_vs_depth.lifting_keeps(found[1]).holds


def escapes(gaps):
    """One draw per seed at two scales: the gap of the escape time at each."""
    points = [{"cost": "squared", "depth": 3, "alpha": a, "seed": s} for s in range(MANY) for a in gaps]
    ratio = [1 + gaps[p["alpha"]] for p in points]
    norms = dict(norm_settled=[30.0 for _ in points], norm_escape=[2 / p["alpha"] for p in points])
    return made(points, escapes=[True] * len(points), ratio=ratio, **norms)


def test_the_gap_of_the_escape_time_must_shrink():
    assert localized.tends_to_one(escapes({0.1: 0.1, 0.001: 0.005})).holds
    assert not localized.tends_to_one(escapes({0.1: 0.001, 0.001: 0.005})).holds
    assert not localized.tends_to_one(escapes({0.1: 0.1, 0.001: 0.02})).holds
    assert localized.tends_to_one(escapes({0.001: 0.005})) is None


def test_a_direction_may_settle_after_the_escape():
    found = localized.settles_before(escapes({0.1: 0.1, 0.001: 0.005}))  # 30 against 20, and against 2,000
    assert found.partly
    assert not localized.settles_before(escapes({0.1: 0.1})).holds
    assert localized.grows_after(escapes({0.001: 0.1})).holds  # 30 < √2000
    assert localized.grows_after(escapes({0.1: 0.1})) is None  # not a small start


def test_a_draw_that_never_escapes_is_no_evidence_for_a_bound():
    check = t1_bound.below("draw", "bound")
    cases = ((-0.5, True), (0.5, True), (0.0, False))
    points = seeds(size=1.0, grown=1.5)
    results = [made(points, draw_over=[v] * MANY, draw_escapes=[left] * MANY) for v, left in cases]
    assert check(results[0]).holds
    assert not check(results[1]).holds
    assert check(results[2]) is None


def test_a_draw_of_weights_counts_once_however_its_data_are_scaled():
    points = [{"size": s, "grown": g, "seed": k} for s in (1.0, 10.0) for g in (1.5, 20.0) for k in range(3)]
    found = t1_bound.norms_bound_outputs(made(points, norms_over=[-0.5] * len(points)))
    assert found.counts[0].n == 3
    assert found.unclear


def test_a_printed_norm_that_is_off_somewhere_fails():
    columns = dict(rate_ratio=[1.0] * MANY, blown_up=[0.0] * MANY)
    assert prop22.as_printed(made(seeds(depth=3), printed_gap=[0.001] * MANY, **columns)).holds
    assert not prop22.as_printed(made(seeds(depth=3), printed_gap=[0.5] * MANY, **columns)).holds


def test_a_bound_above_one_says_nothing():
    assert prop34.enough_layers(made(seeds(), lacking=[0.0] * MANY, says=[0] * MANY)) is None
    assert not prop34.enough_layers(made(seeds(data="gauss"), lacking=[1.0] * MANY, says=[2] * MANY)).holds
    assert prop33.sub_nets(made(seeds(), later=[prop33.SILENT] * MANY)) is None
    assert not prop33.sub_nets(made(seeds(), later=[2.0] * MANY)).holds
    assert not prop33.all_fast_nets(made(seeds(), moved=[0.5] * MANY, moved_bound=[0.1] * MANY)).holds


def test_norms_of_layers_are_asked_of_every_end():
    assert example1.balanced(made(seeds(), norm_gap=("sample", [[1e-5, example1.NONE]] * MANY))).holds
    assert not example1.balanced(made(seeds(), norm_gap=("sample", [[1e-3, 1e-8]] * MANY))).holds
    one = [[1e-8, 1e-8]] * (MANY - 1) + [[1e-8, 1e-3]]
    assert not example1.balanced(made(seeds(), norm_gap=("sample", one))).holds
    assert example1.balanced(made(seeds(), norm_gap=("sample", [[example1.NONE] * 2] * MANY))) is None


def restarts(shares, n=1000):
    """Batches of restarts by width, of which these shares succeed and the others end at √2 - 1."""
    points = [{"width": w, "seed": 0} for w in shares]
    speeds = [np.where(np.arange(n) < s * n, 0.5, example1.RANK_ONE) for s in shares.values()]
    return made(points, speed=("restart", speeds))


def test_a_share_that_falls_slowly_does_not_grow():
    assert example1.grows(restarts({4: 0.1, 8: 0.5, 16: 0.9})).holds
    slow = example1.grows(restarts({4: 0.04, 8: 0.90, 16: 0.88, 32: 0.86, 64: 0.84, 128: 0.82}))
    assert not slow.holds
    assert not slow.unclear
    assert example1.grows(restarts({4: 0.50, 8: 0.51})).unclear


def test_dead_runs_count_against_the_two_directions_at_their_width():
    results = restarts({1: 0.0, 8: 0.5})
    assert example1.ends_at_two(results).holds
    results.measured["speed"].values[0, :600] = 0.0
    assert example1.ends_at_two(results).partly


def left_at(steps, left=True):
    """Five draws of one form that leave at these steps from two starts; 100 and 200 were predicted."""
    points = [{"form": "digits-3", "start": s, "seed": k} for k in range(5) for s in (1.0, 0.1)]
    said = [100.0 + k if s == 1.0 else 200.0 + k for k in range(5) for s in (1.0, 0.1)]
    real = [step + k for k in range(5) for step in steps]
    return made(points, predicted_step=said, escape_step=real, left=[left] * len(points))


def test_a_draw_is_predicted_if_it_is_so_from_every_start():
    check = escape_time.predicted(escape_time.FULL_BATCH)
    assert check(left_at((100, 200))).holds
    assert check(left_at((100, 200))).counts[0].n == 5  # draws, not runs
    assert not check(left_at((100, 300))).holds
    assert check(left_at((-1, -1), left=False)) is None
    assert escape_time.ordered(left_at((100, 200))).counts[0].n == 1  # a form, not its starts


def test_a_width_that_is_not_certified_proves_nothing():
    points = [{"case": case} for case in certificate.WIDTHS]
    bound = [certificate.RANK_ONE] * 3 + [0.5]
    for certified, holds in ((True, True), (False, False)):
        columns = dict(bound=bound, speed=bound, certified=[True] * 3 + [certified])
        assert certificate.four_needed(made(points, **columns)).holds == holds


def test_width_four_is_certified_by_its_own_numbers():
    found = certificate.by_width(4)
    assert found["certified"]
    assert found["speed"] == pytest.approx(0.5, abs=1e-12)
