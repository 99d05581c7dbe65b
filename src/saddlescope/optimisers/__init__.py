"""Optimisers, learning-rate schedules and stop rules: how a net steps, and when it stops."""

from saddlescope.optimisers.adam import Adam
from saddlescope.optimisers.gradient_descent import GradientDescent
from saddlescope.optimisers.gradient_flow import GradientFlow
from saddlescope.optimisers.norm_scaled import NormScaledDescent
from saddlescope.optimisers.optimiser import Optimiser
from saddlescope.optimisers.schedule import (
    Constant,
    HalveOnStagnation,
    Schedule,
    StepDecay,
    StepDownOnStagnation,
    WarmUp,
)
from saddlescope.optimisers.stop import LearningRateBelow, LossBelow, StopRule

__all__ = [
    "Adam",
    "Constant",
    "GradientDescent",
    "GradientFlow",
    "HalveOnStagnation",
    "LearningRateBelow",
    "LossBelow",
    "NormScaledDescent",
    "Optimiser",
    "Schedule",
    "StepDecay",
    "StepDownOnStagnation",
    "StopRule",
    "WarmUp",
]  # fmt: skip
