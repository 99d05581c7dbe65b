"""Files that are there complete or not at all: written beside their place, flushed to disk, renamed."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

PART = ".part"  # a process that is killed may leave such a file behind; it is never read
_serial = count()


@contextmanager
def write_atomically(path, mode="wb", flush=True) -> Iterator[Any]:
    """A file to write to; it appears under `path` when the block ends well, and never otherwise.

    `flush=False` is for files that need not survive a power failure.
    """
    with replace_on_success(path) as part, _open_new(part, mode) as file:
        yield file
        file.flush()
        if flush:
            os.fsync(file.fileno())


@contextmanager
def replace_on_success(path) -> Iterator[str]:
    """A name beside `path` to write to; that file takes the place of `path` when the block ends well."""
    folder, name = os.path.split(os.fspath(path))
    # Two threads and two machines must not choose the same name: process, random bytes and a count.
    unique = f"{os.getpid()}.{os.urandom(4).hex()}{next(_serial)}"
    part = os.path.join(folder, f".{name}.{unique}{PART}")
    try:
        yield part
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(part)
        raise


def write_bytes(path, data: bytes):
    """Write all of a file at once."""
    with write_atomically(path) as file:
        file.write(data)


def open_descriptor(path, flags: int) -> int:
    """The descriptor of a file; its folder is made where it is missing."""
    return _with_folder(path, lambda: os.open(path, flags, 0o644))


def _open_new(part, mode):
    encoding = None if "b" in mode else "utf-8"
    return _with_folder(part, lambda: open(part, mode.replace("w", "x"), encoding=encoding))


def _with_folder(path, open_it: Callable):
    # Opening is tried first: in a sweep the folder is nearly always there, and asking costs a system call.
    try:
        return open_it()
    except FileNotFoundError:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        return open_it()
