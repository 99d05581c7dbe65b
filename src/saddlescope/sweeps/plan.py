"""What a sweep is asked to do: its points, and the job and name of each; kept in its folder for whoever looks later."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from saddlescope.errors import InvalidInput, require
from saddlescope.progress import Progress
from saddlescope.results import WORD
from saddlescope.storage.files import write_atomically
from saddlescope.storage.run_file import is_text
from saddlescope.sweeps.axes import spelled
from saddlescope.sweeps.folder import NAME, Folder, plain, read_json

KEPT = 5000  # jobs kept from the survey
if TYPE_CHECKING:
    from saddlescope.sweeps.job import Job


@dataclass(frozen=True)
class Plan:
    """`job` makes a point's job. Only the jobs of a small sweep are kept: memory is not to grow with the sweep."""

    title: str
    points: Sequence[dict]
    job: "Callable[[dict], Job]"

    @cached_property
    def surveyed(self) -> list[tuple[str, float]]:
        """Name and work of every point. Each job is made once, so that a bad point is refused before the first run."""
        found = []
        with Progress("planning", len(self.points)) as bar:
            for i, point in enumerate(self.points):
                job, name, work = self.look_at(point)
                found.append((name, work))
                if i < KEPT:
                    self.kept[name] = job
                bar(i + 1)
        return found

    def look_at(self, point):
        try:
            job = self.job(point)
            return job, job.name, job.work
        except InvalidInput:
            raise
        except (ValueError, TypeError, OverflowError, RecursionError, MemoryError) as error:
            raise InvalidInput(f"Nothing can be run at {spelled(point)} ({type(error).__name__}: {error}).") from None

    @cached_property
    def kept(self) -> "dict[str, Job]":
        return {}

    def take(self, name, point) -> "Job":
        """A point's job, to be done now."""
        return self.kept.pop(name, None) or self.job(point)

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.surveyed]


def keep_plan(folder: Folder, plan: Plan) -> str:
    """Write the plan into the folder; its path there."""
    axes = list({axis: None for point in plan.points for axis in point})
    columns = {axis: [plain(point.get(axis)) for point in plan.points] for axis in axes}
    data = json.dumps({"title": plan.title, "axes": columns, "names": plan.names}).encode()
    place = f"plans/{hashlib.sha256(data).hexdigest()[:20]}.json"
    path = folder.root / place
    if not path.is_file() or path.read_bytes() != data:
        with write_atomically(folder.root / place, flush=folder.lasting) as file:
            file.write(data)
    return place


def planned(folder: Folder) -> dict[str, dict]:
    """Name → point of every run that was ever asked for in this folder."""
    found: dict[str, dict] = {}
    for path in sorted((folder.root / "plans").glob("*.json")):
        for name, point in read_plan(path):
            found[name] = found.get(name, {}) | point
    return found


def is_value(value) -> bool:
    """Whether an axis can have it: text, a number that an array holds, true, false or nothing."""
    if isinstance(value, str):
        return is_text(value)
    return value is None or isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**63)


def read_plan(path: Path) -> list[tuple[str, dict]]:
    """Names and points of one plan, if the file is the one that was written."""
    damaged = f"{path} is damaged: its bytes are not those that were written. Delete it; the sweep writes it again."
    try:
        text = path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read ({error.strerror}).") from None
    require(hashlib.sha256(text).hexdigest()[:20] == path.stem, damaged)
    data = read_json(path)
    names, axes = (data.get(key) if isinstance(data, dict) else None for key in ("names", "axes"))
    if not isinstance(names, list) or not isinstance(axes, dict):
        raise InvalidInput(damaged)
    lists = all(isinstance(values, list) and len(values) == len(names) for values in axes.values())
    lists = lists and all(WORD.fullmatch(axis) and all(map(is_value, values)) for axis, values in axes.items())
    require(lists and all(isinstance(n, str) and NAME.fullmatch(n) for n in names), damaged)
    return [(name, {axis: values[i] for axis, values in axes.items()}) for i, name in enumerate(names)]
