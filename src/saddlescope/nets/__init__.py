"""Nets: what learns."""

from saddlescope.nets.activation import (
    Activation,
    Cube,
    Erf,
    Identity,
    LeakyReLU,
    OneMinusCos,
    ReLU,
    RoundedLeakyReLU,
    Sigmoid,
    Sin,
    Square,
    Tanh,
    TanhTimes,
)  # fmt: skip
from saddlescope.nets.bias_free_mlp import BiasFreeMLP
from saddlescope.nets.conv_unit import ConvUnit
from saddlescope.nets.custom_unit import CustomUnit
from saddlescope.nets.deep_units import DeepUnits
from saddlescope.nets.heads import LinearHead, MergedHead, SoftmaxHead
from saddlescope.nets.linear_transformer import LinearTransformer
from saddlescope.nets.low_rank_mlp import LowRankMLP
from saddlescope.nets.mlp import MLP
from saddlescope.nets.net import Net, Params
from saddlescope.nets.neuron import Neuron
from saddlescope.nets.parameterisation import Gaussian, MeanField, MuP, Parameterisation, UniformFanIn
from saddlescope.nets.random_feature_net import RandomFeatureNet, count, low_rank
from saddlescope.nets.unit import Unit
from saddlescope.nets.units import Units, linear_units

__all__ = [
    "MLP",
    "Activation",
    "BiasFreeMLP",
    "ConvUnit",
    "Cube",
    "CustomUnit",
    "DeepUnits",
    "Erf",
    "Gaussian",
    "Identity",
    "LeakyReLU",
    "LinearHead",
    "LinearTransformer",
    "LowRankMLP",
    "MeanField",
    "MergedHead",
    "MuP",
    "Net",
    "Neuron",
    "OneMinusCos",
    "Parameterisation",
    "Params",
    "RandomFeatureNet",
    "ReLU",
    "RoundedLeakyReLU",
    "Sigmoid",
    "Sin",
    "SoftmaxHead",
    "Square",
    "Tanh",
    "TanhTimes",
    "UniformFanIn",
    "Unit",
    "Units",
    "count",
    "linear_units",
    "low_rank",
]  # fmt: skip
