"""Several short runs in one message: each is stored before it is reported, and one that fails or dies is one run."""

import json
import os
from concurrent.futures import Executor, Future
from dataclasses import dataclass

import pytest
from sweep_jobs import Act, die_before_the_report, plan

from saddlescope.storage import flush, together
from saddlescope.sweeps import Folder, Workers, journal
from saddlescope.sweeps import scheduler as scheduling
from saddlescope.sweeps.pace import MOST, Pace
from saddlescope.sweeps.plan import save_plan
from saddlescope.sweeps.scheduler import Scheduler
from saddlescope.sweeps.worker_job import SHARE, JobReport, run_jobs_in_worker


class Counting(Executor):
    """An executor that notes how many jobs each message has; `count` tells the scheduler how many run at a time."""

    def __init__(self, inner=None):
        self.inner, self.sizes, self.count = inner, [], 1

    def submit(self, fn, /, *args, **kwargs):
        self.sizes.append(len(args[-1]))
        if self.inner is not None:
            return self.inner.submit(fn, *args)
        future = Future()
        future.set_result(fn(*args))
        return future


@pytest.fixture
def pool():
    made = Workers(1)
    yield made
    made.stop()


def done(diary):
    return [int(line) for line in diary.read_text().split()]


def events(folder, kind):
    lines = (folder.root / "journal.jsonl").read_text().splitlines()
    return [line["run"] for line in map(json.loads, lines) if line["event"] == kind]


def calls(made, folder):
    """The arguments of a message with all runs of a plan."""
    jobs = [(made.job(point), name, point) for name, point in zip(made.names, made.points, strict=True)]
    return folder, save_plan(folder, made), jobs


# ---- How many ----


@pytest.mark.parametrize(
    ("seconds", "waiting", "size"),
    [
        (SHARE / 10, 1000, 10),
        (SHARE / 1.5, 1000, 1),
        (3600.0, 1000, 1),  # a long run has a message of its own
        (SHARE / 10, 12, 3),  # at the end the rest is shared among two workers
        (SHARE / 10, 1, 1),
        (0.0, 10**6, MOST),
    ],
)
def test_a_message_is_a_share_of_a_second(seconds, waiting, size):
    pace = Pace(slots=2)
    assert pace.size(waiting) == 1, "nothing is known yet"
    pace.learn([JobReport("done", seconds=seconds), JobReport("busy", seconds=99.0)])
    assert pace.size(waiting) == size


def test_short_runs_share_messages_and_long_runs_do_not(tmp_path):
    short, long = Counting(), Counting()
    Scheduler(plan(60), Folder(tmp_path / "short"), short, quiet=True).loop()
    assert max(short.sizes) > 5
    assert sum(short.sizes) == 60
    assert short.sizes[-1] == 1, "nobody waits at the end for a worker with many"
    Scheduler(plan(6, dict.fromkeys(range(6), "slow")), Folder(tmp_path / "long"), long, quiet=True).loop()
    assert long.sizes == [1] * 6


def test_a_worker_gives_back_what_it_has_not_begun(tmp_path, monkeypatch):
    folder, diary = Folder(tmp_path / "out"), tmp_path / "diary"
    monkeypatch.setattr("saddlescope.sweeps.worker_job.SHARE", 0.2)
    message = calls(plan(5, dict.fromkeys(range(5), "slow"), diary), folder)  # 0.3 s each
    assert [report.state for report in run_jobs_in_worker(*message)] == ["done", "done"]
    assert done(diary) == [0, 1]
    tally = Scheduler(plan(5, {}, diary), folder, None, quiet=True).loop()
    assert (tally.already, tally.done) == (2, 3)


# ---- Stored, then reported ----


