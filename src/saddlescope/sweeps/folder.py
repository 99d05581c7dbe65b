"""The folder of runs that `sweep` and `run` share. Everything in it can be copied into another such folder.

runs/a/abcd….npz      one file per run, named by what determines its bits; a run is done if its file is here
partial/abcd….npz     the last checkpoint of a run under way
failed/abcd….json     why a run failed
plans/1234….json      what was asked for: points and names, by the hash of their own bytes
status/HOST-PID.json  how far a sweep is, kept up to date
journal.jsonl         what happened when
locks                 which run a process is at, one byte per run

`run` writes results.nc, verdicts.json, the figure and the page beside them.
"""

import contextlib
import json
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from saddlescope.errors import InvalidInput
from saddlescope.results import Columns
from saddlescope.storage.files import PART, Damaged, dumps, read_checked, write_atomically
from saddlescope.storage.run_file import to_arrays, to_columns, to_dataset
from saddlescope.storage.together import FileGroup
from saddlescope.sweeps.journal import HOST, now, write_events
from saddlescope.sweeps.locks import holding

if TYPE_CHECKING:
    import xarray as xr

NAME = re.compile(r"[0-9a-f]{20}-[0-9a-z]{1,8}-v\d+")
OLD = 3600  # seconds after which a half-written file belongs to no living process


