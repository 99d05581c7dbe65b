"""Stored results: whole or not at all, self-describing, without pickle, never trusted when damaged."""

import json

import numpy as np
import pytest
import xarray as xr
from cases import minibatch_setting

from saddlescope.claims import Verdict
from saddlescope.errors import InvalidInput
from saddlescope.observables import FullLoss
from saddlescope.optimisers import GradientDescent
from saddlescope.results import Results, collect
from saddlescope.setting import Setting
from saddlescope.storage import result_folder as store
from saddlescope.storage.files import write_atomically
from saddlescope.sweeps import grid, sweep
from saddlescope.training import every


@pytest.fixture(scope="module")
def results():
    def setting(lr):
        return minibatch_setting(optimiser=GradientDescent(lr), epochs=12)

    points = grid(lr=(0.05, 50.0))
    measured = sweep(setting, points, (FullLoss(),), every(4, 12))
    predicted = collect([xr.Dataset({"loss": ("epoch", np.arange(12.0))})] * 2, points)
    return Results(measured, predicted)


@pytest.fixture
def folder(tmp_path, results):
    store.save_results(tmp_path / store.RESULTS, results, key="a.b", runs=2)
    store.save_verdicts(tmp_path / store.VERDICTS, [Verdict("It holds.", "Fig. 1", True, "2 of 2", 2, 0)], key="a.b")
    store.seal(tmp_path)
    return tmp_path


def test_what_is_loaded_is_what_was_saved(folder, results):
    again = store.load_results(folder)
    for name in ("measured", "predicted"):
        a, b = getattr(results, name), getattr(again, name)
        assert set(a.variables) == set(b.variables)
        for v in a.variables:
            np.testing.assert_array_equal(a[v].values, b[v].values.astype(a[v].dtype))
    assert again.measured["finite"].values.tolist() == [True, False]
    verdicts, about = store.load_verdicts(folder / store.VERDICTS)
    assert verdicts[0].sentence == "It holds."
    assert about["versions"]["numerics"] >= 1


def test_opens_with_plain_xarray_and_describes_itself(folder):
    with xr.open_dataset(folder / store.RESULTS, group="measured", engine="h5netcdf") as measured:
        setting = Setting.from_json(str(measured["setting"].values[0]))
        assert setting.hash == str(measured["hash"].values[0])
        assert {"wall_seconds", "cpu_seconds", "status", "engine", "length"} <= set(measured.variables)
    about = store.load_with_facts(folder)[1]
    assert json.loads(about["versions"])["jax"]
    assert "git_commit" in about


def test_no_pickle_anywhere(folder):
    data = (folder / store.RESULTS).read_bytes()
    assert data[:4] == b"\x89HDF"
    assert b"pickle" not in data
    assert b"numpy.core" not in data


@pytest.mark.parametrize("damage", ["cut in half", "one byte", "emptied"])
def test_a_damaged_file_is_named_and_not_trusted(folder, damage):
    file = folder / store.RESULTS
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes({"cut in half": data[: len(data) // 2], "one byte": data, "emptied": b""}[damage])
    for read in (store.load_results, store.load_with_facts):
        with pytest.raises(InvalidInput, match=r"results.nc is damaged"):
            read(folder)


def test_a_cut_file_without_manifest_is_refused_too(folder):
    (folder / store.MANIFEST).unlink()
    file = folder / store.RESULTS
    assert store.load_results(file).measured.sizes["run"] == 2
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(InvalidInput, match="damaged or not a NetCDF"):
        store.load_results(file)


def test_other_files_are_refused(tmp_path):
    with pytest.raises(InvalidInput, match="There is no file"):
        store.load_results(tmp_path)
    (tmp_path / "results.nc").write_text("hello")
    with pytest.raises(InvalidInput, match="damaged or not a NetCDF"):
        store.load_results(tmp_path)
    (tmp_path / "verdicts.json").write_text('{"claims": 3}')
    with pytest.raises(InvalidInput, match="does not hold verdicts"):
        store.load_verdicts(tmp_path / "verdicts.json")
    (tmp_path / "manifest.json").write_text("[")
    with pytest.raises(InvalidInput, match=r"manifest\.json is damaged"):
        store.load_results(tmp_path)


def test_a_write_that_fails_leaves_the_old_file_and_no_litter(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def fail():
        with write_atomically(path) as file:
            file.write(b"half of the n")
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        fail()
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_setting_with_a_lambda_is_not_stored(tmp_path, results):
    measured = results.measured.assign(setting=("run", ['{"f": {"lambda": "<lambda>"}}'] * 2))
    with pytest.raises(InvalidInput, match="cannot be stored"):
        store.save_results(tmp_path / "r.nc", Results(measured, results.predicted))


def test_an_array_may_have_an_axis_of_its_own_name(tmp_path):
    """NetCDF gives such a variable another name inside the file."""
    coords = {"seed": ("run", [0, 1])}
    measured = xr.Dataset({"eps": (("run", "eps"), np.arange(6.0).reshape(2, 3)), "cut": ("run", [1.0, 2.0])}, coords)
    store.save_results(tmp_path / store.RESULTS, Results(measured, xr.Dataset(coords=coords)))
    back = store.load_results(tmp_path).measured
    np.testing.assert_array_equal(back["eps"].values, measured["eps"].values)
    assert back["eps"].dims == ("run", "eps")
