"""The folder of a sweep. Nothing in it is ever half written; everything in it can be copied into another such folder.

runs/a/abcd….npz      one shard a run, named by what determines its bits; done is what is here and whole
partial/abcd….npz     the last checkpoint of a run under way
failed/abcd….json     why a run failed
plans/1234….json      what was asked for: points and names, by the hash of their own bytes
status/HOST-PID.json  how far a sweep is, kept up to date
journal.jsonl         what happened when
locks                 which run somebody is at, a byte each
"""

import contextlib
import json
import os
import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import xarray as xr

from saddlescope.errors import InvalidInput
from saddlescope.results import Columns
from saddlescope.storage.checked_npz import Damaged, read_checked, write_checked
from saddlescope.storage.files import PART, write_atomically
from saddlescope.storage.run_file import columns, decoded, encoded
from saddlescope.sweeps.locks import holding, opened

NAME = re.compile(r"[0-9a-f]{20}-[0-9a-z]{1,8}-v\d+")
HOST = socket.gethostname()
OLD = 3600  # seconds after which a half-written file is nobody's


class Folder:
    """`lasting=False` is for a place that goes with the process: nothing is flushed, and no run is begun twice."""

    def __init__(self, root, lasting=True):
        self.root, self.lasting = Path(root), lasting

    # ---- Shards ----

    def shard(self, name) -> Path:
        if not isinstance(name, str) or not NAME.fullmatch(name):  # a name from a file must not lead elsewhere
            raise InvalidInput(f"A run has no such name: {str(name)[:60]!r}.")
        return Path(f"{self.root}/runs/{name[0]}/{name}.npz")

    def write(self, name, run: xr.Dataset, point):
        arrays, about = encoded(run, name=name, point={k: plain(v) for k, v in point.items()})
        write_checked(self.shard(name), arrays, about, self.lasting)

    def read(self, name) -> xr.Dataset:
        path = self.shard(name)
        return decoded(self.packed(name), path)

    def columns(self, name) -> tuple[Columns, dict]:
        packed = self.packed(name)
        return columns(packed, self.shard(name)), packed[1]

    def packed(self, name):
        path = self.shard(name)
        arrays, about = read_checked(path)
        if about.get("name") != name:
            raise Damaged(f"{path} holds another run than its name says.")
        return arrays, about

    def has(self, name) -> bool:
        return os.path.isfile(self.shard(name))

    def names(self) -> set[str]:
        """All shards that are there, whole or not."""
        return {f[:-4] for _, f in self.shard_files() if NAME.fullmatch(f[:-4])}

    def shard_files(self) -> Iterator[tuple[Path, str]]:
        for part in sorted((self.root / "runs").glob("[0-9a-f]")):
            for file in os.scandir(part):
                if file.name.endswith(".npz") and file.name[0] != "." and file.is_file(follow_symlinks=False):
                    yield part, file.name

    def is_whole(self, name) -> bool:
        """Every byte as it was written, under the name it was written for. An error of the disk is not damage."""
        try:
            return bool(self.columns(name))
        except (FileNotFoundError, Damaged):
            return False

    def set_aside(self, name) -> bool:
        """Keep a damaged shard under another name, so that the run is done again. Not while another is at that run."""
        with self.lock(name) as ours:
            if not ours or self.is_whole(name):
                return False
            with contextlib.suppress(FileNotFoundError):
                os.replace(self.shard(name), self.shard(name).with_suffix(".damaged"))
            return True

    # ---- Runs under way ----

    def partial(self, name) -> Path:
        self.shard(name)
        return Path(f"{self.root}/partial/{name}.npz")

    def lock(self, name):
        """Whether this run is ours to do. The lock ends with the process that holds it, however that ends."""
        return holding(str(self.root), name)

    # ---- Failures, journal, old files ----

    def failure_file(self, name) -> Path:
        return self.root / "failed" / f"{self.shard(name).stem}.json"

    def record_failure(self, name, point, reason, details=""):
        facts = {"name": name, "point": {k: plain(v) for k, v in point.items()}, "reason": reason,
                 "details": details, "host": HOST, "time": now()}  # fmt: skip
        with write_atomically(self.failure_file(name), flush=self.lasting) as file:
            file.write(json.dumps(facts, indent=1).encode())

    def failures(self) -> dict[str, dict]:
        found = {}
        for path in sorted((self.root / "failed").glob("*.json")):
            facts = read_json(path)
            if NAME.fullmatch(path.stem) and isinstance(facts, dict):
                found[path.stem] = facts | {"reason": str(facts.get("reason", "?")).replace("\n", " ")}
        return found

    def forget_failure(self, name):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{self.root}/failed/{name}.json")

    def note(self, event, **facts):
        """One line in the journal. It is a diary, not a ledger: a full disk must not stop a run for it."""
        line = json.dumps({"time": now(), "event": event, "host": HOST, "pid": os.getpid(), **facts})
        with contextlib.suppress(OSError):
            descriptor = opened(f"{self.root}/journal.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            try:
                os.write(descriptor, line.encode() + b"\n")  # one call, so that lines of several sweeps do not mix
            finally:
                os.close(descriptor)

    def sweep_up(self):
        """Remove what killed processes left: half-written files older than an hour."""
        for pattern in (f"runs/*/.*{PART}", f"*/.*{PART}", f".*{PART}"):
            for path in self.root.glob(pattern):
                with contextlib.suppress(OSError):
                    if time.time() - path.stat().st_mtime > OLD:
                        path.unlink()


def plain(value):
    """A point's value as JSON can say it."""
    return value if isinstance(value, bool | int | float | str | None) else getattr(value, "item", lambda: str(value))()


def read_json(path):
    """The value in a JSON file; None where there is none, or it is damaged."""
    try:
        return json.loads(Path(path).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")
