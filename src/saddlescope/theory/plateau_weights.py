"""The weights that a run had on a plateau: where conditional predictions start from."""

import numpy as np
import xarray as xr

from saddlescope.errors import require
from saddlescope.nets.net import Params
from saddlescope.results import Run
from saddlescope.stages import Plateau


def saved_weights(run: Run | xr.Dataset, plateau: Plateau) -> tuple[int, Params] | None:
    """The step and weights saved on a plateau where it is flattest; None where none were saved."""
    times = run["saved_step"].values
    on = np.flatnonzero((times >= plateau.start) & (times <= plateau.end))
    if not on.size:
        return None
    i = on[np.argmin(np.abs(times[on] - plateau.at))]
    params = {name: np.asarray(run[f"param_{name}"].values[i], float) for name in ("u", "v")}
    finite = all(np.isfinite(w).all() for w in params.values())
    require(finite, f"The weights at step {int(times[i])} are not numbers: this run diverged.")
    return int(times[i]), params


def middle_weights(run, plateaus: int | None = 1) -> list[tuple[int, Params]]:
    """The same of the first plateaus between two drops: so many of them, or all for None."""
    require(
        {"param_u", "param_v", "saved_step"} <= {*run.measured.variables},
        "This prediction starts from saved weights: observe `Parameters()` at `save_at=every(…)`.",
    )
    found = [saved_weights(run, plateau) for plateau in run.stages.plateaus[1:-1][:plateaus]]
    return [one for one in found if one is not None]
