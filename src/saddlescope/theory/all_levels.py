"""The levels of all fixed points of a linear net."""

from typing import final

import numpy as np

from saddlescope.errors import require
from saddlescope.losses import SquaredError
from saddlescope.tasks.task import Moments
from saddlescope.theory.linear_fixed_points import LinearFixedPoints
from saddlescope.theory.linear_modes import is_linear
from saddlescope.theory.prediction import Prediction


@final
class AllLinearLevels(Prediction):
    """The loss at every fixed point of a two-layer linear net (simplicity paper, Lemma 6).

    One level for each set of eigenvectors of Σ_yx Σ_xx⁻¹ Σ_yxᵀ that the net has units for: ⟨|y|²⟩
    less their eigenvalues. `fixed_point_level` lists them, small sets first. `LinearLevels` names
    those of the largest eigenvalues, which are visited from small weights.

    Holds for two-layer linear nets under the squared error.
    """

    def __call__(self, setting):
        require(
            is_linear(setting.net) and isinstance(setting.loss, SquaredError),
            "Lemma 6 is about two-layer linear nets under the squared error: use linear_units.",
        )
        points = LinearFixedPoints(Moments.of(setting.data()))
        sets = [chosen for chosen in points.sets if len(chosen) <= setting.net.units]
        return {"fixed_point_level": ("set", np.array([points.level(chosen) for chosen in sets]))}
