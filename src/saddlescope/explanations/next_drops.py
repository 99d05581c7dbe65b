"""When each plateau of a run ends."""

import warnings
from typing import final

import numpy as np

from saddlescope.explanations.explain import diagnose
from saddlescope.theory.escape_time import NearTie
from saddlescope.theory.prediction import ConditionalPrediction


@final
class NextDrops(ConditionalPrediction):
    """The drop after each plateau, from the weights on it alone, as `explain` says it; ours.

    Near the embedded fixed point nearest to the weights, what has yet to grow does so in the
    residual there, held still. That is Theorem 4 for linear units, Proposition 5 for quadratic
    ones, and φ itself for any other. The drop comes when what has grown would gain as much as the
    whole drop does.

    `drop_step` has one step per plateau that a drop follows and that weights were saved on. It is
    infinite where nothing is predicted to grow, or not within five budgets. `read_step` is the step of
    those weights.

    Holds for two-layer nets of units under plain full-batch descent, where a plateau is long
    against the drop after it.
    """

    def __call__(self, setting, run):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NearTie)  # what comes later for it is measured beside this
            told = diagnose(run.measured, setting)
        told = [d for d in told if d.drop is not None and d.step is not None]
        steps = np.array([np.inf if d.predicted is None else d.predicted for d in told], float)
        read = np.array([d.step for d in told], int)
        return {"drop_step": ("drop", steps), "read_step": ("drop", read)}
