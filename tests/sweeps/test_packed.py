"""Packed files: any numpy opens them, and no byte of them can change unseen."""

import io
import json
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from saddlescope.errors import InvalidInput
from saddlescope.storage.files import (
    DIGITS,
    MARK,
    dumps,
    is_intact,
    loads,
    read_checked,
    write_atomically,
    write_checked,
)
from saddlescope.storage.run_file import to_arrays, to_dataset
from saddlescope.training import train

ARRAYS = {
    "loss": np.array([1.0, np.nan, np.inf, -0.0]), "ünit": np.arange(6, dtype=np.int32).reshape(2, 3),
    "word": np.array(["a", "bcd"]), "none": np.zeros((0, 3)), "one": np.asarray(True), "f": np.ones((2, 2), order="F"),
}  # fmt: skip


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def test_what_goes_in_comes_out():
    arrays, about = loads(dumps(ARRAYS, {"x": [1, None, "ü"]}), "it")
    assert about == {"x": [1, None, "ü"]}
    assert set(arrays) == set(ARRAYS)
    assert all(same(arrays[k], np.ascontiguousarray(ARRAYS[k]).reshape(ARRAYS[k].shape)) for k in ARRAYS)
    arrays["loss"][0] = 2  # writable, and nobody else's


@given(hnp.arrays(hnp.floating_dtypes() | hnp.integer_dtypes() | hnp.boolean_dtypes(), hnp.array_shapes(min_side=0)))
def test_any_numbers_come_back_as_they_were(array):
    assert same(loads(dumps({"a": array}, {}), "it")[0]["a"], array)


def test_numpy_and_zipfile_open_it_too():
    data = dumps(ARRAYS, {"x": 1})
    with np.load(io.BytesIO(data)) as file:
        assert all(same(file[k], ARRAYS[k]) for k in ARRAYS if k != "f")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        assert json.loads(archive.read("about.json")) == {"x": 1}


def test_the_same_content_gives_the_same_bytes():
    assert dumps(ARRAYS, {"x": 1}) == dumps(ARRAYS, {"x": 1})


def test_every_changed_or_missing_byte_is_seen():
    data = dumps({"a": np.arange(3.0)}, {"k": "v"})
    assert is_intact(data)
    for i in range(len(data)):
        assert not is_intact(data[:i] + bytes([data[i] ^ 1]) + data[i + 1 :])
        assert not is_intact(data[:i])
    assert not is_intact(data + b"\0")


def sealed(body: bytes) -> bytes:
    """A forger's file: its checksum is right."""
    import hashlib

    body = body + MARK
    return body + hashlib.sha256(body).hexdigest().encode()


def forged(members: dict[str, bytes], compression=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        archive.comment = MARK + b"0" * DIGITS
    return sealed(out.getvalue()[: -len(MARK) - DIGITS])


def npy(array):
    out = io.BytesIO()
    np.save(out, array, allow_pickle=True)
    return out.getvalue()


def with_header(text, data=b""):
    header = text.encode().ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


HOSTILE = {
    "pickle": {"about.json": b"{}", "a.npy": npy(np.array([{"a": 1}], object))},
    "a bomb": None,
    "no record": {"a.npy": npy(np.ones(3))},
    "record is a list": {"about.json": b"[]"},
    "deep record": {"about.json": b"[" * 100_000 + b"]" * 100_000},
    "not an array": {"about.json": b"{}", "a.npy": b"hello"},
    "too large": {"about.json": b"{}", "a.npy": with_header(
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }")},
    "negative": {"about.json": b"{}", "a.npy": with_header(
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -1), }", bytes(8))},
    "overflow": {"about.json": b"{}", "a.npy": with_header(
        "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }")},
    "code in the header": {"about.json": b"{}", "a.npy": with_header("__import__('os').system('true')")},
    "void": {"about.json": b"{}", "a.npy": npy(np.zeros(2, [("x", "f8")]))},
    "dates": {"about.json": b"{}", "a.npy": npy(np.array(["2020"], "M8[D]"))},
    "shape of floats": {"about.json": b"{}", "a.npy": with_header(
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1.0,), }", bytes(8))},
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_forged_file_is_refused_in_one_sentence(name):
    members = HOSTILE[name]
    bomb = {"about.json": b"{}", "a.npy": npy(np.zeros(10_000_000))}
    data = forged(members) if members else forged(bomb, zipfile.ZIP_DEFLATED)
    assert is_intact(data), "the checksum must not be what saves us here"
    tracemalloc.start()
    with pytest.raises(InvalidInput, match="not a file that saddlescope wrote"):
        loads(data, "it")
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()


def test_objects_are_not_packed():
    with pytest.raises(InvalidInput, match="Only numbers and text"):
        dumps({"a": np.zeros(2, complex)}, {})


def test_a_run_comes_back_as_it_was():
    from cases import minibatch_setting

    from saddlescope.observables import FullLoss
    from saddlescope.training import every

    run = train(minibatch_setting(epochs=20), (FullLoss(),), every(5, 20), per_step=True, quiet=True)
    again = to_dataset(loads(dumps(*to_arrays(run, extra=1)), "it"), "it")
    assert again.identical(run.assign_coords(
        {k: run[k].astype(str) for k in ("saved_because", "event_kind")}))  # fmt: skip


def test_axes_that_do_not_fit_are_refused():
    arrays, about = to_arrays(xr.Dataset({"a": ("x", np.arange(3.0))}))
    for broken in ({"dims": {"a": ["x", "y"]}}, {"dims": {}}, {"dims": 3}, {"words": 1, "dims": {"b": []}}):
        with pytest.raises(InvalidInput, match="do not agree"):
            to_dataset((arrays, about | broken), "it")


def test_a_file_is_whole_or_not_there(tmp_path):
    target = tmp_path / "deep" / "file"
    with pytest.raises(TypeError), write_atomically(target) as file:
        file.write("no bytes")
    assert not list((tmp_path / "deep").iterdir())
    write_checked(target, {"a": np.ones(2)}, {})
    assert read_checked(target)[0]["a"].tolist() == [1, 1]
    with pytest.raises(FileNotFoundError):  # an error of the disk is not damage
        read_checked(tmp_path / "nothing")


@given(st.binary(max_size=300))
def test_any_bytes_are_refused(data):
    with pytest.raises(InvalidInput):
        loads(data, "it")
    with pytest.raises(InvalidInput):
        loads(sealed(data), "it")
