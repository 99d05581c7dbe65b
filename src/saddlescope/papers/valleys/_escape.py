"""Leaving the first plateau at a fixed rate: factor 3, N = 768, L = 3, rank 10; Fig. 6 and App.
C.7.

Two thresholds of the epoch loss: 0.1, which the text names, and 1.4, seven per cent below the best
constant's 1.5, which gives the figure's range. A run ends below 0.1 or after 4/lr epochs; one that
has not escaped by then is censored, and counts as such in every fit and median. A run that diverges
is neither, and is counted apart. An epoch of batch B has ⌈768/B⌉ steps.
"""

import numpy as np

from saddlescope.nets import low_rank
from saddlescope.optimisers import GradientDescent, LossBelow
from saddlescope.setting import Setting
from saddlescope.statistics import exponents, mean_of
from saddlescope.tables import Table
from saddlescope.tasks import cosine_sum

SAMPLES = 768
THRESHOLDS = {"1.4": 1.4, "0.1": 0.1}
UNITS = ("epochs", "steps")


def escape_run(lr, bs, seed, clip=1.0, width=1024, L=3):
    return Setting(
        task=cosine_sum(3, SAMPLES),
        net=low_rank(10, L, width),
        optimiser=GradientDescent(lr, clip=clip or None),
        stop=LossBelow(0.1),
        batch=bs, epochs=round(4 / lr), precision="float32", seed=seed,
    )  # fmt: skip


def analyse(run, setting):
    """The epochs after which the loss lies below each threshold, or all epochs of the run and the mark `censored`."""
    loss, found = run.loss.values, {"epochs": run.sizes["epoch"], "last_loss": run.loss.values[-1]}
    for word, level in THRESHOLDS.items():
        below = np.flatnonzero(loss < level)
        found[f"escape_{word}"] = float(below[0] + 1) if below.size else float(len(loss))
        found[f"censored_{word}"] = not below.size
    return found


def times(results, threshold, unit="epochs"):
    """Times to escape and which of them are censored; runs that diverged have none and are left out."""
    measured = alive(results).measured
    found, late = measured[f"escape_{threshold}"].values, measured[f"censored_{threshold}"].values.astype(bool)
    return found * (np.ceil(SAMPLES / measured.bs.values) if unit == "steps" else 1), late


def alive(results):
    return results.where(results.measured.finite.values)


def fitted(results, threshold, unit, axes=("lr", "bs")):
    """The exponents of the time in the axes, with half intervals; runs that were censored count as such."""
    found, late = times(results, threshold, unit)
    factors = np.stack([alive(results).measured[axis].values for axis in axes], axis=1)
    return (*exponents(factors, found, late), int(late.sum()))


def median(results, threshold, unit="epochs"):
    """Median time; infinite where half the runs or more are censored."""
    found, late = times(results, threshold, unit)
    return float(np.median(np.where(late, np.inf, found))) if found.size else np.nan


def at_least(results, threshold, unit="epochs"):
    """Median with censored runs at the end of their time: it is this or more."""
    found, _ = times(results, threshold, unit)
    return float(np.median(found)) if found.size else np.nan


def by_draw(results):
    """The results of each initial draw: one draw shifts the times of all its cells together."""
    return [results.select(seed=seed) for seed in results.values("seed")]


def spread(values) -> str:
    """A number of each draw, in words: mean with its interval, or dashes."""
    known = np.asarray(values)[np.isfinite(values)]
    return shown(*mean_of(known)) if known.size else "–"


def shown(value, half):
    """An exponent with its interval; a dash where the runs are too few for one."""
    return "–" if np.isnan(value) else f"{value:.2f}" if np.isnan(half) else f"{value:.2f} ± {half:.2f}"


def exponents_table(name, results, title):
    """The exponents by threshold and unit, over all runs; and in the rate at each batch, in the batch at each rate."""
    rows = []
    for threshold in THRESHOLDS:
        for unit in UNITS:
            (a, b), (da, db), late = fitted(results, threshold, unit)
            rows.append((threshold, unit, "all", shown(a, da), shown(b, db), late, results.measured.sizes["run"]))
        for axis, other in (("bs", "lr"), ("lr", "bs")):
            for value in sorted(set(results.measured[axis].values.tolist())):
                part = results.select(**{axis: value})
                (e,), (half,), late = fitted(part, threshold, "epochs", (other,))
                cells = (shown(e, half), None) if other == "lr" else (None, shown(e, half))
                rows.append((threshold, "epochs", f"{axis} = {value:g}", *cells, late, part.measured.sizes["run"]))
    columns = ("threshold", "time in", "runs with", "exponent of lr", "exponent of bs", "censored", "runs")
    return Table(name, title, columns, rows)
