"""Python's garbage collector, kept from going through what stays.

Imports make half a million objects that live as long as the process. The collector went through them again and again
while they were made, and once more at the end: a third of the CPU time of a short command. So it first looks when this
many are there, leaves them alone from then on, and works as usual on what comes after them.

For processes of our own: the command line and workers.
"""

import gc

STAYING = 500_000  # objects that a command has made by the time it works


def collect_late():
    """Let the collector begin late. What is there by then is never looked at again."""
    usual = gc.get_threshold()

    def settle(phase, _):
        if phase == "stop":
            gc.callbacks.remove(settle)
            gc.freeze()
            gc.set_threshold(*usual)

    gc.callbacks.append(settle)
    gc.set_threshold(STAYING, *usual[1:])


def leave_garbage():
    """Call it last: at the end of a process Python would look for cycles among all objects once more."""
    gc.freeze()
