"""A narrow net coupled to a wider one: it starts from the first units of that one's draw."""

from typing import final

import jax
import numpy as np

from saddlescope.errors import require
from saddlescope.initials.initial import Initial
from saddlescope.serialization.part import Part


@final
class FirstUnits(Initial):
    """Start from the first units of a wider net: every array is the leading block of that net's initial array.

    **Arguments:**

    - `of`: the setting of the wider net; its seed decides the draw.
    """

    of: Part

    def params(self, setting):
        wide, own = self.of.initial_params(), setting.drawn_params()  # type: ignore[attr-defined]
        require(
            jax.tree.structure(wide) == jax.tree.structure(own),
            "The wider net must be of the same kind: the two have other parameters.",
        )
        return jax.tree.map(_leading, wide, own)


def _leading(wide, own):
    shape = np.shape(own)
    fits = len(shape) == wide.ndim and all(n <= m for n, m in zip(shape, wide.shape, strict=True))
    require(fits, f"A parameter of shape {wide.shape} has no leading block of shape {shape}: the net is not narrower.")
    return wide[tuple(slice(n) for n in shape)]
