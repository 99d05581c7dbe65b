"""Where a run rests after it has left the origin, and what its singular values are there."""

import re
from typing import NamedTuple

import numpy as np

NAME = re.compile(r"top_singular_values_W\d")
BELOW = 0.95  # of the loss at the start: a plateau above it is the origin
ABOVE = 0.5  # of the loss at the start: a plateau below it is the end of learning, not a saddle
BALANCED = 1.5  # s₁ of the inner layers, largest over least; a net broken by too large a step is not balanced
DOMINANT = 0.5  # of the largest: others below it leave the largest alone
RANK_ONE = 0.1  # s₂/s₁ up to which a layer counts as rank one
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
    """How many singular values stand out: the largest gap s_k/s_{k+1} is after the k-th, k ≤ most. None do where it is
    below 1/DOMINANT."""
    gaps = values[..., :most] / np.maximum(values[..., 1 : most + 1], 1e-30)
    return np.where(gaps.max(axis=-1) * DOMINANT > 1, 1 + np.argmax(gaps, axis=-1), 0)


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
        # Not W_1: where it has many large singular values, its s₁ is smaller than that of layers of rank one.
        inner = values[at, 1:-1, 0]
        if inner.max() <= BALANCED * inner.min():
            left = any(d.at > p.end - 1 for d in run.stages.drops)
            found.append(Rest(p.start, p.end, p.level, at, during, left))
    return found


def wait(run) -> float:
    """Epochs until the loss has left the origin; infinite where it never does."""
    loss = run["loss"].values
    gone = np.flatnonzero(loss < BELOW * loss[0])
    return float(gone[0]) if gone.size else np.inf


def after_rest(run, rest) -> int:
    """The number of the first saved instant after the drop that ends a plateau; the last one if there is none."""
    ends = [d.end for d in run.stages.drops if d.at > rest.end - 1]
    after = np.flatnonzero(run.times >= min(ends, default=np.inf))
    return int(after[0]) if after.size else len(run.times) - 1


def first_rest(run) -> Rest | None:
    """The plateau after the first escape; None where a run has not come to one."""
    return next(iter(rests(run)), None)


def deep_layers(depth) -> slice:
    """The deeper half, layers 4 to 6 of six."""
    return slice(depth // 2, depth)


def spaced(values, form=".2f") -> str:
    """`0.31 0.07 0.06`, one number per layer."""
    return " ".join(f"{v:{form}}" for v in values)
