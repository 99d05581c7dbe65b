"""All observables at many instants of a run, from the parameters that were kept there."""

import copy
import dataclasses
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.lax import dynamic_index_in_dim, dynamic_update_index_in_dim

from saddlescope.observables.observable import Observable, Snapshot, flat

# `rows[i]` and `rows.at[i].set(…)` would look whether i is within bounds, and take three times as long to compile.
_row = partial(dynamic_index_in_dim, keepdims=False, allow_negative_indices=False)
_set_row = partial(dynamic_update_index_in_dim, axis=0, allow_negative_indices=False)


def measure_kept(observe: tuple[Observable, ...], snapshot: Snapshot, kept: Any, steps: list[int]) -> dict[str, Any]:
    """All observables after these steps, by name, one row per step.

    Row i of the matrix `kept` has all trained parameters after `steps[i]`; there may be more rows than steps.
    """
    kept = _as_parameters(np.asarray(kept), snapshot.net.trained(snapshot.params))
    in_jax = tuple(o for o in observe if not o.on_host)
    found = {}
    if in_jax:
        without_task = dataclasses.replace(snapshot, task=None)  # its numbers would be compiled in
        found = dict(zip(in_jax, _in_jax(in_jax, without_task, kept, steps), strict=True))
    there = jax.tree.map(lambda rows: rows[: len(steps)], kept)
    for o in (o for o in observe if o.on_host):
        at_once = o.of_many(there)
        found[o] = _one_by_one(o, snapshot, there, steps) if at_once is None else at_once
    return flat(observe, [found[o] for o in observe])


def _as_parameters(matrix, like):
    """The columns of the matrix as parameters, each with one more axis in front."""
    leaves, tree = jax.tree.flatten(like)
    columns = np.split(matrix, np.cumsum([leaf.size for leaf in leaves])[:-1], axis=1)
    shaped = (part.reshape(-1, *leaf.shape) for part, leaf in zip(columns, leaves, strict=True))
    return jax.tree.unflatten(tree, list(shaped))


def _in_jax(observe, snapshot, kept, steps):
    padded = np.zeros(len(jax.tree.leaves(kept)[0]), int)
    padded[: len(steps)] = steps
    values = _compiled_over(observe, snapshot, kept, padded, np.asarray(len(steps)))
    return jax.tree.map(lambda v: np.asarray(v)[: len(steps)], values)


@eqx.filter_jit
def _compiled_over(observe, snapshot, kept, steps, count):
    """One instant after the other, not side by side: `vmap` would let the bits depend on the neighbours.

    The branch that is always taken keeps XLA from mixing the reading of one instant with the loop around it: its
    computation is then that of a single instant, with the same bits.
    """

    @jax.jit  # traced once, for the shapes and for the branch
    def read(trained, step):
        there = dataclasses.replace(snapshot, params=snapshot.net.merged(snapshot.params, trained), step=step)
        return tuple(o(there) for o in observe)

    def read_row(i, rows):
        values = jax.lax.cond(i < count, read, unread, *instant(i))
        return jax.tree.map(lambda all_, value: _set_row(all_, value, i), rows, values)

    def unread(*_):
        return jax.tree.map(jnp.zeros_like, like)

    def instant(i):
        return jax.tree.map(lambda all_: _row(all_, i), (kept, steps))

    like = jax.eval_shape(lambda i: read(*instant(i)), count)
    rows = jax.tree.map(lambda value: jnp.zeros((len(steps), *value.shape), value.dtype), like)
    return jax.lax.fori_loop(0, count, read_row, rows)


def _one_by_one(observable, snapshot, kept, steps):
    """The values of one observable, or of each variable of one that gives a dict."""
    values = [observable(_instant(snapshot, kept, i, step)) for i, step in enumerate(steps)]
    if isinstance(values[0], dict):
        return {key: [value[key] for value in values] for key in values[0]}
    return values


def _instant(snapshot, kept, i, step):
    """The snapshot after another step. Made by hand: `dataclasses.replace` takes five times as long, at every save."""
    there = copy.copy(snapshot)
    params = snapshot.net.merged(snapshot.params, jax.tree.map(lambda rows: rows[i], kept))
    object.__setattr__(there, "params", params)
    object.__setattr__(there, "step", np.asarray(step))
    return there
