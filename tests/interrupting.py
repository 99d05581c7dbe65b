"""Commands that are interrupted at a given moment, for the tests and for tools/interrupts.py."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

SWEEP = """
[setting]
task = {class = "cosine_sum", factor = 1, samples = 16}
net = {class = "low_rank", rank = 3, depth = 1, width = 32}
optimiser = {class = "GradientDescent", lr = 0.01}
batch = 4
epochs = 60000
[axes]
seed = "0..3"
"""
COMMANDS = {
    "run": ["run", "simplicity.fig1d", "--quick"],
    "run, 2 workers": ["run", "simplicity.fig1d", "--quick", "--workers", "2"],
    "train": ["train", "f3_N768_bs4_L2", "--epochs", "1500"],
    "sweep": ["sweep", "sweep.toml", "--workers", "2"],
}
SIGNALS = {"Ctrl-C": signal.SIGINT, "kill -INT": signal.SIGINT, "kill": signal.SIGTERM}
TIMED = ("cpu_seconds", "wall_seconds")
LIMIT = 5  # seconds from the signal to the end


@dataclass(frozen=True)
class Ended:
    """How an interrupted command ended."""

    status: int | None  # None: it did not end
    seconds: float
    errors: str
    left_behind: bool  # processes of its group are still alive

    @property
    def faults(self) -> list[str]:
        """Why this is not how an interrupted command should end."""
        own = [line for line in self.errors.splitlines() if "compiling" not in line]
        checks = {
            f"status {self.status}": self.status == 130,
            f"{self.seconds:.1f} s": self.seconds <= LIMIT,
            f"said {self.errors!r}": len(own) == 1 and own[0].startswith("saddlescope: stopped; "),
            "processes are left behind": not self.left_behind,
        }
        return [fault for fault, good in checks.items() if not good]


def start(words, folder, out="out"):
    """The command in its own process group, once it hears signals: before that, Python starts."""
    Path(folder, "sweep.toml").write_text(SWEEP, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "saddlescope", *words, "--out", out, "--quiet"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )
    while process.poll() is None and not _among(process.pid, "SigCgt"):
        time.sleep(0.002)
    return process


def _among(pid, kind) -> bool:
    """Whether SIGTERM is among the signals that it handles (SigCgt) or ignores (SigIgn)."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    mask = next((line.split()[1] for line in status.splitlines() if line.startswith(kind)), "0")
    return bool(int(mask, 16) >> (signal.SIGTERM - 1) & 1)


def interrupt(words, folder, after, how="Ctrl-C") -> Ended | None:
    """Stop the command `after` so many seconds; None if it was over by then."""
    process = start(words, folder)
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=after)
    if process.poll() is not None or _among(process.pid, "SigIgn"):  # only libraries end
        _check_good(process, process.communicate()[1])
        return None
    began = time.monotonic()
    # A terminal sends Ctrl-C to the whole group; `kill` sends a signal to one process.
    (os.killpg if how == "Ctrl-C" else os.kill)(process.pid, SIGNALS[how])
    try:
        _, errors = process.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return Ended(None, time.monotonic() - began, process.communicate()[1], True)
    return Ended(process.returncode, time.monotonic() - began, errors, _lives_on(process.pid))


def _lives_on(group) -> bool:
    """Whether processes of the group are alive two seconds later."""
    end = time.monotonic() + 2
    while alive := members(group):
        if time.monotonic() > end:
            for pid in alive:
                os.kill(pid, signal.SIGKILL)
            return True
        time.sleep(0.05)
    return False


def members(group) -> list[int]:
    """Processes of the group, but not the dead that nobody has buried yet."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue  # gone meanwhile
        state, _, its_group, *_ = text.rpartition(")")[2].split()  # a name may have spaces
        if int(its_group) == group and state not in "ZX":
            found.append(int(path.parent.name))
    return found


def finish(words, folder, out="out") -> dict:
    """Run the command to its end; what it stored."""
    process = start(words, folder, out)
    _, errors = process.communicate(timeout=900)
    _check_good(process, errors)
    return contents(Path(folder, out))


def _check_good(process, errors):
    assert process.returncode in (0, 1), errors
    assert "Traceback" not in errors, errors


def contents(folder) -> dict:
    """Every stored array by file and name, bit for bit, without those that tell the time."""
    found = {}
    for path in sorted(folder.rglob("*.nc")):
        with h5py.File(path) as file:
            file.visititems(lambda name, item, path=path: _keep(found, path, name, item))
    for path in sorted(folder.rglob("*.npz")):
        with np.load(path, allow_pickle=False) as file:
            for name in file.files:
                if not name.endswith(TIMED) and isinstance(file[name], np.ndarray):
                    found[path.relative_to(folder), name] = _bits(file[name])
    return found


def _keep(found, path, name, item):
    if isinstance(item, h5py.Dataset) and not name.endswith(TIMED):
        found[path.name, name] = _bits(np.asarray(item[()]))


def _bits(array):
    return (
        array.dtype.str,
        array.shape,
        array.tolist() if array.dtype.kind == "O" else array.tobytes(),
    )
