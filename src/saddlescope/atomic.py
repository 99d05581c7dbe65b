"""Files that are there whole or not at all: written beside their place, flushed to disk, renamed."""

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path

PART = ".part"  # a process that is killed may leave such a file behind; it is never read


@contextmanager
def atomic_write(path, mode="wb", flush=True):
    """A file to write to; it appears under `path` when the block ends well, and never otherwise.

    `flush=False` is for files that need not outlive the machine's power.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=PART)
    try:
        with os.fdopen(descriptor, mode) as file:
            yield file
            file.flush()
            if flush:
                os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
        if flush:
            flush_folder(path.parent)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def flush_folder(folder):
    """The new name, too, must outlive a loss of power."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows cannot open a folder
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
