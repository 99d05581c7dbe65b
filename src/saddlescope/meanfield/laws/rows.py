"""A mixing law with structure: neurons of several kinds, each with a direction of its own."""

from typing import final

import equinox as eqx
import numpy as np

from saddlescope.errors import InvalidInput, require
from saddlescope.meanfield.laws.mixing import MixingLaw
from saddlescope.meanfield.laws.quadrature import chi_moments, from_moments, two_sided
from saddlescope.theory.meanfield.kernel import hermite


def _rows(given) -> tuple[tuple[float, ...], ...]:
    try:
        rows = np.asarray(given, float)
    except (TypeError, ValueError):
        raise InvalidInput(f"`rows` must be rows of numbers, one per kind of neuron; got {given!r}.") from None
    require(
        rows.ndim == 2 and rows.size > 0 and bool(np.isfinite(rows).all()),
        f"`rows` must be rows of finite numbers, one per kind of neuron; got {given!r}.",
    )
    return tuple(tuple(map(float, row)) for row in rows)


@final
class RowMixing(MixingLaw):
    """Neurons of several kinds, equally frequent: L = g · row with a standard Gaussian number g, without bias.

    Rows that are axes make neurons that read one channel each.

    **Arguments:**

    - `rows`: one per kind of neuron, with as many numbers as there are channels.
    """

    rows: tuple[tuple[float, ...], ...] = eqx.field(static=True, converter=_rows)

    @property
    def has_bias(self):
        return False

    def _checked(self, rank):
        require(
            len(self.rows[0]) == rank,
            f"A row needs one number per channel, {rank}; got {len(self.rows[0])}.",
        )
        return np.array(self.rows)

    def draw(self, rng, count, rank):
        rows = self._checked(rank)
        chosen = rows[rng.integers(len(rows), size=count)]
        return np.hstack([rng.standard_normal((count, 1)) * chosen, np.zeros((count, 1))])

    def rules(self, count, kinked):
        rule = two_sided(*from_moments(chi_moments(1, 8))) if kinked else hermite(count)
        return rule, (np.zeros(1), np.ones(1))

    def nodes(self, rank, count, kinked):
        rows = self._checked(rank)
        (g, weights), _ = self.rules(count, kinked)
        nodes = np.concatenate([np.outer(g, np.append(row, 0.0)) for row in rows])
        return nodes, np.tile(weights / len(rows), len(rows))
