"""Valleys paper, App. C.6: the sweep at rank 10, by batch size.

The paper has 92, 85, 84, 84 and 84 runs of the five batch sizes, of 150 each, and does not say
which. Exactly so many are among the first 429 runs in the order factor, N, batch, depth: a sweep
that was under way. Its numbers are compared with those runs, five seeds of them; all 750 are run
with one seed.
"""

import numpy as np

from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.papers.valleys import _baseline as base
from saddlescope.papers.valleys import _published as published
from saddlescope.papers.valleys._baseline import BATCHES, FACTORS, column
from saddlescope.papers.valleys._baseline_figure import DRAWN, draw
from saddlescope.papers.valleys._published import agree, count_of, error_of
from saddlescope.sweeps import filter_points

RANK = 10
RUNS = dict(zip(BATCHES, (92, 85, 84, 84, 84), strict=True))
WORKED = dict(zip(BATCHES, (17, 18, 16, 13, 9), strict=True))
BEST = dict(zip(BATCHES, (2.66e-6, 1.74e-5, 3.44e-5, 2.51e-4, 5.18e-4), strict=True))
PART = "(factor < 4 or (factor == 4 and (base < 128 or (base == 128 and (bs == 1 or (bs == 2 and L == 1))))))"
MEAN = dict(zip(BATCHES, (1.26, 1.11, 1.01, 0.993, 1.02), strict=True))


def published_part(results):
    """The runs that the paper has."""
    axes = ("factor", "base", "bs", "L")
    rows = zip(*(column(results, axis) for axis in axes), strict=True)
    points = [dict(zip(axes, row, strict=True), number=i) for i, row in enumerate(rows)]
    kept = [point["number"] for point in filter_points(points, PART)]
    return results.where(np.isin(np.arange(len(points)), kept))


def by_batch(name, word, results, row):
    title = f"Rank {RANK}: {word} by batch size, the paper's 429 runs"
    return base.table(name, title, published_part(results), dict(bs=BATCHES), row)


def worked(results):
    return by_batch("by_batch", "worked", results, lambda part, bs: base.count_row(part, "worked", WORKED[bs]))


def mean_error(results):
    row = lambda part, bs: base.error_row(part, base.average, MEAN[bs], log=False)  # noqa: E731
    return by_batch("mean_by_batch", "mean test error", results, row)


def best_error(results):
    row = lambda part, bs: base.error_row(part, base.best, BEST[bs])  # noqa: E731
    return by_batch("best_by_batch", "best test error", results, row)


def first_seed(results):
    return results.select(seed=0)


def tables(results):
    whole = first_seed(results)
    own = base.table("by_factor", f"Rank {RANK}: worked by factor, one seed (nothing is published)", whole,
                     dict(factor=FACTORS), lambda part, f: base.count_row(part, "worked"))  # fmt: skip
    kinds = (base.kinds_table(whole, axis, values, RANK) for axis, values in base.BY)
    compared = [make(results) for make in (worked, mean_error, best_error)]
    return *(compared if is_whole(results) else map(base.unpublished, compared)), own, *kinds


def is_whole(results):
    """Whether every seed has the paper's 429 runs."""
    counts = np.bincount(column(published_part(results), "seed"))
    return bool(np.all(counts == 429))


def fits(*columns):
    """Published columns beside ours; each is (name, axes, published, numbers)."""

    def check(results):
        if not is_whole(results):
            return None
        part = published_part(results)
        return agree(*(published.column(name, part, *rest) for name, *rest in columns))

    return check


BY_B = dict(bs=BATCHES)
WORKED_B = "worked", BY_B, list(WORKED.values()), count_of("worked")
MEAN_B = "mean error", BY_B, np.log10(list(MEAN.values())), error_of(base.average)
BEST_B = "best error", BY_B, np.log10(list(BEST.values())), error_of(base.best)


experiment = Experiment(
    title="Outcomes of the 750 runs of the rank-10 sweep",
    source="App. C.6",
    setting=base.setting_at(RANK),
    full=base.AXES | dict(seed=range(5)),
    quick=base.FEW,
    where=f"{base.AMONG} and (seed == 0 or {PART})",
    observe=base.OBSERVE,
    predict=base.PREDICT,
    analyse=base.analyse,
    draw=lambda results: draw()(first_seed(results)),
    drawn=DRAWN + " All 750 settings with one seed.",
    tables=tables,
    claims=(
        Claim("Worked by batch size: 17, 18, 16, 13, 9.", "V41 · C.6", fits(WORKED_B)),
        Claim("Mean and best test errors by batch size.", "V41 · C.6", fits(MEAN_B, BEST_B)),
        Claim("Larger batches: fewer worked runs and a worse best error.", "V42 · C.6",
              lambda results: base.large_batches_worse(published_part(results))),
        Claim("A failed run ends as a constant function.", "ours", base.mostly_constants),
    ),
)  # fmt: skip
