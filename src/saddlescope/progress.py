"""Progress of work that lasts, and whether to stop it.

A terminal shows a bar after a second; elsewhere there is a line per minute. `STOP` is set by
whoever handles a signal: the command line, or a worker process. It is never set in a program that
uses Saddlescope as a library; there Ctrl-C is Python's own KeyboardInterrupt.
"""

import sys
import threading
import time
from contextlib import contextmanager

STOP = threading.Event()  # the command is to end
LOOPING = threading.Event()  # a loop looks at STOP between two calls: do not raise inside one


def raise_if_stopped():
    """A safe point: here a stop that was asked for, or lost in a callback, is seen."""
    if STOP.is_set():
        raise KeyboardInterrupt


@contextmanager
def looping():
    """While the block lasts, a stop is only asked for: the loop calls `raise_if_stopped` between two calls of its
    engine, where a checkpoint can be written. An exception raised inside a callback of XLA would be lost."""
    nested = LOOPING.is_set()
    LOOPING.set()
    try:
        yield
    finally:
        if not nested:
            LOOPING.clear()
    raise_if_stopped()  # asked for in the last call of the engine


class Progress:
    """`with Progress("training", total=3000) as bar: bar(done, "loss 0.1")`.

    The time left is to the whole budget.

    **Arguments:**

    - `title`: what is done, such as "epoch".
    - `total`: the number of steps of the whole.
    - `quiet`: show nothing.
    """

    def __init__(self, title, total, quiet=False):
        self.title, self.total = title, total
        self.quiet, self.plain = quiet, not sys.stderr.isatty()
        self.started, self.bar = time.monotonic(), None
        self.said = self.started

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.bar is not None:
            self.bar.stop()

    def __call__(self, done, text=""):
        raise_if_stopped()
        now = time.monotonic()
        if self.quiet or (self.bar is None and now - self.started < 1):
            return
        if self.plain:
            if now - self.said > 60:
                self.said = now
                print(f"{self.title} {done} of {self.total}  {text}", file=sys.stderr, flush=True)
            return
        if self.bar is None:
            self.bar = self._show()
        self.bar.update(self.task, completed=done, text=text)

    def _show(self):
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        shown = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        console = Console(stderr=True)
        bar = Bar(*shown, TextColumn("{task.fields[text]}"), console=console, transient=True)
        self.task = bar.add_task(self.title, total=self.total, text="")
        bar.start()
        return bar
