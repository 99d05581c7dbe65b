"""Progress of work that lasts: a bar after a second on a terminal, elsewhere a line a minute."""

import sys
import time


class Progress:
    """`with Progress("training", total=3000) as bar: bar(done, "loss 0.1")`. The time left is to the whole budget."""

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
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        bar = Progress(*columns, TextColumn("{task.fields[text]}"), console=Console(stderr=True), transient=True)
        self.task = bar.add_task(self.title, total=self.total, text="")
        bar.start()
        return bar
