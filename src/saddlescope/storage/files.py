"""Files that are there complete or not at all, and arrays in one checked file.

A file is written beside its place, flushed to disk and renamed. Arrays go to an npz that numpy opens anywhere,
with the SHA-256 of its bytes as the archive's comment. The checksum is compared before anything is parsed. Parsing
then trusts nothing either: members are stored uncompressed (no bombs), an array's bytes must be as many as its header
says, and nothing is unpickled.
"""

import hashlib
import io
import json
import math
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from itertools import count
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any

import numpy as np

from saddlescope.errors import InvalidInput, require

PART = ".part"  # a process that is killed may leave such a file behind; it is never read
_serial = count()
MARK = b"saddlescope sha256 "
ABOUT = "about.json"
DIGITS = 64
KINDS = "biufU"
UTF8, DAY_ONE = 0x800, 0x21  # names are UTF-8; every member is of 1 January 1980
BROKEN = (ValueError, KeyError, TypeError, IndexError, EOFError, OverflowError, SyntaxError, RecursionError,
          AttributeError, NotImplementedError, RuntimeError, SystemError, TokenError, zipfile.BadZipFile,
          zlib.error)  # fmt: skip
BEGINNING = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '([<>|][biufU]\d{1,9})', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,18}, ?)*(?:\d{1,18})?)\), \} *\n", re.DOTALL,
)  # fmt: skip


# ---- Whole or not at all ----


@contextmanager
def write_atomically(path, mode="wb", flush=True) -> Iterator[Any]:
    """A file to write to; it appears under `path` when the block ends well, and never otherwise.

    `flush=False` is for files that need not survive a power failure.
    """
    with replace_on_success(path) as part, open_new(part, mode) as file:
        yield file
        file.flush()
        if flush:
            os.fsync(file.fileno())


@contextmanager
def replace_on_success(path) -> Iterator[str]:
    """A name beside `path` to write to; that file takes the place of `path` when the block ends well."""
    part = part_name(path)
    try:
        yield part
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(part)
        raise


def part_name(path) -> str:
    """A name beside `path` that nobody else has."""
    folder, name = os.path.split(os.fspath(path))
    # Two threads and two machines must not choose the same name: process, random bytes and a count.
    unique = f"{os.getpid()}.{os.urandom(4).hex()}{next(_serial)}"
    return os.path.join(folder, f".{name}.{unique}{PART}")


def write_bytes(path, data: bytes):
    """Write all of a file at once."""
    with write_atomically(path) as file:
        file.write(data)


def open_descriptor(path, flags: int) -> int:
    """The descriptor of a file; its folder is made where it is missing."""
    return _with_folder(path, lambda: os.open(path, flags, 0o644))


def open_new(part, mode) -> IO[Any]:
    """A file that is not there yet, opened to be written."""
    encoding = None if "b" in mode else "utf-8"
    return _with_folder(part, lambda: open(part, mode.replace("w", "x"), encoding=encoding))


def _with_folder(path, open_it: Callable):
    # Opening is tried first: in a sweep the folder is nearly always there, and asking costs a system call.
    try:
        return open_it()
    except FileNotFoundError:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        return open_it()


# ---- Arrays with a checksum ----


class Damaged(InvalidInput):
    """A file is there, but its bytes are not those that were written."""


def dumps(arrays: dict[str, np.ndarray], about: dict) -> bytes:
    """Arrays and a JSON record as bytes. The same content gives the same bytes."""
    members = [(ABOUT, [json.dumps(about).encode()])]
    for name, value in arrays.items():
        value = _plain_array(value)
        members.append((f"{name}.npy", [_header(value.dtype.str, value.shape), value.tobytes()]))
    data = _zipped(members) + MARK
    return data + hashlib.sha256(data).hexdigest().encode()


