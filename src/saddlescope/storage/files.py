"""Files that are there whole or not at all: written beside their place, flushed to disk, renamed."""

import os
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

PART = ".part"  # a process that is killed may leave such a file behind; it is never read
SERIAL = count()


@contextmanager
def write_atomically(path, mode="wb", flush=True):
    """A file to write to; it appears under `path` when the block ends well, and never otherwise.

    `flush=False` is for files that need not outlive the machine's power.
    """
    with renamed(path) as part, created(part, mode) as file:
        yield file
        file.flush()
        if flush:
            os.fsync(file.fileno())


@contextmanager
def renamed(path):
    """A name beside `path` to write to; what is there takes the place of `path` when the block ends well."""
    folder, name = os.path.split(os.fspath(path))
    part = os.path.join(folder, f".{name}.{os.getpid()}.{os.urandom(4).hex()}{next(SERIAL)}{PART}")
    try:
        yield part
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(part)
        raise


def created(part, mode):
    """A new file, and the folders it lies in."""
    new, encoding = mode.replace("w", "x"), None if "b" in mode else "utf-8"
    try:
        return open(part, new, encoding=encoding)
    except FileNotFoundError:
        Path(part).parent.mkdir(parents=True, exist_ok=True)
        return open(part, new, encoding=encoding)


def write_bytes(path, data):
    """All of a file at once."""
    with write_atomically(path) as file:
        file.write(data)
