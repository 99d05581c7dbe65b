"""Stages: the plateaus and drops of any loss curve."""

from saddlescope.stages.curve import Curve, read_curves
from saddlescope.stages.find import find_stages
from saddlescope.stages.value import Drop, Plateau, Stages

__all__ = ["Curve", "Drop", "Plateau", "Stages", "find_stages", "read_curves"]
