"""Collecting: the file holds what the runs hold, opens elsewhere, and needs no more memory for more runs."""

import csv
import json
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from cases import minibatch_setting
from sweep_jobs import Act, plan

from saddlescope import load_results
from saddlescope.errors import InvalidInput
from saddlescope.observables import FullLoss
from saddlescope.optimisers import GradientDescent, LossBelow
from saddlescope.results import each_run
from saddlescope.sweeps import Folder, consolidate, grid, sweep
from saddlescope.sweeps.scheduler import Scheduler
from saddlescope.training import every, on_cut

LRS = (0.05, 0.001, 50.0)


def setting(lr, seed):
    return minibatch_setting(optimiser=GradientDescent(lr), stop=(LossBelow(0.45),), epochs=120, seed=seed)


def kept(folder, **options):
    """Runs of different lengths, one of them diverging, in a folder and in memory."""
    points = grid(lr=LRS, seed=range(2))
    return sweep(setting, points, FullLoss(), every(40, 120) | on_cut(after=10), folder=folder, quiet=True, **options)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    return folder, kept(folder)


def test_the_file_is_what_collecting_in_memory_gives(saddlescope, stored, tmp_path, monkeypatch):
    folder, table = stored
    monkeypatch.setattr("saddlescope.sweeps.consolidate.BLOCK", 1)  # one run a block
    status, out, _ = saddlescope("collect", folder, "-o", tmp_path / "a.nc")
    assert status == 0
    assert "6 runs in" in out
    found = load_results(tmp_path / "a.nc").measured
    assert set(found.variables) == set(table.variables)
    order = [(lr, seed) for lr in LRS for seed in range(2)]
    assert list(zip(found["lr"].values, found["seed"].values, strict=True)) == order
    xr.testing.assert_identical(found.drop_vars(["cpu_seconds", "wall_seconds"]).drop_attrs(),
                                table.drop_vars(["cpu_seconds", "wall_seconds"]).drop_attrs())  # fmt: skip
    with xr.open_dataset(tmp_path / "a.nc", group="measured", engine="h5netcdf") as plain:
        assert plain["loss"].shape == table["loss"].shape
        assert set(plain.coords) == set(table.coords)
    lengths = [run.sizes["epoch"] for run in each_run(found)]
    assert lengths == table["length"].values.tolist()
    assert len(set(lengths)) > 2


def test_blocks_of_any_size_give_the_same_bytes(saddlescope, stored, tmp_path, monkeypatch):
    folder, _ = stored
    digests = []
    for block in (1, 10_000, 1 << 26):
        monkeypatch.setattr("saddlescope.sweeps.consolidate.BLOCK", block)
        saddlescope("collect", folder, "-o", tmp_path / "a.nc")
        with xr.open_dataset(tmp_path / "a.nc", group="measured", engine="h5netcdf") as found:
            digests.append(found.attrs["sha256"])
    assert len(set(digests)) == 1


def test_the_table_has_a_row_a_run(saddlescope, stored, tmp_path):
    folder, table = stored
    for name in ("t.csv", "t.parquet"):
        status, out, _ = saddlescope("collect", folder, "--table", tmp_path / name)
        assert status == 0
        assert "6 runs in" in out
    assert not (folder / "sweep.nc").exists()
    a, b = pd.read_csv(tmp_path / "t.csv"), pd.read_parquet(tmp_path / "t.parquet")
    assert list(a.columns) == list(b.columns)
    np.testing.assert_array_equal(a["lr"], table["lr"])
    np.testing.assert_array_equal(b["length"], table["length"])
    for i, run in enumerate(each_run(table)):
        loss = run["loss"].values
        assert b["last_loss"][i] == loss[-1] or not np.isfinite(loss[-1])
        assert b["least_loss"][i] == np.nanmin(loss[np.isfinite(loss)])
        assert b["status"][i] == str(run["status"].values)
        assert b["cuts"][i] == np.sum(run["event_kind"].values == "cut")
        if run["finite"]:
            assert b["full_loss"][i] == run["full_loss"].values[-1]


