"""The collector begins late, leaves alone what is there by then, and works as usual on what comes after."""

import subprocess
import sys

CODE = """
import gc
import weakref

from saddlescope.sweeps.late_collection import STAYING, collect_late


class Node:
    def __init__(self):
        self.itself = self


usual, callbacks, rounds = gc.get_threshold(), len(gc.callbacks), gc.get_stats()
collect_late()
early = weakref.ref(Node())
made = [[] for _ in range(STAYING // 2)]
assert gc.get_stats() == rounds, "nothing was collected while imports might last"
assert early() is not None
made += [[] for _ in range(STAYING)]
assert gc.get_stats() != rounds
assert gc.get_freeze_count() > STAYING, "what has been made is not gone through again"
assert (gc.get_threshold(), len(gc.callbacks)) == (usual, callbacks)
assert early() is None
late = weakref.ref(Node())
made += [[] for _ in range(10 * usual[0])]
assert late() is None, "garbage that comes later is collected as usual"
"""


def test_the_collector_begins_late_and_then_works_as_usual():
    ended = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
