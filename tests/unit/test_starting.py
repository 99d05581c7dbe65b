"""What answers at once imports little: seconds of a start are seconds of importing libraries."""

import json
import subprocess
import sys
from importlib.resources import files

import numpy as np
import pytest
import xarray as xr
from stored_results import stored

from saddlescope.report.describe import runs_text
from saddlescope.report.page import page
from saddlescope.report.page_data import read_page_data
from saddlescope.report.record import summed_up
from saddlescope.results import Results, collect
from saddlescope.storage import result_folder as store
from saddlescope.storage.files import write_bytes
from saddlescope.sweeps import Folder
from saddlescope.workflows.find import experiment_keys

HEAVY = ("jax", "equinox", "numba", "matplotlib", "scipy", "pandas", "pyarrow", "xarray", "dask", "h5py", "sklearn")
CODE = """
import json, sys
from saddlescope.cli import main

sys.argv[1:] = json.loads(sys.argv[1])
try:
    main()
except SystemExit as end:
    print(json.dumps([end.code or 0, sorted({name.partition(".")[0] for name in sys.modules})]))
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A result whose runs have two plateaus, a folder of runs, and a loss curve."""
    root = tmp_path_factory.mktemp("place")
    steps = np.arange(300)
    loss = 1 / (1 + np.exp((steps - 150) / 5)) + 0.1
    run = xr.Dataset({"loss": ("step", loss), "status": ((), "finished")})
    measured = collect([run, run], [{"seed": 0}, {"seed": 1}])
    folder = stored(root / "result")
    store.unseal(folder)
    groups = store.save_results(folder / store.RESULTS, Results(measured, measured), key="a.b", title="T", scale="full")
    store.save_verdicts(folder / store.VERDICTS, (), key="a.b", title="T", scale="full", runs=2)
    write_bytes(folder / store.RUNS, runs_text(groups["measured"]).encode())
    store.seal(folder)
    Folder(root / "runs").write(f"{7:020x}-t-v1", run, {"seed": 0})
    np.savetxt(root / "loss.csv", np.column_stack([steps, loss]), delimiter=",", header="step,loss", comments="")
    return root


COMMANDS = {
    "list": (["list"], 0, ("numpy",)),
    "search": (["list", "--search", "plateau"], 0, ("numpy",)),
    "list in JSON": (["list", "--json"], 0, ("numpy",)),
    "list a folder": (["list", "."], 0, ()),
    "show a key": (["show", "simplicity.fig1b"], 0, ()),
    "show a result": (["show", "result"], 0, ()),
    "show a file": (["show", "result/results.nc", "--setting"], 0, ()),
    "ls": (["ls", "runs", "--all"], 0, ()),
    "mistyped": (["run", "simplicity.fig1bb"], 2, ("numpy",)),
    "stages": (["stages", "loss.csv"], 0, ()),
    "stages of a result": (["stages", "result", "--column", "loss[1]"], 0, ()),
    "no such curve": (["stages", "missing.csv"], 2, ()),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_quick_answer_imports_little(place, name):
    words, status, more = COMMANDS[name]
    call = [sys.executable, "-c", CODE, json.dumps(words)]
    done = subprocess.run(call, cwd=place, capture_output=True, text=True, timeout=120)
    ended, modules = json.loads(done.stdout.splitlines()[-1])
    assert ended == status, done.stderr
    assert not {*HEAVY, *more} & {*modules}


def test_this_test_sees_a_library(place):
    call = [sys.executable, "-c", "import xarray\n" + CODE, json.dumps(["list"])]
    done = subprocess.run(call, cwd=place, capture_output=True, text=True, timeout=120)
    assert {"xarray", "pandas", "numpy"} <= {*json.loads(done.stdout.splitlines()[-1])[1]}


WAITS_FOR_USE = ("matplotlib", "numba", "dask", "sklearn", "scipy.linalg", "scipy.optimize", "scipy.sparse")
PUBLIC = dict.fromkeys(["find_stages", "load_results", "Results", "judge"], HEAVY)
PUBLIC |= {"Setting": (*WAITS_FOR_USE, "xarray", "pandas"), "train": WAITS_FOR_USE, "Experiment": WAITS_FOR_USE}


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_imports_little(name):
    code = f"import sys; from saddlescope import {name}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert not {*PUBLIC[name]} & {*done.stdout.split()}


def test_the_summary_of_all_records_is_up_to_date():
    stored = files("saddlescope.papers").joinpath("recorded.json").read_text("utf-8")
    assert stored == summed_up(experiment_keys()), "run `python tools/record.py --sum-up`"


# ---- What is kept in words is what the numbers say ----


def test_show_says_the_same_with_and_without_the_text(place, saddlescope):
    by_text = saddlescope("show", place / "result")[1]
    assert "drops over all 2 runs: 1 in 2 runs" in by_text
    text = place / "result" / store.RUNS
    said = text.read_bytes()
    text.unlink()
    try:
        by_numbers = saddlescope("show", place / "result")[1]
    finally:
        text.write_bytes(said)
    assert by_text == by_numbers


@pytest.mark.parametrize("name", [store.RUNS, store.RESULTS])
def test_show_refuses_a_damaged_file(place, saddlescope, name):
    file = place / "result" / name
    before = file.read_bytes()
    file.write_bytes(before[:-1] + b"!")
    status, _, error = saddlescope("show", place / "result")
    file.write_bytes(before)
    assert status == 2
    assert f"{name} is damaged" in error


def test_a_page_is_the_same_from_memory_and_from_the_file(tmp_path):
    folder = stored(tmp_path / "r")
    store.unseal(folder)
    results, about = store.load_with_facts(folder)
    groups = store.save_results(folder / store.RESULTS, results, **about)
    assert page(read_page_data(folder, groups)) == page(read_page_data(folder))
