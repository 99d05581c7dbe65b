"""All runs of a folder in one labelled NetCDF file, a block at a time: memory holds one block, however many runs."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from saddlescope.errors import InvalidInput, require
from saddlescope.results import Layout, axes_of
from saddlescope.storage.netcdf import Group, netcdf_file
from saddlescope.sweeps.folder import Folder
from saddlescope.sweeps.plan import planned
from saddlescope.sweeps.where import only

FULL = 0.75  # numbers hardly shrink, padding does: curves are compressed where more than a quarter is padding
BLOCK = 64 << 20  # bytes of curves put together at a time


@dataclass
class FolderContents:
    """What is in a folder: runs that are there, failed, missing, damaged, by name and point."""

    points: dict[str, dict]
    there: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)

    def named(self, name) -> dict:
        return self.points.get(name, {})


def folder_contents(folder: Folder, where: str | None = None) -> FolderContents:
    """By presence; `verified` looks at every byte. Shards that no plan names carry their own point."""
    require(
        (folder.root / "plans").is_dir() or (folder.root / "runs").is_dir(),
        f"{folder.root} is not the folder of a sweep: it has neither plans nor runs.",
    )
    points, present, failures = planned(folder), folder.names(), folder.failures()
    for name in sorted(present - set(points)):
        points[name] = own_point(folder, name)
    if where:
        axes = {axis: None for point in points.values() for axis in point}
        chosen = only([axes | point | {"name": name} for name, point in points.items()], where)
        points = {point["name"]: points[point["name"]] for point in chosen}
    found = FolderContents(points)
    for name in points:
        if name in present:
            found.there.append(name)
        elif name in failures:
            found.failed[name] = failures[name]["reason"]
        else:
            found.missing.append(name)
    return found


def own_point(folder, name) -> dict:
    try:
        point = folder.packed(name)[1].get("point")
    except InvalidInput:
        return {}
    return point if isinstance(point, dict) else {}


def verified(folder: Folder, found: FolderContents, look: Callable = lambda done: None) -> FolderContents:
    """The same, with runs whose bytes are not those that were written told apart."""
    for i, name in enumerate(found.there):
        if not folder.is_whole(name):
            found.damaged.append(name)
        look(i + 1)
    broken = set(found.damaged)
    found.there = [name for name in found.there if name not in broken]
    return found


def consolidate(folder: Folder, found: FolderContents, path, look: Callable = lambda done: None, **about) -> Layout:
    """Write the runs that are there to one file with the groups `measured` and `predicted` (empty)."""
    require(os.fspath(path).endswith(".nc"), f"The collected file is a NetCDF file: name it …nc, not {path}.")
    layout = surveyed(folder, found, look)
    require(bool(found.there), f"There is no whole run in {folder.root} to collect.")
    axes = {a: (("run",), v) for a, (_, v) in axes_of([found.named(n) for n in found.there]).items()}
    layout.check_axes(axes)
    sizes = {"run": len(found.there)} | layout.sizes
    with netcdf_file(path, about) as file:
        group = Group(file, "measured", sizes, layout.coords | set(axes), layout.attrs)
        group.put(axes | layout.per_run() | {t: ((t,), v) for t, v in layout.ticks().items()})
        for name, (dims, dtype) in layout.kinds.items():
            group.declare(name, ("run", *dims), dtype, packed=layout.filled(dims) < FULL)
        for start, names in blocks(found.there, layout):
            group.put(layout.block([folder.columns(name)[0] for name in names]), start)
            look(len(found.there) + start + len(names))
        group.seal()
        nothing = Group(file, "predicted", {"run": len(found.there)}, set(axes))
        nothing.put(axes | {"finite": (("run",), np.ones(len(found.there), bool))})
        nothing.seal()
    return layout


def surveyed(folder, found: FolderContents, look) -> Layout:
    """One reading of every run: what they are together, and which of them are damaged."""
    layout, whole = Layout(), []
    for i, name in enumerate(found.there):
        try:
            run, about = folder.columns(name)
        except InvalidInput:
            found.damaged.append(name)
            continue
        layout.add(run, about.get("coords", ()), about.get("attrs"))
        whole.append(name)
        look(i + 1)
    found.there = whole
    return layout


def blocks(names, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    """As many runs at a time as fit a block."""
    bytes_a_run = 8
    for dims, dtype in layout.kinds.values():
        size = 64 if dtype is object else dtype.itemsize
        for dim in dims:
            size *= layout.sizes[dim]
        bytes_a_run += size
    step = max(1, BLOCK // bytes_a_run)
    for start in range(0, len(names), step):
        yield start, names[start : start + step]
