"""How far gradient descent runs from the gradient flow it discretises: two runs of one setting, and the gap in loss."""

import numpy as np
import xarray as xr

from saddlescope.errors import require
from saddlescope.optimisers import GradientDescent, GradientFlow
from saddlescope.training.driver import train


def flow_gap(setting, rtol=1e-9, atol=1e-14) -> xr.Dataset:
    """Losses of descent and of the flow at the same steps, and `gap`, the largest difference over the run.

    Where one of the two stops being finite before the other, the gap is infinite.
    """
    o = setting.optimiser
    plain = isinstance(o, GradientDescent) and o.momentum is None and o.clip is None and setting.batch is None
    require(plain, "The flow is the limit of full-batch descent without momentum or clipping.")
    flow = setting.replace(optimiser=GradientFlow(setting.optimiser.lr, rtol, atol))
    descent, limit = (train(s, quiet=True)["loss"] for s in (setting, flow))
    gap = np.max(np.abs(descent.values - limit.values)) if descent.size == limit.size else np.inf  # one diverged
    return xr.Dataset({"descent": descent.rename(step="descent_step"), "flow": limit, "gap": gap})
