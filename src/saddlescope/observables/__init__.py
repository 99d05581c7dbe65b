"""What is read off a run."""

from saddlescope.observables.effective_width import ByNorm, ByRank, ByRays, EffectiveWidth, WidthRule
from saddlescope.observables.gradient_norm import GradientNorm
from saddlescope.observables.learned import LearnedModes, LearnedSamples
from saddlescope.observables.loss import FullLoss
from saddlescope.observables.observable import Observable, Snapshot
from saddlescope.observables.parameters import Parameters
from saddlescope.observables.singular_values import SingularValues
from saddlescope.observables.units import Balancedness, UnitDirections, UnitNorms

__all__ = [
    "Balancedness", "ByNorm", "ByRank", "ByRays", "EffectiveWidth", "FullLoss", "GradientNorm", "LearnedModes",
    "LearnedSamples", "Observable", "Parameters", "SingularValues", "Snapshot", "UnitDirections", "UnitNorms",
    "WidthRule",
]  # fmt: skip
