"""Worker processes: one death is one failed job; nothing is left behind."""

import os
import signal
import subprocess
import sys
import time

import pytest
from sweep_jobs import grow, pid, raise_odd, threads, unsendable, wait_for_end

from saddlescope.errors import InvalidInput
from saddlescope.numerics import ONE_THREAD
from saddlescope.sweeps.pool import WorkerLost, Workers
from saddlescope.sweeps.progress import alive


@pytest.fixture
def pool():
    made = Workers(1)
    yield made
    made.stop()


def test_a_dead_worker_fails_its_job_and_is_replaced(pool):
    first = pool.submit(pid).result()
    lost = pool.submit(os.kill, first, signal.SIGKILL)
    with pytest.raises(WorkerLost) as caught:
        lost.result()
    assert "SIGKILL" in caught.value.reason
    assert "memory" in caught.value.reason
    assert pool.submit(pid).result() != first


def test_errors_and_values_that_cannot_travel_are_told_in_words(pool):
    with pytest.raises(ZeroDivisionError):
        pool.submit(divmod, 1, 0).result()
    with pytest.raises(RuntimeError, match="Odd: 1 and 2"):
        pool.submit(raise_odd).result()
    with pytest.raises(Exception, match="pickle"):
        pool.submit(unsendable).result()
    with pytest.raises(Exception, match="pickle"):
        pool.submit(lambda: 0).result()
    assert pool.submit(divmod, 7, 2).result() == (3, 1)


def test_workers_have_one_thread_whatever_the_parent_has(monkeypatch, pool):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    found = pool.submit(threads).result()
    assert found == {name: ONE_THREAD[name] for name in found}
    assert os.environ["OMP_NUM_THREADS"] == "7"


def test_a_worker_that_has_grown_is_replaced(pool):
    pool.share = 700 << 20
    first = pool.submit(grow, 10).result()
    assert pool.submit(grow, 10).result() == first
    assert pool.submit(grow, 800).result() == first
    assert pool.submit(grow, 10).result() != first


def test_stop_ends_workers_and_cancels_what_waits(pool):
    worker = pool.submit(pid).result()
    running, waiting = pool.submit(wait_for_end), pool.submit(pid)
    time.sleep(0.3)
    pool.stop()
    assert not alive(worker)
    assert waiting.cancelled()
    with pytest.raises(WorkerLost):
        running.result(timeout=5)


ORPHANS = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
from sweep_jobs import pid, wait_for_end
from saddlescope.sweeps.pool import Workers
if __name__ == "__main__":
    pool = Workers(1)
    print(pool.submit(pid).result(), flush=True)
    pool.submit(wait_for_end)
    time.sleep(60)
"""


def test_workers_go_when_their_parent_is_killed(tmp_path):
    script = tmp_path / "orphans.py"
    script.write_text(ORPHANS)
    tests = os.path.dirname(os.path.dirname(__file__))
    with subprocess.Popen([sys.executable, str(script), tests], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        parent.kill()
    end = time.monotonic() + 15
    while alive(worker) and time.monotonic() < end:
        time.sleep(0.05)
    assert not alive(worker)


UNGUARDED = """
from saddlescope.sweeps.pool import Workers
pool = Workers(1)
print(pool.submit(abs, -1).result())
"""


def test_an_unguarded_script_is_told_so(tmp_path):
    script = tmp_path / "unguarded.py"
    script.write_text(UNGUARDED)
    ended = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
    assert "if __name__ == '__main__':" in ended.stderr.splitlines()[-1]


def test_a_job_that_the_worker_cannot_understand_is_told_in_words(tmp_path, monkeypatch, pool):
    """As a function typed at a prompt: it can be sent, but not found at the other side."""
    import sweep_jobs

    def typed():
        return 1

    typed.__module__, typed.__qualname__ = "sweep_jobs", "typed"
    monkeypatch.setattr(sweep_jobs, "typed", typed, raising=False)
    first = pool.submit(pid).result()
    with pytest.raises(AttributeError, match="typed"):
        pool.submit(typed).result()
    assert pool.submit(pid).result() == first, "the worker lives on"


def test_nothing_is_accepted_after_the_end():
    pool = Workers(1)
    pool.shutdown()
    with pytest.raises(RuntimeError, match="shut down"):
        pool.submit(pid)


def test_stopping_while_workers_start_is_quick():
    pool = Workers(2)
    job = pool.submit(wait_for_end)
    time.sleep(0.15)
    start = time.monotonic()
    pool.stop()
    assert time.monotonic() - start < 15
    with pytest.raises((WorkerLost, Exception)):
        job.result(timeout=1)


def test_no_workers_are_refused():
    with pytest.raises(InvalidInput, match="positive number of processes, got 0"):
        Workers(0)
