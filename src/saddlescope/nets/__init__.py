"""What learns."""

from saddlescope.nets.activation import Activation, Identity, LeakyReLU, ReLU, Sigmoid, Square, Tanh
from saddlescope.nets.linear_units import LinearUnits
from saddlescope.nets.mlp import MLP
from saddlescope.nets.net import Net, Params
from saddlescope.nets.parameterisation import Gaussian, MeanField, MuP, Parameterisation, UniformFanIn
from saddlescope.nets.random_feature_net import RandomFeatureNet, count, low_rank
from saddlescope.nets.units import Units

__all__ = [
    "MLP",
    "Activation",
    "Gaussian",
    "Identity",
    "LeakyReLU",
    "LinearUnits",
    "MeanField",
    "MuP",
    "Net",
    "Parameterisation",
    "Params",
    "RandomFeatureNet",
    "ReLU",
    "Sigmoid",
    "Square",
    "Tanh",
    "UniformFanIn",
    "Units",
    "count",
    "low_rank",
]  # fmt: skip
