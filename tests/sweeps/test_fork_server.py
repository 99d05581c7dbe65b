"""Workers are forks of a server that has imported what they need, and has done nothing else."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from interrupting import members
from worker_facts import pid, server, surroundings

import saddlescope
from saddlescope.numerics import ENVIRONMENT
from saddlescope.sweeps import Workers
from saddlescope.sweeps.fork_server import RESTORES
from saddlescope.sweeps.progress import alive

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere workers are fresh processes")
TESTS = Path(__file__).parents[1]


def in_a_worker(function):
    pool = Workers(1)
    try:
        return pool.submit(function).result()
    finally:
        pool.stop()


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happens"
        time.sleep(0.02)


def test_a_fork_is_safe_and_a_worker_has_what_it_needs():
    found = in_a_worker(surroundings)
    assert {"saddlescope.training.driver", "saddlescope.engines.fused.kernel", "jax", "numba"} <= found["modules"]
    idle = {"matplotlib", "saddlescope.report", "saddlescope.figures", "saddlescope.theory", "saddlescope.cli"}
    assert not idle & found["modules"], "a training job does not need these"
    assert found["backends"] == [], "JAX warns of forks once it has a backend"
    # pandas imports pyarrow where it is installed; the thread of its memory knows about forks.
    assert len([name for name in found["threads of the server"] if name != "jemalloc_bg_thd"]) == 1
    assert all(mask >> (signal.SIGINT - 1) & 1 for mask in found["blocked"]), "Ctrl-C is its parent's to handle"
    assert found["source"] == saddlescope.__file__, "the server imports from our path"


def test_workers_have_the_environment_of_the_moment_they_start(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.setenv("PYTHONSAFEPATH", "")
    servers = []
    for value in ("red", "green", None):
        monkeypatch.setenv("COLOUR", value) if value else monkeypatch.delenv("COLOUR")
        found = in_a_worker(surroundings)
        other = dict({**os.environ, **ENVIRONMENT}.items() - found["environment"].items())
        assert other.keys() <= {"PYTEST_CURRENT_TEST"}
        assert found["environment"].get("COLOUR") == value
        assert RESTORES not in found["environment"]
        servers.append(found["server"])
    assert len(set(servers)) == 3
    assert in_a_worker(server) == servers[-1], "what has not changed is not started again"
    wait_until(lambda: not alive(servers[0]) or _is_zombie(servers[0]))


def _is_zombie(process):
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def test_forks_draw_numbers_of_their_own():
    drawn = [in_a_worker(surroundings)["drawn"] for _ in range(2)]
    assert drawn[0] != drawn[1]


def test_a_server_that_is_killed_is_replaced():
    pool = Workers(1)
    first = pool.submit(pid).result()
    os.kill(pool.submit(server).result(), signal.SIGKILL)
    assert pool.submit(pid).result() == first, "its worker lives on"
    other = Workers(1)
    assert other.submit(pid).result() != first
    pool.stop()
    other.stop()
    wait_until(lambda: not alive(first))


HEAD = """
import os, sys, time
sys.path.append(sys.argv[1])
from saddlescope.sweeps.pool import Workers
from worker_facts import pid
"""
STOPPED = """
if __name__ == "__main__":
    pool = Workers(2)
    jobs = [pool.submit(pid) for _ in range(3)]
    time.sleep(0.4)
    pool.stop()
    print([job.cancelled() or type(job.exception()).__name__ for job in jobs], flush=True)
    print(not any(thread.is_alive() for thread in pool.threads), flush=True)
"""
KILLED = """
if __name__ == "__main__":
    pool = Workers(2)
    pool.submit(pid)
    time.sleep(0.4)
    print("now", flush=True)
    time.sleep(60)
"""
OWN_CODE = """
def twice(x):
    return 2 * x
if __name__ == "__main__":
    pool = Workers(1)
    print(pool.submit(twice, 21).result(), flush=True)
    pool.shutdown()
"""


def started(code, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(HEAD + code)
    words = [sys.executable, str(script), str(TESTS)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def test_stopping_while_the_server_imports_leaves_nobody_waiting(tmp_path):
    process = started(STOPPED, tmp_path)
    out, err = process.communicate(timeout=120)
    assert (out, err) == ("['InvalidInput', 'InvalidInput', True]\nTrue\n", "")
    wait_until(lambda: not members(process.pid))


def test_a_server_that_imports_ends_with_its_parent(tmp_path):
    process = started(KILLED, tmp_path)
    assert process.stdout is not None
    process.stdout.readline()
    process.kill()
    process.communicate()
    wait_until(lambda: not members(process.pid))


def test_functions_of_the_users_own_script_are_found(tmp_path):
    out, err = started(OWN_CODE, tmp_path).communicate(timeout=120)
    assert (out, err) == ("42\n", "")
