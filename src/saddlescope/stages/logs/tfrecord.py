"""TFRecord, the frame of TensorBoard's events: length, its checksum, data, its checksum.

Every checksum is verified, except that of the data of a record above 64 KiB: those hold images or
graphs. A run that was killed leaves a cut record at the end. A file has no mark of its end, so one
that is cut between two records looks whole.
"""

import struct

import numpy as np

from saddlescope.errors import number_of, require
from saddlescope.stages.logs.crc32c import crc32c, unmasked

LONGEST = 1 << 16  # bytes of data that are verified
HEAD, FOOT = 12, 4  # bytes of a record before and behind its data


def find_records(raw: bytes, file, notes: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Where the data of each record begins and ends.

    **Arguments:**

    - `raw`: the bytes of the file.
    - `file`: its path, for sentences.
    - `notes`: what is cut, damaged or left out is added here.
    """
    data = np.frombuffer(raw, np.uint8)
    begin, end, stop = _walk(raw)
    whole = _is_sound(data, begin - HEAD, begin - FOOT)
    if not whole.all():  # behind a wrong length, nothing has a place
        n = int(whole.argmin())
        stop, begin, end = int(begin[n]) - HEAD, begin[:n], end[:n]
    cut = _is_cut(data, stop)
    begun = cut or len(begin) > 0
    require(begun, f"{file} is not a TensorBoard event file, or is damaged at its start.")
    if stop < len(raw) and cut:
        notes.append(f"{file.name} ends in a cut record, as a run that was killed leaves it.")
    elif stop < len(raw):
        notes.append(f"{file.name} is damaged at byte {stop:,}; what follows is not read.")
    return _without_damaged(data, begin, end, file, notes)


def _walk(raw):
    """Begin and end of the data of all records that are in the file, and where the walk stopped."""
    begin, end, at = [], [], 0
    while at + HEAD <= len(raw):
        length = struct.unpack_from("<Q", raw, at)[0]
        if at + HEAD + length + FOOT > len(raw):
            break
        begin.append(at + HEAD)
        end.append(at + HEAD + length)
        at = end[-1] + FOOT
    return np.array(begin, np.int64), np.array(end, np.int64), at


def _is_cut(data, at):
    """Whether a true record starts here and lacks its end: its length has the right checksum."""
    if len(data) - at < HEAD:
        return True
    long = int.from_bytes(data[at : at + 8].tobytes(), "little") > len(data) - at - HEAD - FOOT
    return long and bool(_is_sound(data, np.array([at]), np.array([at + 8]))[0])


def _is_sound(data, begin, end):
    """Whether the masked checksum behind each range is that of the range."""
    stored = data[end[:, None] + np.arange(4)].view("<u4")[:, 0]
    return crc32c(data, begin, end) == unmasked(stored)


def _without_damaged(data, begin, end, file, notes):
    sound = end - begin > LONGEST
    sound[~sound] = _is_sound(data, begin[~sound], end[~sound])
    if lost := int((~sound).sum()):
        notes.append(f"{file.name} has {number_of(lost, 'damaged record')}, left out.")
    return begin[sound], end[sound]
