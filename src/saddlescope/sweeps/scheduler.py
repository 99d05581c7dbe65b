"""Conducting a sweep: what is missing, long runs first, as many in flight as there are hands; failures recorded."""

import time
from collections import Counter, deque
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

from saddlescope.errors import InvalidInput
from saddlescope.progress import raise_if_stopped
from saddlescope.sweeps.axes import spelled
from saddlescope.sweeps.board import EVERY, ProgressReporter
from saddlescope.sweeps.folder import Folder
from saddlescope.sweeps.plan import Plan, keep_plan
from saddlescope.sweeps.pool import WorkerLost
from saddlescope.sweeps.worker_job import Report, run_job_in_worker

LOST = ("KilledWorker", "WorkerLost")  # what Dask and we call a job whose process died
TRIES = 2


@dataclass(frozen=True)
class Missing:
    name: str
    point: dict
    work: float


@dataclass
class Tally:
    """How a sweep ended."""

    asked: int
    already: int
    done: int = 0
    elsewhere: int = 0
    diverged: int = 0
    damaged: list[str] = field(default_factory=list)
    failed: dict[str, tuple[dict, str]] = field(default_factory=dict)  # name → point, reason
    cpu_seconds: float = 0.0
    stopped: str = ""
    gave_up: bool = False  # too many failures

    @property
    def missing(self) -> int:
        return self.asked - self.already - self.done - self.elsewhere - len(self.failed)


class SerialExecutor(Executor):
    """Jobs in this very process, one after the other."""

    count = 1

    def submit(self, fn, /, *args, **kwargs) -> Future:
        future: Future = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def whole(folder: Folder, names: Sequence[str]) -> tuple[set[str], list[str]]:
    """Which of these are there, every byte checked; and which are damaged and were set aside."""
    there, damaged = set(), []
    for name in sorted(folder.names() & set(names)):
        if folder.is_whole(name):
            there.add(name)
        elif folder.set_aside(name):
            folder.note("damaged shard set aside", run=name)
            damaged.append(name)
    return there, damaged


def conduct(
    plan: Plan, folder: Folder, executor: Executor, *, again=False, max_failures=None, ahead=None, quiet=False
) -> Tally:
    """Do what is missing of a plan. `again` does what had failed, and only that."""
    unique = {n: (point, w) for point, (n, w) in zip(plan.points, plan.surveyed, strict=True)}
    there, damaged = whole(folder, plan.names)
    known = {name: facts for name, facts in folder.failures().items() if name in unique and name not in there}
    tally = Tally(len(unique), len(there), damaged=damaged)
    for name in damaged:  # was done once: why it had failed before is over
        folder.forget_failure(name)
        known.pop(name, None)
    if not again:
        tally.failed = {name: (unique[name][0], facts["reason"]) for name, facts in known.items()}
    due = [n for n in unique if n not in there and (n in known) == again]
    todo = sorted((Missing(n, *unique[n]) for n in due), key=lambda m: -m.work)
    folder.sweep_up()
    board = ProgressReporter(plan.title, folder.root, len(todo), sum(m.work for m in todo), len(there), quiet)
    for name in damaged:
        board.say(f"{folder.shard(name)} is damaged; it is set aside and the run is done again.")
    mark = keep_plan(folder, plan)
    try:
        flying = ahead or hands(executor)
        Scheduler(plan, folder, executor, mark, board, tally, max_failures, flying).go(deque(todo))
    except KeyboardInterrupt:
        board.close("stopped")
        folder.note("stopped", by="Ctrl-C")
        raise
    except BaseException as error:
        board.close(f"stopped: {error}")
        raise
    board.close("stopped: " + tally.stopped if tally.stopped else "finished")
    return tally


