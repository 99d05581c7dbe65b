"""How far a sweep is, for people who wait and for programs that watch.

On a terminal: one bar whose length is the work done, with the time left by the work that remains.
Elsewhere: one line per minute. In both cases a status file, rewritten at most once per second, that
is always complete JSON.
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
from saddlescope.sweeps.folder import read_json
from saddlescope.sweeps.journal import HOST, now

EVERY = 1.0  # seconds between two updates
SOME = 100  # runs under way that the status file names
LINE = 60.0  # seconds between two lines where there is no terminal


@dataclass
class ProgressReporter:
    """Counts of one sweep under way, its bar and its status file.

    **Arguments:**

    - `title`: what the bar says.
    - `root`: the sweep's folder.
    - `total`: runs to do when the sweep started.
    - `work`: their cost together, in the units of `Job.work`.
    - `before`: runs that were done already.
    - `quiet`: whether to print nothing; the status file is still written.
    """

    title: str
    root: Path
    total: int
    work: float
    before: int = 0
    quiet: bool = False
    done: int = 0
    failed: int = 0
    worked: float = 0.0
    running: list[str] = field(default_factory=list)  # some of the runs under way
    state: str = "running"

    def __post_init__(self):
        self.started = self.updated = self.said = time.monotonic()
        self.began, self.bar = now(), None
        self.file = self.root / "status" / f"{HOST}-{os.getpid()}.json"
        _remove_dead(self.file.parent)

    def finished(self, work: float, failed: bool = False):
        """Count one run that has ended."""
        self.done += not failed
        self.failed += failed
        self.worked += work

    @property
    def left(self) -> float | None:
        """Seconds to the end, if the rest goes as fast as what was done; None before anything was."""
        if not self.worked:
            return None
        return (self.work - self.worked) * (time.monotonic() - self.started) / self.worked

    def update(self, in_flight=(), final: bool = False):
        """Show how far it is, if the last time was long enough ago; `in_flight` are the runs under way."""
        moment = time.monotonic()
        if not final and moment - self.updated < EVERY:
            return
        self.updated, self.running = moment, [run.name for run in islice(in_flight, SOME)]
        self._write()
        if self.quiet or final:
            return
        if sys.stderr.isatty():
            self.bar = self.bar or self._show()
            self.bar.update(self.task, completed=self.worked, text=self._text())
        elif moment - self.said > LINE:
            self.said = moment
            print(f"{self.title}: {self._text()}", file=sys.stderr, flush=True)

    def _text(self) -> str:
        speed = self.done / max(time.monotonic() - self.started, 1e-9)
        failed = f"  {self.failed} failed" if self.failed else ""
        left = "?" if self.left is None else duration(self.left)
        return f"{self.done + self.failed} of {self.total} runs  {speed:.3g} runs/s{failed}  {left} left"

    def message(self, sentence: str):
        """Print a sentence above the bar."""
        if self.quiet:
            return
        if self.bar is not None:
            self.bar.console.print(sentence, highlight=False, markup=False)
        else:
            print(sentence, file=sys.stderr, flush=True)

    def _write(self):
        share = self.worked / self.work if self.work else 1.0
        facts = {
            "title": self.title,
            "state": self.state,
            "host": HOST,
            "pid": os.getpid(),
            "started": self.began,
            "updated": now(),
            "runs": self.total + self.before,
            "already_there": self.before,
            "done": self.done,
            "failed": self.failed,
            "work_done": share,
            "seconds_left": self.left,
            "running": self.running,
        }
        with contextlib.suppress(OSError), write_atomically(self.file, flush=False) as file:
            file.write(json.dumps(facts, indent=1).encode())

    def close(self, state: str):
        """Remove the bar and write the last status: finished, or why the sweep stopped."""
        self.state = state
        if self.bar is not None:
            self.bar.stop()
        self.update(final=True)

    def _show(self):
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[text]}")
        bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self.task = bar.add_task(self.title, total=self.work or 1, text="")
        bar.start()
        return bar


def duration(seconds: float) -> str:
    """`0.5 s`, `0:01:01`, `11 days 13 h`."""
    if not math.isfinite(seconds):
        return "an unknown time"
    if seconds < 60:
        return f"{seconds:.2g} s"
    minutes, s = divmod(round(seconds), 60)
    hours, m = divmod(minutes, 60)
    return f"{hours}:{m:02}:{s:02}" if hours < 48 else f"{hours // 24} days {hours % 24} h"


def _remove_dead(folder):
    """Status files of processes on this machine that are gone."""
    for path in folder.glob(f"{HOST}-*.json"):
        facts = read_json(path)
        pid = facts.get("pid") if isinstance(facts, dict) else None
        if not isinstance(pid, int) or not alive(pid):
            with contextlib.suppress(OSError):
                path.unlink()


def alive(pid: int) -> bool:
    """Whether a process of this machine is running. Signal 0 asks and does nothing."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it runs, but belongs to somebody else
        pass
    return True
