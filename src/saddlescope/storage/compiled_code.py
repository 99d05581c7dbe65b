"""Compiled code on disk: what JAX compiled once for this processor, no later process compiles again.

For processes of our own alone: the command line, workers and tests. It is used before JAX is imported, so this file
imports little.
"""

import hashlib
import os
import warnings
from importlib.util import find_spec
from pathlib import Path

from saddlescope.numerics import ENVIRONMENT

FOLDER = "JAX_COMPILATION_CACHE_DIR"
EVERYTHING = {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}
MOST_ENTRIES = 20_000  # some 200 MB
MOST_FOLDERS = 4  # of other versions of jaxlib, or of other machines with the same home


def keep_compiled_code():
    """Let JAX read and write compiled code in the user's cache folder. What the user has set stays."""
    for name, value in environment_of_compiled_code(os.environ.get("XLA_FLAGS", "")).items():
        os.environ.setdefault(name, value)
    hide_warnings()


def environment_of_compiled_code(flags=ENVIRONMENT["XLA_FLAGS"]) -> dict[str, str]:
    """What tells JAX where to keep code compiled with these flags; nothing where the user or the system forbids it."""
    if FOLDER in os.environ:
        return {}
    folder = _folder(flags)
    return {} if folder is None else {FOLDER: str(folder), **EVERYTHING}


def hide_warnings():
    """JAX warns of an entry that is damaged, or that another process has half written. It compiles instead."""
    warnings.filterwarnings("ignore", "Error (reading|writing) persistent compilation cache")


def _folder(flags) -> Path | None:
    """A folder of its own for each jaxlib, processor and set of flags; None where it cannot be written to."""
    jaxlib, home = find_spec("jaxlib"), Path(os.path.expanduser("~"))
    given = os.environ.get("SADDLESCOPE_CACHE")
    base = Path(given) if given else Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "saddlescope"
    if jaxlib is None or jaxlib.origin is None or not (home.is_dir() or base.is_dir()):
        return None
    try:
        build = Path(jaxlib.origin).with_name("version.py").read_bytes()
        key = hashlib.sha256(b"\0".join([build, _processor(), flags.encode()])).hexdigest()[:16]
        folder = base / "jax" / key
        if not folder.is_dir():
            folder.mkdir(parents=True, mode=0o700)
            _remove_old(folder.parent, MOST_FOLDERS)
        if len(os.listdir(folder)) > MOST_ENTRIES:
            _remove_old(folder, MOST_ENTRIES // 2)
        return folder if os.access(folder, os.W_OK) else None
    except OSError:
        return None


def _processor() -> bytes:
    """What decides the machine code: family and features of the processor; the machine's name where Linux is not."""
    named = (b"vendor_id", b"cpu family", b"model", b"flags", b"CPU implementer", b"CPU part", b"Features")
    try:
        with open("/proc/cpuinfo", "rb") as file:
            first = file.read(2**16).split(b"\n\n")[0]  # one of many processors: all of them take long to list
        return b"\n".join(line for line in first.splitlines() if line.startswith(named))
    except OSError:
        import platform

        return f"{platform.platform()} {platform.processor()} {platform.node()}".encode()


def _remove_old(folder, most):
    """Keep the newest. Another process may remove the same."""
    import shutil

    by_age = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime)
    for path in by_age[:-most]:
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
