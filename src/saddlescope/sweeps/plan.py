"""What a sweep is asked to do: its points, and the job and name of each. The folder keeps a copy of it."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from saddlescope.errors import InvalidInput, require
from saddlescope.progress import Progress
from saddlescope.results import WORD
from saddlescope.storage.files import write_atomically
from saddlescope.storage.run_file import is_text
from saddlescope.sweeps.axes import format_point
from saddlescope.sweeps.folder import NAME, Folder, plain, read_json

if TYPE_CHECKING:
    from saddlescope.sweeps.job import Job

MOST_JOBS = 5000  # jobs kept in memory between planning and running


@dataclass(frozen=True)
class Plan:
    """The points of a sweep, and how to make the job of each.

    **Arguments:**

    - `title`: what the progress bar says.
    - `points`: one dictionary of axis values per run.
    - `job`: makes the job of a point.
    """

    title: str
    points: Sequence[dict]
    job: "Callable[[dict], Job]"
    # Only the first jobs are kept: memory must not grow with the sweep. The others are made twice.
    _jobs: "dict[str, Job]" = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def names_and_costs(self) -> list[tuple[str, float]]:
        """Name and cost of every point. A point that cannot be run is refused here, before the first run."""
        found = []
        with Progress("planning", len(self.points)) as bar:
            for i, point in enumerate(self.points):
                job, name, cost = self._inspect(point)
                found.append((name, cost))
                if i < MOST_JOBS:
                    self._jobs[name] = job
                bar(i + 1)
        return found

    @property
    def names(self) -> list[str]:
        """The names of all runs, in the order of the points."""
        return [name for name, _ in self.names_and_costs]

    def job_for(self, name: str, point: dict) -> "Job":
        """The job of a point, to be run now; it is not kept any longer."""
        return self._jobs.pop(name, None) or self.job(point)

    def _inspect(self, point):
        try:
            job = self.job(point)
            return job, job.name, job.work
        except InvalidInput:
            raise
        except (ValueError, TypeError, OverflowError, RecursionError, MemoryError) as error:
            reason = f"{type(error).__name__}: {error}"
            raise InvalidInput(f"Nothing can be run at {format_point(point)} ({reason}).") from None


def save_plan(folder: Folder, plan: Plan) -> str:
    """Write the plan into the folder; its path there."""
    axes = list({axis: None for point in plan.points for axis in point})
    columns = {axis: [plain(point.get(axis)) for point in plan.points] for axis in axes}
    data = json.dumps({"title": plan.title, "axes": columns, "names": plan.names}).encode()
    place = f"plans/{hashlib.sha256(data).hexdigest()[:20]}.json"
    path = folder.root / place
    if not path.is_file() or path.read_bytes() != data:
        with write_atomically(path, flush=folder.durable) as file:
            file.write(data)
    return place


def planned_points(folder: Folder) -> dict[str, dict]:
    """Name → point of every run that was ever asked for in this folder."""
    found: dict[str, dict] = {}
    for path in sorted((folder.root / "plans").glob("*.json")):
        for name, point in read_plan(path):
            found[name] = found.get(name, {}) | point
    return found


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
    # A checksum proves that the file was not changed by accident, not that it is harmless.
    good = all(isinstance(values, list) and len(values) == len(names) for values in axes.values())
    good = good and all(WORD.fullmatch(a) and all(map(_is_value, values)) for a, values in axes.items())
    require(good and all(isinstance(n, str) and NAME.fullmatch(n) for n in names), damaged)
    return [(name, {axis: values[i] for axis, values in axes.items()}) for i, name in enumerate(names)]


def _is_value(value) -> bool:
    """Whether an axis can have it: text, a number that an array holds, true, false or nothing."""
    if isinstance(value, str):
        return is_text(value)
    return value is None or isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**63)
