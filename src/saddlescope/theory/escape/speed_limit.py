"""What is known about s* from above: the one place where a bound enters the search."""

from typing import NamedTuple

import numpy as np

CERTIFIED, BOUNDED, FOUND = "certified", "bounded", "found"
CLOSED = 1e-8  # of ‖X‖_op ‖G‖_F: a gap that counts as none


class SpeedLimit(NamedTuple):
    """An upper bound of s*.

    **Arguments:**

    - `bound`: s* ≤ this.
    - `name`: why.
    """

    bound: float
    name: str


def speed_limit(X, G, depth) -> SpeedLimit:
    """The best bound that we know for these data at this depth."""
    return operator_bound(X, G)


def operator_bound(X, G) -> SpeedLimit:
    """s* ≤ ‖X‖_op ‖G‖_op, for any depth and number of outputs.

    The last hidden layer may be one neuron (Prop. 3.2), so that Y = b σ(h) with ‖b‖ = 1. By Cauchy-Schwarz a neuron's
    values have at most its own ‖row‖ times Π‖W‖ of the layers below times ‖X‖_op, so −L0 ≤ ‖Gᵀb‖ ‖X‖_op.
    """
    return SpeedLimit(float(np.linalg.norm(X, 2) * np.linalg.norm(G, 2)), "‖X‖_op ‖G‖_op")


def status_of(speed, limit: SpeedLimit | None, scale) -> str:
    """`certified` where the speed reaches the bound, `bounded` where one is known, else `found`."""
    if limit is None:
        return FOUND
    return CERTIFIED if speed >= limit.bound - CLOSED * scale else BOUNDED
