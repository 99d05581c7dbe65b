"""All observables at many instants of a run, from the parameters that were kept there."""

import copy
import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.nets.net import Params
from saddlescope.observables.observable import Observable, Snapshot, flat


def measure_kept(observe: tuple[Observable, ...], snapshot: Snapshot, kept: Params, steps: list[int]) -> dict[str, Any]:
    """All observables after these steps, by name, one row per step.

    Row i of every array in `kept` has the trained parameters after `steps[i]`; there may be more rows than steps.
    """
    in_jax = tuple(o for o in observe if not o.on_host)
    found = {}
    if in_jax:
        without_task = dataclasses.replace(snapshot, task=None)  # its numbers would be compiled in
        found = dict(zip(in_jax, _in_jax(in_jax, without_task, kept, steps), strict=True))
    if on_host := [o for o in observe if o.on_host]:
        rows = jax.tree.map(np.asarray, kept)
        instants = [_instant(snapshot, rows, i, step) for i, step in enumerate(steps)]
        found |= {o: _stacked([o(there) for there in instants]) for o in on_host}
    return flat(observe, [found[o] for o in observe])


def _in_jax(observe, snapshot, kept, steps):
    rows = len(jax.tree.leaves(kept)[0])
    padded = np.zeros(rows, int)
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

    def set_row(i, rows):
        now = jax.tree.map(lambda all_: all_[i], (kept, steps))
        values = jax.lax.cond(i < count, read, lambda *_: jax.tree.map(jnp.zeros_like, like), *now)
        return jax.tree.map(lambda all_, value: all_.at[i].set(value), rows, values)

    like = jax.eval_shape(read, *jax.tree.map(lambda all_: all_[0], (kept, steps)))
    rows = jax.tree.map(lambda value: jnp.zeros((len(steps), *value.shape), value.dtype), like)
    return jax.lax.fori_loop(0, count, set_row, rows)


def _instant(snapshot, rows, i, step):
    """The snapshot after another step. Made by hand: `dataclasses.replace` takes five times as long, at every save."""
    there = copy.copy(snapshot)
    params = snapshot.net.merged(snapshot.params, jax.tree.map(lambda all_: all_[i], rows))
    object.__setattr__(there, "params", params)
    object.__setattr__(there, "step", np.asarray(step))
    return there


def _stacked(values):
    """Values of one observable, or of each variable of one that gives a dict."""
    if isinstance(values[0], dict):
        return {key: [value[key] for value in values] for key in values[0]}
    return values
