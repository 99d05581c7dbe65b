"""Whether a run fits into memory, before anything is allocated."""

from typing import TYPE_CHECKING

import jax
import numpy as np

from saddlescope.errors import require
from saddlescope.numerics import memory_of_machine

if TYPE_CHECKING:
    from saddlescope.setting import Setting

DOUBLE = 8  # bytes: parameters and data are drawn in double precision
CERTAIN = 20  # what is drawn fits as many times: whatever an optimiser keeps, the run fits too


def refuse_too_large(setting: "Setting"):
    """Refuse a run that needs more than the memory of this machine."""
    task, there = setting.task, memory_of_machine()
    rows = task.inputs if task.size is None else task.size
    data = rows * (task.inputs + task.outputs)
    count = setting.net.parameter_count(task.inputs, task.outputs) or 0  # 0: the net does not say
    if CERTAIN * DOUBLE * (data + count) < there:
        return
    needed = DOUBLE * (data + count) + count * _bytes_trained(setting)
    require(
        needed <= there,
        f"This run needs at least {needed / 1e9:,.0f} GB for weights, optimiser and data, but this machine has "
        f"{there / 1e9:,.0f} GB: use a narrower net or fewer samples.",
    )


def _bytes_trained(setting) -> int:
    """Bytes per parameter: its value and its gradient in the run's precision, and what the optimiser keeps."""
    like = jax.ShapeDtypeStruct((), np.dtype(setting.precision))
    kept = jax.tree.leaves(jax.eval_shape(setting.optimiser.transform().init, like))
    return (2 + len(kept)) * like.dtype.itemsize
