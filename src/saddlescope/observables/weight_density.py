"""Densities of trained weights."""

from typing import final

import equinox as eqx
import numpy as np

from saddlescope.errors import require
from saddlescope.observables.observable import Observable
from saddlescope.serialization.part import as_float, as_int


@final
class WeightDensity(Observable):
    """The density of the trained weights, one variable per matrix: `weight_density_C0`, …

    Weights outside [-limit, limit] are missing from its integral. Reference: meanfield paper, Fig.
    10.

    **Arguments:**

    - `limit`: The largest weight that is counted; positive.
    - `bins`: The number of equal bins over [-limit, limit]. The default is 60.
    """

    limit: float = eqx.field(converter=as_float)
    bins: int = eqx.field(default=60, static=True, converter=as_int)

    name = "weight_density"
    on_host = True

    def __check_init__(self):
        require(0 < self.limit < np.inf, f"`limit` must be positive and finite; got {self.limit:g}.")
        require(
            type(self.bins) is int and self.bins > 0,
            f"`bins` must be a positive whole number; got {self.bins!r}.",
        )

    def __call__(self, snapshot):
        edges = np.linspace(-self.limit, self.limit, self.bins + 1)
        weights = {k: np.asarray(v) for k, v in snapshot.net.trained(snapshot.params).items() if np.ndim(v) == 2}
        return {k: np.histogram(w, edges)[0] / w.size / np.diff(edges) for k, w in weights.items()}
