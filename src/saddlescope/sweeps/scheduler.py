"""The one loop of a sweep: run what is missing of a plan, long runs first, and record what fails.

Runs go to workers in messages: a long run has one to itself, short runs share one (`Pace`). Where a worker dies, the
run that was under way is tried once more; the others of its message are handed over again.
"""

import time
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from itertools import chain
from queue import Empty, SimpleQueue

from saddlescope.errors import InvalidInput, number_of
from saddlescope.progress import raise_if_stopped
from saddlescope.sweeps import journal
from saddlescope.sweeps.axes import format_point
from saddlescope.sweeps.folder import Folder
from saddlescope.sweeps.pace import Pace
from saddlescope.sweeps.plan import Plan, save_plan
from saddlescope.sweeps.pool import WorkerLost
from saddlescope.sweeps.progress import EVERY, ProgressReporter
from saddlescope.sweeps.tally import MissingRun, Tally
from saddlescope.sweeps.worker_job import JobReport, run_jobs_in_worker

LOST = ("KilledWorker", "WorkerLost")  # what Dask and our own pool call a job whose process died
TRIES = 2


class Scheduler:
    """Runs what is missing of a plan; `loop` does all of it.

    **Arguments:**

    - `plan`: the points, and the job of each.
    - `folder`: where finished runs are, and where new ones go.
    - `executor`: where jobs run. None means this process, one job after the other.
    - `only_failed`: whether to retry what failed before, and do nothing else.
    - `max_failures`: stop after this many failures; None never stops for them.
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
        quiet: bool = False,
    ):
        self.plan, self.folder, self.executor = plan, folder, executor
        self.only_failed, self.max_failures, self.quiet = only_failed, max_failures, quiet
        self.slots = _slots(executor)
        self.pace = Pace(self.slots)
        self.todo: deque[MissingRun] = deque()
        self.busy: deque[MissingRun] = deque()  # another sweep is doing these
        self.alone: set[str] = set()  # names of runs that may have taken their worker with them
        self.tries: Counter[str] = Counter()  # by name: how often a run did so
        self.in_flight: dict[Future, list[MissingRun]] = {}
        self.arrivals: SimpleQueue[Future] = SimpleQueue()  # futures put themselves here when they end

    def loop(self) -> Tally:
        """Run everything that is missing; how it ended."""
        self._prepare()
        try:
            while (self.todo or self.busy or self.in_flight) and not self.tally.stopped:
                raise_if_stopped()
                if not self.todo and not self.in_flight:
                    self.todo, self.busy = self.busy, deque()
                    time.sleep(EVERY)
                if self.executor is None:
                    runs = self._next_runs()
                    self.handle_reports(runs, run_jobs_in_worker(*self._message(runs)))
                else:
                    self._hand_over(self.executor)
                    for future in self.completed():
                        raise_if_stopped()  # a job that ends now may have failed for that
                        runs = self.in_flight.pop(future)
                        self.handle_reports(runs, self._reports(future, runs))
                self.progress.update(chain.from_iterable(self.in_flight.values()))
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

    def _prepare(self):
        """Look at every byte that is there; queue the missing runs, the longest first."""
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
        self.mark, self.journal_start = save_plan(folder, plan), journal.begin(str(folder.root))
        self.todo.extend(todo)

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

    # ---- Messages ----

    def _next_runs(self) -> list[MissingRun]:
        """The runs of the next message."""
        size, runs = self.pace.size(len(self.todo)), [self.todo.popleft()]
        while len(runs) < size and not {runs[0].name, self.todo[0].name} & self.alone:
            runs.append(self.todo.popleft())
        return runs

    def _message(self, runs: list[MissingRun]):
        calls = [(self.plan.job_for(run.name, run.point), run.name, run.point) for run in runs]
        return self.folder, self.mark, calls

    def _hand_over(self, executor: Executor):
        """Twice as many messages as can be worked on at once, so that no worker waits for the next one."""
        while self.todo and len(self.in_flight) < 2 * self.slots:
            runs = self._next_runs()
            future = executor.submit(run_jobs_in_worker, *self._message(runs))
            self.in_flight[future] = runs
            future.add_done_callback(self.arrivals.put)

    def completed(self) -> Iterator[Future]:
        """The futures that have ended; it waits a while for the first of them."""
        try:
            yield self.arrivals.get(timeout=EVERY)
            while True:
                yield self.arrivals.get_nowait()
        except Empty:
            return

    def _reports(self, future: Future, runs: list[MissingRun]) -> list[JobReport]:
        """How the jobs of a message ended; none where they are to be handed over again."""
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
            if type(error).__name__ in LOST:
                return self._lost(runs, error)
            if len(runs) > 1:  # one of these jobs cannot be sent, or not be understood
                self.alone.update(run.name for run in runs)
                return []
            first, *_ = str(error).splitlines() or [""]  # Dask's reasons go on for pages
            return [JobReport("failed", f"{type(error).__name__}: {first}", str(error))]

    def _lost(self, runs: list[MissingRun], error) -> list[JobReport]:
        """The worker died. The run that it was at is tried once more, in a message of its own."""
        reason = error.reason if isinstance(error, WorkerLost) else f"its worker died ({error})"
        lost = runs[0] if len(runs) == 1 else self._under_way(runs)
        self.folder.note("worker lost", run=lost.name if lost else None, reason=reason)
        if lost is None:  # nobody knows: each shows by itself
            self.alone.update(run.name for run in runs)
            return []
        self.alone.add(lost.name)
        self.tries[lost.name] += 1
        if self.tries[lost.name] >= TRIES:  # it was alone
            return [JobReport("failed", f"{reason}, {TRIES} times")]
        self.progress.message(f"The run at {format_point(lost.point)} was lost: {reason}. It is tried once more.")
        return []

    def _under_way(self, runs: list[MissingRun]) -> MissingRun | None:
        """The run that was begun last, if the journal tells."""
        by_name = {run.name: run for run in runs}
        name = journal.last_mentioned(str(self.folder.root), list(by_name), self.journal_start)
        return by_name.get(name or "")

    # ---- After a message ----

    def handle_reports(self, runs: list[MissingRun], reports: list[JobReport]):
        """Count the runs that have ended; queue the others again, in their order."""
        self.pace.learn(reports)
        self.todo.extendleft(reversed(runs[len(reports) :]))
        for run, report in zip(runs, reports, strict=False):
            if not (self.tally.gave_up and report.state == "failed"):
                self.handle_result(run, report)

    def handle_result(self, run: MissingRun, report: JobReport):
        """Count a run that has ended, or put it aside where another sweep is doing it."""
        if report.state == "busy":
            self.busy.append(run)
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


def _slots(executor: Executor | None) -> int:
    """How many messages can be worked on at once."""
    if executor is None:
        return 1
    client = getattr(executor, "_client", None)  # of a Dask cluster, which may grow
    count = sum(client.nthreads().values()) if client is not None else getattr(executor, "_max_workers", 0)
    return getattr(executor, "count", 0) or count or 4
