"""Where runs execute: here, one after the other, or in worker processes with one thread each."""

import multiprocessing
import os
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager

from saddlescope.numerics import ONE_THREAD
from saddlescope.refusal import refuse_unless
from saddlescope.training.progress import Progress


def execute(function, jobs, workers=1, quiet=False, title="runs"):
    """function(*job) for each job, in the jobs' order. A worker is a fresh process (spawn), so bits agree."""
    refuse_unless(workers >= 1, f"`workers` must be a positive number of processes, got {workers}.")
    with Progress(title, len(jobs), quiet) as bar:
        if workers == 1 or len(jobs) < 2:
            return list(watched(bar, (function(*job) for job in jobs)))
        with one_thread_each(), process_pool(min(workers, len(jobs))) as pool:
            futures = [pool.submit(function, *job) for job in jobs]
            return list(watched(bar, (f.result() for f in futures)))


def watched(bar, results):
    for done, result in enumerate(results, start=1):
        bar(done)
        yield result


def process_pool(workers) -> Executor:
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))


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
