"""What a sweep is asked to do: its points, and the job and name of each; kept in its folder for whoever looks later."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from saddlescope.atomic import atomic_write
from saddlescope.refusal import Refusal, refuse_unless
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
        for point in self.points:
            job = self.job(point)
            found.append((job.name, job.work))
            if len(found) <= KEPT:
                self.kept[found[-1][0]] = job
        return found

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
    if not (folder.root / place).exists():
        with atomic_write(folder.root / place, flush=folder.lasting) as file:
            file.write(data)
    return place


def planned(folder: Folder) -> dict[str, dict]:
    """Name → point of every run that was ever asked for in this folder."""
    found: dict[str, dict] = {}
    for path in sorted((folder.root / "plans").glob("*.json")):
        for name, point in read_plan(path):
            found[name] = found.get(name, {}) | point
    return found


def read_plan(path: Path) -> list[tuple[str, dict]]:
    """Names and points of one plan, if the file is the one that was written."""
    damaged = f"{path} is damaged: its bytes are not those that were written. Delete it; the sweep writes it again."
    refuse_unless(hashlib.sha256(path.read_bytes()).hexdigest()[:20] == path.stem, damaged)
    data = read_json(path)
    names, axes = (data.get(key) if isinstance(data, dict) else None for key in ("names", "axes"))
    if not isinstance(names, list) or not isinstance(axes, dict):
        raise Refusal(damaged)
    lists = all(isinstance(values, list) and len(values) == len(names) for values in axes.values())
    refuse_unless(lists and all(isinstance(n, str) and NAME.fullmatch(n) for n in names), damaged)
    return [(name, {axis: values[i] for axis, values in axes.items()}) for i, name in enumerate(names)]
