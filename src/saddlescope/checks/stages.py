"""What the stages of a run are checked for: drops, plateau levels, effective widths, when modes are learned."""

from typing import TYPE_CHECKING

import numpy as np

from saddlescope.checks.shares import Check, error_within, holds_in_share, share_text
from saddlescope.claims import MOST
from saddlescope.errors import number_of
from saddlescope.results import Run

if TYPE_CHECKING:  # observables bring JAX, which readers do without
    from saddlescope.observables import Observable

# ---- The loss curve ----


def drops(number: int, share: float = MOST) -> Check:
    """The loss has exactly this many drops."""

    def check(results):
        counts = np.array([m.stages.n_drops if m.finite else -1 for m in results.runs()])
        good = int(np.sum(counts == number))
        others = sorted(set(counts[counts != number].tolist()))
        text = f"{number_of(number, 'drop')} in {share_text(good, len(counts))}"
        if others:
            text += f"; others have {', '.join('diverged' if c < 0 else str(c) for c in others)}"
        return holds_in_share(good, len(counts), text, share)

    return check


def drop_steps(within: float, share: float = MOST) -> Check:
    """The loss falls fastest at the predicted steps, relative error."""

    def error(run):
        found = np.array([d.at for d in run.stages.drops])
        step = run.predicted["drop_step"].values
        return float(np.max(np.abs(found / step - 1))) if len(found) == len(step) else np.inf

    return error_within(error, within, "relative error of the drop steps", share)


def plateau_levels(within: float, share: float = MOST) -> Check:
    """Each plateau between two drops lies at its predicted level, relative error."""

    def error(run):
        found = np.array([p.level for p in run.stages.plateaus])
        level = run.predicted["plateau_level"].values
        if len(found) != len(level) or len(level) < 3:
            return np.inf
        return float(np.max(np.abs(found[1:-1] / level[1:-1] - 1)))

    return error_within(error, within, "relative error of the level", share)


def curve(name: str, within: float, share: float = MOST) -> Check:
    """The measured curve is the predicted one, largest gap over the curve's start."""

    def error(run):
        a, b = run[name].values, run.predicted[name].values
        return float(np.max(np.abs(a - b)) / abs(a[0])) if a.shape == b.shape and a.size else np.inf

    return error_within(error, within, "largest gap over the start", share)


# ---- What is learned on it ----


def widths(observable: "Observable", *expected: tuple[int, ...], share: float = MOST) -> Check:
    """The effective width on each plateau after the first and at the end: one of those expected."""

    def check(results):
        rows = [tuple(width_on_plateaus(m, observable)) if m.finite else () for m in results.runs()]
        good = sum(row in expected for row in rows)
        others = sorted({row for row in rows if row not in expected})
        then = " or ".join(" then ".join(map(str, e)) for e in expected)
        text = f"width {then} in {share_text(good, len(rows))}"
        text += f"; others {', '.join(map(str, others))}" if others else ""
        return holds_in_share(good, len(rows), text, share)

    return check


def width_on_plateaus(run: Run, observable: "Observable") -> list[int]:
    """The width at the flattest instant of each plateau after the first, and at the end."""
    times, values = run.times, run[observable.name].values
    plateaus = run.stages.plateaus[1:]
    ends = [p.at for p in plateaus[:-1]] + [times[-1]] * bool(plateaus)
    return [int(values[np.argmin(np.abs(times - t))]) for t in ends]


def half_strength(observable: "Observable", within: float, share: float = MOST) -> Check:
    """Each part of the task is half learned at the predicted step, relative error."""

    def error(run):
        times = run.times
        found = np.array([half_way(times, curve) for curve in run[observable.name].values.T])
        step = run.predicted["half_strength_step"].values
        return float(np.max(np.abs(found / step - 1))) if found.shape == step.shape else np.inf

    return error_within(error, within, "relative error of the half-strength steps", share)


def half_way(times: np.ndarray, curve: np.ndarray) -> float:
    """When a rising curve passes ½: on a line between two saved points in log-odds.

    A logistic rise is such a line.
    """
    after = int(np.argmax(curve >= 0.5))
    if after == 0 or not (0 < curve[after - 1] < 0.5 <= curve[after] < 1):
        return np.inf
    odds = np.log(curve[after - 1 : after + 1] / (1 - curve[after - 1 : after + 1]))
    return float(np.interp(0.0, odds, times[after - 1 : after + 1]))
