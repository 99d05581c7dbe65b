"""NetCDF files are read by a process of their own. It stays for the next file; a bad file fails alone."""

import subprocess
import sys

import numpy as np
import pytest
import xarray as xr

from saddlescope.errors import InvalidInput
from saddlescope.results import Results
from saddlescope.storage import netcdf_child, netcdf_reader_process
from saddlescope.storage import result_folder as store
from saddlescope.storage.files import read_checked
from saddlescope.storage.netcdf import read_netcdf
from saddlescope.storage.netcdf_reader_process import convert

# The reader with three habits, each by the name of a file.
STRANGE = """
import os, signal, time
from saddlescope.storage import netcdf_reader_process as reader

convert, seen = reader.convert, []

def strange(source, target):
    name = os.path.basename(source)
    if name == "crash.nc":
        os.kill(os.getpid(), signal.SIGSEGV)
    if name == "slow.nc":
        time.sleep(600)
    if name == "alone.nc" and seen:
        raise MemoryError("others took it")
    convert(source, target)
    seen.append(name)

reader.convert = strange
reader.main()
"""


def write(path, number=1.0):
    axes = {"seed": ("run", [0, 1]), "name": ("run", ["a", "ü"]), "step": np.arange(3)}
    columns = {"loss": (("run", "step"), np.full((2, 3), number)), "finite": ("run", [True, False])}
    measured = xr.Dataset(columns, axes, {"engine": "none"})
    store.save_results(path, Results(measured, xr.Dataset(coords={"seed": axes["seed"]})), file="", runs=2, grid=None)
    return path


def number_in(path):
    return float(read_netcdf(path)["measured"]["loss"][0, 0])


@pytest.fixture(autouse=True)
def _alone():
    """Every test begins and ends without a child."""
    netcdf_child._end_all()
    yield
    netcdf_child._end_all()


@pytest.fixture
def strange(monkeypatch):
    monkeypatch.setattr(netcdf_child, "READER", ("-c", STRANGE))


def test_one_process_reads_many_files(tmp_path):
    files = [write(tmp_path / f"{k}.nc", k) for k in range(3)]
    first = number_in(files[0])
    (child,) = netcdf_child._children
    assert [first, number_in(files[1]), number_in(files[2])] == [0, 1, 2]
    assert netcdf_child._children == [child]
    netcdf_child._end_all()
    assert child.process.returncode is not None


@pytest.mark.usefixtures("strange")
def test_a_crash_fails_its_own_file_only(tmp_path):
    good, bad = write(tmp_path / "good.nc", 3.0), write(tmp_path / "crash.nc")
    for _ in range(2):
        assert number_in(good) == 3
        with pytest.raises(InvalidInput, match=r"crash\.nc is damaged .*reading it ended in SIGSEGV"):
            read_netcdf(bad)
    assert number_in(good) == 3


@pytest.mark.usefixtures("strange")
def test_a_file_that_takes_too_long_fails_alone(tmp_path, monkeypatch):
    good, slow = write(tmp_path / "good.nc", 3.0), write(tmp_path / "slow.nc")
    assert number_in(good) == 3
    patience = netcdf_child.PATIENCE
    monkeypatch.setattr(netcdf_child, "PATIENCE", (1, 0))
    with pytest.raises(InvalidInput, match="could not be read in 1 s"):
        read_netcdf(slow)
    monkeypatch.setattr(netcdf_child, "PATIENCE", patience)
    assert number_in(good) == 3


@pytest.mark.usefixtures("strange")
def test_what_is_said_of_a_file_does_not_depend_on_others(tmp_path):
    """Memory that another file took is no reason to refuse this one."""
    assert number_in(write(tmp_path / "good.nc", 3.0)) == 3
    assert number_in(write(tmp_path / "alone.nc", 4.0)) == 4


def test_a_process_that_has_ended_is_replaced(tmp_path):
    """As it does after a while without a file, or when somebody kills it."""
    file = write(tmp_path / "a.nc", 5.0)
    assert number_in(file) == 5
    netcdf_child._children[0].process.kill()
    assert number_in(file) == 5


def test_it_ends_by_itself_after_a_while(tmp_path, monkeypatch):
    short = "from saddlescope.storage import netcdf_reader_process as r; r.IDLE = 0.1; r.main()"
    monkeypatch.setattr(netcdf_child, "READER", ("-c", short))
    assert number_in(write(tmp_path / "a.nc", 5.0)) == 5
    assert netcdf_child._children[0].process.wait(timeout=60) == 0


def test_a_copy_of_this_process_has_a_child_of_its_own(tmp_path):
    """A fork shares the pipes of the child: two that read from one would take each other's answers."""
    code = """
import os, sys
from saddlescope.storage.netcdf import read_netcdf
from saddlescope.storage.netcdf_child import _children

read_netcdf(sys.argv[1])
pid = os.fork()
assert len(_children) == (pid > 0)
read_netcdf(sys.argv[1])
if pid:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    words = [sys.executable, "-W", "error::ResourceWarning", "-c", code, write(tmp_path / "a.nc")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_our_own_files_read_as_h5netcdf_reads_them(tmp_path, monkeypatch):
    """Names, dimensions, attributes and values, and their order."""
    file = write(tmp_path / "a.nc")
    convert(file, tmp_path / "ours.npz")
    monkeypatch.setattr(netcdf_reader_process, "DIGEST", "no such attribute")
    convert(file, tmp_path / "theirs.npz")
    (ours, said), (theirs, expected) = (read_checked(tmp_path / f"{who}.npz") for who in ("ours", "theirs"))
    assert said == expected
    assert [*said["groups"]["measured"]["variables"]] == ["loss", "finite", "seed", "name", "step"]
    assert all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in zip(ours.values(), theirs.values(), strict=True))


def test_what_saving_returns_is_what_reading_finds(tmp_path):
    measured = xr.Dataset(
        {"loss": (("run", "step"), np.ones((2, 3))), "good": ("run", [True, False])}, {"step": range(3)}
    )
    made = store.save_results(tmp_path / "r.nc", Results(measured, measured), runs=2, versions={"a": "1"}, grid=None)
    found = read_netcdf(tmp_path / "r.nc", ours=True)
    assert [*made] == [*found]
    for name, group in made.items():
        other = found[name]
        assert (group.facts, group.coords, group.sizes) == (other.facts, other.coords, other.sizes)
        for column in group.columns:
            np.testing.assert_array_equal(group[column], other[column])
            assert group[column].dtype == other[column].dtype
