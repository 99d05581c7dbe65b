"""What is read off a run: a pure function of one instant to an array with named axes."""

from abc import abstractmethod
from typing import ClassVar

import equinox as eqx
import jax

from saddlescope.identity import Part
from saddlescope.nets.net import Net, Params
from saddlescope.tasks.task import Moments, Samples


class Snapshot(eqx.Module):
    """One instant of a run. `statistics` is what the loss sees of the data; `data` is the data itself.

    Seeds and budget are left out on purpose: all runs of one structure then share one compilation.
    """

    net: Net
    params: Params
    statistics: Samples | Moments
    data: Samples | Moments
    tick: jax.Array
    lr: jax.Array


class Observable(Part):
    """`name` is the variable in the results, `axes` its named axes. Written in JAX: it is compiled with the others."""

    name: ClassVar[str]
    axes: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def __call__(self, snapshot: Snapshot) -> jax.Array | dict[str, jax.Array]:
        """The value; a dict of arrays becomes one variable a key, with axes of its own."""
