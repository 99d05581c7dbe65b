"""Steps of one call that keep the trained parameters on the way, so that many saves cost one call."""

import jax
import jax.numpy as jnp


def run_steps(step, state, n, keep, trained_of):
    """The state after n steps of `step(i, state)`, and what was kept: one row per number in `keep`.

    `keep` holds rising numbers of steps, filled up with n; rows after the first n stay zero. Its length is structure,
    its numbers are data: one compilation serves every call. None keeps nothing.
    """
    if keep is None:
        return jax.lax.fori_loop(0, n, step, state), None

    def interval(j, carried):
        """The steps from one number of `keep` to the next."""
        state, kept = carried
        state = jax.lax.fori_loop(jnp.where(j == 0, 0, keep[j - 1]), keep[j], step, state)
        return state, jax.tree.map(lambda rows, now: rows.at[j].set(now), kept, trained_of(state))

    rows = jax.tree.map(lambda now: jnp.zeros((len(keep), *now.shape), now.dtype), trained_of(state))
    return jax.lax.fori_loop(0, jnp.sum(keep < n) + 1, interval, (state, rows))
