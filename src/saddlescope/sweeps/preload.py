"""What the server of workers imports before it forks the first of them.

It imports and does nothing else: no array is made, so that JAX starts no backend, and no library a thread that a fork
would break. `tests/sweeps/test_fork_server.py` looks at that.
"""

import gc
import importlib
import json
import os
import threading

from saddlescope.sweeps.fork_server import RESTORES
from saddlescope.sweeps.late_dask import import_dask_late

# What a training job needs. The module of an experiment is imported by the workers themselves.
MODULES = (
    "saddlescope.sweeps.worker_job",
    "saddlescope.observables",
    "saddlescope.engines.fused.stepper",
    "scipy.linalg",
)
EVERY = 0.2  # seconds between two looks for the parent


def _restore_environment():
    for name, value in json.loads(os.environ.pop(RESTORES, "{}")).items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value


def _import_all():
    done = threading.Event()
    watch = threading.Thread(target=_leave_with_parent, args=(os.getppid(), done))
    watch.start()
    try:
        for name in MODULES:
            importlib.import_module(name)
    finally:
        done.set()
        watch.join()  # a fork must find one thread
    gc.freeze()  # a collection would write to pages that all workers share


def _leave_with_parent(parent: int, done: threading.Event):
    """Later a pipe tells the server that its parent is gone; while it imports, it does not look."""
    while not done.wait(EVERY):
        if os.getppid() != parent:
            os._exit(1)


_restore_environment()
import_dask_late()
_import_all()