class Folder:
    """The folder of a sweep, or of an experiment that was run.

    **Arguments:**

    - `root`: its path. Nothing is made before something is written.
    - `durable`: whether files are flushed to disk and long runs keep checkpoints. False is for a
      scratch folder that is deleted when the call ends.
    """

    def __init__(self, root, durable: bool = True):
        self.root, self.durable = Path(root), durable

    # ---- Finished runs ----

    def run_file(self, name: str) -> Path:
        """Where the run of this name is, or will be."""
        # A name may come from a file that somebody sent: it must not lead out of the folder.
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise InvalidInput(f"A run has no such name: {str(name)[:60]!r}.")
        return Path(f"{self.root}/runs/{name[0]}/{name}.npz")

    def write(self, name: str, run: "xr.Dataset", point: dict):
        """Store a finished run, with its point."""
        files = FileGroup(self.durable)
        self.add_run(files, name, run, point)
        files.publish()

    def add_run(self, files: FileGroup, name: str, run: "xr.Dataset", point: dict):
        """Store a finished run together with others."""
        arrays, about = to_arrays(run, name=name, point={k: plain(v) for k, v in point.items()})
        files.add(self.run_file(name), dumps(arrays, about))

    def read(self, name: str) -> "xr.Dataset":
        """A finished run as a dataset, every byte checked."""
        return to_dataset(self.read_arrays(name), self.run_file(name))

    def columns(self, name: str) -> tuple[Columns, dict]:
        """A finished run as plain arrays, which is faster to make than a dataset; and its record."""
        stored = self.read_arrays(name)
        return to_columns(stored, self.run_file(name)), stored[1]

    def read_arrays(self, name: str) -> tuple[dict[str, np.ndarray], dict]:
        """The arrays and the record of a run file, every byte checked."""
        path = self.run_file(name)
        arrays, about = read_checked(path)
        if about.get("name") != name:  # an intact file under a wrong name would be another run's numbers
            raise Damaged(f"{path} holds another run than its name says.")
        return arrays, about

    def has(self, name: str) -> bool:
        """Whether there is a file of this run, intact or not."""
        return os.path.isfile(self.run_file(name))

    def names(self) -> set[str]:
        """The names of all run files, intact or not."""
        return {file.name[:-4] for file in self._run_files()}

    def versions(self) -> dict[str, int]:
        """Name → time of writing of every run file: what differs between two calls was run between them."""
        found = {}
        for file in self._run_files():
            with contextlib.suppress(FileNotFoundError):  # another sweep has just moved a damaged one away
                found[file.name[:-4]] = file.stat().st_mtime_ns
        return found

    def _run_files(self) -> Iterator[os.DirEntry]:
        for part in sorted((self.root / "runs").glob("[0-9a-f]")):
            with os.scandir(part) as files:
                for file in files:
                    good = file.name.endswith(".npz") and NAME.fullmatch(file.name[:-4])
                    if good and file.is_file(follow_symlinks=False):
                        yield file

    def is_intact(self, name: str) -> bool:
        """Whether every byte is as it was written. An error of the disk is not damage, and is raised."""
        try:
            return bool(self.columns(name))
        except (FileNotFoundError, Damaged):
            return False

    def quarantine(self, name: str) -> bool:
        """Keep a damaged file under another name, so that its run is done again; whether that was done."""
        with self.lock(name) as ours:
            # Another process may have written the run again since it was found damaged.
            if not ours or self.is_intact(name):
                return False
            with contextlib.suppress(FileNotFoundError):
                os.replace(self.run_file(name), self.run_file(name).with_suffix(".damaged"))
            return True

    def forget(self, name: str):
        """Delete a run with its checkpoint and failure, so that it is done again from its start."""
        with self.lock(name):
            for path in (self.run_file(name), self.partial(name), self._failure_file(name)):
                path.unlink(missing_ok=True)

    # ---- Runs under way ----

    def partial(self, name: str) -> Path:
        """Where the checkpoint of a run under way is kept."""
        self.run_file(name)  # refuses a name that is none
        return Path(f"{self.root}/partial/{name}.npz")

    def lock(self, name: str):
        """`with folder.lock(name) as ours`: whether this process may do the run now.

        The lock ends with the process that holds it, however that process ends.
        """
        return holding(str(self.root), name)

    # ---- Failures, journal, old files ----

    def _failure_file(self, name) -> Path:
        return self.root / "failed" / f"{self.run_file(name).stem}.json"

    def record_failure(self, name: str, point: dict, reason: str, details: str = ""):
        """Keep why a run failed; `details` is the traceback."""
        where = {k: plain(v) for k, v in point.items()}
        facts = {"name": name, "point": where, "reason": reason, "details": details}
        with write_atomically(self._failure_file(name), flush=self.durable) as file:
            file.write(json.dumps(facts | {"host": HOST, "time": now()}, indent=1).encode())

    def failures(self) -> dict[str, dict]:
        """Name → what is known of every run that failed."""
        found = {}
        for path in sorted((self.root / "failed").glob("*.json")):
            facts = read_json(path)
            if NAME.fullmatch(path.stem) and isinstance(facts, dict):
                found[path.stem] = facts | {"reason": str(facts.get("reason", "?")).replace("\n", " ")}
        return found

    def forget_failure(self, name: str):
        """The run is done, or is to be tried again."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{self.root}/failed/{name}.json")

    def note(self, event: str, **facts):
        """Add one line to the journal."""
        write_events(str(self.root), event, [facts])

    def note_runs(self, event: str, names: list[str]):
        """Add one line per run to the journal."""
        write_events(str(self.root), event, [{"run": name} for name in names])

    def remove_stale(self):
        """Remove what killed processes left: half-written files older than an hour."""
        for pattern in (f"runs/*/.*{PART}", f"*/.*{PART}", f".*{PART}"):
            for path in self.root.glob(pattern):
                with contextlib.suppress(OSError):
                    if time.time() - path.stat().st_mtime > OLD:
                        path.unlink()


# ---- JSON ----


def is_prediction(name: str) -> bool:
    """Whether a stored run is what theory predicts, not a training or a measurement."""
    return name.split("-")[1:2] == ["p"]


def plain(value):
    """A point's value as JSON can hold it."""
    if isinstance(value, bool | int | float | str | None):
        return value
    return getattr(value, "item", lambda: str(value))()


def read_json(path):
    """The value in a JSON file; None where there is none, or it is damaged."""
    try:
        return json.loads(Path(path).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
