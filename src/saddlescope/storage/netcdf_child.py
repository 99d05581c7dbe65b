"""The process that reads NetCDF files for this one (netcdf_reader_process.py), as seen from here.

Starting it costs more than reading most files, so it stays for the next file, and ends after a while without one.
HDF5 may crash, loop or ask for too much memory: then only that process ends, and only that file has failed. A file that
fails in a process that has read others is tried again in a new one: what is said of a file never depends on them.
"""

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from saddlescope.errors import InvalidInput

READER = ("-m", "saddlescope.storage.netcdf_reader_process")
PATIENCE = 60, 1e-6  # seconds for any file, and for each of its bytes


def convert_in_child(path: Path, target: Path):
    """Write what a NetCDF file holds to a checked npz, without HDF5 in this process."""
    limit = PATIENCE[0] + PATIENCE[1] * path.stat().st_size
    with _turn:
        used = bool(_children)
        answer = _ask(path.resolve(), target, limit)
        if used and answer.failed and not (answer.late or answer.too_large):
            answer = _ask(path.resolve(), target, limit)
    if answer.late:
        raise InvalidInput(f"{path} could not be read in {limit:.0f} s: it is damaged, or not a NetCDF file.")
    if answer.too_large:
        raise InvalidInput(f"{path} is intact, but {answer.failed}, or save fewer instants.")
    if answer.failed:
        raise InvalidInput(f"{path} is damaged or not a NetCDF file ({answer.failed}); write it again.")


@dataclass(frozen=True)
class Answer:
    """What the child says of one file.

    **Arguments:**

    - `failed`: why it could not be read; empty where it was.
    - `too_large`: whether nothing is wrong with it but its size.
    - `late`: whether it took too long.
    """

    failed: str = ""
    too_large: bool = False
    late: bool = False


class Child:
    """A process that reads one file after the other, until one fails."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, *READER],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=os.path.abspath(os.sep),
            env=_environment(),
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.input, self.output = self.process.stdin, self.process.stdout

    def ask(self, source, target, limit) -> Answer:
        """Let it convert a file; wait for so many seconds."""
        self.late, watch = False, threading.Timer(limit, self._give_up)
        watch.daemon = True
        watch.start()
        try:
            with suppress(BrokenPipeError):  # it has ended meanwhile
                self.input.write(json.dumps([str(source), str(target)]).encode() + b"\n")
            line = self.output.readline()
        finally:
            watch.cancel()
        return Answer(**json.loads(line)) if line.endswith(b"\n") else Answer(self._how_it_ended(), late=self.late)

    def _give_up(self):
        self.late = True
        self.process.kill()

    def _how_it_ended(self) -> str:
        status = self.process.wait()
        return f"reading it ended in {signal.Signals(-status).name}" if status < 0 else "no reason given"

    def end(self):
        """End it. It has nothing to lose: what it wrote is complete."""
        self.process.kill()
        self.process.wait()
        self.input.close()
        self.output.close()

    def forget(self):
        """In a copy of the process that started it: it is not ours, and not to be waited for."""
        self.process.returncode = 0
        self.input.close()
        self.output.close()


def _environment():
    """The child finds the same packages, wherever they were imported from, and speaks UTF-8 in every locale."""
    own = {"HDF5_PLUGIN_PRELOAD": "::", "PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8:replace"}
    paths = os.pathsep.join(map(os.path.abspath, sys.path))
    return os.environ | own | {"PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"}  # threads take long to start


# ---- The one child of this process ----

_children: list[Child] = []  # none or one
_turn = threading.Lock()


def _ask(source, target, limit) -> Answer:
    """The answer of the child that is there, or of a new one. Only after a file that was read it is kept."""
    child = _children.pop() if _children else Child()
    try:
        answer = child.ask(source, target, limit)
    except BaseException:
        child.end()
        raise
    if answer.failed:
        child.end()
    else:
        _children.append(child)
    return answer


@atexit.register
def _end_all():
    while _children:
        _children.pop().end()


def _forget():
    global _turn
    while _children:
        _children.pop().forget()
    _turn = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
