"""How far finite nets are from the limit: every net beside the limit at its own neurons."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from saddlescope.errors import require
from saddlescope.meanfield.limit import Limit
from saddlescope.numerics import reproducible


@reproducible()
def distances_to_limit(limit: Limit, widths: Sequence[int], seeds: Sequence[int], T: float, **options) -> xr.Dataset:
    """Distances between nets and the limit, D_T of the meanfield paper and its root mean square.

    The limit is evaluated at each net's own draws (exact coupling), so that nets are independent of each other and no
    wide reference net is needed.

    **Arguments:**

    - `limit`: of a start that moves.
    - `widths`: of the nets.
    - `seeds`: of the nets, at each width.
    - `T`: the end of the flow.
    - `options`: of `flow_of_limit`; `times` are those of the maximum.
    """
    from saddlescope.meanfield.stationary import is_stationary

    require(
        not is_stationary(limit),
        "The start is a stationary point of the limit, so that the distance measures noise alone: give the start law "
        "a mean or slope.",
    )
    flow = limit.flow(T, **{"times": 21, **options})
    times = flow.data.time.values
    shape = (len(widths), len(seeds))
    found = {name: np.empty(shape) for name in ("sup", "rms", "output")}
    for i, width in enumerate(widths):
        for j, seed in enumerate(seeds):
            net = limit.net(width, seed)
            own = net.flow(T, times=times)
            gaps = [flow.weights_at(b, frozen) - own.weights_at(b, frozen) for b, frozen in enumerate(net.frozen)]
            found["sup"][i, j] = max(np.abs(g).max() for g in gaps)
            found["rms"][i, j] = max(np.sqrt((g**2).mean(axis=(1, 2))).max() for g in gaps)
            found["output"][i, j] = np.abs(flow.data.output - own.data.output).max()
    return xr.Dataset(
        {name: (("width", "seed"), values) for name, values in found.items()},
        {"width": list(widths), "seed": list(seeds)},
        {"solver": flow.solver, "error": flow.error, "T": T},
    )
