"""What a search of escape directions costs, before it starts."""

from itertools import pairwise
from typing import NamedTuple

from saddlescope.errors import require
from saddlescope.numerics import memory_of_machine
from saddlescope.theory.escape.candidates import FEW, LIFTED
from saddlescope.theory.escape.search import CHUNK, TANGENT

RATE = 1.5e10  # operations per second of one core: 0.8e10 to 4e10 was measured, by the size of the net
WORK = 6  # operations per weight and point in one step: forward, backward, gradient
COPIES = 4  # of the values of every layer, double precision


class Cost(NamedTuple):
    """What a search needs.

    **Arguments:**

    - `seconds`: CPU time of one core, to a factor of about two.
    - `memory`: bytes.
    """

    seconds: float
    memory: float


def search_cost(X, G, depth, width, restarts) -> Cost:
    """The cost for data of these shapes; a search of depth L searches all smaller depths as well."""
    (inputs, points), outputs = X.shape, len(G)
    steps = 0.0
    for layers in range(2, depth + 1):
        widths = [min(inputs, points), *([width] * (layers - 1)), outputs]
        starts = (restarts if layers == depth else min(restarts, FEW)) + LIFTED
        steps += starts * sum(a * b for a, b in pairwise(widths))
    values = CHUNK * points * (width * (depth - 1) + outputs)
    return Cost(WORK * TANGENT.steps * points * steps / RATE, 8.0 * (COPIES * values + 2 * X.size))


def refuse_too_large(X, G, depth, width, restarts) -> None:
    """Refuse a search that needs more than the memory of this machine."""
    needed, there = search_cost(X, G, depth, width, restarts).memory, memory_of_machine()
    points = int(X.shape[1] * there / needed)
    require(
        needed <= there,
        f"This search needs about {needed / 1e9:,.0f} GB, but this machine has {there / 1e9:,.0f} GB: "
        f"use at most {points:,} of the {X.shape[1]:,} points, or a narrower net.",
    )
