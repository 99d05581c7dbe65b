"""What the papers predict, as executable statements with their domains."""

from saddlescope.theory.drop_schedule import DropSchedule
from saddlescope.theory.embedding import add_zero_unit
from saddlescope.theory.fixed_point import data_with_fixed_point
from saddlescope.theory.linear_levels import LinearLevels
from saddlescope.theory.prediction import Prediction
from saddlescope.theory.reduced_width import ReducedWidth
from saddlescope.theory.relu_points import OrthogonalPoints

__all__ = [
    "DropSchedule", "LinearLevels", "OrthogonalPoints", "Prediction", "ReducedWidth", "add_zero_unit",
    "data_with_fixed_point",
]  # fmt: skip
