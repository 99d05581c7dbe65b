"""Valleys paper, App. C.6: the sweep at rank 10, by batch size.

The paper has 92, 85, 84, 84 and 84 runs of each batch size, of 150, and does not say which. A sweep that is under way
goes through the factors in order: 60 of each would be those of factors 1 to 3. The verdict is on these.
"""

import numpy as np

from saddlescope.claims import Claim, rated
from saddlescope.experiment import Experiment
from saddlescope.intervals import one_more_count
from saddlescope.papers.valleys import _baseline as base
from saddlescope.papers.valleys._baseline import BATCHES, FACTORS, column
from saddlescope.papers.valleys._baseline_figure import draw
from saddlescope.tables import AGREES, Table, agreeing, compared

RANK = 10
RUNS = dict(zip(BATCHES, (92, 85, 84, 84, 84), strict=True))
WORKED = dict(zip(BATCHES, (17, 18, 16, 13, 9), strict=True))
BEST = dict(zip(BATCHES, (2.66e-6, 1.74e-5, 3.44e-5, 2.51e-4, 5.18e-4), strict=True))
MEAN = dict(zip(BATCHES, (1.26, 1.11, 1.01, 0.993, 1.02), strict=True))


def by_batch(name, title, results):
    """Worked share in %, each of the paper's runs against as many of ours."""
    rows = []
    for (bs,), part in base.groups(results, bs=BATCHES):
        good, n = int(np.sum(column(part, "outcome") == "worked")), part.measured.sizes["run"]
        low, high = one_more_count(good, n, RUNS[bs])
        percent = [100 * v / RUNS[bs] for v in (WORKED[bs], low, high)]
        rows.append((bs, n, *compared(percent[0], 100 * good / n, *percent[1:])))
    return Table(name, title, ("bs", "runs", *AGREES), rows)


def all_factors(results):
    return by_batch("by_batch", f"Rank {RANK}: worked by batch size, %, all factors", results)


def first_factors(results):
    title = f"Rank {RANK}: worked by batch size, %, factors 1 to 3"
    return by_batch("by_batch_factors_1_to_3", title, results.select(factor=(1, 2, 3)))


def best_by_batch(results):
    return base.table("best_by_batch", f"Rank {RANK}: best test error by batch size", results, dict(bs=BATCHES),
                      lambda part, bs: base.error_row(part, base.best, BEST[bs]))  # fmt: skip


def mean_by_batch(results):
    part = results.select(factor=(1, 2, 3))
    return base.table("mean_by_batch", f"Rank {RANK}: mean test error by batch size, factors 1 to 3", part,
                      dict(bs=BATCHES), lambda p, bs: base.error_row(p, base.average, MEAN[bs], log=False))  # fmt: skip


def tables(results):
    own = base.table("by_factor", f"Rank {RANK}: worked by factor (nothing is published)", results,
                     dict(factor=FACTORS), lambda part, f: base.count_row(part, "worked"))  # fmt: skip
    kinds = (base.kinds_table(results, axis, values, RANK) for axis, values in base.BY)
    compared = [make(results) for make in (first_factors, all_factors, mean_by_batch, best_by_batch)]
    return *(compared if base.whole(results) else map(base.unpublished, compared)), own, *kinds


def shares(results):
    if not base.whole(results):
        return None
    table = first_factors(results)
    good, n = agreeing(table)
    text = "; ".join(f"bs {row[0]}: {row[2]:.0f} % published, {row[3]:.0f} % ours, {row[4]}" for row in table.rows)
    return rated(good, n, f"{good} of {n} in their intervals: {text}")


experiment = Experiment(
    title="The rank-10 sweep: 750 runs, how they ended",
    where="App. C.6",
    setting=base.setting_at(RANK),
    full=base.AXES | dict(seed=range(1)),
    quick=base.FEW,
    among=base.AMONG,
    observe=base.OBSERVE,
    digest=base.digest,
    draw=draw(RANK),
    tables=tables,
    claims=(
        Claim("Worked by batch size: 18, 21, 19, 15, 11 %.", "V41 · C.6", shares),
        Claim("Larger batches: fewer worked runs and a worse best error.", "V42 · C.6", base.large_batches_worse),
        Claim("A failed run is a constant.", "ours", base.mostly_constants),
    ),
)  # fmt: skip
