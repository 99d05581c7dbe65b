"""Plateau levels of a two-layer linear net (simplicity paper, Lemma 6; Baldi and Hornik 1989).

At a fixed point of effective width r the map is the projection of the optimum on r eigenvectors of
M = Σ_yx Σ_xx⁻¹ Σ_yxᵀ, so the loss is ⟨|y|²⟩ minus their eigenvalues. Predicted: the top r, r = 0, 1, …, D.

Holds for plateaus that are visited closely (small initial weights, separated modes) and when modes are learned in the
order of these eigenvalues; a plateau left before the net has relaxed lies above its level.
"""

from typing import final

import numpy as np

from saddlescope.refusal import refuse_unless
from saddlescope.tasks.task import Moments
from saddlescope.theory.prediction import Prediction


@final
class LinearLevels(Prediction):
    def __call__(self, setting):
        refuse_unless(setting.net.reduces, "Lemma 6 speaks of linear nets; this net is not one.")
        return {"plateau_level": ("stage", levels(Moments.of(setting.data())))}


def levels(moments):
    W, xx = np.asarray(moments.optimum), np.asarray(moments.xx)
    gains = np.linalg.eigvalsh(W @ xx @ W.T)[::-1][: min(W.shape)]
    # Summed from the last mode backwards: the level after all modes is the floor, to the last digit.
    return float(moments.floor) + np.append(np.cumsum(gains[::-1])[::-1], 0.0)
