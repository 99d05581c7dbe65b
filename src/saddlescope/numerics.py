"""What decides the bits of a number: threads, precision and the version of our own arithmetic.

Threads are set when `saddlescope` is first imported; a BLAS that was loaded before is brought to one thread here.
"""

import sys

import jax
from threadpoolctl import threadpool_limits

threadpool_limits(1, "blas")
jax.config.update("jax_enable_x64", True)  # float32 stays a choice of each setting

# Raise by hand whenever a change alters the numbers of any setting; tests/unit/test_numerics.py guards it.
VERSION = 1


def versions():
    """The versions that a stored result names."""
    from importlib.metadata import version

    packages = ("saddlescope", "jax", "jaxlib", "equinox", "optax", "diffrax", "numba", "numpy", "scipy", "xarray")
    return {"python": sys.version.split()[0], "numerics": VERSION} | {p: version(p) for p in packages}
