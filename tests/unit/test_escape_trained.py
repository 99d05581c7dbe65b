"""The claims on trained nets of the escape paper, on runs made by hand: each check holds, fails and cannot tell."""

import numpy as np
import pytest
import xarray as xr

from saddlescope.claims import FAILS, HOLDS, UNCLEAR, judge
from saddlescope.papers.escape import bottleneck, conjecture3, conjecture4, fashion, fig1, fig4, fig5, fig6
from saddlescope.papers.escape._depth4_claims import seen_to_its_end
from saddlescope.papers.escape._plateaus import after_rest, dominant_number, first_rest
from saddlescope.papers.escape._readings import NEVER
from saddlescope.papers.escape._rested import if_open_agree
from saddlescope.papers.escape._spectra_claims import falls_with_depth, rank_grows
from saddlescope.papers.escape._stays import Stay, factor_of_waits, longer_share, no_longer
from saddlescope.papers.escape._training import data_text
from saddlescope.results import Results, collect, named

EPOCHS, SAVED = 400, np.arange(0, 401, 10)
LAYERS = (0.30, 0.08, 0.06, 0.05, 0.05, 0.03)


def staircase(leaves=True):
    """The origin until epoch 100, a plateau at 1.8 and, if it is left, a drop at 300 to 0.2."""
    t = np.arange(EPOCHS + 1)
    loss = 2.3 - 0.5 / (1 + np.exp(-(t - 100) / 2))
    return loss - (1.6 / (1 + np.exp(-(t - 300) / 2)) if leaves else 0)


def spectra_of(ratios, late):
    """s₂/s₁ by layer: 0.9 at the origin, `ratios` on the plateau, `late` after epoch 300; s₃ and on are 0.01."""
    values = np.full((len(SAVED), len(ratios), 10), 0.01)
    values[..., 0] = 1
    values[..., 1] = np.where(SAVED[:, None] < 100, 0.9, np.where(SAVED[:, None] < 300, ratios, late))
    return values


def analysed(results, experiment=fig1.experiment):
    """What the experiment keeps of these runs."""
    axes = [name for name in ("form", "net", "seed") if name in results.measured.coords]
    found = [named(experiment.analyse(run, None)) for run in results.runs()]
    points = [{axis: run[axis].item() for axis in axes} for run in results.runs()]
    return Results(collect(found, points), results.predicted)


def results_of(ratios=LAYERS, late=0.6, leaves=True, n=4, **more):
    """n equal runs of form `digits`."""
    values = spectra_of(np.asarray(ratios), late)
    data = {f"top_singular_values_W{j + 1}": (("saved", "value"), values[:, j]) for j in range(len(ratios))}
    data |= {"loss": (("epoch",), staircase(leaves)), "finite": ((), True)} | more
    run = xr.Dataset(data, {"saved_epoch": ("saved", SAVED)})
    measured = xr.concat([run] * n, "run").assign_coords(
        form=("run", ["digits"] * n), net=("run", ["relu"] * n), seed=("run", np.arange(n))
    )
    return Results(measured, xr.Dataset(coords={"run": np.arange(n)}))


def word(results, number, experiment=fig1.experiment):
    """The verdict on the first claim that names this sentence."""
    return verdict(results, number, experiment).word


def verdict(results, number, experiment=fig1.experiment):
    claims = [c for c in experiment.claims if number in c.where.replace(",", " ").split()]
    return judge(claims[:1], analysed(results, experiment) if "loss" in results.measured else results)[0]


def test_the_staircase_has_the_stages_that_it_is_meant_to_have():
    run = next(results_of().runs())
    rest = first_rest(run)
    assert rest.level == pytest.approx(1.8, abs=0.01)
    assert rest.left
    assert 300 <= SAVED[after_rest(run, rest)] <= 320
    still = next(results_of(leaves=False).runs())
    assert not first_rest(still).left


def test_two_saddles():
    assert word(results_of(), "E56") == HOLDS
    assert word(results_of(leaves=False), "E56") == UNCLEAR


