"""The folder of a sweep. Nothing in it is ever half written; everything in it can be copied into another such folder.

runs/ab/abcd….npz     one shard a run, named by what determines its bits; done is what is here and whole
partial/abcd….npz     the last checkpoint of a run under way
failed/abcd….json     why a run failed
plans/1234….json      what was asked for: points and names, by the hash of their own bytes
status/HOST-PID.json  how far a sweep is, kept up to date
journal.jsonl         what happened when
"""

import contextlib
import json
import os
import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import xarray as xr

from saddlescope.atomic import PART, atomic_write
from saddlescope.packed import is_whole, read_packed, write_packed
from saddlescope.refusal import Refusal, refuse_unless
from saddlescope.results import Columns
from saddlescope.shard import columns, decoded, encoded

try:
    import fcntl
except ImportError:  # Windows: two sweeps in one folder may then do a run twice, to the same bits
    fcntl = None

NAME = re.compile(r"[0-9a-f]{20}-[0-9a-z]{1,8}-v\d+")
OLD = 3600  # seconds after which a half-written file is nobody's


class Folder:
    def __init__(self, root, flush=True):
        self.root, self.flush = Path(root), flush

    # ---- Shards ----

    def shard(self, name) -> Path:
        refuse_unless(isinstance(name, str) and NAME.fullmatch(name), f"A run has no such name: {str(name)[:60]!r}.")
        return self.root / "runs" / name[:2] / f"{name}.npz"

    def write(self, name, run: xr.Dataset, point):
        arrays, about = encoded(run, name=name, point={k: plain(v) for k, v in point.items()})
        write_packed(self.shard(name), arrays, about, self.flush)

    def read(self, name) -> xr.Dataset:
        path = self.shard(name)
        return decoded(self.packed(name), path)

    def columns(self, name) -> tuple[Columns, dict]:
        packed = self.packed(name)
        return columns(packed, self.shard(name)), packed[1]

    def packed(self, name):
        path = self.shard(name)
        arrays, about = read_packed(path)
        refuse_unless(about.get("name") == name, f"{path} holds another run than its name says.")
        return arrays, about

    def has(self, name) -> bool:
        return self.shard(name).exists()

    def names(self) -> set[str]:
        """All shards that are there, whole or not."""
        return {f[:-4] for _, f in self.shard_files() if NAME.fullmatch(f[:-4])}

    def shard_files(self) -> Iterator[tuple[Path, str]]:
        for part in sorted((self.root / "runs").glob("[0-9a-f][0-9a-f]")):
            for file in os.scandir(part):
                if file.name.endswith(".npz") and not file.name.startswith("."):
                    yield part, file.name

    def is_whole(self, name) -> bool:
        """Every byte as it was written, under the name it was written for."""
        try:
            return is_whole(self.shard(name).read_bytes()) and bool(self.packed(name))
        except (OSError, Refusal):
            return False

    def set_aside(self, name) -> Path:
        """A damaged shard is kept under another name, so that the run is done again."""
        path = self.shard(name)
        other = path.with_suffix(".damaged")
        with contextlib.suppress(FileNotFoundError):
            os.replace(path, other)
        return other

    # ---- Runs under way ----

    def partial(self, name) -> Path:
        return self.root / "partial" / self.shard(name).name

    @contextmanager
    def lock(self, name):
        """Whether this run is ours to do. The lock ends with the process that holds it, however that ends."""
        if fcntl is None:
            yield True
            return
        path = self.partial(name).with_suffix(".lock")
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            except OSError:  # a file system without locks
                pass
            try:
                yield True
            finally:
                path.unlink(missing_ok=True)

    # ---- Failures, journal, old files ----

    def failure_file(self, name) -> Path:
        return self.root / "failed" / f"{self.shard(name).stem}.json"

    def record_failure(self, name, point, reason, details=""):
        facts = {"name": name, "point": {k: plain(v) for k, v in point.items()}, "reason": reason,
                 "details": details, "host": socket.gethostname(), "time": now()}  # fmt: skip
        with atomic_write(self.failure_file(name), flush=self.flush) as file:
            file.write(json.dumps(facts, indent=1).encode())

    def failures(self) -> dict[str, dict]:
        found = {}
        for path in sorted((self.root / "failed").glob("*.json")):
            facts = read_json(path)
            if NAME.fullmatch(path.stem) and isinstance(facts, dict):
                found[path.stem] = {"reason": "?", "point": {}, "details": ""} | facts
        return found

    def forget_failure(self, name):
        self.failure_file(name).unlink(missing_ok=True)

    def note(self, event, **facts):
        """One line in the journal. It is a diary, not a ledger: a full disk must not stop a run for it."""
        line = json.dumps({"time": now(), "event": event, "host": socket.gethostname(), "pid": os.getpid(), **facts})
        with contextlib.suppress(OSError), open(self.root / "journal.jsonl", "ab", buffering=0) as file:
            file.write(line.encode() + b"\n")

    def sweep_up(self):
        """Remove what killed processes left: half-written files and locks older than an hour."""
        for pattern in (f"runs/*/.*{PART}", f"*/.*{PART}", "partial/*.lock"):
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