def _zipped(members) -> bytes:
    """A zip archive of members stored as they are, up to its comment. (The standard library's takes thrice as long.)"""
    body, listing, place = [], [], 0
    for name, pieces in members:
        label, size, crc = name.encode(), sum(map(len, pieces)), 0
        for piece in pieces:
            crc = zlib.crc32(piece, crc)
        facts = struct.pack("<5H3IH", 20, UTF8, 0, 0, DAY_ONE, crc, size, size, len(label))
        require(place + size < 1 << 32, "One run file holds at most 4 GiB: save fewer instants.")
        body += [b"PK\3\4", facts, b"\0\0", label, *pieces]
        listing += [b"PK\1\2", b"\24\0", facts, bytes(12), struct.pack("<I", place), label]
        place += 30 + len(label) + size
    end = sum(map(len, listing))
    tail = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, len(members), len(members), end, place, len(MARK) + DIGITS)
    return b"".join([*body, *listing, tail])


@lru_cache(1024)
def _header(dtype: str, shape: tuple[int, ...]) -> bytes:
    """How a .npy file begins."""
    start = io.BytesIO()
    np.lib.format.write_array_header_1_0(start, {"descr": dtype, "fortran_order": False, "shape": shape})
    return start.getvalue()


def _plain_array(value):
    """Numbers or text of a fixed width, in the order of rows."""
    value = np.asarray(value, order="C")
    value = value.astype(str) if value.dtype.kind == "O" else value
    if value.dtype.kind not in KINDS:
        raise InvalidInput(f"Only numbers and text can be stored, got {value.dtype}.")
    return value


def loads(data: bytes, what) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the record; `what` names the file in a refusal."""
    if not is_intact(data):
        raise Damaged(f"{what} is damaged: its bytes are not those that were written (checksum differs).")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            names = [m.filename for m in members if m.filename != ABOUT]
            plain = all(m.compress_type == zipfile.ZIP_STORED for m in members)
            require(plain, "members must not be compressed")
            require(sum(m.file_size for m in members) < len(data), "members overlap")
            require(all(n.endswith(".npy") for n in names) and len({*names}) == len(names), "odd names")
            about = json.loads(archive.read(ABOUT))
            require(isinstance(about, dict), "its record is not a JSON object")
            return {n.removesuffix(".npy"): _array(archive.read(n)) for n in names}, about
    except BROKEN as error:
        raise Damaged(f"{what} is not a file that saddlescope wrote ({error}).".replace("\n", " ")) from None


def _array(member: bytes) -> np.ndarray:
    """The array of one .npy member, if its length is what its header says."""
    start = 10 + int.from_bytes(member[8:10], "little")
    shape, order, dtype = _parsed(member[:start])
    count = math.prod(shape)
    require(count * dtype.itemsize == len(member) - start, "an array is not as long as its header says")
    values = np.frombuffer(member, dtype, count, start) if count and dtype.itemsize else np.zeros(count, dtype)
    require(dtype.kind != "U" or _is_text(values), "an array of text holds invalid characters")
    return values.reshape(shape, order=order).copy()


def _is_text(values) -> bool:
    """Every code is a character, and none after the end of its text."""
    codes = values.view(np.uint32 if values.dtype.isnative else np.dtype(np.uint32).newbyteorder())
    codes = codes.reshape(len(values), -1) if codes.size else codes.reshape(0, 1)
    real = (codes <= 0x10FFFF) & ((codes < 0xD800) | (codes > 0xDFFF))
    return bool(real.all() and not ((codes[:, 1:] != 0) & (codes[:, :-1] == 0)).any())


@lru_cache(1024)
def _parsed(start: bytes):
    """Shape, order and kind of number, as the beginning of a .npy file says."""
    found = BEGINNING.fullmatch(start)
    if not found:
        raise InvalidInput("an array does not begin as numpy's do")
    shape = tuple(int(n) for n in found[3].split(b",") if n.strip())
    return shape, "F" if found[2] == b"True" else "C", np.dtype(found[1].decode())


def is_intact(data: bytes) -> bool:
    """Whether the bytes are those that were written."""
    body, digest = data[:-DIGITS], data[-DIGITS:]
    return body.endswith(MARK) and hashlib.sha256(body).hexdigest().encode() == digest


def write_checked(path, arrays, about, flush=True):
    """Write arrays and their record to one file, complete or not at all."""
    with write_atomically(path, flush=flush) as file:
        file.write(dumps(arrays, about))


def read_checked(path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the record of a file. An error of the disk is raised as such: it is not damage."""
    return loads(Path(path).read_bytes(), path)