def test_ratios_that_grow_with_the_layer_fail():
    growing = 0.05 + 0.019 * np.arange(6)
    assert np.all(np.diff(growing) <= 0.02)  # each step alone is within the spread
    assert not falls_with_depth(growing)
    assert not falls_with_depth(np.full(6, 0.1))
    assert not falls_with_depth(np.array([0.3, 0.05, 0.069, 0.088, 0.107, 0.126]))  # after the first layer
    assert not falls_with_depth(np.array([0.10, 0.055, 0.06, 0.065, 0.07, 0.075]))
    assert falls_with_depth(np.array(LAYERS))
    assert word(results_of(), "E97") == HOLDS
    assert word(results_of(ratios=growing), "E97") == FAILS


def test_layers_stay_rank_one_until_the_plateau_is_left():
    assert word(results_of(), "E83") == HOLDS
    assert word(results_of(leaves=False, late=0.05), "E83") == UNCLEAR  # still open
    assert word(results_of(ratios=(0.3, 0.2, 0.2, 0.2, 0.2, 0.2)), "E83") == UNCLEAR  # never rank one
    assert word(results_of(ratios=(0.3, 0.2, 0.2, 0.2, 0.2, 0.05)), "E83") == HOLDS  # one layer is
    for leaves, later in ((True, slice(26, 29)), (False, slice(-2, None))):  # a run need not have left
        results = results_of(leaves=leaves, late=0.05)
        for j in (3, 4):
            results.measured[f"top_singular_values_W{j}"].values[:, later, 1] = 0.4
        assert word(results, "E83") == FAILS
    early = results_of()
    for j in range(3, 7):
        early.measured[f"top_singular_values_W{j}"].values[:, 10:12, 1] = 0.2  # only where the plateau begins
    assert word(early, "E83") == HOLDS


def test_runs_that_are_still_open_may_not_be_needed():
    assert if_open_agree(4, 4, 0, "").holds
    assert if_open_agree(4, 4, 9, "").holds
    assert if_open_agree(0, 4, 7, "").unclear  # 7 of 11 may come true
    assert not if_open_agree(0, 4, 7, "").holds
    assert not if_open_agree(0, 8, 1, "").unclear


def test_the_rank_is_read_at_the_second_escape():
    assert word(results_of(late=0.6), "E60") == HOLDS  # 1 → 2
    assert word(results_of(late=0.05), "E60") == FAILS  # a bulk of small values does not count
    assert not rank_grows(ranks_of((1, 1, 1), (1, 1, 2)))
    assert rank_grows(ranks_of((1, 1, 1), (2, 2, 1)))  # whatever the output layer does
    assert not rank_grows(ranks_of((0, 0, 1), (1, 1, 1)))  # none stood out: that is not rank zero
    late = results_of(late=0.06)
    for j in range(1, 7):
        late.measured[f"top_singular_values_W{j}"].values[:, -2:, 1] = 0.9  # long after the escape
    assert word(late, "E60") == FAILS


def ranks_of(then, now):
    """A net whose three deeper layers have so many values that stand out; equal values where none does."""
    rows = {0: np.ones(10), 1: np.r_[1, np.full(9, 0.1)], 2: np.r_[1, 0.9, np.full(8, 0.1)]}
    values = {n: np.array([rows[k] for k in (1, 1, 1, *r)]) for n, r in (("rest", then), ("after", now))}
    return xr.Dataset({f"{n}_values": (("layer", "value"), v) for n, v in values.items()})


def test_deeper_layers_differ_from_the_first_by_more_than_the_draw():
    assert word(results_of(), "E58") == HOLDS
    assert word(results_of(ratios=(0.301, 0.05, 0.05, 0.3, 0.3, 0.3)), "E58") == FAILS


@pytest.mark.parametrize(
    ("module", "name"), [(fig1, "MNIST"), (fig5, "CIFAR-10"), (fig6, "CIFAR-10"), (fashion, "Fashion-MNIST")]
)
def test_evidence_names_the_data(module, name):
    for found in judge(module.experiment.claims, analysed(results_of())):
        assert found.evidence.startswith(f"on the small digits, not on {name}: ")


def test_data_are_named_once():
    assert data_text({"mnist"}, "mnist") == "on MNIST"
    assert data_text({"mnist", "small"}) == "on the small digits and on MNIST"


def test_quick_forms_do_not_repeat_each_other():
    """Nets of one form and seed are one run, whatever the figure is called."""
    modules = (fig1, fig5, fashion, fig6)
    runs = [
        (m.FORMS[form], seed)
        for m in modules
        for form in m.experiment.quick["form"]
        for seed in m.experiment.quick["seed"]
    ]
    runs += [(fig4.form_at("digits", 4, 1e-3, "own"), seed) for seed in fig4.experiment.quick["seed"]]
    assert len(set(runs)) == len(runs)


