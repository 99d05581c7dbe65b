"""A start at the fixed point of a narrower net, embedded in a wider one."""

from typing import final

import numpy as np

from saddlescope.errors import require, require_kind
from saddlescope.initials import GivenWeights
from saddlescope.initials.initial import Initial
from saddlescope.nets import Units
from saddlescope.theory.relations import Kind, embed


@final
class EmbeddedStart(Initial):
    """Start from the weights of a narrower net, embedded in the setting's wider net of units.

    The wider net has the same map, and a fixed point of the narrow net is one of the wide net where
    the units allow the relation. Simplicity paper, Theorem 1.

    **Arguments:**

    - `narrow`: The weights u and v of the narrower net: `given_weights(params)`.
    - `relation`: How the further units are related to them, such as `Silent()` or `Equal()`.
    """

    narrow: GivenWeights
    relation: Kind

    def __check_init__(self):
        require_kind(self.narrow, GivenWeights, "`narrow` takes weights such as given_weights(params)")
        require(set(self.narrow.names) == {"u", "v"}, f"Units have weights u and v; got {self.narrow.names}.")
        require_kind(self.relation, Kind, "`relation` is Equal(), Silent(), Rays() or Span()")

    def params(self, setting):
        require(isinstance(setting.net, Units), "Only two-layer nets of units are embedded: use Units.")
        small = dict(zip(self.narrow.names, self.narrow.arrays, strict=True))
        wide = embed(small, setting.net.units, self.relation)
        return {name: np.asarray(w, float) for name, w in wide.items()}
