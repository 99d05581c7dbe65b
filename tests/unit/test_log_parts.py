"""Checksums and fields that readers of binary logs are made of."""

import numpy as np
import pytest

from saddlescope.stages.logs.crc32c import TABLE, crc32c
from saddlescope.stages.logs.protobuf import BYTES, VARINT, read_fields


def test_crc32c_has_the_values_of_rfc_3720():
    texts = [b"123456789", bytes(32), b"\xff" * 32, bytes(range(32)), b""]
    ends = np.cumsum([len(text) for text in texts])
    data = np.frombuffer(b"".join(texts), np.uint8)
    found = crc32c(data, np.append(0, ends[:-1]), ends)
    assert found.tolist() == [0xE3069283, 0x8A9136AA, 0x62A8AB43, 0x46DD794E, 0]


def test_crc32c_of_long_ranges_and_many():
    random = np.random.default_rng(0)
    data = random.integers(0, 256, 3000, dtype=np.uint8)
    begin = random.integers(0, 1000, 40)
    end = begin + random.integers(0, 2000, 40)
    one_by_one = [bytewise_crc32c(data[a:b]) for a, b in zip(begin, end, strict=True)]
    assert crc32c(data, begin, end).tolist() == one_by_one
    assert crc32c(data, np.tile(begin, 1000), np.tile(end, 1000)).tolist() == one_by_one * 1000


def bytewise_crc32c(data):
    state = 0xFFFFFFFF
    for byte in data.tolist():
        state = int(TABLE[(state ^ byte) & 0xFF]) ^ (state >> 8)
    return state ^ 0xFFFFFFFF


def test_fields_of_protobuf_by_the_examples_of_its_documentation():
    data = np.frombuffer(b"\x08\x96\x01" + b"\x12\x07testing" + b"\x08\x01\x08\x02", np.uint8)
    fields = read_fields(data, np.array([0, 3, 12, 16]), np.array([3, 12, 16, 16]))
    assert fields.select(1, VARINT).value.tolist() == [150, 1, 2]
    assert fields.select(1, VARINT).last().value.tolist() == [150, 2]
    text = fields.select(2, BYTES)
    assert data[text.begin[0] : text.end[0]].tobytes() == b"testing"


MALFORMED = [b"\x08", b"\x08\x80", b"\x12\x07test", b"\x0b", b"\x08" + b"\xff" * 11, b"\x09\x00"]


@pytest.mark.parametrize("raw", MALFORMED, ids=range(len(MALFORMED)))
def test_what_is_not_protobuf_is_an_error(raw):
    data = np.frombuffer(raw, np.uint8)
    with pytest.raises(ValueError, match=r"varint|field|wire"):
        read_fields(data, np.array([0]), np.array([len(raw)]))
