"""Many runs: a grid of settings in, one labelled dataset out, and nothing that was finished is ever lost."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from saddlescope.sweeps.axes import crossed, grid, zipped
    from saddlescope.sweeps.folder import Folder
    from saddlescope.sweeps.job import Job, MeasureJob, PredictJob, TrainJob
    from saddlescope.sweeps.plan import Plan
    from saddlescope.sweeps.pool import Workers
    from saddlescope.sweeps.running import make_executor, run_plan, sweep
    from saddlescope.sweeps.where import only

# Imported when first used: to list or verify a folder, nobody waits for JAX.
HOMES = {
    "crossed": "axes", "grid": "axes", "zipped": "axes", "run_plan": "running", "make_executor": "running",
    "sweep": "running", "Folder": "folder", "Job": "job", "MeasureJob": "job", "PredictJob": "job", "TrainJob": "job",
    "Plan": "plan", "Workers": "pool", "only": "where",
}  # fmt: skip
__all__ = [
    "Folder",
    "Job",
    "MeasureJob",
    "Plan",
    "PredictJob",
    "TrainJob",
    "Workers",
    "crossed",
    "grid",
    "make_executor",
    "only",
    "run_plan",
    "sweep",
    "zipped",
]  # fmt: skip


def __getattr__(name):
    if name not in HOMES:
        raise AttributeError(f"module 'saddlescope.sweeps' has no attribute {name!r}")
    return getattr(import_module(f"saddlescope.sweeps.{HOMES[name]}"), name)
