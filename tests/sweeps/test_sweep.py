"""Conducting a sweep: what is missing and only that, long runs first, failures kept and named."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext
from multiprocessing import get_context

import numpy as np
import pytest
from cases import linear_setting, minibatch_setting
from sweep_jobs import Act, plan

from saddlescope.errors import InvalidInput
from saddlescope.observables import FullLoss, Parameters
from saddlescope.sweeps import Folder, Workers, grid, sweep
from saddlescope.sweeps.scheduler import Scheduler
from saddlescope.training import every, train


def setting(seed):
    return linear_setting(seed=seed, steps=10)


def done(diary):
    return [int(line) for line in diary.read_text().split()] if diary.exists() else []


def test_only_what_is_missing_is_done(tmp_path):
    folder, diary = Folder(tmp_path / "out"), tmp_path / "diary"
    first = Scheduler(plan(5, diary=diary), folder, None, quiet=True).loop()
    assert (first.done, first.already) == (5, 0)
    second = Scheduler(plan(8, diary=diary), folder, None, quiet=True).loop()
    assert (second.done, second.already) == (3, 5)
    assert sorted(done(diary)) == list(range(8))


def test_long_runs_come_first(tmp_path):
    Scheduler(plan(6, diary=tmp_path / "diary"), Folder(tmp_path / "out"), None, quiet=True).loop()
    assert done(tmp_path / "diary") == [5, 4, 3, 2, 1, 0]


def test_a_damaged_shard_is_set_aside_and_done_again(tmp_path, capsys):
    folder = Folder(tmp_path)
    Scheduler(plan(3), folder, None, quiet=True).loop()
    shard = folder.run_file(Act(1).name)
    data = bytearray(shard.read_bytes())
    data[len(data) // 2] ^= 4
    shard.write_bytes(data)
    tally = Scheduler(plan(3), folder, None).loop()
    assert tally.damaged == [Act(1).name]
    assert tally.done == 1
    assert "moved away" in capsys.readouterr().err
    assert shard.with_suffix(".damaged").read_bytes() == bytes(data)
    assert folder.is_intact(Act(1).name)


def test_a_shard_under_another_name_is_not_believed(tmp_path):
    folder = Folder(tmp_path)
    Scheduler(plan(2), folder, None, quiet=True).loop()
    folder.run_file(Act(1).name).write_bytes(folder.run_file(Act(0).name).read_bytes())
    assert Scheduler(plan(2), folder, None, quiet=True).loop().damaged == [Act(1).name]


ACTS = {1: "raise", 3: "refuse", 4: "memory", 6: "diverge"}


def test_failures_are_recorded_and_do_not_stop_the_others(tmp_path):
    folder, diary = Folder(tmp_path / "out"), tmp_path / "diary"
    tally = Scheduler(plan(8, ACTS, diary), folder, None, quiet=True).loop()
    assert tally.done == 5
    assert tally.diverged == 1
    reasons = {point["seed"]: reason for point, reason in tally.failed.values()}
    assert reasons[1] == "ZeroDivisionError: no such luck"
    assert reasons[3] == "This cannot be represented."
    assert "out of memory" in reasons[4]
    kept = folder.failures()[Act(1).name]
    assert "no such luck" in kept["details"]
    assert kept["point"] == {"seed": 1}
    again = Scheduler(plan(8, ACTS, diary), folder, None, quiet=True).loop()
    assert (again.done, len(again.failed)) == (0, 3), "a failure is not tried again by itself"
    assert len(done(diary)) == 8
    mended = Scheduler(plan(8, {}, diary), folder, None, only_failed=True, quiet=True).loop()
    assert (mended.done, mended.failed) == (3, {})
    assert not folder.failures()
    assert sorted(done(diary)[8:]) == [1, 3, 4]


def test_too_many_failures_stop_the_sweep(tmp_path):
    tally = Scheduler(
        plan(8, dict.fromkeys(range(8), "raise")), Folder(tmp_path), None, max_failures=3, quiet=True
    ).loop()
    assert len(tally.failed) == 3
    assert "3 runs failed" in tally.stopped


def test_a_full_disk_stops_the_sweep_and_blames_no_run(tmp_path):
    tally = Scheduler(plan(8, {5: "full disk"}), Folder(tmp_path), None, quiet=True).loop()
    assert "No space left" in tally.stopped
    assert tally.done == 2
    assert not tally.failed


def test_a_killed_worker_costs_one_more_try(tmp_path, capsys):
    folder, diary = Folder(tmp_path / "out"), tmp_path / "diary"
    pool = Workers(2)
    tally = Scheduler(plan(12, {3: "die", 7: "die once"}, diary), folder, pool).loop()
    pool.shutdown()
    assert tally.done == 11
    assert [point["seed"] for point, _ in tally.failed.values()] == [3]
    assert "killed by SIGKILL" in folder.failures()[Act(3).name]["reason"]
    assert done(diary).count(3) == 2
    assert done(diary).count(7) == 2
    assert sorted(set(done(diary))) == list(range(12))
    said = capsys.readouterr().err
    assert "The run at seed = 7 was lost" in said
    assert "tried once more" in said


@pytest.mark.parametrize("kind", ["here", "threads", "processes", "ours"])
def test_any_executor_gives_the_same_bits(tmp_path, kind):
    points = grid(seed=range(3))
    alone = [train(setting(**p), (FullLoss(),), every(5, 10), quiet=True) for p in points]
    executor = {
        "here": nullcontext, "threads": lambda: ThreadPoolExecutor(2), "ours": lambda: Workers(2),
        "processes": lambda: ProcessPoolExecutor(2, get_context("spawn")),
    }[kind]()  # fmt: skip
    with executor as where:
        table = sweep(setting, points, FullLoss(), every(5, 10), folder=tmp_path, executor=where, quiet=True)
    assert table["seed"].values.tolist() == [0, 1, 2]
    for i, run in enumerate(alone):
        np.testing.assert_array_equal(table["loss"].values[i], run["loss"].values)
        np.testing.assert_array_equal(table["full_loss"].values[i], run["full_loss"].values)


def test_a_broken_executor_is_told_in_one_sentence(tmp_path):
    with ProcessPoolExecutor(1, get_context("spawn")) as pool, pytest.raises(InvalidInput, match="broke down"):
        Scheduler(plan(3, {2: "die"}), Folder(tmp_path), pool, quiet=True).loop()


def test_two_sweeps_in_one_folder_share_the_work(tmp_path):
    diary, found = tmp_path / "diary", []
    acts = dict.fromkeys(range(12), "slow")

    def one():
        pool = Workers(1)
        found.append(Scheduler(plan(12, acts, diary), Folder(tmp_path / "out"), pool, quiet=True).loop())
        pool.shutdown()

    both = [threading.Thread(target=one) for _ in range(2)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert sorted(done(diary)) == list(range(12)), "no run was done twice"
    assert sum(t.done for t in found) == 12
    assert all(t.done + t.elsewhere + t.already == 12 for t in found)


def test_an_error_of_the_disk_is_not_damage(tmp_path, monkeypatch):
    folder = Folder(tmp_path)
    Scheduler(plan(2), folder, None, quiet=True).loop()

    def unreadable(self):
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.read_bytes", unreadable)
        with pytest.raises(OSError, match="Input/output"):
            Scheduler(plan(2), folder, None, quiet=True).loop()
    assert Scheduler(plan(2), folder, None, quiet=True).loop().already == 2


def test_a_shard_that_another_sweep_is_at_is_left_alone(tmp_path):
    folder, name = Folder(tmp_path), Act(0).name
    Scheduler(plan(1), folder, None, quiet=True).loop()
    good = folder.run_file(name).read_bytes()
    folder.run_file(name).write_bytes(good[:-3])
    with folder.lock(name) as ours:
        assert ours
        assert not folder.quarantine(name)
        with folder.lock(name) as twice:
            assert not twice, "not even another thread of this process"
    folder.run_file(name).write_bytes(good)
    assert not folder.quarantine(name), "it was mended meanwhile"
    assert folder.has(name)


def test_an_old_failure_does_not_keep_a_damaged_run_from_being_done(tmp_path):
    folder, name = Folder(tmp_path), Act(0).name
    Scheduler(plan(1), folder, None, quiet=True).loop()
    folder.record_failure(name, {"seed": 0}, "long ago")
    folder.run_file(name).write_bytes(b"nothing")
    tally = Scheduler(plan(1), folder, None, quiet=True).loop()
    assert (tally.done, tally.failed) == (1, {})
    assert not folder.failures()


LONG = """
import sys
sys.path.insert(0, sys.argv[1])
from cases import minibatch_setting
from saddlescope.observables import Parameters
from saddlescope.sweeps import grid, sweep
from saddlescope.training import driver, every
driver.CHECKPOINT_SECONDS = 0.0
driver.CALL_SECONDS = 0.0
def setting(seed):
    return minibatch_setting(seed=seed, epochs=3000)
