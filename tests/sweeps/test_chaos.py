"""A sweep that is killed at random moments, loses a worker, fills its disk and has a shard cut: nothing is lost.

Nothing finished is done again, and every bit is that of a sweep that nobody disturbed.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from saddlescope.sweeps import Folder

RUNS = 480
FILE = f"""
[setting]
task = {{class = "LinearTeacher", matrix = [[1, 0], [0, 0.5]], covariance = [[1, 1], [1, 4]]}}
net = {{class = "linear_units", units = 10, scale = 1e-3}}
optimiser = {{class = "GradientDescent", lr = 0.01}}
steps = 400
[save]
every = 20
[axes]
"optimiser.lr" = "0.01,0.02"
seed = "0..{RUNS // 2 - 1}"
"""
FULL = """
import errno, os
left, real = [int(os.environ["SHARDS"])], os.replace
def replace(*names):
    left[0] -= 1
    if left[0] < 0:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    real(*names)
os.replace = replace
"""


class Sweep:
    """The command in a process group of its own."""

    def __init__(self, file, out, **env):
        words = [sys.executable, "-m", "saddlescope", "sweep", str(file), "--workers", "2", "--out", str(out)]
        self.process = subprocess.Popen(
            words, start_new_session=True, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=os.environ | env,
        )  # fmt: skip

    def end(self):
        out, err = self.process.communicate(timeout=300)
        return self.process.returncode, out, err

    def kill(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()


def wait_until(condition, process, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, f"ended too early: {process.communicate()}"
        assert time.monotonic() < end, "nothing happens"
        time.sleep(0.002)


def files(folder: Folder):
    """Every finished run with what changes when its file is written again."""
    found = {}
    for name in folder.names():
        stat = folder.run_file(name).stat()
        found[name] = stat.st_ino, stat.st_mtime_ns
    return found


def journal(folder):
    lines = (folder.root / "journal.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines if line.endswith("}")]


def contents(folder, name):
    arrays, about = folder.read_arrays(name)
    timed = ("cpu_seconds", "wall_seconds")
    return {k: (v.dtype.str, v.shape, v.tobytes()) for k, v in arrays.items() if k not in timed}, about


def small_disk(path, size):
    """A tmpfs at the path, where that is allowed."""
    path.mkdir(exist_ok=True)
    words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path)]
    try:
        return subprocess.run(words, capture_output=True).returncode == 0
    except OSError:
        return False


@pytest.fixture
def disk(tmp_path):
    path = tmp_path / "disk"
    mounted = small_disk(path, "900k")
    yield path, mounted
    if mounted:
        subprocess.run(["umount", "-l", str(path)], check=True)


def test_nothing_is_lost_and_nothing_is_done_twice(tmp_path, disk):
    file = tmp_path / "chaos.toml"
    file.write_text(FILE)
    path, mounted = disk
    calm, stormy = Folder(tmp_path / "calm"), Folder(path)
    status, out, err = Sweep(file, calm.root).end()
    assert status == 0, err
    assert f"{RUNS} of {RUNS} runs done" in out
    draw = random.Random()  # truly random moments; the seed is in the message of a failure
    seed = draw.randrange(10**9)
    draw.seed(seed)
    finished = {}

    def nothing_done_again(but=()):
        now = files(stormy)
        redone = [name for name, mark in finished.items() if name not in but and now.get(name) != mark]
        assert not redone, f"seed {seed}: {len(redone)} finished runs were written again or lost, such as {redone[:1]}"
        finished.update(now)

    # A full disk: the sweep stops with a sentence, and what is there is whole.
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(FULL)
    path_of_python = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")]))
    env = {} if mounted else {"PYTHONPATH": path_of_python, "SHARDS": "60"}
    status, out, err = Sweep(file, path, **env).end()
    assert status == 2, (status, out, err)
    assert "No space left" in err
    assert "Traceback" not in err
    assert 0 < len(files(stormy)) < RUNS
    assert all(stormy.is_intact(name) for name in stormy.names())
    if mounted:
        subprocess.run(["mount", "-o", "remount,size=64m", str(path)], check=True)
    nothing_done_again()

    # Killed whole, at random moments.
    for _ in range(5):
        sweep, enough = Sweep(file, path), len(finished) + draw.randint(1, 15)
        wait_until(lambda n=enough: len(files(stormy)) >= n, sweep.process)
        time.sleep(draw.uniform(0, 0.05))
        sweep.kill()
        nothing_done_again()
    assert len(finished) < RUNS - 40, "the storm must end before the work does"

    # One worker killed alone: its run is named and tried once more, the others go on.
    sweep, before = Sweep(file, path), len(finished)
    wait_until(lambda: len(files(stormy)) >= before + 3, sweep.process)
    worker = [e for e in journal(stormy) if e["event"] == "started"][-1]["pid"]
    os.kill(worker, signal.SIGKILL)
    wait_until(lambda: len(files(stormy)) >= before + 15, sweep.process)
    sweep.kill()
    nothing_done_again()
    lost = [e for e in journal(stormy) if e["event"] == "worker lost"]
    assert len(lost) == 1
    assert "SIGKILL" in lost[0]["reason"]

    # A shard cut in half: noticed, set aside, done again.
    victim = draw.choice(sorted(finished))
    shard = stormy.run_file(victim)
    shard.write_bytes(shard.read_bytes()[: shard.stat().st_size // 2])
    status, out, err = Sweep(file, path).end()
    assert status == 0, (seed, err)
    assert f"{RUNS} of {RUNS} runs done" in out
    assert "is damaged: it is moved away" in err
    nothing_done_again(but={victim})

    assert stormy.names() == calm.names()
    assert len(files(stormy)) == RUNS
    for name in sorted(calm.names()):
        assert contents(stormy, name) == contents(calm, name), (seed, name)
    events = journal(stormy)
    done = Counter(e["run"] for e in events if e["event"] == "done")
    assert {name for name, n in done.items() if n > 1} <= {victim}, "a run was done twice"
    ended = {}
    for e in events:  # no run begins after it has been done, but the one that was cut
        if e["event"] == "done":
            ended[e["run"]] = True
        elif e["event"] == "started" and e["run"] != victim:
            assert e["run"] not in ended, f"seed {seed}: {e['run']} was done again"
    assert not list((stormy.root / "partial").glob("*.npz"))
    assert np.isfinite([stormy.columns(n)[0]["loss"][1][-1] for n in list(calm.names())[:5]]).all()


def test_the_paths_are_of_this_checkout():
    """The child processes must run this code, not an installed copy."""
    import saddlescope

    where = [sys.executable, "-c", "import saddlescope; print(saddlescope.__file__)"]
    said = subprocess.run(where, capture_output=True, text=True, check=True).stdout.strip()
    assert Path(said) == Path(saddlescope.__file__)
