"""A real Dask scheduler and two workers as processes of their own on loopback: the same sweep, the same bits."""

import os
import re
import subprocess
import sys
import time

import pytest

from saddlescope.errors import InvalidInput
from saddlescope.numerics import ONE_THREAD
from saddlescope.sweeps import Folder
from saddlescope.sweeps.cluster import cluster_executor

pytest.importorskip("distributed")

RUNS = 24
FILE = f"""
[setting]
task = {{class = "LinearTeacher", matrix = [[1, 0], [0, 0.5]], covariance = [[1, 1], [1, 4]]}}
net = {{class = "linear_units", units = 10, scale = 1e-3}}
optimiser = {{class = "GradientDescent", lr = 0.01}}
steps = 40000
[axes]
seed = "0..{RUNS - 1}"
"""


def start(*words, log):
    env = os.environ | ONE_THREAD | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONWARNINGS": "ignore"}
    return subprocess.Popen([sys.executable, "-m", *words], stdout=log, stderr=log, env=env)


@pytest.fixture
def cluster(tmp_path):
    """Address, and the two worker processes."""
    started = []
    with open(tmp_path / "log", "w") as log:
        try:
            options = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard")
            started.append(start("distributed.cli.dask_scheduler", *options, log=log))
            address = wait_for(lambda: re.search(r"tcp://127\.0\.0\.1:\d+", (tmp_path / "log").read_text()))[0]
            options = (address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
            for i in range(2):
                place = ("--local-directory", str(tmp_path / f"scratch{i}"))
                started.append(start("distributed.cli.dask_worker", *options, *place, log=log))
            yield address, started[1:]
        finally:
            for process in reversed(started):
                process.kill()
                process.wait()


def wait_for(look, seconds=60):
    end = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < end, "nothing happens"
        time.sleep(0.02)
    return found


def contents(folder, name):
    arrays = folder.read_arrays(name)[0]
    return {k: (v.dtype.str, v.tobytes()) for k, v in arrays.items() if k not in ("cpu_seconds", "wall_seconds")}


def test_the_same_sweep_gives_the_same_bits_though_a_worker_dies(tmp_path, cluster):
    address, workers = cluster
    file = tmp_path / "cluster.toml"
    file.write_text(FILE)
    words = [sys.executable, "-m", "saddlescope", "sweep", str(file), "--quiet", "--out"]
    subprocess.run([*words, str(tmp_path / "local"), "--workers", "1"], check=True, capture_output=True)
    local, remote = Folder(tmp_path / "local"), Folder(tmp_path / "remote")
    sweep = subprocess.Popen(
        [*words, str(remote.root), "--cluster", address], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    wait_for(lambda: len(remote.names()) >= 5)
    workers[0].kill()  # in the middle of a run
    there = len(remote.names())
    out, err = sweep.communicate(timeout=120)
    assert sweep.returncode == 0, err
    assert there < RUNS - 5, "the worker must die before the work is done"
    assert f"{RUNS} of {RUNS} runs done" in out
    assert remote.names() == local.names()
    assert len(remote.names()) == RUNS
    for name in local.names():
        assert contents(remote, name) == contents(local, name)


def test_no_scheduler_is_one_sentence(monkeypatch):
    monkeypatch.setattr("saddlescope.sweeps.cluster.WAIT", 1)
    with pytest.raises(InvalidInput, match="No Dask scheduler answers at"), cluster_executor("tcp://127.0.0.1:9"):
        pass
    with pytest.raises(InvalidInput, match="No Dask scheduler answers at"), cluster_executor("nonsense://x"):
        pass


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InvalidInput, match=r"saddlescope\[cluster\]"), cluster_executor("tcp://127.0.0.1:9"):
        pass
