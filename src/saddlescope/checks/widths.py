"""How many effective units each plateau has."""

from typing import TYPE_CHECKING

import numpy as np

from saddlescope.checks.shares import Check, holds_in_share, share_text
from saddlescope.claims import MOST
from saddlescope.results import Run

if TYPE_CHECKING:  # observables bring JAX, which readers do without
    from saddlescope.observables import Observable


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
