"""Observables: what is read off a run."""

from saddlescope.observables.accuracy import Accuracy
from saddlescope.observables.effective_width import ByNorm, ByRank, ByRays, EffectiveWidth, WidthRule
from saddlescope.observables.fit import Fit, TestError
from saddlescope.observables.frequencies import ResidualAmplitudes, cosine_amplitudes, learned_since
from saddlescope.observables.gradient_noise import GradientNoise
from saddlescope.observables.gradient_norm import GradientNorm
from saddlescope.observables.layer_balance import LayerNorms, StrongImbalance, WeakBalance
from saddlescope.observables.layers import (
    ActivationEffect,
    ActivationRanks,
    BottleneckRanks,
    WeightRanks,
    numerical_rank,
    relu_effect,
)
from saddlescope.observables.learned import LearnedModes, LearnedSamples
from saddlescope.observables.log_ratios import LogRatios, log_ratios, log_sizes
from saddlescope.observables.loss import FullLoss, HeldOutLoss, LossOnFirst
from saddlescope.observables.minima import MinimaCounts, MinimaRule, PaperMinima, ProminentMinima
from saddlescope.observables.observable import Observable, Snapshot, measure
from saddlescope.observables.parameters import Parameters
from saddlescope.observables.partials import ChannelPartials, SymmetryDefect, odd_share
from saddlescope.observables.sharpness import Sharpness
from saddlescope.observables.singular_values import SingularValues, TopSingularValues
from saddlescope.observables.units import Balancedness, UnitDirections, UnitNorms
from saddlescope.observables.weight_density import WeightDensity

__all__ = [
    "Accuracy",
    "ActivationEffect",
    "ActivationRanks",
    "Balancedness",
    "BottleneckRanks",
    "ByNorm",
    "ByRank",
    "ByRays",
    "ChannelPartials",
    "EffectiveWidth",
    "Fit",
    "FullLoss",
    "GradientNoise",
    "GradientNorm",
    "HeldOutLoss",
    "LayerNorms",
    "LearnedModes",
    "LearnedSamples",
    "LogRatios",
    "LossOnFirst",
    "MinimaCounts",
    "MinimaRule",
    "Observable",
    "PaperMinima",
    "Parameters",
    "ProminentMinima",
    "ResidualAmplitudes",
    "Sharpness",
    "SingularValues",
    "Snapshot",
    "StrongImbalance",
    "SymmetryDefect",
    "TestError",
    "TopSingularValues",
    "UnitDirections",
    "UnitNorms",
    "WeakBalance",
    "WeightDensity",
    "WeightRanks",
    "WidthRule",
    "cosine_amplitudes",
    "learned_since",
    "log_ratios",
    "log_sizes",
    "measure",
    "numerical_rank",
    "odd_share",
    "relu_effect",
]
