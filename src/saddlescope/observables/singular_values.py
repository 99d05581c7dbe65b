"""Singular values of weight matrices."""

from typing import final

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from saddlescope.errors import require
from saddlescope.observables.observable import Observable
from saddlescope.serialization.part import as_int

SMALL = 100  # matrices with fewer rows or columns are decomposed whole


@final
class SingularValues(Observable):
    """All singular values of each weight matrix, one variable per matrix: `singular_values_u`, …"""

    name = "singular_values"

    def __call__(self, snapshot):
        return {k: jnp.linalg.svd(w, compute_uv=False) for k, w in snapshot.params.items() if w.ndim == 2}


@final
class TopSingularValues(Observable):
    """The largest singular values of each weight matrix, as `top_singular_values_u`, …

    They are found by Lanczos iteration, to rounding, where the matrix is large.

    **Arguments:**

    - `most`: How many are read, largest first. The default is 3.
    """

    name = "top_singular_values"
    on_host = True
    most: int = eqx.field(default=3, static=True, converter=as_int)

    def __check_init__(self):
        require(
            isinstance(self.most, int) and self.most > 0,
            f"`most`, how many singular values are read, must be a positive whole number; got {self.most}.",
        )

    def __call__(self, snapshot):
        return {k: top_singular_values(w, self.most) for k, w in snapshot.params.items() if w.ndim == 2}


def top_singular_values(matrix, most) -> np.ndarray:
    """The largest singular values, largest first; NaN of a matrix that is not finite."""
    from scipy.sparse.linalg import ArpackError, svds  # a sixth of a second

    w = np.asarray(matrix, float)
    least, size = min(w.shape), np.max(np.abs(w))
    if not np.isfinite(size):
        return np.full(min(most, least), np.nan)
    if size > 0 and least >= SMALL and most < least // 10:
        from scipy.sparse.linalg import ArpackError, svds  # a quarter of a second to import

        try:  # scaled, so that squares neither vanish nor overflow; the same start every time, for the same bits
            found = np.asarray(svds(w / size, most, v0=np.ones(least), return_singular_vectors=False))
            return size * np.sort(found)[::-1]
        except ArpackError:  # no convergence: whole, below
            pass
    return np.linalg.svd(w, compute_uv=False)[:most]