def bottleneck_results(before, on):
    ranks = np.tile(on, (len(SAVED), 1))
    ranks[0] = before
    return bottleneck_run(activation_rank=ranks)


def bottleneck_run(**given):
    """Runs with these observables of hidden layers, and ones in place of the others."""
    ones = np.ones((len(SAVED), len(LAYERS) - 1))
    by_layer = {name: given.get(name, ones) for name in bottleneck.BY_LAYER}
    more = {name: (("saved", "hidden"), values) for name, values in by_layer.items()}
    more |= {f"weak_balance_{k}": (("saved", "unit"), np.ones((len(SAVED), 2))) for k in range(1, len(LAYERS))}
    return results_of(layer_norm=(("saved", "layer"), np.ones((len(SAVED), len(LAYERS)))), **more)


def test_activations_that_are_rank_one_untrained_cannot_tell():
    claims = [c for c in bottleneck.experiment.claims if c.sentence.startswith("Activations")]
    for before, on, expected in (
        ((4, 3, 2, 2, 1), (3, 1, 1, 1, 1), HOLDS),
        ((4, 3, 1, 1, 1), (3, 1, 1, 1, 1), UNCLEAR),
        ((4, 3, 2, 2, 1), (3, 1, 2, 1, 1), FAILS),
    ):
        results = analysed(bottleneck_results(before, on), bottleneck.experiment)
        assert judge(claims, results)[0].word == expected


def test_the_pair_of_the_output_layer_counts():
    effect = np.tile((0.8, 0.006, 0.0, 0.0, 0.0), (len(SAVED), 1))
    for last, expected in ((0.05, HOLDS), (0.64, FAILS)):
        gaps = np.tile((0.42, 0.07, 0.05, 0.05, last), (len(SAVED), 1))
        results = bottleneck_run(activation_effect=effect, strong_imbalance=gaps)
        assert word(results, "E86", bottleneck.experiment) == expected


def test_rank_one_at_the_escape_stays_until_the_saddle_is_reached():
    assert word(results_of(), "E83", conjecture3.experiment) == HOLDS
    results = results_of()
    for j in range(3, 7):
        results.measured[f"top_singular_values_W{j}"].values[:, 12:16, 1] = 0.2
    assert word(results, "E83", conjecture3.experiment) == FAILS
    never = results_of(ratios=(0.3, 0.2, 0.2, 0.2, 0.2, 0.2))
    assert word(never, "E83", conjecture3.experiment) == UNCLEAR


def test_stays_that_cannot_tell():
    none, short, long = Stay(5, 0, False), Stay(5, 16, False), Stay(5, 190, True)
    origin = Stay(np.inf, 0, False)
    assert no_longer(none, none) is None
    assert no_longer(short, none) is False
    assert no_longer(none, short) is True
    assert no_longer(long, short) is False
    assert no_longer(short, long) is True
    assert no_longer(Stay(5, 10, True), short) is None  # it may yet become longer
    assert no_longer(origin, short) is None
    assert longer_share(long, short) is True
    assert longer_share(none, none) is False
    assert longer_share(short, Stay(5, 10, True)) is None
    assert longer_share(origin, short) is None


def test_waits_that_were_not_seen_to_end():
    assert factor_of_waits((5.0, True), (20.0, True)) == 4
    assert factor_of_waits((5.0, True), (200.0, False)) == 40
    assert factor_of_waits((150.0, True), (200.0, False)) is None
    assert factor_of_waits((200.0, False), (200.0, False)) is None
    assert factor_of_waits((2.0, True), (6.0, True)) is None  # too coarse


def test_values_stand_out_by_a_factor_of_two():
    values = np.array([[5, 1, 0.9, 0.8, 0.7, 0.6], [5, 4, 1, 0.9, 0.8, 0.7], [5, 4.7, 4.4, 4.1, 3.8, 3.5]])
    assert dominant_number(values).tolist() == [1, 2, 0]


def test_a_first_layer_of_many_values_does_not_hide_a_plateau():
    results = results_of()
    results.measured["top_singular_values_W1"].values[..., 0] = 0.5
    assert first_rest(next(results.runs())) is not None
    results.measured["top_singular_values_W3"].values[..., 0] = 3.0  # a net that a step has broken
    assert first_rest(next(results.runs())) is None


