"""Claims that are read several times off the same draws: at two thresholds, at each batch size, at each δ.

Such readings are not independent, so that their counts cannot be added. Each of them is decided for itself; together a
draw counts if the claim is true of it in all of them.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from saddlescope.checks import holds_in_share
from saddlescope.claims import CheckResult


def decided_by_draws(readings: Mapping[str, Sequence[float] | np.ndarray], evidence: str) -> CheckResult:
    """`readings` has a name for each reading and, draw by draw, whether the claim is true; NaN where it is not known.

    A draw that is not known in one of the readings is left out of the count of all together.
    """
    table = np.array([np.asarray(row, float) for row in readings.values()])
    known = np.isfinite(table)
    groups = {name: (int(np.nansum(row)), int(there.sum()))
              for name, row, there in zip(readings, table, known, strict=True)}  # fmt: skip
    whole = table[:, known.all(axis=0)]
    return holds_in_share(int(np.sum(whole.all(axis=0))), whole.shape[1], evidence, groups=groups)
