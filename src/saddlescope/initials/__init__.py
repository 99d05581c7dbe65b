"""Where a run starts from, other than the net's own draw."""

from saddlescope.initials.first_units import FirstUnits
from saddlescope.initials.given import GivenWeights, given_weights, weights_of_run
from saddlescope.initials.initial import Initial
from saddlescope.initials.scaled import Scaled

__all__ = ["FirstUnits", "GivenWeights", "Initial", "Scaled", "given_weights", "weights_of_run"]
