"""What decides the bits of a number: threads, precision and the version of our own arithmetic.

Nothing is set at import. The command line and worker processes set `ENVIRONMENT` before they load numpy and JAX; in
anybody else's program `reproducible()` sets threads and precision while it computes, and puts them back.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

# Raise by hand whenever a change alters the numbers of any setting; tests/unit/test_numerics.py guards it.
VERSION = 1

# One thread for BLAS and XLA: a sum then has one order, and a run the same bits everywhere on one kind of processor.
ONE_THREAD = {
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}
ENVIRONMENT = ONE_THREAD | {"JAX_ENABLE_X64": "1", "MPLBACKEND": "Agg"}


def set_environment():
    """For processes of our own, before numpy and JAX are imported. What is set already stays."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)


@contextmanager
def reproducible() -> Iterator[None]:
    """Double precision in JAX and one thread in BLAS while the block lasts; then everything is as it was.

    Also a decorator: `@reproducible()` before a function that computes with JAX.
    """
    import jax

    start_jax_with_one_thread()
    with _blas().limit(limits=1, user_api="blas"), jax.enable_x64(True):
        yield


@cache
def start_jax_with_one_thread():
    """JAX reads its flags once, when it first looks for devices. Where that is over, they stay the user's own."""
    import jax

    missing = {name: value for name, value in ONE_THREAD.items() if name not in os.environ}
    os.environ.update(missing)
    jax.devices()
    for name in missing:
        del os.environ[name]


@cache
def _blas():
    import scipy.linalg  # noqa: F401  (brings a BLAS of its own, which is found only once it is loaded)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def memory_of_machine() -> int:
    """Bytes; more than anybody asks for where the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return 1 << 62
