"""Plateau levels of two-layer linear nets."""

from typing import final

import numpy as np

from saddlescope.errors import require
from saddlescope.tasks.task import Moments
from saddlescope.theory.linear_modes import is_linear
from saddlescope.theory.prediction import Prediction


@final
class LinearLevels(Prediction):
    """Plateau levels of a two-layer linear net, in closed form.

    At a fixed point of effective width r the map is the projection of the optimum on r eigenvectors
    of M = Σ_yx Σ_xx⁻¹ Σ_yxᵀ. The loss is ⟨|y|²⟩ minus their eigenvalues. Predicted are the top r,
    for r = 0, 1, … up to the rank of M or the number of units.

    Gives `plateau_level`. Holds for plateaus that are visited closely, from small initial weights
    and with separated modes. It also needs modes to be learned in the order of these eigenvalues.
    They are learned in the order of the singular values of Σ_yx, which may differ. Reference:
    simplicity paper, Lemma 6; Baldi and Hornik 1989.
    """

    def __call__(self, setting):
        require(is_linear(setting.net), "Lemma 6 is about two-layer linear nets: use linear_units.")
        return {"plateau_level": ("stage", levels(Moments.of(setting.data()), setting.net.units))}


def levels(moments, units):
    W, xx = np.asarray(moments.optimum), np.asarray(moments.xx)
    gains = np.linalg.eigvalsh(W @ xx @ W.T)[::-1][: min(W.shape)]
    gains = gains[gains > 1e-12 * gains[0]]
    # Summed from the last mode backwards: the level after all modes is the floor, to the last digit.
    return (float(moments.floor) + np.append(np.cumsum(gains[::-1])[::-1], 0.0))[: units + 1]
