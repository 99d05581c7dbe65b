"""Where a run rests after it has left the origin, and what its singular values are there."""

import re
from typing import NamedTuple

import numpy as np

from saddlescope.checks import in_most_runs
from saddlescope.claims import CheckResult

NAME = re.compile(r"top_singular_values_W\d")
BELOW = 0.95  # of the loss at the start: a plateau above it is the origin
ABOVE = 0.5  # of the loss at the start: a plateau below it is the end of learning, not a saddle
BALANCED = 1.5  # s₁(W₁)/s₁(W₃), either way; a net broken by too large a step is not balanced
DOMINANT = 0.5  # of the largest: others below it leave the largest alone
SPREAD = 0.02  # of s₂/s₁ between layers, from the initial draw


class Rest(NamedTuple):
    """A plateau below the origin's, and the saved instants on it.

    **Arguments:**

    - `start`, `end`, `level`: of the plateau, in epochs and loss.
    - `at`: the number of the saved instant nearest to where the loss moves least.
    - `during`: the numbers of all saved instants on it.
    - `left`: whether the loss drops again later.
    """

    start: float
    end: float
    level: float
    at: int
    during: np.ndarray
    left: bool


def spectra(run) -> np.ndarray:
    """Top singular values, saved × layer × number."""
    names = sorted(n for n in map(str, run.data_vars) if NAME.fullmatch(n))
    found = [run[n].values for n in names]
    return np.stack([v for v in found if v.size], axis=1)  # a shallower net lacks later layers


def ratios(values) -> np.ndarray:
    """s₂/s₁ of every layer, from its singular values along the last axis."""
    return values[..., 1] / np.where(values[..., 0] > 0, values[..., 0], 1)


def dominant_number(values, most=5) -> np.ndarray:
    """How many singular values stand out: the largest gap s_k/s_{k+1} is after the k-th, k ≤ most."""
    gaps = values[..., :most] / np.maximum(values[..., 1 : most + 1], 1e-30)
    return 1 + np.argmax(gaps, axis=-1)


def rests(run) -> list[Rest]:
    """All plateaus between the origin's and the end of learning on which layers are balanced."""
    values, times, found = spectra(run), run.times, []
    start = run["loss"].values[0]
    for p in run.stages.plateaus:
        during = np.flatnonzero((times >= p.start) & (times <= p.end))
        between = ABOVE * start < p.level < BELOW * start
        if not between or p.kind == "weak" or not len(during):
            continue
        at = int(during[np.argmin(np.abs(times[during] - p.at))])
        first, third = values[at, 0, 0], values[at, min(2, values.shape[1] - 1), 0]
        if max(first / third, third / first) <= BALANCED:
            left = any(d.at > p.end - 1 for d in run.stages.drops)
            found.append(Rest(p.start, p.end, p.level, at, during, left))
    return found


def wait(run) -> float:
    """Epochs until the loss has left the origin; infinite where it never does."""
    loss = run["loss"].values
    gone = np.flatnonzero(loss < BELOW * loss[0])
    return float(gone[0]) if gone.size else np.inf


def first_rest(run) -> Rest | None:
    """The plateau after the first escape; None where a run has not come to one."""
    return next(iter(rests(run)), None)


def deep_layers(depth) -> slice:
    """The deeper half, layers 4 to 6 of six."""
    return slice(depth // 2, depth)


def where_rested(test, say=None, left=False):
    """test(run, rest) in most runs that came to rest, and that left it again if `left`; else these runs cannot tell."""

    def fits(run):
        rest = first_rest(run)
        return not run.finite or (rest is not None and (rest.left or not left))

    def check(results):
        keep = np.array([bool(fits(run)) for run in results.runs()])
        word = "come to rest after the first escape" + (" and escaped again" if left else "")
        if not keep.any():
            return CheckResult(False, f"none of {keep.size} runs has {word}", unclear=True)
        found = in_most_runs(lambda run: test(run, first_rest(run)), say)(results.where(keep))
        evidence = f"{keep.sum()} of {keep.size} runs have {word}; {found.evidence}"
        return CheckResult(found.holds, evidence, found.partly, found.unclear, found.counts)

    return check


def say_ratios(results):
    """Median s₂/s₁ by layer on the first rest."""
    rows = []
    for run in results.runs():
        rest = first_rest(run)
        if run.finite and rest is not None:
            rows.append(ratios(spectra(run)[rest.at]))
    text = " ".join(f"{r:.2f}" for r in np.median(rows, axis=0)) if rows else "none"
    return f"median s₂/s₁ by layer on the plateau: {text}"
