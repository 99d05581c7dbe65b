"""All runs of a folder in one labelled NetCDF file, block by block: memory holds one block, however many runs."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from saddlescope.errors import InvalidInput, require
from saddlescope.results import Columns, Layout, axes_of
from saddlescope.sweeps.folder import Folder, is_prediction
from saddlescope.sweeps.plan import planned_points
from saddlescope.sweeps.where import filter_points

FULL = 0.75  # compress a curve only if more than a quarter is padding: numbers themselves hardly shrink
BLOCK = 64 << 20  # bytes of curves put together at a time


@dataclass
class FolderContents:
    """What is in a folder, by name.

    **Arguments:**

    - `points`: name → point of every run, in the order of the plans.
    - `done`: runs that are there.
    - `damaged`: runs whose bytes are not those that were written.
    - `failed`: name → reason.
    - `missing`: runs that were asked for and are not there.
    - `predictions`: name → point of what theory predicts; these are not runs, and are not counted.
    """

    points: dict[str, dict]
    done: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    predictions: dict[str, dict] = field(default_factory=dict)

    def point_of(self, name: str) -> dict:
        """The values of the axes of a run."""
        return self.points.get(name, {})


def folder_contents(folder: Folder, where: str | None = None) -> FolderContents:
    """What is there, by the presence of files; `check_runs` looks at every byte."""
    require(
        (folder.root / "plans").is_dir() or (folder.root / "runs").is_dir(),
        f"{folder.root} is not the folder of a sweep: it has neither plans nor runs.",
    )
    points, present, failures = planned_points(folder), folder.names(), folder.failures()
    for name in sorted(present - set(points)):  # no plan names these; they carry their own point
        points[name] = _own_point(folder, name)
    theory = {n: p for n, p in points.items() if is_prediction(n)}
    points = {n: p for n, p in points.items() if n not in theory}
    if where:
        axes = {axis: None for point in points.values() for axis in point}
        chosen = filter_points([axes | point | {"name": name} for name, point in points.items()], where)
        points = {point["name"]: points[point["name"]] for point in chosen}
    found = FolderContents(points, predictions={n: p for n, p in theory.items() if n in present})
    for name in points:
        if name in present:
            found.done.append(name)
        elif name in failures:
            found.failed[name] = failures[name]["reason"]
        else:
            found.missing.append(name)
    return found


def check_runs(folder: Folder, found: FolderContents, seen: Callable = lambda done: None) -> FolderContents:
    """The same, with runs told apart whose bytes are not those that were written. Predictions are checked too."""
    for i, name in enumerate((*found.done, *found.predictions)):
        if not folder.is_intact(name):
            found.damaged.append(name)
        seen(i + 1)
    broken = set(found.damaged)
    found.done = [name for name in found.done if name not in broken]
    found.predictions = {n: p for n, p in found.predictions.items() if n not in broken}
    return found


def consolidate(folder: Folder, found: FolderContents, path, seen: Callable = lambda done: None, **about) -> Layout:
    """Write the runs that are there to one file with the groups `measured` and `predicted`."""
    from saddlescope.storage.netcdf_writer import netcdf_file  # brings HDF5, which a listing does without

    require(os.fspath(path).endswith(".nc"), f"The collected file is a NetCDF file: name it …nc, not {path}.")
    layout = _survey(folder, found, seen)
    require(bool(found.done), f"There is no intact run in {folder.root} to collect.")
    points = [found.point_of(name) for name in found.done]
    theory = _predictions_in_order(folder, found, points)
    with netcdf_file(path, about) as file:
        runs = _Rows(folder, found.done, layout)
        runs.write(file, "measured", points, lambda done: seen(len(found.done) + done))
        predicted = Layout()
        for name in theory:
            columns, record = folder.columns(name) if name else ({}, {})
            predicted.add(columns, record.get("coords", ()), record.get("attrs"))
        _Rows(folder, theory, predicted).write(file, "predicted", points)
    return layout


def _own_point(folder, name) -> dict:
    try:
        point = folder.read_arrays(name)[1].get("point")
    except InvalidInput:
        return {}
    return point if isinstance(point, dict) else {}


def _survey(folder, found: FolderContents, seen) -> Layout:
    """Read every run once: what they are together, and which of them are damaged."""
    layout, intact = Layout(), []
    for i, name in enumerate(found.done):
        try:
            run, about = folder.columns(name)
        except InvalidInput:
            found.damaged.append(name)
            continue
        layout.add(run, about.get("coords", ()), about.get("attrs"))
        intact.append(name)
        seen(i + 1)
    found.done = intact
    return layout


def _predictions_in_order(folder, found: FolderContents, points) -> list[str | None]:
    """The prediction at each point; None where there is none."""
    by_point = {}
    for name, point in found.predictions.items():
        if folder.is_intact(name):
            by_point[repr(sorted(point.items()))] = name
        else:
            found.damaged.append(name)
    return [by_point.get(repr(sorted(point.items()))) for point in points]


@dataclass
class _Rows:
    """One group of the file: a row per run; None is a row of padding."""

    folder: Folder
    names: list
    layout: Layout

    def write(self, file, group_name, points, seen: Callable = lambda done: None):
        from saddlescope.storage.netcdf_writer import Group

        layout = self.layout
        axes = {a: (("run",), v) for a, (_, v) in axes_of(points).items()}
        layout.check_axes(axes)
        sizes = {"run": len(self.names)} | layout.sizes
        group = Group(file, group_name, sizes, layout.coords | set(axes), layout.attrs)
        group.put(axes | layout.per_run() | {t: ((t,), v) for t, v in layout.ticks().items()})
        for name, (dims, dtype) in layout.kinds.items():
            group.declare(name, ("run", *dims), dtype, packed=layout.filled(dims) < FULL)
        for start, names in self.blocks():
            group.put(layout.block([self.read(name) for name in names]), start)
            seen(start + len(names))
        group.seal()

    def read(self, name) -> Columns:
        return self.folder.columns(name)[0] if name else {}

    def blocks(self) -> Iterator[tuple[int, list]]:
        """As many runs at a time as fit a block."""
        bytes_per_run = 8
        for dims, dtype in self.layout.kinds.values():
            size = 64 if dtype is object else dtype.itemsize
            for dim in dims:
                size *= self.layout.sizes[dim]
            bytes_per_run += size
        step = max(1, BLOCK // bytes_per_run)
        for start in range(0, len(self.names), step):
            yield start, self.names[start : start + step]
