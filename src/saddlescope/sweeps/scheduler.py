"""The one loop of a sweep: run what is missing of a plan, long runs first, and record what fails."""

import time
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

from saddlescope.errors import InvalidInput, number_of
from saddlescope.progress import raise_if_stopped
from saddlescope.sweeps.axes import format_point
from saddlescope.sweeps.folder import Folder
from saddlescope.sweeps.plan import Plan, save_plan
from saddlescope.sweeps.pool import WorkerLost
from saddlescope.sweeps.progress import EVERY, ProgressReporter
from saddlescope.sweeps.worker_job import JobReport, run_job_in_worker

LOST = ("KilledWorker", "WorkerLost")  # what Dask and our own pool call a job whose process died
TRIES = 2


@dataclass(frozen=True)
class MissingRun:
    """A run that is still to be done.

    **Arguments:**

    - `name`: what determines its bits; its file is called so.
    - `point`: its values of the axes.
    - `work`: what it costs, in the units of `Job.work`.
    """

    name: str
    point: dict
    work: float


@dataclass
class Tally:
    """How a sweep ended.

    **Arguments:**

    - `asked`: different runs of the plan.
    - `already`: runs that were done before.
    - `done`: runs that this sweep has done.
    - `elsewhere`: runs that another sweep did meanwhile.
    - `diverged`: those of `done` whose loss stopped being finite. They are results.
    - `damaged`: names of run files that were not intact; they were moved away and done again.
    - `failed`: name → point and reason of each run that failed.
    - `cpu_seconds`: CPU time of the runs in `done`.
    - `stopped`: why the sweep ended early; empty where it did not.
    - `gave_up`: whether it stopped because too many runs failed.
    """

    asked: int
    already: int
    done: int = 0
    elsewhere: int = 0
    diverged: int = 0
    damaged: list[str] = field(default_factory=list)
    failed: dict[str, tuple[dict, str]] = field(default_factory=dict)
    cpu_seconds: float = 0.0
    stopped: str = ""
    gave_up: bool = False

    @property
    def missing(self) -> int:
        """Runs of the plan that are neither done nor failed."""
        return self.asked - self.already - self.done - self.elsewhere - len(self.failed)


