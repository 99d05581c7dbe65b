"""How soon a learning rate that is halved on stagnation ends a run."""

from typing import final

from saddlescope.errors import require
from saddlescope.optimisers import HalveOnStagnation, LearningRateBelow
from saddlescope.theory.prediction import Prediction


@final
class FrozenAt(Prediction):
    """The earliest end of a run whose learning rate is halved on stagnation until it is below a
    level.

    On a plateau without end the rule cuts as soon as it may: `cut_distance` epochs after the last
    cut, for the first time after `first_cut` epochs. `cuts` halvings take the rate below the level,
    so that a run that never leaves its plateau is frozen there after `epochs` epochs at the
    earliest. (Full batch: steps.) A noisy loss stagnates at every second question or so, and takes
    longer.

    Holds for `HalveOnStagnation` with a stop rule `LearningRateBelow`, whatever the task and the
    net.
    """

    def __call__(self, setting):
        rule = setting.schedule
        levels = [r.level for r in setting.stop if isinstance(r, LearningRateBelow)]
        require(
            isinstance(rule, HalveOnStagnation) and bool(levels),
            "This theory is for HalveOnStagnation, with a stop rule LearningRateBelow.",
        )
        cuts, lr = 0, setting.optimiser.lr
        while lr >= max(levels):
            cuts, lr = cuts + 1, lr / 2
        first = rule.patience + 1  # asked after an epoch: the first cut has no earlier one before it
        return {
            "cut_distance": ((), rule.patience),
            "first_cut": ((), first),
            "cuts": ((), cuts),
            "epochs": ((), first + (cuts - 1) * rule.patience if cuts else 1),
        }
