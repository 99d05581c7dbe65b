"""The trained parameters themselves, one variable a name: `param_u` with axes param_u_0, param_u_1, …"""

from typing import final

from saddlescope.observables.observable import Observable


@final
class Parameters(Observable):
    name = "param"

    def __call__(self, snapshot):
        return snapshot.net.trained(snapshot.params)
