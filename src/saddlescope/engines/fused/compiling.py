"""The kernel before its first run: read from the cache on disk, or compiled, which is said."""

import sys

import numpy as np
from numba.core.event import Listener, install_listener

from saddlescope.engines.fused.call import Call
from saddlescope.engines.fused.order import seed_words
from saddlescope.engines.fused.packing import Packed

MESSAGE = "saddlescope: compiling the training kernel for {} (once on this machine, some 20 seconds) …"
ready: set[str] = set()


class _SayOnce(Listener):
    """Prints a message when numba begins to compile; what comes from the cache is not compiled."""

    def __init__(self, message):
        self.message = message

    def on_start(self, event):
        print(self.message, end="", file=sys.stderr, flush=True)
        self.message = ""

    def on_end(self, event):
        pass


def make_ready(precision: str):
    """Load or compile the kernel of this precision, so that no run is timed with it."""
    if precision in ready:
        return
    one, tiny = np.zeros((1, 1), precision), Packed((1, 1), (1,), 1, 1, precision)
    with install_listener("numba:compile", _SayOnce(MESSAGE.format(precision) + "\n")):
        Call(tiny, one, one, seed_words(0)).train(0, 0, 0.0)
    ready.add(precision)
