"""Checks of the simplicity paper's experiments: each can hold and can fail."""

import numpy as np
import xarray as xr

from saddlescope.checks import drops
from saddlescope.claims import FAILS, HOLDS, PARTLY, UNCLEAR, Claim, judge
from saddlescope.papers.simplicity import fig2b, fig3, fig4, fig5, fig6, lemma6
from saddlescope.papers.simplicity._groups import falling, in_each_seed, of_each, rising
from saddlescope.results import Results, collect

SEEDS = 11


def staircase(*at, steps=600):
    step = np.arange(steps)
    return 0.1 + sum(1 / (1 + np.exp(0.2 * (step - t))) for t in at)


def results(rows, points, predicted=None):
    made = [xr.Dataset(row).set_coords(["saved_step"] if "saved_step" in row else []) for row in rows]
    said = [xr.Dataset(predicted or {})] * len(rows)
    return Results(collect(made, points), collect(said, points))


def verdict(check, of):
    return judge([Claim("It is so.", "ours", check)], of)[0]


def word(check, of):
    return verdict(check, of).word


def saved(loss, **columns):
    """A run whose weights were read at every tenth step."""
    at = np.arange(0, len(loss), 10)
    found = {name: ("saved", np.asarray(value(at))) for name, value in columns.items()}
    return {"loss": ("step", loss), "saved_step": ("saved", at), **found}


# ---- Setting by setting, seed by seed ----


def test_a_setting_that_fails_is_not_hidden_by_the_others():
    points = [{"net": net, "seed": s} for net in "abcde" for s in range(SEEDS)]
    good = results([{"loss": ("step", staircase(150, 400))} for _ in points], points)
    rows = [{"loss": ("step", staircase(150) if p["net"] == "e" else staircase(150, 400))} for p in points]
    mixed = results(rows, points)
    assert word(of_each(drops(2), "net"), good) == HOLDS
    assert word(drops(2), mixed) == HOLDS
    assert word(of_each(drops(2), "net"), mixed) == PARTLY


def test_a_seed_counts_once_and_all_of_its_steps_must_rise():
    points = [{"kappa": k, "seed": s} for k in (0.0, 1.0, 2.0) for s in range(SEEDS)]
    check = in_each_seed("kappa", lambda run: float(run.wait), rising, lambda _: "")
    of = lambda wait: results([{"wait": float(wait(p["kappa"], p["seed"]))} for p in points], points)  # noqa: E731
    assert word(check, of(lambda k, s: 100 * k + s)) == HOLDS
    assert word(check, of(lambda k, s: 100 * (k > 0) + s)) == FAILS
    assert word(check, of(lambda k, s: 100 * k + (150 if k == 1 and s % 3 else 0))) == FAILS, (
        "the medians of the ends rise"
    )
    assert verdict(check, of(lambda k, s: 100 * k)).counts[0].n == SEEDS
    assert check(results([{"wait": 1.0}], [{"kappa": 0.0, "seed": 0}])) is None


def test_a_seed_without_a_run_at_some_value_is_no_good():
    points = [{"kappa": k, "seed": s} for k in (0.0, 1.0) for s in range(SEEDS) if k == 0 or s == 0]
    found = results([{"wait": p["kappa"]} for p in points], points)
    check = in_each_seed("kappa", lambda run: float(run.wait), rising, lambda _: "")
    assert verdict(check, found).counts[0].good == 1


def test_what_rises():
    assert rising([1, 2, np.inf])
    assert not rising([1, np.inf, np.inf])
    assert not rising([1, np.nan, 3])
    assert falling([np.array([5, 6]), np.array([4, 3])])
    assert not falling([np.array([5, 6]), np.array([4, 7])])


# ---- Single experiments ----


def equal_values(ranks, loss=None):
    loss = staircase(200) if loss is None else loss
    rows = [saved(loss, **{fig2b.rank.name: ranks}) for _ in range(SEEDS)]
    return results(rows, [{"seed": s} for s in range(SEEDS)], {"plateau_level": ("level", [1.1, 0.1])})


