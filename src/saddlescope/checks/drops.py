"""How often and when the loss drops."""

import numpy as np

from saddlescope.checks.shares import Check, error_within, holds_in_share, share_text
from saddlescope.claims import MOST


def drops(number: int, share: float = MOST) -> Check:
    """The loss has exactly this many drops."""

    def check(results):
        counts = np.array([m.stages.n_drops if m.finite else -1 for m in results.runs()])
        good = int(np.sum(counts == number))
        others = sorted(set(counts[counts != number].tolist()))
        text = f"{number} drops in {share_text(good, len(counts))}"
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