def test_what_is_missing_or_failed_is_said(saddlescope, tmp_path):
    folder = Folder(tmp_path / "s")
    Scheduler(plan(6, {2: "raise"}), folder, None, quiet=True).loop()
    folder.run_file(Act(4).name).unlink()
    shard = folder.run_file(Act(5).name)
    shard.write_bytes(shard.read_bytes()[:-1])
    status, out, _ = saddlescope("collect", folder.root, "-o", tmp_path / "a.nc", "--table", tmp_path / "t.csv")
    assert status == 0
    assert "3 runs in" in out
    assert "1 missing, 1 failed" in out
    assert "1 damaged and left out" in out
    with open(tmp_path / "t.csv") as file:
        rows = {row["seed"]: row for row in csv.DictReader(file)}
    assert rows["2"]["status"].startswith("failed: ZeroDivisionError")
    assert rows["4"]["status"] == "missing"
    assert rows["0"]["value"] == "0.0"
    status, out, _ = saddlescope("ls", folder.root)
    assert "5 done" not in out
    assert "failed   " in out
    assert "seed = 2: ZeroDivisionError: no such luck" in out
    assert "seed = 4" in out
    facts = json.loads(saddlescope("ls", folder.root, "--json")[1])
    assert [f["point"]["seed"] for f in facts["failed"]] == [2]
    assert [f["point"]["seed"] for f in facts["missing"]] == [4]
    status, out, _ = saddlescope("verify", folder.root)
    assert status == 1
    assert "damaged: " in out
    assert str(shard) in out
    status, out, _ = saddlescope("ls", folder.root, "--where", "seed < 2", "--all")
    assert "2 done, 0 failed, 0 missing" in out


def test_folders_are_simply_copied_together(saddlescope, tmp_path):
    for name, runs in (("a", range(3)), ("b", range(2, 5))):
        made = plan(5)
        some = type(made)(name, [p for p in made.points if p["seed"] in runs], made.job)
        Scheduler(some, Folder(tmp_path / name), None, quiet=True).loop()
    shutil.copytree(tmp_path / "b", tmp_path / "a", dirs_exist_ok=True)
    _, out, _ = saddlescope("collect", tmp_path / "a", "-o", tmp_path / "both.nc")
    assert "5 runs in" in out
    found = load_results(tmp_path / "both.nc").measured
    assert sorted(found["seed"].values) == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(found["value"], found["seed"])
    shutil.rmtree(tmp_path / "a" / "plans")  # shards know their own points
    assert saddlescope("collect", tmp_path / "a", "-o", tmp_path / "both.nc")[0] == 0
    np.testing.assert_array_equal(*(load_results(tmp_path / "both.nc").measured[k] for k in ("value", "seed")))


def test_a_plan_that_was_changed_is_not_believed(saddlescope, tmp_path):
    Scheduler(plan(2), Folder(tmp_path / "s"), None, quiet=True).loop()
    (file,) = (tmp_path / "s" / "plans").glob("*.json")
    file.write_text(file.read_text().replace('"seed": [0, 1]', '"seed": [1, 0]'))
    for command in ("collect", "ls", "verify"):
        status, out, err = saddlescope(command, tmp_path / "s")
        assert status in (1, 2)
        assert "damaged" in out + err
        assert (out + err).count("\n") == 1


def test_what_cannot_be_collected_is_refused(saddlescope, tmp_path):
    for words, sentence in (
        (("collect", tmp_path), "is not the folder of a sweep"),
        (("ls", tmp_path / "nothing"), "is not the folder of a sweep"),
        (("verify", tmp_path), "is not the folder of a sweep"),
    ):
        status, _, err = saddlescope(*words)
        assert status == 2
        assert sentence in err
    Scheduler(plan(2), Folder(tmp_path / "s"), None, quiet=True).loop()
    for words, sentence in (
        (("-o", "x.csv"), "NetCDF file"), (("--table", "x.xlsx"), ".csv or .parquet"),
        (("--where", "seed > 5"), "no intact run"), (("--where", "sed > 5"), "Did you mean 'seed'?"),
    ):  # fmt: skip
        status, _, err = saddlescope("collect", tmp_path / "s", *words)
        assert status == 2
        assert sentence in err
        assert err.count("\n") == 1


def test_kinds_that_differ_between_runs_are_refused(tmp_path):
    folder = Folder(tmp_path)
    for i, value in enumerate((1.0, "one")):
        folder.write(f"{i:020x}-0-v1", xr.Dataset({"value": ((), value)}), {})
    with pytest.raises(InvalidInput, match="'value' is of different kinds"):
        consolidate.consolidate(folder, consolidate.folder_contents(folder), tmp_path / "a.nc")


def test_looking_into_a_folder_does_not_wait_for_jax():
    code = "import saddlescope.report.sweep_folder, sys; print('jax' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