def test_one_drop_from_width_0_to_3():
    check = next(c for c in fig2b.experiment.claims if "width 0 to 3" in c.sentence).check
    assert word(check, equal_values(lambda at: np.where(at < 190, 6, 3))) == HOLDS
    assert word(check, equal_values(lambda at: np.where(at < 190, 6, np.where(at < 230, 1, 3)))) == FAILS
    assert word(check, equal_values(lambda at: np.where(at < 190, 6, 2))) == FAILS
    assert word(check, equal_values(lambda at: np.full(len(at), 3), staircase(150, 400))) == FAILS
    assert word(check, equal_values(lambda at: np.full(len(at), 3), staircase(200) + 0.5)) == FAILS, "not from zero"


def test_one_unit_on_every_plateau_and_two_at_the_end():
    def of(widths, at=(150, 300, 450)):
        row = saved(staircase(*at), **{fig4.width.name: lambda t: widths[np.searchsorted(at, t)]})
        return results([row] * SEEDS, [{"seed": s} for s in range(SEEDS)])

    assert word(fig4.one_then_two, of(np.array([0, 1, 1, 2]))) == HOLDS
    assert word(fig4.one_then_two, of(np.array([0, 1, 2, 2]))) == FAILS
    assert word(fig4.one_then_two, of(np.array([0, 1, 1, 4]))) == FAILS
    assert word(fig4.one_then_two, of(np.array([0, 2]), (150,))) == FAILS, "no plateau"
    assert "exactly one middle plateau in 0" in fig4.one_then_two(of(np.array([0, 1, 1, 2]))).evidence


def test_near_one_ray_then_two():
    def of(middle, end):
        row = saved(staircase(150, 400), **{fig5.width.name: lambda t: np.ones(len(t))})
        row |= {"off_middle": ("middle", np.array(middle)), "off_end": ("units_left", np.array(end))}
        return results([row] * SEEDS, [{"seed": s} for s in range(SEEDS)])

    assert word(fig5.near_one_then_two, of([0.02], [0.6, 0.05])) == HOLDS
    assert word(fig5.near_one_then_two, of([0.02, 0.2], [0.6, 0.05])) == FAILS, "on every plateau"
    assert word(fig5.near_one_then_two, of([0.02], [0.6, 0.2])) == FAILS
    assert word(fig5.near_one_then_two, of([0.02], [0.05, 0.01])) == FAILS, "one at the end is not two"
    assert word(fig5.near_one_then_two, of([], [0.6, 0.05])) == FAILS, "no plateau"


def test_drops_of_two_nets_are_compared_by_their_interval():
    rng = np.random.default_rng(0)
    near, far = (100 * np.exp(s * rng.standard_normal(20)) for s in (0.02, 0.6))
    assert fig6.compared(near, 1.02 * near)[0] == HOLDS
    assert fig6.compared(near, 1.5 * near)[0] == FAILS
    assert fig6.compared(far, 1.02 * far)[0] == UNCLEAR, "the medians are alike, the interval is wide"
    none = np.full(20, np.inf)
    assert fig6.compared(near, none)[0] == FAILS
    assert fig6.compared(none, none)[0] == ""


def skips(nets, loss):
    points = [{"net": net, "seed": s} for net in nets for s in range(5)]
    return results([{"loss": ("step", loss)} for _ in points], points)


def test_all_three_nets_must_be_there():
    assert fig6.two_drops(skips(("skip one",), staircase(150, 400))) is None
    assert word(fig6.two_drops, skips(fig6.FOUR, staircase(150, 400))) == HOLDS
    assert word(fig6.two_drops, skips(fig6.FOUR, staircase(150))) == FAILS
    assert fig6.faster(skips(fig6.FOUR[:2], staircase(150))) is None


def test_means_that_rise_in_turn():
    a = np.array([80.0, 84, 88, 82])
    assert fig3.in_turn([a, a + 50, a + 100]) == HOLDS
    assert fig3.in_turn([a, a + 100, a + 50]) == FAILS
    assert fig3.in_turn([a, a + 1, a + 100]) == UNCLEAR
    assert fig3.in_turn([a[:1], a[:1] + 50]) == UNCLEAR, "one seed tells nothing"


def test_eq_40_is_not_necessary_only_where_search_says_so():
    def of(outside):
        rows = [{"on_the_list": 9, "in_spans": 9 - outside, "loose_gradient": 0.0} for _ in range(SEEDS)]
        return results(rows, [{"seed": s} for s in range(SEEDS)])

    assert word(lemma6.not_necessary, of(2)) == HOLDS
    assert word(lemma6.not_necessary, of(0)) == FAILS
