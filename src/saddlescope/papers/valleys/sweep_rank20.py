"""Valleys paper, App. C.4: the sweep at rank 20. The paper runs it and publishes no number of
it; ours stands alone.
"""

from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.papers.valleys import _baseline as base
from saddlescope.papers.valleys._baseline import BATCHES, FACTORS
from saddlescope.papers.valleys._baseline_figure import DRAWN, draw

RANK = 20


def tables(results):
    own = [base.table(f"by_{axis}", f"Rank {RANK}: worked by {axis} (nothing is published)", results, {axis: values},
                      lambda part, _: base.count_row(part, "worked"))
           for axis, values in (("factor", FACTORS), ("bs", BATCHES))]  # fmt: skip
    return *own, *(base.kinds_table(results, axis, values, RANK) for axis, values in base.BY)


experiment = Experiment(
    title="Outcomes of the 750 runs of the rank-20 sweep",
    source="App. C.4",
    setting=base.setting_at(RANK),
    full=base.AXES | dict(seed=range(1)),
    quick=base.FEW,
    where=base.AMONG,
    observe=base.OBSERVE,
    predict=base.PREDICT,
    analyse=base.analyse,
    draw=draw(),
    drawn=DRAWN,
    tables=tables,
    claims=(
        Claim("Larger batches: fewer worked runs and a worse best error.", "ours", base.large_batches_worse),
        Claim("A failed run ends as a constant function.", "ours", base.mostly_constants),
    ),
)  # fmt: skip
