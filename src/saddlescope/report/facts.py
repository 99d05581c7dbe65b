"""What the files of a result say about it: command, date and cost; how many runs, over which axes and seeds.

A fact of another kind than expected counts as missing.
"""

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from saddlescope.errors import number_of
from saddlescope.storage.netcdf import Raw

Facts = Mapping[str, object]


def decoded(attrs: Facts) -> dict:
    """Attributes of a NetCDF file; it keeps what is neither number nor text as JSON."""
    found = dict(attrs)
    for name in ("versions", "git_commit", "clean", "trains"):
        try:
            found[name] = json.loads(str(found[name]))
        except (KeyError, ValueError, RecursionError):
            continue  # not there, or plain text
    return found


def text_in(about: Facts, name: str) -> str:
    """The text under a name, else an empty one."""
    value = about.get(name)
    return value if isinstance(value, str) else ""


def _number_in(about: Facts, name: str) -> float | None:
    """The number under a name, else None."""
    value = about.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def count_in(about: Facts, name: str) -> int | None:
    """The whole number under a name, else None."""
    value = _number_in(about, name)
    return value if isinstance(value, int) else None


def scale_line(scale: str, runs: int) -> str:
    """`full · 80 runs`; a scale that counts its runs stays, such as `part of full: 4 of 80 runs`."""
    return scale if ":" in scale else " · ".join(filter(None, (scale, number_of(runs, "run"))))


# ---- Where a result comes from ----


@dataclass(frozen=True)
class Origin:
    """What made a result. A text that was not stored is empty, a number None.

    **Arguments:**

    - `command`: makes the result again.
    - `date`: when the runs were finished.
    - `commit`: the commit of the source, with `-dirty` if it was changed.
    - `processor`: the model of the processor.
    - `versions`: package → version.
    - `cpu_seconds`, `wall_seconds`: what the runs cost.
    """

    command: str
    date: str
    commit: str
    processor: str
    versions: dict[str, str]
    cpu_seconds: float | None
    wall_seconds: float | None


def origin_of(about: Facts) -> Origin:
    """What is stored about the origin of a result."""
    versions = about.get("versions")
    versions = versions if isinstance(versions, dict) else {}
    return Origin(
        command=text_in(about, "command") or _plain_command(about),
        date=text_in(about, "date"),
        commit=text_in(about, "git_commit"),
        processor=text_in(about, "processor"),
        versions={str(k): str(v) for k, v in versions.items()},
        cpu_seconds=_number_in(about, "cpu_seconds"),
        wall_seconds=_number_in(about, "wall_seconds"),
    )


def _plain_command(about: Facts) -> str:
    """The command of the full grid, for a result that does not store its own."""
    scales = {"full": "", "quick": " --quick"}
    known = text_in(about, "scale") in scales and text_in(about, "key")
    return f"saddlescope run {about['key']}{scales[text_in(about, 'scale')]}" if known else ""


# ---- Its runs ----


@dataclass(frozen=True)
class RunsSummary:
    """How many runs a result has, and what was varied.

    **Arguments:**

    - `number`: how many runs there are.
    - `scale`: "quick", "full", or what else was stored, such as "part of full: 7 of 140 runs".
    - `axes`: what was varied: name → its values as text, each once.
    - `seeds`: least and largest number of seeds per setting; None without an axis `seed`.
    - `setting`: the first run's setting as JSON; empty without one.
    - `trains`: whether anything was trained; None if not stored.
    """

    number: int
    scale: str
    axes: dict[str, tuple[str, ...]]
    seeds: tuple[int, int] | None
    setting: str
    trains: bool | None


def summarise(measured: Raw, about: Facts) -> RunsSummary:
    """The runs of a result, and what is stored about them."""
    columns = {name: measured[name].tolist() for name in measured.coords if measured.columns[name][0] == ("run",)}
    settings = measured["setting"].ravel() if "setting" in measured else []
    trains = about.get("trains")
    return RunsSummary(
        number=int(measured.sizes.get("run", 0)),
        scale=text_in(about, "scale"),
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
