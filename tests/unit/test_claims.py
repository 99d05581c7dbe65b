"""Claims: every helper on made runs with known answers, a diverged run and padding among them."""

import numpy as np
import pytest
import xarray as xr

from saddlescope.checks import curve, drop_steps, drops, error_within, half_strength, half_way, plateau_levels, widths
from saddlescope.claims import CheckResult, Claim, Count, judge
from saddlescope.observables import ByRank, EffectiveWidth, LearnedModes
from saddlescope.results import Results, collect

learned, width = LearnedModes(), EffectiveWidth(ByRank())
LEVELS, HALF = (4.0, 1.0, 0.0), (100.0, 300.0)


def logistic(step, centre, rate=0.2):
    return 1 / (1 + np.exp(-rate * (step - centre)))


def made(n=500, shift=0.0, diverged=False, drop=True):
    """A staircase 4 → 1 → 0 with logistic modes; a diverged one differs in its last step alone."""
    step, saved = np.arange(n), np.arange(0, n, 10)
    modes = np.stack([logistic(saved, h + shift) for h in HALF], axis=1)
    loss = 3 * (1 - logistic(step, HALF[0] + shift)) + 1 * (1 - logistic(step, HALF[1] + shift) * drop)
    if diverged:  # at the very last step: only its loss tells
        loss[-1] = np.inf
    return xr.Dataset(
        {
            "loss": ("step", loss),
            learned.name: (("saved", "mode"), modes),
            width.name: ("saved", np.where(saved < HALF[1] + shift, 1, 2)),
        },
        {"saved_step": ("saved", saved)},
    )


def truth(n=500):
    m = made(n)
    fastest = np.array(HALF)  # a logistic falls fastest half way
    return xr.Dataset(
        {
            "loss": m["loss"],
            "plateau_level": ("stage", np.array(LEVELS)),
            "drop_step": ("drop", fastest),
            "half_strength_step": ("mode", np.array(HALF)),
        }
    )


def results_of(*runs):
    points = [{"seed": i} for i in range(len(runs))]
    return Results(collect(list(runs), points), collect([truth(500)] * len(runs), points))


CHECKS = {
    "drops": drops(2),
    "levels": plateau_levels(1e-3),
    "drop steps": drop_steps(0.01),
    "half": half_strength(learned, 0.01),
    "curve": curve("loss", 1e-9),
    "widths": widths(width, (1, 2)),
}


@pytest.mark.parametrize("name", CHECKS)
def test_holds_on_what_is_so(name):
    finding = CHECKS[name](results_of(*[made()] * 4))
    assert finding.holds, finding.evidence
    assert "4 of 4" in finding.evidence
    assert finding.counts == (Count(4, 4),)


@pytest.mark.parametrize("name", CHECKS)
def test_a_diverged_run_counts_against_every_claim_and_is_counted(name):
    claim = Claim("It is so.", "here", CHECKS[name])
    verdict = judge([claim], results_of(*[made()] * 3, made(diverged=True)))[0]
    assert verdict.word == "cannot tell"
    assert verdict.counts == (Count(3, 4),)
    assert "3 of 4" in verdict.evidence
    assert verdict.runs == 4
    assert verdict.not_finite == 1
    assert "1 of 4 not finite" in str(verdict)


@pytest.mark.parametrize("name", CHECKS)
def test_runs_that_all_diverge_refute_every_claim(name):
    verdict = judge([Claim("It is so.", "here", CHECKS[name])], results_of(*[made(diverged=True)] * 4))[0]
    assert verdict.word == "does not hold"


@pytest.mark.parametrize("name", ["drops", "levels", "drop steps", "half", "widths"])
def test_padding_is_not_divergence(name):
    """A shorter run is padded in the same table; it must be judged as if it were alone."""
    results = results_of(made(500), made(420), made(420), made(420))
    assert results.measured["length"].values.tolist() == [500, 420, 420, 420]
    assert np.isnan(results.measured["loss"].values[1, 420:]).all()
    verdict = judge([Claim("It is so.", "here", CHECKS[name])], results)[0]
    assert verdict.holds, verdict.evidence
    assert verdict.not_finite == 0


@pytest.mark.parametrize("name", ["drop steps", "half", "curve"])
def test_fails_on_what_comes_too_late(name):
    finding = CHECKS[name](results_of(*[made()] * 2, *[made(shift=12.0)] * 2))
    assert not finding.holds
    assert finding.counts == (Count(2, 4),)


def test_fails_on_another_number_of_drops():
    one = made(drop=False)
    for name in ("drops", "levels", "drop steps", "widths"):
        assert not CHECKS[name](results_of(*[one] * 4)).holds
    assert "others have 1" in drops(2)(results_of(one)).evidence


def test_a_share_is_a_share():
    runs = results_of(*[made()] * 12, *[made(diverged=True)] * 4)
    assert drops(2, share=0.75)(runs).holds
    assert not drops(2, share=0.8)(runs).holds
    assert error_within(lambda run: 0.0, 0.1, "error", share=0.75)(runs).holds


def test_half_way_is_exact_for_a_logistic_however_coarse():
    for spacing in (1, 7, 25):
        times = np.arange(0, 200, spacing)
        assert half_way(times, logistic(times, 83.21)) == pytest.approx(83.21, abs=1e-9)
    assert half_way(np.arange(3), np.array([0.1, 0.2, 0.3])) == np.inf
    assert half_way(np.arange(3), np.array([0.9, 0.95, 0.99])) == np.inf


def test_only_restricts_and_a_claim_about_no_run_is_left_out():
    results = results_of(*[made()] * 4, made(diverged=True))
    assert judge([Claim("So.", "here", drops(2), only={"seed": (0, 1, 2, 3)})], results)[0].holds
    assert judge([Claim("So.", "here", drops(2), only={"seed": 9})], results) == ()


def test_a_note_is_shown_where_a_claim_fails_and_only_there():
    results = results_of(made(), made())
    failing = Claim("So.", "here", lambda r: CheckResult(False, "no"), note="because")
    holding = Claim("So.", "here", lambda r: CheckResult(True, "yes"), note="because")
    assert "Why: because" in str(judge([failing], results)[0])
    assert "because" not in str(judge([holding], results)[0])
