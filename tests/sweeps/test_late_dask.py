"""Our own processes import dask only if somebody uses it; whoever does finds xarray as it always is."""

import csv
import subprocess
import sys

import pytest

pytest.importorskip("dask.array")

WORK = """
import numpy as np, sys, xarray as xr

runs = xr.Dataset({"loss": (("run", "step"), np.ones((2, 3))), "name": ("run", ["a", "b"])}, {"step": np.arange(3)})
runs.isel(run=0).loss.values, runs.loss.mean("step"), repr(runs), xr.concat([runs, runs], "run"), xr.merge([runs, runs])
runs.where(runs.loss > 0), runs.loss.to_pandas(), runs.sel(step=[0, 1])
"""
LATE = "from saddlescope.sweeps.late_dask import import_dask_late as late"
CHUNKED = """
import dask.array as da

x = xr.Dataset({"a": ("x", da.arange(10, chunks=5))})
assert x.chunks == {"x": (5, 5)} and float(x.a.sum()) == 45 and x.a.mean().chunks is not None
assert type(xr.DataArray(np.arange(4.0)).chunk(2).data) is da.Array
"""


def succeeds(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    return done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("name", "code"),
    {
        "before xarray": f"{LATE}; late(); late()\n{WORK}\nassert 'dask' not in sys.modules",
        "after xarray": f"import xarray; {LATE}; late(); late()\n{WORK}\nassert 'dask' not in sys.modules",
        "dask arrays": f"{LATE}; late()\n{WORK}\n{CHUNKED}",
        "dask arrays, xarray first": f"import xarray; {LATE}; late()\n{WORK}\n{CHUNKED}",
        "dask first": f"import dask; {LATE}; late()\n{WORK}\n{CHUNKED}",
        "xarray asks for dask": f"{LATE}; late()\n{WORK}\nassert runs.chunk(run=1).chunks['run'] == (1, 1)",
    }.items(),
)
def test_xarray_imports_dask_only_for_those_who_use_it(name, code):
    assert succeeds(code) == (True, ""), name


def test_this_test_sees_dask():
    """xarray still imports it in anybody else's program. Where it no longer does, all of this can go."""
    assert succeeds(f"{WORK}\nassert 'dask' in sys.modules")[0]
    assert succeeds(f"import saddlescope.training\n{WORK}\nassert 'dask' in sys.modules")[0]


EXPERIMENT = f'''
"""Whether dask is there, once xarray has been used."""
from matplotlib.figure import Figure
from saddlescope import Experiment


def measure(seed):
    {WORK.strip().replace(chr(10), chr(10) + "    ")}
    return {{"dask": float("dask" in sys.modules)}}


axes = dict(seed=range(2))
experiment = Experiment("Dask", "ours", axes, axes, lambda results: Figure(), (), measure=measure)
'''


@pytest.mark.parametrize("workers", [1, 2])
def test_the_command_line_and_workers_do_without_dask(tmp_path, workers):
    (tmp_path / "own.py").write_text(EXPERIMENT)
    words = [sys.executable, "-m", "saddlescope", "run", "own.py", "--quick", "--quiet", "--workers", str(workers)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    rows = (tmp_path / "saddlescope-results" / "own.quick" / "runs.csv").read_text().splitlines()
    assert [float(row["dask"]) for row in csv.DictReader(rows)] == [0, 0]