class Scheduler:
    """Runs what is missing of a plan; `loop` does all of it.

    **Arguments:**

    - `plan`: the points, and the job of each.
    - `folder`: where finished runs are, and where new ones go.
    - `executor`: where jobs run. None means this process, one job after the other.
    - `only_failed`: whether to retry what failed before, and do nothing else.
    - `max_failures`: stop after this many failures; None never stops for them.
    - `max_in_flight`: jobs handed over at a time; by default twice what the executor can run at once.
    - `quiet`: whether to print nothing.
    """

    def __init__(
        self,
        plan: Plan,
        folder: Folder,
        executor: Executor | None = None,
        *,
        only_failed: bool = False,
        max_failures: int | None = None,
        max_in_flight: int | None = None,
        quiet: bool = False,
    ):
        self.plan, self.folder, self.executor = plan, folder, executor
        self.only_failed, self.max_failures, self.quiet = only_failed, max_failures, quiet
        self.max_in_flight = max_in_flight or _max_in_flight(executor)
        self.tries: Counter[str] = Counter()  # by name: how often a run took its worker with it
        self.in_flight: dict[Future, MissingRun] = {}
        self.arrivals: SimpleQueue[Future] = SimpleQueue()  # futures put themselves here when they end

    def loop(self) -> Tally:
        """Run everything that is missing; how it ended."""
        todo, busy = self._prepare(), deque()  # busy: another sweep is doing these
        try:
            while (todo or busy or self.in_flight) and not self.tally.stopped:
                raise_if_stopped()
                if not todo and not self.in_flight:
                    todo, busy = busy, deque()
                    time.sleep(EVERY)
                if self.executor is None:
                    run = todo.popleft()
                    job = self.plan.job_for(run.name, run.point)
                    report = run_job_in_worker(self.folder, self.mark, job, run.name, run.point)
                    self.handle_result(run, report, busy)
                else:
                    self._hand_over(todo)
                    for future in self.completed():
                        raise_if_stopped()  # a job that ends now may have failed for that
                        run = self.in_flight.pop(future)
                        if (report := self._report(future, run, todo)) is not None:
                            self.handle_result(run, report, busy)
                self.progress.update(self.in_flight.values())
        except BaseException as error:
            by_hand = isinstance(error, KeyboardInterrupt)
            self.progress.close("stopped" if by_hand else f"stopped: {error}")
            if by_hand:
                self.folder.note("stopped", by="Ctrl-C")
            raise
        finally:
            for future in self.in_flight:
                future.cancel()
        self.progress.close(f"stopped: {self.tally.stopped}" if self.tally.stopped else "finished")
        return self.tally

    # ---- Before the first run ----

    def _prepare(self) -> deque[MissingRun]:
        """Look at every byte that is there; the missing runs, the longest first."""
        plan, folder = self.plan, self.folder
        # Two points may be the same run: it is done once.
        runs = {n: (p, w) for p, (n, w) in zip(plan.points, plan.names_and_costs, strict=True)}
        intact, damaged = self._check_files(runs)
        failures = {n: f for n, f in folder.failures().items() if n in runs and n not in intact}
        for name in damaged:  # it was done once, so that an older failure says nothing any more
            folder.forget_failure(name)
            failures.pop(name, None)
        self.tally = Tally(len(runs), len(intact), damaged=damaged)
        if not self.only_failed:
            self.tally.failed = {n: (runs[n][0], f["reason"]) for n, f in failures.items()}
        due = [n for n in runs if n not in intact and (n in failures) == self.only_failed]
        todo = sorted((MissingRun(n, *runs[n]) for n in due), key=lambda run: -run.work)
        folder.remove_stale()
        work = sum(run.work for run in todo)
        self.progress = ProgressReporter(plan.title, folder.root, len(todo), work, len(intact), self.quiet)
        for name in damaged:
            self.progress.message(f"{folder.run_file(name)} is damaged: it is moved away, and the run is done again.")
        self.mark = save_plan(folder, plan)
        return deque(todo)

    def _check_files(self, names) -> tuple[set[str], list[str]]:
        """Which of these runs are there, every byte checked; and which were damaged and moved away."""
        intact, damaged = set(), []
        for name in sorted(self.folder.names() & set(names)):
            if self.folder.is_intact(name):
                intact.add(name)
            elif self.folder.quarantine(name):
                self.folder.note("damaged run file moved away", run=name)
                damaged.append(name)
        return intact, damaged

    # ---- Jobs in an executor ----

    def _hand_over(self, todo: deque[MissingRun]):
        assert self.executor is not None
        while todo and len(self.in_flight) < self.max_in_flight:
            run = todo.popleft()
            job = self.plan.job_for(run.name, run.point)
            call = self.folder, self.mark, job, run.name, run.point
            future = self.executor.submit(run_job_in_worker, *call)
            self.in_flight[future] = run
            future.add_done_callback(self.arrivals.put)

    def completed(self) -> Iterator[Future]:
        """The futures that have ended; it waits a while for the first of them."""
        try:
            yield self.arrivals.get(timeout=EVERY)
            while True:
                yield self.arrivals.get_nowait()
        except Empty:
            return

    def _report(self, future: Future, run: MissingRun, todo: deque[MissingRun]) -> JobReport | None:
        """How a job ended; None where its worker died and the run is tried once more."""
        try:
            return future.result()
        except (BrokenExecutor, CancelledError) as error:
            raise InvalidInput(
                f"The executor broke down ({error}). Finished runs are kept; the same command resumes."
            ) from None
        except InvalidInput:  # no worker process can be started at all
            raise
        except Exception as error:
            # By name: Dask is not imported here, and its error may come from another version of it.
            if type(error).__name__ not in LOST:
                first, *_ = str(error).splitlines() or [""]  # Dask's reasons go on for pages
                return JobReport("failed", f"{type(error).__name__}: {first}", str(error))
            reason = error.reason if isinstance(error, WorkerLost) else f"its worker died ({error})"
        self.tries[run.name] += 1
        self.folder.note("worker lost", run=run.name, reason=reason)
        if self.tries[run.name] >= TRIES:
            return JobReport("failed", f"{reason}, {TRIES} times")
        self.progress.message(f"The run at {format_point(run.point)} was lost: {reason}. It is tried once more.")
        todo.appendleft(run)
        return None

    # ---- After a run ----

    def handle_result(self, run: MissingRun, report: JobReport, busy: deque[MissingRun]):
        """Count a run that has ended, or put it aside where another sweep is doing it."""
        if report.state == "busy":
            busy.append(run)
        elif report.state in ("storage", "unseen"):
            self.tally.stopped = report.reason
        elif report.state == "failed":
            self._fail(run, report)
        else:
            self.folder.forget_failure(run.name)
            self.progress.finished(run.work)
            self.tally.done += report.state == "done"
            self.tally.elsewhere += report.state == "there"
            self.tally.diverged += report.status.startswith("diverged")
            self.tally.cpu_seconds += report.cpu_seconds

    def _fail(self, run: MissingRun, report: JobReport):
        self.folder.record_failure(run.name, run.point, report.reason, report.details)
        self.folder.note("failed", run=run.name, reason=report.reason)
        self.tally.failed[run.name] = run.point, report.reason
        self.progress.finished(run.work, failed=True)
        self.progress.message(f"The run at {format_point(run.point)} failed: {report.reason}")
        if self.max_failures is not None and self.progress.failed >= self.max_failures:
            self.tally.gave_up = True
            self.tally.stopped = f"{number_of(self.progress.failed, 'run')} failed, as many as `--max-failures` allows"


def _max_in_flight(executor: Executor | None) -> int:
    """Twice as many jobs as can run at once, so that no worker waits for the next one."""
    if executor is None:
        return 1
    client = getattr(executor, "_client", None)  # of a Dask cluster, which may grow
    count = sum(client.nthreads().values()) if client is not None else getattr(executor, "_max_workers", 0)
    return 2 * (getattr(executor, "count", 0) or count or 4)
