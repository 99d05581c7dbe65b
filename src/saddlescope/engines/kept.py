"""Steps of one call that keep the trained parameters on the way, so that many saves cost one call."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.lax import dynamic_index_in_dim, dynamic_update_index_in_dim

# `rows[j]` and `rows.at[j].set(…)` would look whether j is within bounds, and take three times as long to compile.
_item = partial(dynamic_index_in_dim, keepdims=False, allow_negative_indices=False)
_set_row = partial(dynamic_update_index_in_dim, axis=0, allow_negative_indices=False)


def intervals(keep, n):
    """The bounds of the intervals between the numbers of `keep`, and how many intervals there are up to n."""
    return None if keep is None else (np.concatenate([[0], keep]), np.searchsorted(keep, n) + 1)


def run_steps(step, state, n, between, trained_of):
    """The state after n steps of `step(i, state)`; and the trained parameters after each interval, one row each.

    The number of rows is structure, the bounds of the intervals are data: one compilation serves every call. Rows after
    the last interval stay zero. Without intervals nothing is kept.
    """
    if between is None:
        return jax.lax.fori_loop(0, n, step, state), None
    bounds, count = between

    def interval(j, carried):
        state, kept = carried
        state = jax.lax.fori_loop(_item(bounds, j), _item(bounds, j + 1), step, state)
        return state, _set_row(kept, _in_one_row(trained_of(state)), j)

    now = _in_one_row(trained_of(state))
    rows = jnp.zeros((len(bounds) - 1, now.size), now.dtype)
    return jax.lax.fori_loop(0, count, interval, (state, rows))


def _in_one_row(trained):
    """One array to keep, not one per parameter: each takes time to compile. All have the precision of the run."""
    return jnp.concatenate([leaf.ravel() for leaf in jax.tree.leaves(trained)])
