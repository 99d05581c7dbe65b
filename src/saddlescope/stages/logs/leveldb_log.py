"""LevelDB's log, the frame of W&B's records: blocks of 32 KiB that hold chunks of records.

A chunk has a checksum, a length and a type in front. W&B takes the CRC-32 of zip files, where
LevelDB takes CRC-32C. A damaged chunk takes the rest of its block with it; the next block is read.
"""

import struct
import zlib
from collections.abc import Iterator

BLOCK, HEAD = 1 << 15, 7  # bytes: of a block, of what is in front of a chunk
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4  # types of a chunk
PADDING, DAMAGED = -1, -2  # our own
CUT = "ends in a cut record, as a run that was killed leaves it."


def read_records(raw: bytes, start: int, name: str, notes: list[str]) -> list[bytes]:
    """All whole records.

    **Arguments:**

    - `raw`: the bytes of the file; blocks count from its first byte.
    - `start`: where the first chunk is.
    - `name`: the file's name, for notes.
    - `notes`: what is cut or damaged is added here.
    """
    records, parts = [], None
    for kind, content in _chunks(raw, start, name, notes):
        if kind in (FULL, FIRST):
            parts = []
        elif kind == DAMAGED or parts is None:
            parts = None  # of a record that is damaged, no chunk is of use
            continue
        parts.append(content)
        if kind in (FULL, LAST):
            records.append(b"".join(parts))
            parts = None
    if parts is not None:
        notes.append(f"{name} {CUT}")
    return records


def _chunks(raw, at, name, notes) -> Iterator[tuple[int, bytes]]:
    """Type and content of each chunk, and DAMAGED where one is not whole."""
    while at < len(raw):
        left = BLOCK - at % BLOCK
        kind, content = _chunk(raw, at, left)
        if kind == DAMAGED and at + left >= len(raw) and _runs_over(raw, at):
            notes.append(f"{name} {CUT}")
        elif kind == DAMAGED:
            notes.append(f"{name} is damaged at byte {at:,}; the rest of its 32 KiB is not read.")
        if kind != PADDING:
            yield kind, content
        at += left if kind in (PADDING, DAMAGED) else HEAD + len(content)


def _chunk(raw, at, left):
    if left < HEAD:
        return PADDING, b""  # too short for a chunk
    if at + HEAD > len(raw):
        return DAMAGED, b""
    checksum, length, kind = struct.unpack_from("<IHB", raw, at)
    content = raw[at + HEAD : at + HEAD + length]
    whole = len(content) == length <= left - HEAD and FULL <= kind <= LAST
    sound = whole and zlib.crc32(content, zlib.crc32(bytes([kind]))) == checksum
    return (kind, content) if sound else (DAMAGED, b"")


def _runs_over(raw, at):
    """Whether the chunk here would end behind the file."""
    if at + HEAD > len(raw):
        return True
    return at + HEAD + struct.unpack_from("<H", raw, at + 4)[0] > len(raw)
