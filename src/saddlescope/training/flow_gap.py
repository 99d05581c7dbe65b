"""How far gradient descent runs from the gradient flow it discretises: two runs of one setting, and the gap in loss."""

import equinox as eqx
import numpy as np
import xarray as xr

from saddlescope.optimisers import GradientDescent, GradientFlow
from saddlescope.refusal import refuse_unless
from saddlescope.training.driver import train


def flow_gap(setting, rtol=1e-9, atol=1e-14) -> xr.Dataset:
    """Losses of descent and of the flow at the same steps, and `gap`, the largest difference over the run."""
    plain = isinstance(setting.optimiser, GradientDescent) and setting.optimiser.momentum is None
    refuse_unless(plain and setting.batch is None, "The flow is the limit of full-batch descent without momentum.")
    flow = eqx.tree_at(lambda s: s.optimiser, setting, GradientFlow(setting.optimiser.lr, rtol, atol))
    descent, limit = (train(s, quiet=True)["loss"] for s in (setting, flow))
    return xr.Dataset({"descent": descent, "flow": limit, "gap": np.abs(descent - limit).max()})