def hands(executor) -> int:
    """Jobs in flight: one a hand, and one more each where handing over takes time."""
    if isinstance(executor, SerialExecutor):
        return 1
    client = getattr(executor, "_client", None)  # of a Dask cluster, which may grow
    count = sum(client.nthreads().values()) if client is not None else getattr(executor, "_max_workers", 0)
    return 2 * (getattr(executor, "count", 0) or count or 4)


@dataclass
class Scheduler:
    plan: Plan
    folder: Folder
    executor: Executor
    mark: str
    board: ProgressReporter
    tally: Tally
    max_failures: int | None
    ahead: int
    tries: Counter = field(default_factory=Counter)
    flying: dict[Future, Missing] = field(default_factory=dict)
    arrivals: SimpleQueue = field(default_factory=SimpleQueue)

    def go(self, todo: deque[Missing]):
        try:
            self.work_off(todo)
        finally:
            for future in self.flying:
                future.cancel()

    def work_off(self, todo):
        busy: deque[Missing] = deque()  # another sweep is at these
        while (todo or busy or self.flying) and not self.tally.stopped:
            raise_if_stopped()
            if not todo and not self.flying:
                todo, busy = busy, deque()
                time.sleep(EVERY)  # what is left is in other hands
            while todo and len(self.flying) < self.ahead:
                self.submit(todo.popleft())
            for future in self.landed():
                raise_if_stopped()  # a job that ends now may have failed for that
                self.settle(future, self.flying.pop(future), todo, busy)
            self.board.look(self.flying.values())

    def submit(self, m: Missing):
        job = self.plan.take(m.name, m.point)
        future = self.executor.submit(run_job_in_worker, self.folder, self.mark, job, m.name, m.point)
        self.flying[future] = m
        future.add_done_callback(self.arrivals.put)

    def landed(self):
        """The jobs that have ended, after waiting for one of them a while."""
        try:
            yield self.arrivals.get(timeout=EVERY)
            while True:
                yield self.arrivals.get_nowait()
        except Empty:
            return

    def settle(self, future, m: Missing, todo, busy):
        report = self.report(future, m, todo)
        if report is None:
            return
        if report.state == "busy":
            busy.append(m)
        elif report.state in ("storage", "unseen"):
            self.tally.stopped = report.reason
        elif report.state == "failed":
            self.fail(m, report)
        else:
            self.folder.forget_failure(m.name)
            self.board.finished(m.work)
            self.tally.done += report.state == "done"
            self.tally.elsewhere += report.state == "there"
            self.tally.diverged += report.status.startswith("diverged")
            self.tally.cpu_seconds += report.cpu_seconds

    def report(self, future, m: Missing, todo) -> Report | None:
        """What became of a job; None where it is tried once more."""
        try:
            return future.result()
        except (BrokenExecutor, CancelledError) as error:
            raise InvalidInput(
                f"The executor broke down ({error}); the same command goes on from what is done."
            ) from None
        except InvalidInput:
            raise
        except Exception as error:
            if type(error).__name__ not in LOST:
                return Report("failed", f"{type(error).__name__}: {error}")
            reason = error.reason if isinstance(error, WorkerLost) else f"its worker died ({error})"
        self.tries[m.name] += 1
        self.folder.note("worker lost", run=m.name, reason=reason)
        if self.tries[m.name] < TRIES:
            self.board.say(f"The run at {spelled(m.point)} was lost: {reason}. It is tried once more.")
            todo.appendleft(m)
            return None
        return Report("failed", f"{reason}, {TRIES} times")

    def fail(self, m: Missing, report: Report):
        self.folder.record_failure(m.name, m.point, report.reason, report.details)
        self.folder.note("failed", run=m.name, reason=report.reason)
        self.tally.failed[m.name] = m.point, report.reason
        self.board.finished(m.work, failed=True)
        self.board.say(f"The run at {spelled(m.point)} failed: {report.reason}")
        if self.max_failures is not None and self.board.failed >= self.max_failures:
            self.tally.gave_up = True
            self.tally.stopped = f"{self.board.failed} runs failed, as many as `--max-failures` allows"
