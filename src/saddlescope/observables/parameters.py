"""The parameters themselves, one variable a name: `param_u` with axes u_0, u_1, …"""

from typing import final

from saddlescope.observables.observable import Observable


@final
class Parameters(Observable):
    name = "param"

    def __call__(self, snapshot):
        return dict(snapshot.params)
