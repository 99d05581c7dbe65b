"""Weights that are given: arrays, or those of a run at a stated step."""

from typing import TYPE_CHECKING, final

import equinox as eqx
import jax
import numpy as np

from saddlescope.errors import InvalidInput, require
from saddlescope.initials.initial import Initial
from saddlescope.initials.named_leaves import named_leaves, replace_leaves
from saddlescope.nets.net import Params
from saddlescope.serialization.part import as_int

if TYPE_CHECKING:
    import xarray as xr


def _arrays(given):
    return tuple(np.array(a, float) for a in given)


@final
class GivenWeights(Initial):
    """Start from given weights. They enter the setting's identity by their SHA-256.

    Parameters that are not named keep the net's own draw, as the frozen ones of a random-feature net do.

    **Arguments:**

    - `names`: the names of the parameters; in a nested tree the path, such as `layers.0.w`.
    - `arrays`: their values, in the same order.
    - `origin`: where they come from, in words, such as a run's hash and step.
    - `starting_epoch`: the number of the first epoch, for a branch that continues its run's order
      of samples.
    """

    names: tuple[str, ...] = eqx.field(static=True, converter=tuple)
    arrays: tuple[np.ndarray, ...] = eqx.field(converter=_arrays)
    origin: str = eqx.field(default="", static=True)
    starting_epoch: int = eqx.field(default=0, static=True, converter=as_int)

    def __check_init__(self):
        require(
            len(self.names) == len(self.arrays) > 0,
            f"Give one array per name; got {len(self.names)} names and {len(self.arrays)} arrays.",
        )
        require(
            type(self.starting_epoch) is int and self.starting_epoch >= 0,
            f"`starting_epoch` must be 0 or a positive whole number; got {self.starting_epoch!r}.",
        )

    @property
    def first_epoch(self):
        return self.starting_epoch

    def params(self, setting):
        given = dict(zip(self.names, self.arrays, strict=True))
        return replace_leaves(setting.drawn_params(), given)


def given_weights(params: Params, origin: str = "", starting_epoch: int = 0) -> GivenWeights:
    """Start from this tree of arrays, or from part of it."""
    leaves = named_leaves(params)
    for name, leaf in leaves.items():
        array = isinstance(leaf, np.ndarray | np.generic | jax.Array) and leaf.dtype.kind in "fiu"
        # JAX sees a list of numbers as a tree of its own: no array could be found by the name that was meant.
        require(
            array,
            f"The weights must be a tree of arrays of numbers; {name!r} is {leaf!r}. "
            "Give each parameter as an array: np.array([…]).",
        )
    return GivenWeights(tuple(leaves), tuple(leaves.values()), origin, starting_epoch)


def weights_of_run(run: "xr.Dataset", step: int | None = None, starting_epoch: int = 0) -> GivenWeights:
    """Start from the weights that a run had saved at a step; without one, at its end.

    The run must have observed `Parameters()`.
    """
    saved = {str(n).removeprefix("param_"): n for n in run.data_vars if str(n).startswith("param_")}
    require(bool(saved), "This run kept no weights: train it with `observe=(Parameters(),)`.")
    steps = run["saved_step"].values
    step = int(steps[-1]) if step is None else step
    if step not in steps:
        raise InvalidInput(f"This run saved no weights at step {step}; it did at {', '.join(map(str, steps[:20]))}.")
    i = int(np.flatnonzero(steps == step)[0])
    arrays = tuple(run[name].values[i] for name in saved.values())
    return GivenWeights(tuple(saved), arrays, f"run {run['hash'].values}, step {step}", starting_epoch)
