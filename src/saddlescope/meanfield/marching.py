"""Systems of one shape, followed side by side: one compiled velocity, and one step length for all.

A whole solver of diffrax compiles for three seconds per shape; the velocity alone takes a tenth of that. The method is
Dormand and Prince's of orders 5 and 4.
"""

from collections.abc import Sequence
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from scipy.integrate import RK45

from saddlescope.meanfield.nodes import NodeSystem, State
from saddlescope.meanfield.step_length import StepLength

FIRST = 0.01  # the first step to try


def march_systems(systems: Sequence[tuple[NodeSystem, State]], times: np.ndarray, rtol: float, floor: float) -> State:
    """Γ and the weights of the blocks above the first, with system and time as the first two axes.

    **Arguments:**

    - `systems`: equations and their starts, all of one shape.
    - `times`: when to save, increasing from 0.
    - `rtol`: the allowed error of one step, relative to 1 plus the largest number of a state.
    - `floor`: the shortest step.
    """
    system, leaves = _stack([s for s, _ in systems]), jax.tree.leaves(_stack([s for _, s in systems]))
    shapes = tuple(leaf.shape[1:] for leaf in leaves)

    parts, tree = jax.tree.flatten(system)
    lanes = tuple(0 if eqx.is_array(part) else None for part in parts)

    def velocity(t, y):
        return np.asarray(_velocity(tree, lanes, shapes, parts, float(t), y))

    y = np.concatenate([np.asarray(leaf).reshape(len(systems), -1) for leaf in leaves], axis=1)
    saved = np.stack(_march(velocity, y, times, rtol, floor), axis=1)
    return _unflatten(saved, shapes)


def _march(velocity, y, times, rtol, floor):
    saved, t, slope = [y], times[0], velocity(times[0], y)
    length = StepLength(FIRST, floor, rtol)
    for end in times[1:]:
        while t < end:
            last = t + length.next >= end * (1 - 1e-15)
            h = end - t if last else length.next
            new, new_slope, error = _attempt(velocity, t, y, slope, h, rtol)
            if length.takes(h, error, end, last):
                t, y, slope = end if last else t + h, new, new_slope
        saved.append(y)
    return saved


def _attempt(velocity, t, y, slope, h, rtol):
    slopes = [slope]
    for a, c in zip(RK45.A[1:], RK45.C[1:], strict=True):
        step = sum(w * k for w, k in zip(a, slopes, strict=False))
        slopes.append(velocity(t + c * h, y + h * step))
    new = y + h * sum(w * k for w, k in zip(RK45.B, slopes, strict=True))
    slopes.append(velocity(t + h, new))
    gap = np.abs(h * sum(w * k for w, k in zip(RK45.E, slopes, strict=True))).max(axis=1)
    worst = float((gap / (rtol * (1 + np.abs(new).max(axis=1)))).max())
    return new, slopes[-1], worst if np.isfinite(worst) else np.inf  # NaN would be neither accepted nor rejected


# Plain jit on flat lists: a call costs 20 µs, where equinox's would cost ten times that.
@partial(jax.jit, static_argnums=(0, 1, 2))
def _velocity(tree, lanes, shapes, parts, t, y):
    def one(parts, y):
        system = jax.tree.unflatten(tree, parts)
        rates = jax.tree.leaves(system.velocity(t, _unflatten(y, shapes)))
        return jnp.concatenate([rate.ravel() for rate in rates])

    return jax.vmap(one, in_axes=(list(lanes), 0))(parts, y)


def _unflatten(y, shapes) -> State:
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    parts = [y[..., e - int(np.prod(s)) : e] for s, e in zip(shapes, ends, strict=True)]
    first, *rest = (p.reshape(*y.shape[:-1], *s) for p, s in zip(parts, shapes, strict=True))
    return first, tuple(rest)


def _stack(trees):
    return jax.tree.map(lambda *a: jnp.stack(a) if eqx.is_array(a[0]) else a[0], *trees)
