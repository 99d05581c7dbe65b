"""How a run is stopped: a signal's handler asks for it, and the loop of `train` looks.

It ends between two calls of its engine, where a checkpoint can be written. An exception raised
inside a callback of XLA would be lost instead.
"""

from contextlib import contextmanager

from saddlescope.progress import LOOPING, STOP, raise_if_stopped

__all__ = ["LOOPING", "STOP", "looping", "raise_if_stopped"]


@contextmanager
def looping():
    """While the block lasts, a stop is only asked for: the loop calls `raise_if_stopped`."""
    nested = LOOPING.is_set()
    LOOPING.set()
    try:
        yield
    finally:
        if not nested:
            LOOPING.clear()
    raise_if_stopped()  # asked for in the last call of the engine
