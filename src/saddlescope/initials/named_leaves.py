"""The leaves of a tree of parameters by name, such as `layers.0.w`."""

from collections.abc import Mapping

import jax
import numpy as np

from saddlescope.errors import require
from saddlescope.nets.net import Params


def named_leaves(params: Params) -> dict:
    """Name → leaf; the name is the path of keys, joined by dots."""
    return {_name(path): leaf for path, leaf in jax.tree_util.tree_flatten_with_path(params)[0]}


def replace_leaves(params: Params, named: Mapping) -> Params:
    """The same tree with these values of the named leaves; the others stay."""
    leaves = named_leaves(params)
    for name, value in named.items():
        require(name in leaves, f"The net has no parameter named {name}; it has {', '.join(leaves)}.")
        own, given = np.shape(leaves[name]), np.shape(value)
        require(
            own == given,
            f"The net's parameter {name!r} has shape {own}; the given weights have {given}.",
        )
        leaves[name] = value
    return jax.tree.unflatten(jax.tree.structure(params), leaves.values())


def _name(path) -> str:
    return ".".join(str(getattr(key, "key", getattr(key, "idx", getattr(key, "name", key)))) for key in path)
