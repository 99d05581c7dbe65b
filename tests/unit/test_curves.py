"""Loss curves from files of all kinds, and from broken ones."""

import numpy as np
import pytest
import xarray as xr

from saddlescope.errors import InvalidInput
from saddlescope.stages import read_curves

LOSS = np.array([3.0, 2.0, 1.0])


@pytest.mark.parametrize(
    ("text", "name", "time"),
    [
        ("loss\n3\n2\n1\n", "loss", None),
        ("3\n2\n1\n", "column 1", None),
        ("step,loss\n0,3\n10,2\n20,1\n", "loss", [0, 10, 20]),
        ("step;acc;train_loss\n0;9;3\n1;9;2\n2;9;1\n", "train_loss", [0, 1, 2]),
        ("Epoch\tLoss\n1\t3e0\n2\t2.0\n3\t1\n", "Loss", [1, 2, 3]),
        ("0 3\n7 2\n9 1\n", "column 2", [0, 7, 9]),
        ("9 3\n7 2\n8 1\n", "column 2", None),
        ("# a comment\n\nepoch, loss\n1, 3\n2, 2\n3, 1\n", "loss", [1, 2, 3]),
    ],
)
def test_csv_of_many_kinds(tmp_path, text, name, time):
    path = tmp_path / "curve.csv"
    path.write_text(text)
    curve = read_curves(path)
    assert curve.name == name
    np.testing.assert_array_equal(curve.loss, LOSS)
    assert curve.time.tolist() == (time or [0, 1, 2])
    assert (curve.time_name == "point") == (time is None)


def test_named_columns(tmp_path):
    path = tmp_path / "curve.csv"
    path.write_text("a,b,c\n5,3,0\n6,2,7\n7,1,9\n")
    curve = read_curves(path, column="b", time="c")
    np.testing.assert_array_equal(curve.loss, LOSS)
    assert curve.time.tolist() == [0, 7, 9]


def test_nan_and_inf_are_numbers(tmp_path):
    path = tmp_path / "curve.csv"
    path.write_text("loss\n1\nnan\ninf\n")
    loss = read_curves(path).loss
    assert np.isnan(loss[1])
    assert np.isinf(loss[2])


def test_npz_and_netcdf(tmp_path):
    np.savez(tmp_path / "a.npz", loss=LOSS, step=np.arange(3), other=np.zeros((2, 2)))
    assert read_curves(tmp_path / "a.npz").time.tolist() == [0, 1, 2]
    data = xr.Dataset({"loss": ("time", LOSS)}, {"time": [1.0, 2.0, 4.0]})
    data.to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    curve = read_curves(tmp_path / "a.nc")
    assert (curve.time.tolist(), curve.loss.tolist(), curve.name) == ([1, 2, 4], LOSS.tolist(), "loss")


def test_a_row_of_ours_is_cut_at_its_length(tmp_path):
    rows = np.array([[3, 2, 1, 0.5], [3, 2, np.nan, np.nan]])
    measured = xr.Dataset({"loss": (("run", "step"), rows), "length": ("run", [4, 2])}, {"step": np.arange(4)})
    xr.DataTree.from_dict({"measured": measured}).to_netcdf(tmp_path / "r.nc", engine="h5netcdf")
    curve = read_curves(tmp_path / "r.nc", column="loss[1]")
    assert curve.loss.tolist() == [3, 2]
    assert curve.time.tolist() == [0, 1]
    with pytest.raises(InvalidInput, match=r"name a row, such as --column 'loss\[0\]'"):
        read_curves(tmp_path / "r.nc")
    with pytest.raises(InvalidInput, match="there is no row 7"):
        read_curves(tmp_path / "r.nc", column="loss[7]")


BROKEN = {
    "empty.csv": (b"", "is empty"),
    "blank.csv": (b"\n\n", "is empty"),
    "header.csv": (b"step,loss\n", "no numbers in column 'loss'"),
    "text.csv": (b"step,loss\n0,1\n1,oops\n", r"'oops' where a number should be, in line 3, column 'loss'"),
    "binary.csv": (b"\x89\x00\x01\x81", "is not text"),
    "bad.npz": (b"PK\x03\x04 nothing", "damaged, or holds more than plain arrays"),
    "bad.nc": (b"\x89HDF\r\n\x1a\n nothing", "damaged or not a NetCDF"),
    "model.pt": (b"x", "not a kind of log we read"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_named_with_what_is_wrong(tmp_path, name):
    data, sentence = BROKEN[name]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InvalidInput, match=sentence) as caught:
        read_curves(tmp_path / name)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_log_as_loggers_write_it(tmp_path):
    """Several columns, some text, some cells empty, an epoch that repeats."""
    (tmp_path / "log.csv").write_text(
        "epoch,step,train_loss,val_loss,when\n0,0,3,,mon\n0,10,2,,mon\n0,10,,9,tue\n1,20,1,,tue\n1,20,,8,wed\n"
    )
    curve = read_curves(tmp_path / "log.csv")
    assert (curve.time.tolist(), curve.loss.tolist(), curve.name) == ([0, 10, 20], [3, 2, 1], "train_loss")
    curve = read_curves(tmp_path / "log.csv", column="val_loss", time="epoch")
    assert (curve.time.tolist(), curve.loss.tolist()) == ([0, 1], [9, 8])


def test_what_is_saved_has_its_own_length_and_time(tmp_path):
    rows = np.array([[3, 2, 1], [3, np.nan, np.nan]])
    measured = xr.Dataset(
        {"full_loss": (("run", "saved"), rows), "saved_length": ("run", [3, 1]), "length": ("run", [90, 4])},
        {"saved_epoch": (("run", "saved"), [[0, 40, 90], [0, -1, -1]])},
    )
    xr.DataTree.from_dict({"measured": measured}).to_netcdf(tmp_path / "r.nc", engine="h5netcdf")
    curve = read_curves(tmp_path / "r.nc", column="full_loss[0]")
    assert (curve.time.tolist(), curve.loss.tolist()) == ([0, 40, 90], [3, 2, 1])
    assert read_curves(tmp_path / "r.nc", column="full_loss[1]").loss.tolist() == [3]


def test_missing_files_and_columns(tmp_path):
    with pytest.raises(InvalidInput, match="There is no file"):
        read_curves(tmp_path / "none.csv")
    (tmp_path / "a.csv").write_text("train_loss,accuracy\n1,2\n")
    with pytest.raises(
        InvalidInput, match=r"has no column 'trainloss'\. It has train_loss, accuracy\. Did you mean 'train_loss'"
    ):
        read_curves(tmp_path / "a.csv", column="trainloss")


def test_pickles_are_not_opened(tmp_path):
    np.savez(tmp_path / "evil.npz", loss=np.array([print], dtype=object))
    with pytest.raises(InvalidInput, match="more than plain arrays"):
        read_curves(tmp_path / "evil.npz")


@pytest.mark.parametrize("kind", ["npz", "nc"])
def test_files_cut_in_half(tmp_path, kind):
    path = tmp_path / f"a.{kind}"
    if kind == "npz":
        np.savez(path, loss=np.arange(1000.0))
    else:
        xr.Dataset({"loss": ("step", np.arange(1000.0))}).to_netcdf(path, engine="h5netcdf")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(InvalidInput, match="damaged"):
        read_curves(path)
