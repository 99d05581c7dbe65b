"""Several files that appear together, once the bytes of all of them are on disk."""

import errno
import os
from contextlib import suppress
from typing import IO

from saddlescope.storage.files import open_new, part_name
from saddlescope.storage.flush import flush


class FileGroup:
    """Files that are written one by one and take their places together. Until then, none of them is there.

    **Arguments:**

    - `durable`: whether files must survive a power failure. False leaves the flushing to the system.
    """

    def __init__(self, durable: bool = True):
        self.durable = durable
        self.files: list[tuple[IO[bytes], str, str]] = []  # open file, its name for now, its place

    def add(self, path, data: bytes):
        """Write a file beside its place."""
        part = part_name(path)
        file = open_new(part, "wb")
        try:
            file.write(data)
            file.flush()
        except BaseException:  # a full disk, for one: half a file must never take its place
            _drop(file, part)
            raise
        self.files.append((file, part, os.fspath(path)))

    def publish(self):
        """Flush the bytes of all files, then give them their names, then flush the names."""
        files, self.files = self.files, []
        try:
            if self.durable:
                flush([file.fileno() for file, _, _ in files])
            for file, part, path in files:
                file.close()  # first: Windows renames no open file
                os.replace(part, path)
        except BaseException:
            for file, part, _ in files:
                _drop(file, part)
            raise
        if self.durable:
            _flush_folders({os.path.dirname(path) for _, _, path in files})


def _drop(file, part):
    for act in (file.close, lambda: os.unlink(part)):
        with suppress(OSError):
            act()


def _flush_folders(folders: set[str]):
    """The names in these folders to the disk, where the system can do that."""
    if os.name == "nt":
        return
    descriptors = []
    try:
        for folder in sorted(folders):
            descriptors.append(os.open(folder, os.O_RDONLY))
        flush(descriptors)
    except OSError as error:
        if error.errno != errno.EINVAL:  # this file system flushes no folders
            raise
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
