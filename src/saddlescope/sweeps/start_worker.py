"""How a worker process starts: with one thread for BLAS, XLA and numba, and deaf to Ctrl-C from its first moment.

On Linux it is a fork of a server that has imported what workers need. Elsewhere it is a fresh process (spawn): on
macOS a fork is not safe once the system's own libraries are in use.
"""

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess

from saddlescope.numerics import ENVIRONMENT
from saddlescope.storage.compiled_code import environment_of_compiled_code

STARTING = threading.Lock()  # while a process starts, our own environment is that of workers


def start_worker(target: Callable, *args) -> BaseProcess:
    """Start a process that calls the target and ends with this one."""
    if sys.platform == "linux":
        from saddlescope.sweeps.fork_server import fork_worker

        return fork_worker(target, args)
    process = multiprocessing.get_context("spawn").Process(target=target, args=args, daemon=True)
    with as_for_workers():
        process.start()
    return process


def give_up_starting():
    """Let nobody wait for a server that still imports: the pool is to end."""
    if "saddlescope.sweeps.fork_server" in sys.modules:
        from saddlescope.sweeps.fork_server import stop_unused_server

        stop_unused_server()


def environment_of_workers() -> dict[str, str]:
    """The environment that a worker has if it starts now."""
    return {**os.environ, **_own_environment()}


def _own_environment() -> dict[str, str]:
    return ENVIRONMENT | environment_of_compiled_code()


@contextlib.contextmanager
def as_for_workers(**more: str):
    """A process started in this block inherits the environment of workers, with `more`, and never hears Ctrl-C.

    Libraries read the environment when they are first imported, and a process imports before it could ignore a signal.
    """
    with STARTING, _without_ctrl_c():
        given = {**_own_environment(), **more}
        before = {name: os.environ.get(name) for name in given}
        os.environ.update(given)
        try:
            yield
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})


@contextlib.contextmanager
def _without_ctrl_c():
    """A process inherits the mask of signals."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # its start unblocks the signal again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
