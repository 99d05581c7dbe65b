"""What learns."""

from saddlescope.nets.activation import Activation, Identity, ReLU, Sigmoid, Square, Tanh
from saddlescope.nets.linear_units import LinearUnits
from saddlescope.nets.net import Net, Params
from saddlescope.nets.units import Units

__all__ = [
    "Activation", "Identity", "LinearUnits", "Net", "Params", "ReLU", "Sigmoid", "Square", "Tanh", "Units",
]  # fmt: skip
