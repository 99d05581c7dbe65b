"""Series of one run or of several, under names that tell them apart."""

from collections import Counter
from collections.abc import Iterable

import numpy as np

from saddlescope.errors import InvalidInput
from saddlescope.stages.logs.log import Log, Series


def log_of_parts(kind: str, parts: Iterable[tuple], notes=()) -> Log:
    """Parts (run, metric, steps, values) as series named `metric`, or `run/metric` of several runs.

    Parts of the same run and metric are joined in the given order: that run was resumed. Folders named after a part of
    the data, such as `train` and `validation`, are of one run.
    """
    found: dict[tuple[str, str], list] = {}
    for run, metric, steps, values in parts:
        found.setdefault((run, metric), []).append(_as_arrays(metric, steps, values))
    runs = list(dict.fromkeys(run for run, _ in found))
    several = len(runs) > 1
    separate = several and not any(run.lower().startswith("train") for run in runs)
    joined = {key: map(np.concatenate, zip(*given, strict=True)) for key, given in found.items()}
    names = {key: "/".join(key) if several and key[0] else key[1] for key in found}
    series = {names[key]: Series(time, values) for key, (time, values) in joined.items()}
    return Log(kind, series, tuple(notes), tuple(runs) if separate else ())


def _as_arrays(metric, steps, values):
    """A damaged database may hold anything."""
    try:
        return np.asarray(steps, np.int64), np.asarray(values, float)
    except (TypeError, ValueError, OverflowError):
        sentence = f"{metric!r} has steps or values that are not numbers: give a whole log."
        raise InvalidInput(sentence) from None


def distinct_names(names: dict[str, str]) -> dict[str, str]:
    """Identity → name, with the identity added where two runs have the same name or none."""
    count = Counter(names.values())
    clear = {key for key, name in names.items() if name and count[name] == 1}
    return {key: name if key in clear else f"{name} {key}".strip() for key, name in names.items()}
