"""What made a result: versions of our arithmetic and of its packages, commit, processor."""

import os
import platform
import subprocess
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path

from saddlescope.numerics import VERSION


def versions():
    """The versions that a stored result names."""
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
    facts = _cpu_facts()
    model = facts.get("model name") or platform.processor() or platform.machine()
    flags = set(facts.get("flags", "").split())
    widths = {"avx512f": "AVX-512", "avx2": "AVX2", "sse2": "SSE2"}
    width = next((word for flag, word in widths.items() if flag in flags), platform.machine())
    narrowed = [f"{n}={os.environ[n]}" for n in ("NUMBA_CPU_NAME",) if n in os.environ]
    narrowed += [word for word in os.environ.get("XLA_FLAGS", "").split() if "max_isa" in word]
    return ", ".join([model, width, *narrowed])


def _cpu_facts() -> dict[str, str]:
    """What Linux says of the first processor; nothing elsewhere."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return {}
    lines = [line.partition(":") for line in text.split("\n\n")[0].splitlines()]
    return {name.strip(): value.strip() for name, _, value in lines}


def git_commit() -> str | None:
    """The commit this source is checked out from, `-dirty` if changed; None where git does not track it."""
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
