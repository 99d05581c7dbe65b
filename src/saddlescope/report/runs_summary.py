"""The runs of a result in a few numbers: how many, of how many, over which axes and seeds."""

from collections import defaultdict
from dataclasses import dataclass

import xarray as xr

from saddlescope.report.facts import Facts, count_of, text_of


@dataclass(frozen=True)
class RunsSummary:
    """How many runs a result has, and what was varied.

    **Arguments:**

    - `number`: how many runs there are.
    - `scale`: "quick", "full", or another word that was stored.
    - `planned`: how many runs that scale has; None if not stored.
    - `axes`: what was varied: name → its values as text, each once.
    - `seeds`: least and largest number of seeds per setting; None without an axis `seed`.
    - `setting`: the first run's setting as JSON; empty without one.
    - `trains`: whether anything was trained; None if not stored.
    """

    number: int
    scale: str
    planned: int | None
    axes: dict[str, tuple[str, ...]]
    seeds: tuple[int, int] | None
    setting: str
    trains: bool | None

    @property
    def part(self) -> str:
        """`full`, or `part of full: 7 of 140 runs`."""
        return scale_label(self.scale, self.number, self.planned)


def scale_label(scale: str, number: int, planned: int | None) -> str:
    """What so many runs of a scale are called; a label that says more than "full" or "quick" stays."""
    if scale not in ("full", "quick") or planned is None or number == planned:
        return scale
    if number < planned:
        return f"part of {scale}: {number} of {planned} runs"
    return f"more than {scale}: {number} runs in place of {planned}"


def summarise(measured: xr.Dataset, about: Facts) -> RunsSummary:
    """The runs of a dataset, and what is stored about them."""
    columns = {str(n): v.values.tolist() for n, v in measured.coords.items() if v.dims == ("run",)}
    settings = measured["setting"].values.ravel() if "setting" in measured else []
    trains = about.get("trains")
    return RunsSummary(
        number=int(measured.sizes.get("run", 0)),
        scale=text_of(about, "scale"),
        planned=count_of(about, "planned_runs"),
        axes={name: tuple(dict.fromkeys(map(str, values))) for name, values in columns.items()},
        seeds=_seeds_per_setting(columns),
        setting=str(settings[0]) if len(settings) else "",
        trains=trains if isinstance(trains, bool) else None,
    )


def _seeds_per_setting(columns) -> tuple[int, int] | None:
    """Least and largest number of different seeds among runs that share all other axes."""
    if not columns.get("seed"):
        return None
    others = [values for name, values in columns.items() if name != "seed"]
    found = defaultdict(set)
    for i, seed in enumerate(columns["seed"]):
        found[tuple(str(values[i]) for values in others)].add(seed)
    numbers = [len(seeds) for seeds in found.values()]
    return min(numbers), max(numbers)
