"""What is lowered: a loss of a net's outputs and the targets."""

from saddlescope.losses.cross_entropy import CrossEntropy
from saddlescope.losses.custom import CustomLoss
from saddlescope.losses.loss import Loss
from saddlescope.losses.squared_error import SquaredError, squared_error

__all__ = ["CrossEntropy", "CustomLoss", "Loss", "SquaredError", "squared_error"]
