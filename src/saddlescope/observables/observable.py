"""What is read off a run: a pure function of one instant to an array with named axes."""

import dataclasses
from abc import abstractmethod
from typing import Any, ClassVar

import equinox as eqx
import jax

from saddlescope.nets.net import Net, Params
from saddlescope.serialization.identity import Part
from saddlescope.tasks.task import Moments, Samples, Task


class Snapshot(eqx.Module):
    """One instant of a run. `statistics` is what the loss sees of the data; `data` is the data itself.

    Seeds and budget are left out on purpose: all runs of one structure then share one compilation. The task is there
    for observables on the host alone.
    """

    net: Net
    params: Params
    statistics: Samples | Moments
    data: Samples | Moments
    tick: jax.Array
    lr: jax.Array
    task: Task | None = None


class Observable(Part):
    """`name` is the variable in the results, `axes` its named axes.

    Written in JAX it is compiled together with the others; one `on_host` is called as it is and may use numpy.
    """

    name: ClassVar[str]
    axes: ClassVar[tuple[str, ...]] = ()
    on_host: ClassVar[bool] = False

    @abstractmethod
    def __call__(self, snapshot: Snapshot) -> Any:
        """The value; a dict of arrays becomes one variable a key, with axes of its own."""


def flat(observe, values) -> dict[str, Any]:
    """Names and arrays; an observable that gives a dict becomes one variable a key."""
    named = {}
    for o, value in zip(observe, values, strict=True):
        named |= {f"{o.name}_{k}": v for k, v in value.items()} if isinstance(value, dict) else {o.name: value}
    return named


@eqx.filter_jit
def compiled(observe, snapshot):
    return tuple(o(snapshot) for o in observe)


def measure(observe: tuple[Observable, ...], snapshot: Snapshot) -> dict[str, Any]:
    """All observables of one instant, by name."""
    in_jax = tuple(o for o in observe if not o.on_host)
    without_task = dataclasses.replace(snapshot, task=None)  # its numbers would be compiled in
    found = dict(zip(in_jax, compiled(in_jax, without_task), strict=True)) if in_jax else {}
    return flat(observe, [o(snapshot) if o.on_host else found[o] for o in observe])
