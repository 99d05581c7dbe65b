"""Which run somebody is at: a byte of one file for each, locked by the process that does it until that process ends."""

import contextlib
import errno
import os
import threading
from contextlib import contextmanager

try:
    import fcntl
except ImportError:  # Windows: two sweeps in one folder may then do a run twice, to the same bits
    fcntl = None

# A lock of a file belongs to a process, not to a thread: what this process holds is written down beside it.
LOCKS: dict[str, int] = {}
HELD: set[tuple[str, str]] = set()
HOLDING = threading.Lock()


@contextmanager
def holding(root, name):
    """Whether the run is ours to do while the block lasts."""
    key = root, name
    with HOLDING:
        ours = key not in HELD and take_lock(root, name)
        if ours:
            HELD.add(key)
    try:
        yield ours
    finally:
        if ours:
            with HOLDING:
                HELD.discard(key)
                leave_lock(root, name)


def take_lock(root, name) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.lockf(lock_file(root), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, int(name[:15], 16))
    except OSError as error:  # where a file system has no locks, every run is ours
        return error.errno not in (errno.EACCES, errno.EAGAIN)
    return True


def leave_lock(root, name):
    if fcntl is not None:
        with contextlib.suppress(OSError):
            fcntl.lockf(lock_file(root), fcntl.LOCK_UN, 1, int(name[:15], 16))


def lock_file(root) -> int:
    """One file holds the locks of all runs, a byte each. It stays open: closing it would drop this process's locks."""
    known = LOCKS.get(root)
    if known is None or not os.fstat(known).st_nlink:
        LOCKS[root] = opened(f"{root}/locks", os.O_RDWR | os.O_CREAT)
    return LOCKS[root]


def opened(path, flags) -> int:
    """A file's descriptor; the folder it lies in is made if need be."""
    try:
        return os.open(path, flags, 0o644)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return os.open(path, flags, 0o644)
