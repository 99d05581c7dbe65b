"""Damaged results: each damage does what it says, and a check that looks at nothing is found out."""

import numpy as np
import pytest
import xarray as xr

from saddlescope.checks import drops, holds_in_share
from saddlescope.checks.damage import DAMAGES, survived
from saddlescope.claims import BUILT, HOLDS, CheckResult, Claim, judge, tally
from saddlescope.results import FOUND, Results, collect
from saddlescope.stages import find_stages
from saddlescope.stages.value import Stages
from saddlescope.workflows.evidence import said, sufficient


def staircase(shift):
    step = np.arange(600)
    return 0.1 + sum(1 / (1 + np.exp(0.2 * (step - at - shift))) for at in (150, 400))


def runs(n=8):
    """Odd runs have a large gap; nobody reads `weights`, which is large."""
    made = [
        xr.Dataset({"loss": ("step", staircase(i)), "gap": float(i % 2), "weights": ("unit", np.ones(5000) * i)})
        for i in range(n)
    ]
    points = [{"seed": i // 2, "net": ("small", "large")[i % 2]} for i in range(n)]
    return Results(collect(made, points), collect([xr.Dataset()] * n, points))


def larger(results):
    nets, gap = results.measured["net"].values, results.measured["gap"].values
    good = (gap > 0.5) == (nets == "large")
    return holds_in_share(good.sum(), good.size, f"{good.sum()} of {good.size}")


TWO = Claim("It drops twice.", "ours", drops(2))
LARGER = Claim("Large nets have the larger gap.", "ours", larger)
BLIND = Claim("It is there.", "ours", lambda results: CheckResult(True, "it is"))


def test_what_each_damage_does_to_claims():
    found = survived([TWO, LARGER, BLIND], runs())
    assert set(found["It is there."]) == set(DAMAGES), "a check that looks at nothing survives all"
    assert set(DAMAGES) - set(found["It drops twice."]) >= {"no stages", "all one", "values shuffled"}
    assert set(found["Large nets have the larger gap."]) == {"no stages"}


def test_a_check_that_raises_has_not_noticed():
    def fragile(results):
        if float(results.measured["gap"].std()) == 0:
            raise ZeroDivisionError
        return CheckResult(True, "fine")

    assert set(survived([Claim("Fragile.", "ours", fragile)], runs())["Fragile."]) == set(DAMAGES)


def test_what_is_built_is_shown_but_not_counted():
    verdicts = judge([TWO, Claim("It is there.", "ours", BLIND.check, built=True)], runs())
    assert [v.word for v in verdicts] == [HOLDS, BUILT]
    assert tally(verdicts) == "1 of 1 claim holds"
    broken = Claim("It is there.", "ours", lambda results: CheckResult(False, "it is not"), built=True)
    assert judge([broken], runs())[0].word == "does not hold", "a construction that is broken is no construction"


def test_the_least_that_verdicts_follow_from():
    results = runs()
    kept = sufficient([TWO, LARGER], results)
    assert said([TWO, LARGER], kept) == said([TWO, LARGER], results)
    assert set(kept.measured.data_vars) >= {FOUND, "gap"}
    assert not {"loss", "weights"} & set(kept.measured.data_vars)


def test_a_curve_that_a_check_reads_is_kept():
    def end(results):
        last = results.measured["loss"].values[:, -1]
        return holds_in_share(int(np.sum(last < 1)), len(last), f"largest {last.max():.3g}")

    assert "loss" in sufficient([TWO, Claim("It ends low.", "ours", end)], runs()).measured


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_stages_are_the_same_after_json(noise):
    rng = np.random.default_rng(0)
    found = find_stages(staircase(0) * (1 + noise * rng.standard_normal(600)))
    back = Stages.from_json(found.to_json())
    assert str(back) == str(found)
    assert back.to_json() == found.to_json()