def test_no_run_is_reported_before_its_bytes_are_on_disk(tmp_path, monkeypatch):
    folder, happened = Folder(tmp_path), []
    message = calls(plan(4), folder)

    def noted(label, call):
        return lambda *args: (happened.append((label, *args)), call(*args))[1]

    monkeypatch.setattr(together, "flush", noted("flush", flush.flush))
    monkeypatch.setattr(together.os, "replace", noted("name", os.replace))
    monkeypatch.setattr("saddlescope.sweeps.folder.write_events", noted("journal", lambda *_: None))
    reports = run_jobs_in_worker(*message)
    assert [report.state for report in reports] == ["done"] * 4
    kinds = [what for what, *_ in happened]
    assert kinds == ["journal"] * 4 + ["flush"] + ["name"] * 4 + ["flush", "journal"]
    files, folders = (len(descriptors) for what, descriptors, *_ in happened if what == "flush")
    assert (files, folders) == (4, 1), "four files, and the folder that they share"
    assert happened[-1][2] == "done"


@pytest.mark.parametrize(
    ("files", "local", "waiting", "answer", "asked"),
    [
        (3, True, 0, 0, ["all"]),
        (1, True, 0, 0, ["one"]),
        (3, False, 0, 0, ["one"] * 3),  # such as a network: there the call promises less
        (3, True, flush.LITTLE + 1, 0, ["one"] * 3),  # others write much, and would be waited for
        (3, True, 0, -1, ["all", *["one"] * 3]),  # it failed
    ],
)
def test_bytes_are_flushed_together_where_that_is_safe(tmp_path, monkeypatch, files, local, waiting, answer, asked):
    found = []

    class Library:
        def syncfs(self, descriptor):
            found.append("all")
            return answer

    monkeypatch.setattr(flush, "_has_syncfs", lambda device: local)
    monkeypatch.setattr(flush, "_waiting", lambda: waiting)
    monkeypatch.setattr(flush, "_libc", Library)
    monkeypatch.setattr(flush.os, "fsync", lambda descriptor: found.append("one"))
    group = [open(tmp_path / str(i), "wb") for i in range(files)]  # noqa: SIM115
    flush.flush([file.fileno() for file in group])
    for file in group:
        file.close()
    assert found == asked


def test_a_file_system_that_is_not_listed_is_not_trusted():
    assert flush._kind_of(0) == ""
    assert not flush._has_syncfs(0)


@pytest.mark.parametrize("moment", ["flush", "name"])
def test_what_cannot_be_stored_is_not_reported(tmp_path, monkeypatch, moment):
    folder = Folder(tmp_path)
    message = calls(plan(4, {1: "raise"}), folder)

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(*((together, "flush", full) if moment == "flush" else (together.os, "replace", full)))
        reports = run_jobs_in_worker(*message)
    assert [report.state for report in reports] == ["storage", "failed", "storage", "storage"]
    assert not folder.names()
    assert not list(tmp_path.rglob("*.part")), "nothing is left behind"
    assert [report.state for report in run_jobs_in_worker(*message)] == ["done", "failed", "done", "done"]


def test_half_a_file_never_takes_its_place(tmp_path):
    files = together.FileGroup()
    files.add(tmp_path / "good", b"whole")
    with pytest.raises(TypeError):
        files.add(tmp_path / "bad", "text")  # type: ignore[arg-type]
    assert not (tmp_path / "good").exists(), "not before all of them"
    files.publish()
    assert [path.name for path in tmp_path.iterdir()] == ["good"]
    assert (tmp_path / "good").read_bytes() == b"whole"


def test_a_stop_keeps_what_is_finished(tmp_path):
    folder = Folder(tmp_path)

    @dataclass(frozen=True)
    class Stops(Act):
        def run(self, checkpoint):
            raise KeyboardInterrupt

    folder_, mark, jobs = calls(plan(4), folder)
    jobs[2] = (Stops(2), *jobs[2][1:])
    with pytest.raises(KeyboardInterrupt):
        run_jobs_in_worker(folder_, mark, jobs)
    assert folder.names() == {Act(0).name, Act(1).name}
    assert all(folder.is_intact(name) for name in folder.names())


# ---- One that fails, one that dies ----


def test_one_that_raises_is_one_failure(tmp_path, pool):
    folder, diary, executor = Folder(tmp_path / "out"), tmp_path / "diary", Counting(pool)
    tally = Scheduler(plan(60, {31: "raise"}, diary), folder, executor, quiet=True).loop()
    assert (tally.done, [point["seed"] for point, _ in tally.failed.values()]) == (59, [31])
    assert sorted(done(diary)) == list(range(60))
    assert max(executor.sizes) > 5


