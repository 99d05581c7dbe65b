"""A progress bar for work that lasts: appears after a second, on a terminal only."""

import sys
import time


class Progress:
    """`with Progress("training", total=3000) as bar: bar(done, "loss 0.1")`. Silent off a terminal or when `quiet`."""

    def __init__(self, title, total, quiet=False):
        self.title, self.total = title, total
        self.silent = quiet or not sys.stderr.isatty()
        self.started, self.bar = time.monotonic(), None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.bar is not None:
            self.bar.stop()

    def __call__(self, done, text=""):
        if self.silent or (self.bar is None and time.monotonic() - self.started < 1):
            return
        if self.bar is None:
            self.bar = self._show()
        self.bar.update(self.task, completed=done, text=text)

    def _show(self):
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        bar = Progress(*columns, TextColumn("{task.fields[text]}"), console=Console(stderr=True), transient=True)
        self.task = bar.add_task(self.title, total=self.total, text="")
        bar.start()
        return bar