sweep(setting, grid(seed=range(1)), Parameters(), every(500, 3000), folder=sys.argv[2], quiet=True)
"""


def test_a_long_run_that_is_killed_goes_on_from_its_checkpoint(tmp_path):
    out, tests = tmp_path / "out", os.path.dirname(os.path.dirname(__file__))
    words = [sys.executable, "-c", LONG, tests, str(out)]
    victim = subprocess.Popen(words)
    end = time.monotonic() + 120
    while not list(out.glob("partial/*.npz")) and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(0.3)
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    (checkpoint,) = out.glob("partial/*.npz")
    with np.load(checkpoint) as file:
        assert 0 < len(file["history.losses"]) < 3000
    subprocess.run(words, check=True)
    folder = Folder(out)
    (name,) = folder.names()
    run = folder.read(name)
    whole = train(minibatch_setting(seed=0, epochs=3000), Parameters(), every(500, 3000), quiet=True)
    times = ["cpu_seconds", "wall_seconds"]
    for key in set(whole.variables) - set(times):
        np.testing.assert_array_equal(run[key].values, whole[key].values.astype(run[key].dtype))
    assert not checkpoint.exists()


def test_a_damaged_checkpoint_means_a_new_start(tmp_path):
    folder = Folder(tmp_path)
    from saddlescope.sweeps import TrainJob

    partial = folder.partial(TrainJob(setting(0)).name)
    partial.parent.mkdir(parents=True)
    partial.write_bytes(b"nothing good")
    assert sweep(setting, grid(seed=(0,)), folder=tmp_path, quiet=True).sizes["run"] == 1
    assert "damaged checkpoint moved away" in (tmp_path / "journal.jsonl").read_text()


def test_status_and_journal_tell_what_happened(tmp_path):
    Scheduler(plan(4, {2: "raise"}), Folder(tmp_path), None, quiet=True).loop()
    (status,) = (tmp_path / "status").glob("*.json")
    facts = json.loads(status.read_text())
    assert facts["state"] == "finished"
    assert (facts["done"], facts["failed"], facts["runs"]) == (3, 1, 4)
    events = [json.loads(line)["event"] for line in (tmp_path / "journal.jsonl").read_text().splitlines()]
    assert events.count("done") == 3
    assert events.count("failed") == 1
    Scheduler(plan(4), Folder(tmp_path), None, quiet=True).loop()
    assert len(list((tmp_path / "status").glob("*.json"))) == 1
