"""Worker processes as an Executor in which one death is one failed job, not the end of the pool.

Each worker is a process with one thread for BLAS, XLA and numba; a thread of this process hands it jobs and waits. A
worker that dies fails the job it had, with the reason, and is replaced; one that has grown beyond its share of the
memory is replaced between jobs. Workers end when this process does.
"""

import contextlib
import multiprocessing
import os
import pickle
import queue
import signal
import sys
import threading
import time
from concurrent.futures import Executor, Future
from multiprocessing.reduction import ForkingPickler

from saddlescope.errors import InvalidInput, require
from saddlescope.numerics import memory_of_machine
from saddlescope.progress import LOOPING, STOP
from saddlescope.storage.compiled_code import hide_warnings
from saddlescope.sweeps.late_dask import import_dask_late
from saddlescope.sweeps.start_worker import give_up_starting, start_worker

CANNOT_START = (
    "A worker process ended before its first job: it was killed, or started this script again because the script does "
    "not guard its work by `if __name__ == '__main__':`."
)
GRACE = 2.5  # seconds for a worker to write a checkpoint before it is killed
REAP = 20  # seconds to learn how a process has ended


class WorkerLost(Exception):
    """The process that did a job is gone; `reason` says how."""

    def __init__(self, exitcode):
        super().__init__(exitcode)
        self.reason = ended(exitcode)


def ended(exitcode) -> str:
    if exitcode is None or exitcode >= 0:
        return f"its process ended with status {exitcode}"
    name = signal.Signals(-exitcode).name if -exitcode in set(signal.Signals) else str(-exitcode)
    hint = ", as the system does when memory runs out" if name == "SIGKILL" else ""
    return f"its process was killed by {name}{hint}"


class Workers(Executor):
    """Worker processes that take jobs one at a time; the death of one fails its job alone.

    **Arguments:**

    - `count`: how many processes.
    """

    def __init__(self, count: int):
        require(count >= 1, f"`workers` must be a positive number of processes, got {count}.")
        self.count = count
        self.jobs: queue.SimpleQueue = queue.SimpleQueue()
        self.stopping = self.closed = False
        self.share = memory_of_machine() // 2 // count
        self.workers: list[Worker | None] = [None] * count
        self.threads = [threading.Thread(target=self.serve, args=(i,), daemon=True) for i in range(count)]
        for thread in self.threads:
            thread.start()

    def submit(self, fn, /, *args, **kwargs) -> Future:
        if self.closed:
            raise RuntimeError("these workers have been shut down")
        future: Future = Future()
        self.jobs.put((future, fn, args, kwargs))
        return future

    def serve(self, i):
        """Hand jobs to worker i until there are no more."""
        while (item := self.jobs.get()) is not None:
            future, *call = item
            if self.stopping or not future.set_running_or_notify_cancel():
                future.cancel()
                continue
            try:
                message = ForkingPickler.dumps(call)
            except Exception as error:
                future.set_exception(error)
                continue
            try:
                worker = self.workers[i] = self.workers[i] or self.start()
                if self.stopping:
                    raise WorkerLost(None)
                worker.wait_until_ready()
                good, value, memory = worker.do(message)
            except BaseException as error:
                self.drop(i)
                future.set_exception(error)
                continue
            if memory > self.share:
                self.drop(i)
            (future.set_result if good else future.set_exception)(value)
        self.drop(i)

    def start(self) -> "Worker":
        """A new worker. It is tried twice: the process that forks workers may have been killed."""
        try:
            return Worker()
        except InvalidInput:
            if self.stopping:
                raise
            return Worker()

    def drop(self, i):
        worker, self.workers[i] = self.workers[i], None
        if worker is not None:
            worker.close()

    def shutdown(self, wait=True, *, cancel_futures=False):
        self.closed = True
        if cancel_futures:
            with contextlib.suppress(queue.Empty):
                while (item := self.jobs.get_nowait()) is not None:
                    item[0].cancel()
        for _ in self.threads:
            self.jobs.put(None)
        for thread in self.threads if wait else ():
            thread.join()

    def stop(self):
        """Ask every worker to write its checkpoint and end; then be sure of it. One that starts just ends."""
        self.stopping = True
        self.shutdown(wait=False, cancel_futures=True)
        for process in self.processes():
            process.terminate()
        give_up_starting()
        end = time.monotonic() + GRACE
        for thread in self.threads:
            thread.join(max(0.0, end - time.monotonic()))
        for process in self.processes():
            process.kill()
        for thread in self.threads:
            thread.join(0.5)

    def processes(self):
        return [worker.process for worker in self.workers if worker is not None]


class Worker:
    """One process and the pipe to it."""

    def __init__(self):
        self.pipe, theirs = multiprocessing.Pipe()
        self.ready = False
        try:
            self.process = start_worker(_work_through, theirs)
        except OSError as error:
            raise InvalidInput(f"A worker process cannot be started ({error}).") from None
        finally:
            theirs.close()

    def wait_until_ready(self):
        """The first message says that the process has started: an unguarded script fails before it."""
        try:
            self.ready = self.ready or bool(self.pipe.recv())
        except (EOFError, OSError):
            self.process.join(REAP)
            raise InvalidInput(CANNOT_START) from None

    def do(self, message):
        """(whether it went well, value or error, bytes of memory in use)"""
        try:
            self.pipe.send_bytes(message)
            return self.pipe.recv()
        except (EOFError, OSError):
            self.process.join(REAP)
            raise WorkerLost(self.process.exitcode) from None

    def close(self):
        self.pipe.close()
        self.process.join(GRACE)
        if self.process.is_alive():
            self.process.kill()


def _work_through(pipe):
    """The life of a worker: jobs from the pipe until it closes. Ctrl-C is its parent's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, leave)
    _draw_own_numbers()
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    hide_warnings()
    with contextlib.suppress(EOFError, ConnectionError):
        import_dask_late()
        pipe.send("ready")
        while True:
            message = pipe.recv_bytes()
            try:
                function, args, kwargs = pickle.loads(message)  # from our parent process, which is trusted
                pipe.send((True, function(*args, **kwargs), _memory_in_use()))
            except KeyboardInterrupt:
                os._exit(0)  # the checkpoint is written; the end of JAX's own threads may crash
            except Exception as error:  # of the job, or a value that cannot be sent
                pipe.send((False, _sendable(error), _memory_in_use()))


def _draw_own_numbers():
    """Forks of one process would all draw the same from numpy's global generator. Our own draws come from seeds."""
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed()


def _sendable(error):
    """The error itself where it survives the journey, else its words."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def leave(*_):
    """Training writes its checkpoint and ends; any other work just ends, for its files are whole or not there."""
    STOP.set()
    if not LOOPING.is_set():
        os._exit(0)


def _leave_with_parent():
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
        threading.Event().wait(GRACE)
        os._exit(1)


def _memory_in_use() -> int:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0  # not Linux: workers are not replaced for their size
