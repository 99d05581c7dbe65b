"""The four ways in which a wide net is a narrow one: equal units, silent units, rays, a span."""

from saddlescope.theory.relations.equal import Equal
from saddlescope.theory.relations.kind import Kind, embed, manifold_residual, reduce
from saddlescope.theory.relations.rays import Rays
from saddlescope.theory.relations.silent import Silent
from saddlescope.theory.relations.span import Span

KINDS: tuple[Kind, ...] = (Silent(), Rays(), Span(), Equal(), Equal(mirrored=True))

__all__ = [
    "KINDS",
    "Equal",
    "Kind",
    "Rays",
    "Silent",
    "Span",
    "embed",
    "manifold_residual",
    "reduce",
]
