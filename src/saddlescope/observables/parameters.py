"""The trained parameters themselves, one variable a name: `param_u` with axes param_u_0, param_u_1, …

`only` names those to keep where not all are wanted: the first layer of a deep net is a small part of it.
"""

from typing import final

import equinox as eqx

from saddlescope.errors import require
from saddlescope.observables.observable import Observable


@final
class Parameters(Observable):
    only: tuple[str, ...] = eqx.field(default=(), static=True, converter=tuple)
    name = "param"

    def __call__(self, snapshot):
        trained = snapshot.net.trained(snapshot.params)
        require(
            set(self.only) <= set(trained),
            f"This net trains {', '.join(trained)}; there is no {', '.join(set(self.only) - set(trained))}.",
        )
        return {name: trained[name] for name in self.only or trained}
