"""Series of one run or of several, under names that tell them apart."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from saddlescope.errors import InvalidInput
from saddlescope.stages.logs.log import Series

Part = tuple[str, str, Sequence[int] | np.ndarray, Sequence[float] | np.ndarray]


def join_parts(parts: Iterable[Part]) -> dict[str, Series]:
    """Parts (run, metric, steps, values) as named series: `metric`, or `run/metric` of several runs.

    Parts of the same run and metric are joined in the given order: that run was resumed.
    """
    found: dict[tuple[str, str], list] = {}
    for run, metric, steps, values in parts:
        found.setdefault((run, metric), []).append(_as_arrays(metric, steps, values))
    several = len({run for run, _ in found}) > 1
    return {
        f"{run}/{metric}" if several and run else metric: Series(*map(np.concatenate, zip(*given, strict=True)))
        for (run, metric), given in found.items()
    }


def _as_arrays(metric, steps, values):
    """A damaged database may hold anything."""
    try:
        return np.asarray(steps, np.int64), np.asarray(values, float)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(f"{metric!r} has steps or values that are not numbers: give a log that is whole.") from None


def distinct_names(names: dict[str, str]) -> dict[str, str]:
    """Identity → name, with the identity added where two runs have the same name or none."""
    count = Counter(names.values())
    return {key: name if name and count[name] == 1 else f"{name} {key}".strip() for key, name in names.items()}
