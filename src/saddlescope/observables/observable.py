"""What is read off a run: a pure function of one instant to an array with named axes."""

import dataclasses
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import equinox as eqx
import jax
import numpy as np

from saddlescope.errors import require
from saddlescope.losses.loss import Loss
from saddlescope.nets.net import Net, Params
from saddlescope.serialization.part import Part
from saddlescope.tasks.task import Moments, Samples, Task


class HostNet:
    """A net at one instant as its engine evaluates it, without JAX. What was asked for once is not computed again.

    **Arguments:**

    - `channels`: a function of inputs to the output of every block, one row per input.
    - `loss`: a function that gives the loss on all data.
    """

    def __init__(self, channels: Callable[[np.ndarray], list[np.ndarray]], loss: Callable[[], float]):
        self.loss = loss
        self._channels, self._known = channels, {}

    def channels(self, x: np.ndarray) -> list[np.ndarray]:
        key = x.shape, x.tobytes()
        if key not in self._known:
            self._known[key] = self._channels(x)
        return self._known[key]


class Snapshot(eqx.Module):
    """One instant of a run, as an observable sees it.

    Seeds and budget are left out on purpose: all runs of one structure then share one compilation. Task and host are
    there for observables on the host alone.

    **Arguments:**

    - `net`, `loss`, `params`: what learns, what is lowered, and the parameters now.
    - `statistics`: what the loss needs of the data: samples or moments.
    - `data`: the data itself; `held_out`: samples that are not trained on, or None.
    - `step`, `lr`: optimiser steps done, and the learning rate.
    - `task`: what is learned.
    - `host`: the net as its engine evaluates it, where that needs no JAX.
    """

    net: Net
    loss: Loss
    params: Params
    statistics: Samples | Moments
    data: Samples | Moments
    held_out: Samples | None
    step: jax.Array | np.ndarray
    lr: jax.Array | np.ndarray
    task: Task | None = None
    host: HostNet | None = None

    __getattribute__ = object.__getattribute__  # as of `Part`

    def loss_at(self, params: Params, statistics: Samples | Moments | None = None) -> jax.Array:
        """The loss on all data, or on other samples, at some parameters."""
        return self.loss(self.net, params, self.statistics if statistics is None else statistics)

    def full_loss(self) -> jax.Array | np.ndarray:
        """The loss on all data now, as the engine computes it where that needs no JAX."""
        return self.loss_at(self.params) if self.host is None else np.asarray(self.host.loss(), self.lr.dtype)

    def gradient_at(self, params: Params, statistics: Samples | Moments | None = None) -> Params:
        """The gradient of the same, with respect to the trained parameters."""
        return self.loss.with_gradient(self.net, params, self.statistics if statistics is None else statistics)[1]


class Observable(Part):
    """What is read off a run: a pure function of one instant to an array with named axes.

    Written in JAX it is compiled together with the others; one `on_host` is called as it is and may use numpy.

    **Class attributes:**

    - `name`: the variable in the results.
    - `axes`: its named axes.
    - `on_host`: whether it is called outside the compiled function.
    - `by_engine`: whether it is so where the snapshot has a `host`, and reads it from there.
    """

    name: ClassVar[str]
    axes: ClassVar[tuple[str, ...]] = ()
    on_host: ClassVar[bool] = False
    by_engine: ClassVar[bool] = False

    def __check_init__(self):
        require(
            isinstance(getattr(self, "name", None), str),
            f'An observable needs a name for its variable: write `name = "…"` in the class {type(self).__name__}.',
        )

    @property
    def uses_held_out(self) -> bool:
        """Whether it reads the samples that are not trained on: they are drawn only if one does."""
        return False

    @abstractmethod
    def __call__(self, snapshot: Snapshot) -> Any:
        """The value; a dict of arrays becomes one variable per key, with axes of its own."""

    def of_many(self, trained: Params) -> Any:
        """The values at many instants from their trained parameters, one row per instant in every array.

        None, as by default, lets it be called for each. One on the host that is cheap saves most of its time so.
        """
        return None


def flat(observe, values) -> dict[str, Any]:
    """Names and arrays; an observable that gives a dict becomes one variable per key."""
    named = {}
    for o, value in zip(observe, values, strict=True):
        named |= {f"{o.name}_{k}": v for k, v in value.items()} if isinstance(value, dict) else {o.name: value}
    return named


@eqx.filter_jit
def _compiled(observe, snapshot):
    return tuple(o(snapshot) for o in observe)


def measure(observe: tuple[Observable, ...], snapshot: Snapshot) -> dict[str, Any]:
    """All observables of one instant, by name."""
    on_host = [o.on_host or (o.by_engine and snapshot.host is not None) for o in observe]
    in_jax, found = tuple(o for o, host in zip(observe, on_host, strict=True) if not host), ()
    if in_jax:
        in_arrays = dataclasses.replace(snapshot, task=None, host=None)  # what they hold would be compiled in
        found = _compiled(in_jax, in_arrays)
    compiled = iter(found)
    return flat(observe, [o(snapshot) if host else next(compiled) for o, host in zip(observe, on_host, strict=True)])
