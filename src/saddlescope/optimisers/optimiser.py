"""The kind of all optimisers: thin names over optax, which is imported when a loop of JAX asks for a transformation."""

import math
from abc import abstractmethod
from typing import TYPE_CHECKING

from saddlescope.errors import require
from saddlescope.serialization.part import Part

if TYPE_CHECKING:
    import optax


def check_lr(lr):
    require(0 < lr < math.inf, f"`lr`, the learning rate, must be positive and finite; got {lr:g}.")


def check_clip(clip):
    require(
        clip is None or clip > 0,
        f"`clip`, the largest gradient norm, must be positive or None; got {clip}.",
    )


def clipped(clip, *rest):
    """Clip the global gradient norm first, where asked to."""
    import optax

    first = optax.identity() if clip is None else optax.clip_by_global_norm(clip)
    return optax.chain(first, *rest)


class Optimiser(Part):
    """Abstract base of optimisers: θ ← θ - lr · direction, where the direction comes from the
    gradient.

    An optimiser of your own is a subclass with a field `lr` and a method `transform` that returns
    any optax transformation.

    **Arguments:**

    - `lr`: The learning rate that a run starts with; a schedule may change it.
    """

    lr: float

    @abstractmethod
    def transform(self) -> "optax.GradientTransformation":
        """The map from gradient to direction, without the learning rate."""