def test_a_job_that_cannot_be_sent_is_one_failure(tmp_path, pool):
    made = plan(60)
    odd = {31: Act(31, lambda: 0)}  # type: ignore[arg-type]
    object.__setattr__(made, "job", lambda point, job=made.job: odd.get(point["seed"]) or job(point))
    executor = Counting(pool)
    tally = Scheduler(made, Folder(tmp_path), executor, quiet=True).loop()
    assert tally.done == 59
    ((point, reason),) = tally.failed.values()
    assert point == {"seed": 31}
    assert "pickle" in reason
    assert max(executor.sizes) > 5


def test_a_worker_killed_within_a_message_is_one_lost_run(tmp_path, pool, capsys):
    folder, diary, executor = Folder(tmp_path / "out"), tmp_path / "diary", Counting(pool)
    tally = Scheduler(plan(80, {40: "die once", 20: "die"}, diary), folder, executor).loop()
    assert max(executor.sizes) > 5
    assert tally.done + tally.elsewhere == 79
    assert [point["seed"] for point, _ in tally.failed.values()] == [20]
    assert folder.names() == {Act(seed).name for seed in range(80) if seed != 20}
    assert all(folder.is_intact(name) for name in folder.names())
    assert events(folder, "worker lost") == [Act(40).name, *[Act(20).name] * 2]
    reported = events(folder, "done")
    assert len(reported) == len(set(reported)) == 79, "none was stored twice"
    assert (done(diary).count(40), done(diary).count(20)) == (2, 2)
    said = capsys.readouterr().err
    assert said.count("was lost") == 2
    assert "The run at seed = 40 was lost" in said


def test_a_worker_killed_between_files_and_report_loses_nothing(tmp_path, pool, monkeypatch):
    monkeypatch.setattr(scheduling, "run_jobs_in_worker", die_before_the_report)
    folder, diary = Folder(tmp_path / "out"), tmp_path / "diary"
    tally = Scheduler(plan(60, {}, diary), folder, pool, quiet=True).loop()
    assert (tally.done + tally.elsewhere, tally.failed) == (60, {})
    assert tally.elsewhere > 1, "these were there when they were asked for again"
    assert sorted(done(diary)) == list(range(60)), "nothing was done twice"
    assert len(events(folder, "worker lost")) == 1


def test_without_a_journal_each_run_of_a_lost_message_shows_by_itself(tmp_path, pool, monkeypatch):
    monkeypatch.setattr(scheduling.journal, "last_mentioned", lambda *_: None)
    folder, diary = Folder(tmp_path / "out"), tmp_path / "diary"
    tally = Scheduler(plan(60, {30: "die"}, diary), folder, pool, quiet=True).loop()
    assert tally.done == 59
    assert [point["seed"] for point, _ in tally.failed.values()] == [30]


def test_the_journal_tells_which_run_was_under_way(tmp_path):
    folder, names = Folder(tmp_path), [Act(seed).name for seed in range(4)]
    root = str(tmp_path)
    assert journal.last_mentioned(root, names, 0) is None
    folder.note("started", run=names[3])
    begin = journal.begin(root)
    assert journal.last_mentioned(root, names, begin) is None, "that was another sweep"
    for name in names[:3]:
        folder.note("started", run=name)
    folder.note("started", run=Act(9).name)  # of another worker
    assert journal.last_mentioned(root, names, begin) == names[2]
    assert journal.last_mentioned(root, names, 0) == names[2]


def test_a_line_that_a_full_disk_has_cut_ends_before_the_next(tmp_path):
    file = tmp_path / "journal.jsonl"
    assert journal.begin(str(tmp_path)) == 0
    file.write_text('{"event": "done"}\n{"event": "do')
    assert journal.begin(str(tmp_path)) == journal.begin(str(tmp_path)) == len(file.read_bytes())
    journal.write_events(str(tmp_path), "started", [{"run": "a"}])
    lines = file.read_text().splitlines()
    assert lines[:2] == ['{"event": "done"}', '{"event": "do']
    assert json.loads(lines[2])["run"] == "a"
