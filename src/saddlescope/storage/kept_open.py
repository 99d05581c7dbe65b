"""Descriptors that stay open: a sweep uses the same two files of its folder at every run."""

import contextlib
import os
import threading

from saddlescope.storage.files import open_descriptor

_kept: dict[str, int] = {}
_guard = threading.Lock()


def kept_descriptor(path: str, flags: int) -> int:
    """The descriptor of a file, opened by the first call. It is opened again where the file was deleted meanwhile."""
    with _guard:
        known = _kept.get(path)
        if known is None or not os.fstat(known).st_nlink:
            _close_deleted()
            _kept[path] = open_descriptor(path, flags)
        return _kept[path]


def _close_deleted():
    """Each call of `sweep` may have a folder of its own, which is gone afterwards."""
    for path in [path for path, descriptor in _kept.items() if not os.fstat(descriptor).st_nlink]:
        with contextlib.suppress(OSError):
            os.close(_kept.pop(path))
