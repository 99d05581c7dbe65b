"""What decides the bits of a number: threads, precision and the version of our own arithmetic.

Imported before any array is made. XLA reads its flags once, when the first computation starts: with one thread a sum
has one order, so a run gives the same bits alone, beside others and in another process.
"""

import os
import sys

ONE_THREAD = {
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}
for name, value in ONE_THREAD.items():
    os.environ.setdefault(name, value)

import jax  # noqa: E402  (after the flags, which it reads)

jax.config.update("jax_enable_x64", True)  # float32 stays a choice of each setting

# Raise by hand whenever a change alters the numbers of any setting; tests/unit/test_numerics.py guards it.
VERSION = 1


def versions():
    """The versions that a stored result names."""
    from importlib.metadata import version

    packages = ("saddlescope", "jax", "jaxlib", "equinox", "optax", "diffrax", "numpy", "xarray")
    return {"python": sys.version.split()[0], "numerics": VERSION} | {p: version(p) for p in packages}
