"""How a run is stopped: a signal's handler asks for it, and the loop of `train` ends between two calls of its engine.

There a checkpoint can be written. An exception raised inside a callback of XLA would be lost instead.
"""

import threading
from contextlib import contextmanager

STOP, LOOPING = threading.Event(), threading.Event()


@contextmanager
def looping():
    """While the block lasts, a stop is only asked for: the loop inside looks at `raise_if_stopped`."""
    LOOPING.set()
    try:
        yield
    finally:
        LOOPING.clear()


def raise_if_stopped():
    if STOP.is_set():
        raise KeyboardInterrupt