def depth_four(leaves, late=0.6):
    """Nets of four layers; the second plateau is missing where the loss falls on from the origin."""
    results = results_of(ratios=(0.4, 0.3, 0.2, 0.1), late=late)
    if not leaves:
        t = np.arange(EPOCHS + 1)
        results.measured["loss"].values[:] = 2.3 - 2.2 / (1 + np.exp(-(t - 100) / 2))
    return results


def test_depth_four_without_a_plateau():
    assert word(depth_four(leaves=False), "E91", fig6.experiment) == HOLDS
    assert word(depth_four(leaves=True), "E91", fig6.experiment) == FAILS
    assert word(depth_four(leaves=True), "E57", fig6.experiment) == HOLDS
    flat = results_of(ratios=(0.4, 0.4, 0.6, 0.6))
    assert word(flat, "E57", fig6.experiment) == FAILS
    assert word(flat, "E97", fig6.experiment) == FAILS
    stuck = results_of(ratios=(0.4, 0.3, 0.2, 0.1))
    stuck.measured["loss"].values[:] = 2.3  # at the origin to the end
    for number in ("E91", "E57", "E97"):
        assert word(stuck, number, fig6.experiment) == UNCLEAR


def test_a_plateau_at_which_a_run_ends_may_become_longer():
    run = {"wait": 100.0, "rested": True, "left": False, "rest_start": 110.0, "rest_end": 150.0}
    assert not seen_to_its_end(run)
    assert seen_to_its_end(run | {"left": True})
    assert seen_to_its_end(run | {"rest_end": 250.0})  # longer already
    assert seen_to_its_end(run | {"rested": False})
    assert not seen_to_its_end(run | {"rested": False, "wait": NEVER})


def levels(near, uncut, n=4, **other):
    """Runs of conjecture 4 with one plateau at 1.8, and where its branches end."""
    found = {"start": 2.3, "end": 0.2, "level1": 1.8, "length1": 700.0, "near1": near, "uncut1": uncut, "fast1": 2.0}
    found |= {"cut1": 1.79, "left1": True, "left2": False, "fit1": 1.3, "fit2": 0.0}
    found |= {f"{name}2": 0.0 for name in ("level", "length", "near", "uncut", "fast", "cut")} | other
    data = {name: ("run", np.full(n, value)) for name, value in found.items()} | {"finite": ("run", np.ones(n, bool))}
    return Results(xr.Dataset(data, {"seed": ("run", np.arange(n))}), xr.Dataset(coords={"run": np.arange(n)}))


def test_descent_in_rank_one_is_judged_beside_weights_that_leave():
    for near, uncut, expected in (
        (1.79, 0.1, HOLDS),
        (1.70, 0.1, FAILS),  # downwards
        (2.00, 0.1, FAILS),  # upwards
        (np.nan, 0.1, FAILS),
        (1.79, 1.79, UNCLEAR),  # nothing leaves in this time
        (1.79, 1.70, UNCLEAR),  # hardly anything: a fifth of the first drop
    ):
        assert word(levels(near, uncut), "E3", conjecture4.experiment) == expected
    assert "cut at the full rate -0.40" in verdict(levels(1.79, 0.1), "E3", conjecture4.experiment).evidence


def test_a_plateau_of_another_rank_or_at_the_end_of_a_run_says_nothing():
    best = conjecture4.is_best(1)
    assert not best(levels(1.79, 0.1)).unclear
    for other in ({"cut1": 2.2}, {"left1": False}):
        assert word(levels(1.79, 0.1, **other), "E3", conjecture4.experiment) == UNCLEAR
        assert best(levels(1.79, 0.1, **other)).unclear


def test_weights_cut_to_their_own_rank_are_the_same():
    rng = np.random.default_rng(0)
    matrices = {f"W{j}": np.outer(*rng.standard_normal((2, 5))) for j in range(1, 5)}
    cut = conjecture4.cut_to(matrices, 1)
    assert np.array_equal(cut["W1"], matrices["W1"])
    for j in range(2, 5):
        assert np.allclose(cut[f"A{j}"] @ cut[f"B{j}"], matrices[f"W{j}"])
        assert np.linalg.norm(cut[f"A{j}"]) == pytest.approx(np.linalg.norm(cut[f"B{j}"]))
