"""Bytes to the disk: each file by itself, or a whole file system at once.

The disk confirms every flush, which takes it milliseconds, however small the file. `syncfs` has it confirm once for all
files. It flushes those of other programs too, so it is used only where little waits to be written.
"""

import ctypes
import os
import sys
from functools import cache
from pathlib import Path

# File systems on which `syncfs` promises as much as `fsync`. FUSE, for one, does not tell its server.
LOCAL = {"btrfs", "ext2", "ext3", "ext4", "f2fs", "overlay", "tmpfs", "xfs"}
LITTLE = 256 << 10  # kB that wait on the whole machine: about a second of a slow disk
REPORTS_ERRORS = 5, 8  # before this version of Linux, `syncfs` succeeded even where the disk had failed


def flush(descriptors: list[int]):
    """Return when the bytes of all these open files, or names in these open folders, are on disk."""
    if len(descriptors) > 1 and _flush_file_system(descriptors):
        return
    for descriptor in descriptors:
        os.fsync(descriptor)


def _flush_file_system(descriptors) -> bool:
    """Whether all was flushed at once; not done where that is not safe, or would wait for others."""
    devices = {os.fstat(descriptor).st_dev for descriptor in descriptors}
    if len(devices) > 1 or not _has_syncfs(*devices) or _waiting() > LITTLE:
        return False
    return _libc().syncfs(descriptors[0]) == 0


@cache
def _has_syncfs(device: int) -> bool:
    if sys.platform != "linux" or _kernel() < REPORTS_ERRORS or not hasattr(_libc(), "syncfs"):
        return False
    return _kind_of(device) in LOCAL


def _kernel() -> tuple[int, ...]:
    return tuple(int(word) for word in os.uname().release.split("-")[0].split(".")[:2] if word.isdigit())


@cache
def _libc():
    return ctypes.CDLL(None)


def _kind_of(device: int) -> str:
    """The kind of a file system, such as ext4; empty where the system does not list it."""
    number = f"{os.major(device)}:{os.minor(device)}"
    try:
        lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    kinds = (line.split(" - ")[1].split()[0] for line in lines if line.split()[2] == number)
    return next(kinds, "")


def _waiting() -> int:
    """kB in memory that wait to be written, of all programs on this machine."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            facts = dict(line.split(":") for line in file)
        return sum(int(facts[key].split()[0]) for key in ("Dirty", "Writeback"))
    except (OSError, KeyError, ValueError):
        return LITTLE + 1
