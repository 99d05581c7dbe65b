"""Plateau levels of a two-layer linear net (simplicity paper, Lemma 6; Baldi and Hornik 1989).

At a fixed point of effective width r the map is the projection of the optimum on r eigenvectors of
M = Σ_yx Σ_xx⁻¹ Σ_yxᵀ, so the loss is ⟨|y|²⟩ minus their eigenvalues. Predicted: the top r, for r = 0, 1, … up to
the rank of M or the number of units.

Holds for plateaus that are visited closely (small initial weights, separated modes) and when modes are learned in the
order of these eigenvalues. Modes are learned in the order of the singular values of Σ_yx, which need not be the same.
"""

from typing import final

import numpy as np

from saddlescope.errors import require
from saddlescope.tasks.task import Moments
from saddlescope.theory.linear_modes import is_linear
from saddlescope.theory.prediction import Prediction


@final
class LinearLevels(Prediction):
    def __call__(self, setting):
        require(is_linear(setting.net), "Lemma 6 speaks of two-layer linear nets: use linear_units.")
        return {"plateau_level": ("stage", levels(Moments.of(setting.data()), setting.net.units))}


def levels(moments, units):
    W, xx = np.asarray(moments.optimum), np.asarray(moments.xx)
    gains = np.linalg.eigvalsh(W @ xx @ W.T)[::-1][: min(W.shape)]
    gains = gains[gains > 1e-12 * gains[0]]
    # Summed from the last mode backwards: the level after all modes is the floor, to the last digit.
    return (float(moments.floor) + np.append(np.cumsum(gains[::-1])[::-1], 0.0))[: units + 1]
