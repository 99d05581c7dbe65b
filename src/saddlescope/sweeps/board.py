"""How far a sweep is, for people who wait and for pages that watch.

One bar whose length is the work done, with the time left by the work that remains; off a terminal, a line a minute; and
a status file, written at most once a second, that is always whole JSON.
"""

import contextlib
import json
import math
import os
import sys
import time
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from saddlescope.storage.files import write_atomically
from saddlescope.sweeps.folder import HOST, now, read_json

EVERY = 1.0  # seconds between two looks
SOME = 100  # runs under way that the status file names
LINE = 60.0  # seconds between two lines off a terminal


@dataclass
class ProgressReporter:
    """Counts of one sweep under way. `total` and `work` are of what there was to do when it started."""

    title: str
    root: Path
    total: int
    work: float
    before: int = 0  # runs that were there already
    quiet: bool = False
    done: int = 0
    failed: int = 0
    worked: float = 0.0
    running: list[str] = field(default_factory=list)  # some of the runs under way
    state: str = "running"

    def __post_init__(self):
        self.started = self.looked = self.said = time.monotonic()
        self.began, self.bar = now(), None
        self.file = self.root / "status" / f"{HOST}-{os.getpid()}.json"
        remove_dead(self.file.parent)

    def finished(self, work, failed=False):
        self.done += not failed
        self.failed += failed
        self.worked += work

    @property
    def left(self) -> float | None:
        """Seconds to the end, if the rest goes as fast as what was done; None before anything was."""
        if not self.worked:
            return None
        return (self.work - self.worked) * (time.monotonic() - self.started) / self.worked

    def look(self, flying=(), final=False):
        now_ = time.monotonic()
        if not final and now_ - self.looked < EVERY:
            return
        self.looked, self.running = now_, [m.name for m in islice(flying, SOME)]
        self.write()
        if self.quiet or final:
            return
        if not sys.stderr.isatty():
            if now_ - self.said > LINE:
                self.said = now_
                print(self.line(), file=sys.stderr, flush=True)
        else:
            self.bar = self.bar or self.show()
            self.bar.update(self.task, completed=self.worked, text=self.text())

    def text(self) -> str:
        speed = self.done / max(time.monotonic() - self.started, 1e-9)
        failed = f"  {self.failed} failed" if self.failed else ""
        left = "?" if self.left is None else duration(self.left)
        return f"{self.done + self.failed} of {self.total} runs  {speed:.3g} runs/s{failed}  {left} left"

    def line(self) -> str:
        return f"{self.title}: {self.text()}"

    def say(self, sentence):
        """A sentence above the bar."""
        if self.quiet:
            return
        if self.bar is not None:
            self.bar.console.print(sentence, highlight=False, markup=False)
        else:
            print(sentence, file=sys.stderr, flush=True)

    def write(self):
        facts = {
            "title": self.title, "state": self.state, "host": HOST, "pid": os.getpid(),
            "started": self.began, "updated": now(), "runs": self.total + self.before, "already_there": self.before,
            "done": self.done, "failed": self.failed, "work_done": self.worked / self.work if self.work else 1.0,
            "seconds_left": self.left, "running": self.running,
        }  # fmt: skip
        with contextlib.suppress(OSError), write_atomically(self.file, flush=False) as file:
            file.write(json.dumps(facts, indent=1).encode())

    def close(self, state):
        self.state = state
        if self.bar is not None:
            self.bar.stop()
        self.look(final=True)

    def show(self):
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[text]}")
        bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self.task = bar.add_task(self.title, total=self.work or 1, text="")
        bar.start()
        return bar


def duration(seconds) -> str:
    if not math.isfinite(seconds):
        return "an unknown time"
    if seconds < 60:
        return f"{seconds:.2g} s"
    minutes, s = divmod(round(seconds), 60)
    hours, m = divmod(minutes, 60)
    return f"{hours}:{m:02}:{s:02}" if hours < 48 else f"{hours // 24} days {hours % 24} h"


def remove_dead(folder):
    """Status files of processes on this machine that are gone."""
    for path in folder.glob(f"{HOST}-*.json"):
        facts = read_json(path)
        pid = facts.get("pid") if isinstance(facts, dict) else None
        if not isinstance(pid, int) or not alive(pid):
            with contextlib.suppress(OSError):
                path.unlink()


def alive(pid) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        pass
    return True
