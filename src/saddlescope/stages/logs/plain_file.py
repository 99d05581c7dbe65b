"""A log as a plain file: what is compressed, or comes from a pipe, is unpacked for a while."""

import gzip
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from saddlescope.errors import InvalidInput, require
from saddlescope.stages.logs.log import require_begun

STDIN = Path("-")
GZIP = b"\x1f\x8b"
LARGEST = 1 << 31  # bytes, unpacked


@contextmanager
def plain_file(path: Path) -> Iterator[Path]:
    """The file itself, or an unpacked copy. Errors name what the user gave."""
    if path.is_file() and path != STDIN and not _is_packed(path):
        yield path
        return
    shown, name = f"{path}", path.name.removesuffix(".gz")
    if path == STDIN:
        shown = name = "standard input"
    data = sys.stdin.buffer.read() if path == STDIN else path.read_bytes()
    require_begun(data, f"{shown} is empty: give a log with a loss curve.")
    with TemporaryDirectory() as scratch:
        copy = Path(scratch) / name
        copy.write_bytes(_unpacked(data, shown) if data.startswith(GZIP) else data)
        try:
            yield copy
        except InvalidInput as error:
            raise type(error)(str(error).replace(str(copy), shown)) from None


def _is_packed(path):
    with path.open("rb") as file:
        return file.read(2) == GZIP


def _unpacked(data, shown):
    """The bytes inside; a small file may claim to hold more than memory does."""
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        found = unpacker.decompress(data, LARGEST + 1)
        if unpacker.unused_data:  # several members, as `cat a.gz b.gz` makes
            require(len(data) < LARGEST // 1000, "too many parts")
            found = gzip.decompress(data)
    except (zlib.error, OSError, EOFError, ValueError) as error:
        raise InvalidInput(f"{shown} is damaged ({error}): compress it again with gzip.") from None
    small = len(found) <= LARGEST
    require(small, f"{shown} holds more than {LARGEST >> 30} GiB: unpack it yourself.")
    require(unpacker.eof, f"{shown} ends too early: compress it again.")
    return found
