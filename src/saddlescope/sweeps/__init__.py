"""Many runs: a grid of settings in, one labelled dataset out, and nothing that was finished is ever lost."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from saddlescope.sweeps.axes import crossed, grid, zipped
    from saddlescope.sweeps.folder import Folder
    from saddlescope.sweeps.job import Job, Measuring, Predicting, Training
    from saddlescope.sweeps.plan import Plan
    from saddlescope.sweeps.pool import Workers
    from saddlescope.sweeps.running import carry_out, crew, sweep
    from saddlescope.sweeps.where import only

# Imported when first used: to list or verify a folder, nobody waits for JAX.
HOMES = {
    "crossed": "axes", "grid": "axes", "zipped": "axes", "carry_out": "running", "crew": "running",
    "sweep": "running", "Folder": "folder", "Job": "job", "Measuring": "job", "Predicting": "job", "Training": "job",
    "Plan": "plan", "Workers": "pool", "only": "where",
}  # fmt: skip
__all__ = [
    "Folder", "Job", "Measuring", "Plan", "Predicting", "Training", "Workers", "carry_out", "crew", "crossed", "grid",
    "only", "sweep", "zipped",
]  # fmt: skip


def __getattr__(name):
    if name not in HOMES:
        raise AttributeError(f"module 'saddlescope.sweeps' has no attribute {name!r}")
    return getattr(import_module(f"saddlescope.sweeps.{HOMES[name]}"), name)
