"""Runs on one data set are one case: claims about data count data sets, in each of which every run must agree."""

import numpy as np


def data_sets(results) -> list[tuple]:
    """The data set of each run, by name and seed. All turns of a circle are one: a turn changes no speed."""
    m = results.measured
    pairs = zip(m.data.values.tolist(), m.seed.values.tolist(), strict=True)
    return [(name,) if name.startswith("circle") else (name, seed) for name, seed in pairs]


def every_run_of(keys, good) -> np.ndarray:
    """For each key, in the order of its first run, whether all runs of this key are good."""
    found: dict = {}
    for key, one in zip(keys, good, strict=True):
        found[key] = found.get(key, True) and bool(one)
    return np.array(list(found.values()), bool)
