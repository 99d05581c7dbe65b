"""Embedded fixed points (simplicity paper, Theorem 1): a narrow net's fixed point inside a wider net.

(ii) If a unit with weights u_zero is silent, φ(x; u_zero) = 0 for all x, then adding it with v = 0 keeps the map
and the fixed point. Holds for linear, ReLU, tanh and polynomial units (no constant term) with u_zero = 0; not for
the sigmoid, whose φ(x; 0) = 1/2.
"""

import jax.numpy as jnp


def add_zero_unit(params):
    """(ii): the narrow parameters with one unit u = 0, v = 0 more."""
    return {name: jnp.concatenate([w, jnp.zeros_like(w[:1])]) for name, w in params.items()}
