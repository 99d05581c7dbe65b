"""What decides the bits of a number: threads, precision, versions and processor; `provenance` names them.

Nothing is set at import. The command line and worker processes set `ENVIRONMENT` before they load numpy and JAX; in
anybody else's program `reproducible()` sets threads and precision while it computes, and puts them back.
The command line imports this file before it catches Ctrl-C: what takes time to import is imported inside functions.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

# Raise by hand whenever a change alters the numbers of any setting; tests/unit/test_numerics.py guards it.
VERSION = 2

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


# ---- What made a result ----


def versions() -> dict:
    """The versions that a stored result names."""
    from importlib.metadata import version

    packages = ("saddlescope", "jax", "jaxlib", "equinox", "optax", "diffrax", "numba", "numpy", "scipy", "xarray")
    return {"python": sys.version.split()[0], "numerics": VERSION} | {p: version(p) for p in packages}


@cache
def provenance() -> dict:
    """What made a result: versions, the git commit, whether it was clean, and the processor."""
    commit = git_commit()
    clean = commit is not None and not commit.endswith("-dirty")
    return {"versions": versions(), "git_commit": commit, "clean": clean, "processor": processor()}


def processor() -> str:
    """Model and vector width of the processor: `AMD EPYC, AVX-512`. Float32 runs differ with it."""
    import platform

    facts = _cpu_facts()
    model = facts.get("model name") or platform.processor() or platform.machine()
    flags = set(facts.get("flags", "").split())
    widths = {"avx512f": "AVX-512", "avx2": "AVX2", "sse2": "SSE2"}
    width = next((word for flag, word in widths.items() if flag in flags), platform.machine())
    narrowed = [f"{n}={os.environ[n]}" for n in ("NUMBA_CPU_NAME",) if n in os.environ]
    narrowed += [word for word in os.environ.get("XLA_FLAGS", "").split() if "max_isa" in word]
    return ", ".join([model, width, *narrowed])


def _cpu_facts() -> dict[str, str]:
    """What Linux reports about the first processor; nothing elsewhere."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return {}
    lines = [line.partition(":") for line in text.split("\n\n")[0].splitlines()]
    return {name.strip(): value.strip() for name, _, value in lines}


def git_commit() -> str | None:
    """The commit this source is checked out from, `-dirty` if changed; None where git does not track it."""
    import subprocess

    here = Path(__file__)
    words = (
        ["ls-files", "--error-unmatch", here.name],
        ["describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
    )
    try:
        for call in words:
            found = subprocess.run(
                ["git", "-C", str(here.parent), *call], capture_output=True, encoding="utf-8", timeout=10, check=True
            )
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip()
