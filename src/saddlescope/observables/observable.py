"""What is read off a run: a pure function of one instant to an array with named axes."""

import dataclasses
from abc import abstractmethod
from typing import Any, ClassVar

import equinox as eqx
import jax

from saddlescope.errors import require
from saddlescope.losses.loss import Loss
from saddlescope.nets.net import Net, Params
from saddlescope.serialization.part import Part
from saddlescope.tasks.task import Moments, Samples, Task


class Snapshot(eqx.Module):
    """One instant of a run, as an observable sees it.

    Seeds and budget are left out on purpose: all runs of one structure then share one compilation. The task is there
    for observables on the host alone.

    **Arguments:**

    - `net`, `loss`, `params`: what learns, what is lowered, and the parameters now.
    - `statistics`: what the loss needs of the data: samples or moments.
    - `data`: the data itself; `held_out`: samples that are not trained on, or None.
    - `step`, `lr`: optimiser steps done, and the learning rate.
    - `task`: what is learned.
    """

    net: Net
    loss: Loss
    params: Params
    statistics: Samples | Moments
    data: Samples | Moments
    held_out: Samples | None
    step: jax.Array
    lr: jax.Array
    task: Task | None = None

    __getattribute__ = object.__getattribute__  # as of `Part`

    def loss_at(self, params: Params, statistics: Samples | Moments | None = None) -> jax.Array:
        """The loss on all data, or on other samples, at some parameters."""
        return self.loss(self.net, params, self.statistics if statistics is None else statistics)

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
    """

    name: ClassVar[str]
    axes: ClassVar[tuple[str, ...]] = ()
    on_host: ClassVar[bool] = False

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
    in_jax = tuple(o for o in observe if not o.on_host)
    found = {}
    if in_jax:
        without_task = dataclasses.replace(snapshot, task=None)  # its numbers would be compiled in
        found = dict(zip(in_jax, _compiled(in_jax, without_task), strict=True))
    return flat(observe, [o(snapshot) if o.on_host else found[o] for o in observe])
