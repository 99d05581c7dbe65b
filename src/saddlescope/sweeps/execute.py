"""Where runs execute: here, one after the other, or in worker processes with one thread each."""

import multiprocessing
import os
import signal
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from saddlescope import ONE_THREAD
from saddlescope.refusal import Refusal, refuse_unless
from saddlescope.training.progress import Progress

LOST = (
    "A worker process died: it was killed, ran out of memory, or started this script again because the script does not "
    "guard its work by `if __name__ == '__main__':`."
)


def execute(function, jobs, workers=1, quiet=False, title="runs"):
    """function(*job) for each job, in the jobs' order. A worker is a fresh process (spawn), so bits agree."""
    refuse_unless(workers >= 1, f"`workers` must be a positive number of processes, got {workers}.")
    with Progress(title, len(jobs), quiet) as bar:
        if workers == 1 or len(jobs) < 2:
            return list(watched(bar, (function(*job) for job in jobs)))
        with one_thread_each(), process_pool(min(workers, len(jobs))) as pool:
            try:
                futures = [pool.submit(function, *job) for job in jobs]
                return list(watched(bar, (f.result() for f in futures)))
            except BrokenProcessPool:
                raise Refusal(LOST) from None
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def watched(bar, results):
    for done, result in enumerate(results, start=1):
        bar(done)
        yield result


def process_pool(workers) -> Executor:
    """Workers leave Ctrl-C to their parent."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, context, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN))


@contextmanager
def one_thread_each():
    """Workers inherit these at their start; a library reads them when it is first imported."""
    before = dict(os.environ)
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
