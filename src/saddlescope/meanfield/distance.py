"""How far finite nets are from the limit: every net beside the limit at its own neurons."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from saddlescope.errors import require
from saddlescope.meanfield.limit import Limit
from saddlescope.numerics import reproducible

NAMES = ("sup", "rms", "output")


@reproducible()
def distances_to_limit(limit: Limit, widths: Sequence[int], seeds: Sequence[int], T: float, **options) -> xr.Dataset:
    """Distances between nets and the limit, D_T of the meanfield paper and its root mean square.

    `sup` is the largest difference of a weight over times and neurons, `rms` the largest root mean square over neurons,
    `output` the largest difference of an output. Attributes have the slope of each in the width: −1/2 in theory.

    The limit is evaluated at each net's own draws (exact coupling), so that nets are independent of each other and no
    wide reference net is needed.

    **Arguments:**

    - `limit`: of a start that moves.
    - `widths`: of the nets.
    - `seeds`: of the nets, at each width.
    - `T`: the end of the flow.
    - `options`: of `flow_of_limit`; `times` are those of the maximum.
    """
    require(len(widths) > 0 and len(seeds) > 0, "The distance needs one width and one seed, or more.")
    require(
        not limit.note,
        "The start is a stationary point of the limit, so that the distance measures noise alone: give the start law "
        "a mean or slope.",
    )
    flow = limit.flow(T, **{"times": 21, **options})
    found = [[_distances(flow, limit.net(width, seed)) for seed in seeds] for width in widths]
    arrays = {name: (("width", "seed"), np.array([[d[name] for d in row] for row in found])) for name in NAMES}
    slopes = {f"slope_{name}": slope_in_width(widths, values) for name, (_, values) in arrays.items()}
    return xr.Dataset(
        arrays,
        {"width": list(widths), "seed": list(seeds)},
        {"solver": flow.solver, "error": flow.error, "T": T} | slopes,
    )


def _distances(flow, net):
    times = flow.data.time.values
    own = net.flow(times[-1], times=times)
    gaps = [flow.weights_at(b, frozen) - own.weights_at(b, frozen) for b, frozen in enumerate(net.frozen)]
    return {
        "sup": max(np.abs(g).max() for g in gaps),
        "rms": max(np.sqrt((g**2).mean(axis=(1, 2))).max() for g in gaps),
        "output": np.abs(flow.data.output.values - own.data.output.values).max(),
    }


def slope_in_width(widths: Sequence[int], distances: np.ndarray) -> float:
    """The slope of the logarithm of the root mean square over seeds in ln n; NaN for a single width."""
    if len(set(widths)) < 2:
        return float("nan")
    return float(np.polyfit(np.log(widths), np.log((distances**2).mean(axis=1)) / 2, 1)[0])
