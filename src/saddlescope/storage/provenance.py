"""What made a result: the version of our own arithmetic, of what it stands on, and the git commit."""

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
    """What made a result: versions, numerics and the git commit, if any."""
    return {"versions": versions(), "git_commit": git_commit()}


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
