"""Which run a process is at: one byte of the file `locks` for each run, locked by the process that does it.

A lock ends with the process that holds it, however that process ends.
"""

import contextlib
import errno
import os
import threading
from contextlib import contextmanager

from saddlescope.storage.kept_open import kept_descriptor

try:
    import fcntl
except ImportError:  # Windows: two sweeps in one folder may then do a run twice, to the same bits
    fcntl = None

# A lock of a file belongs to a process, not to a thread: what this process holds is also kept here.
_held: set[tuple[str, str]] = set()
_guard = threading.Lock()


@contextmanager
def holding(root: str, name: str):
    """`with holding(root, name) as ours`: whether this process may do the run now."""
    key = root, name
    with _guard:
        ours = key not in _held and _take_lock(root, name)
        if ours:
            _held.add(key)
    try:
        yield ours
    finally:
        if ours:
            with _guard:
                _held.discard(key)
                _leave_lock(root, name)


def _take_lock(root, name) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.lockf(_lock_file(root), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, int(name[:15], 16))
    except OSError as error:  # where a file system has no locks, every run is ours
        return error.errno not in (errno.EACCES, errno.EAGAIN)
    return True


def _leave_lock(root, name):
    if fcntl is not None:
        with contextlib.suppress(OSError):
            fcntl.lockf(_lock_file(root), fcntl.LOCK_UN, 1, int(name[:15], 16))


def _lock_file(root) -> int:
    """The descriptor stays open: closing it would drop all locks of this process on that file."""
    return kept_descriptor(f"{root}/locks", os.O_RDWR | os.O_CREAT)
