"""Arrays in one checked file: an npz that numpy opens anywhere, with the SHA-256 of its bytes as the archive's comment.

The checksum is compared before anything is parsed. Parsing then believes nothing either: members are stored plainly (no
bombs), an array's bytes must be as many as its header says, and nothing is unpickled.
"""

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from saddlescope.atomic import atomic_write
from saddlescope.refusal import Refusal, refuse_unless

MARK = b"saddlescope sha256 "
ABOUT = "about.json"
DIGITS = 64
BROKEN = (ValueError, KeyError, TypeError, IndexError, EOFError, OverflowError, SyntaxError, RecursionError,
          AttributeError, NotImplementedError, RuntimeError, MemoryError, OSError, zipfile.BadZipFile)  # fmt: skip


def pack(arrays: dict[str, np.ndarray], about: dict) -> bytes:
    """Arrays and a JSON record as bytes. The same content gives the same bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(ABOUT), json.dumps(about))
        for name, value in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, plainly(value), version=(1, 0), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), member.getvalue())
        archive.comment = MARK + b"0" * DIGITS
    data = out.getvalue()[:-DIGITS]
    return data + hashlib.sha256(data).hexdigest().encode()


def plainly(value):
    """Strings as fixed-width text; what is no number or text is refused by numpy itself."""
    value = np.asarray(value)
    return value.astype(str) if value.dtype.kind == "O" else value


def unpack(data: bytes, what) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the record; `what` names the file in a refusal."""
    refuse_unless(is_whole(data), f"{what} is damaged: its bytes are not those that were written (checksum differs).")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            names = [m.filename for m in members]
            refuse_unless(len(set(names)) == len(names), "a name is there twice")
            refuse_unless(all(m.compress_type == zipfile.ZIP_STORED for m in members), "members must not be compressed")
            about = json.loads(archive.read(ABOUT))
            refuse_unless(isinstance(about, dict), "its record is not a JSON object")
            return {n.removesuffix(".npy"): array(archive.read(n)) for n in names if n != ABOUT}, about
    except BROKEN as error:
        raise Refusal(f"{what} is not a file of ours ({error}).") from None


def array(member: bytes) -> np.ndarray:
    """The array of one .npy member, if its length is what its header says."""
    file = io.BytesIO(member)
    refuse_unless(np.lib.format.read_magic(file) == (1, 0), "an array is of another version")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
    start, count = file.tell(), 1
    for n in shape:
        refuse_unless(n >= 0, "an array has a negative length")
        count *= n
    refuse_unless(dtype.kind in "biufU", f"an array holds {dtype}, not numbers or text")
    refuse_unless(count * dtype.itemsize == len(member) - start, "an array is not as long as its header says")
    values = np.frombuffer(member, dtype, count, start) if count else np.zeros(0, dtype)
    return values.reshape(shape, order="F" if fortran else "C").copy()


def is_whole(data: bytes) -> bool:
    """Whether the bytes are those that were written."""
    body, digest = data[:-DIGITS], data[-DIGITS:]
    return body.endswith(MARK) and hashlib.sha256(body).hexdigest().encode() == digest


def write_packed(path, arrays, about, flush=True):
    with atomic_write(path, flush=flush) as file:
        file.write(pack(arrays, about))


def read_packed(path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise Refusal(f"{path} cannot be read ({error.strerror}).") from None
    return unpack(data, path)
