"""The weights themselves."""

from typing import final

import equinox as eqx
import numpy as np

from saddlescope.errors import require
from saddlescope.initials.named_leaves import named_leaves
from saddlescope.observables.observable import Observable


@final
class Parameters(Observable):
    """The trained parameters, one variable per name: `param_u` with axes param_u_0, param_u_1, …

    Parameters in a nested tree are named by their path, such as `param_layers.0.w`.

    **Arguments:**

    - `only`: the names to keep, where not all are wanted: the first layer of a deep net is a small part of it.
    """

    only: tuple[str, ...] = eqx.field(default=(), static=True, converter=tuple)
    name = "param"
    on_host = True  # there is nothing to compute: no call of a compiled function per save

    def __call__(self, snapshot):
        return self.of_many(snapshot.net.trained(snapshot.params))

    def of_many(self, trained):
        trained = named_leaves(trained)
        require(
            set(self.only) <= set(trained),
            f"This net trains {', '.join(trained)}; there is no {', '.join(set(self.only) - set(trained))}.",
        )
        # An engine may write its next steps into the same memory.
        return {name: np.array(trained[name]) for name in self.only or trained}
