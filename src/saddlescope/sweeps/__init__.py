"""Many runs: a grid of settings in, one labelled dataset out. A finished run is never lost."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from saddlescope.sweeps.axes import grid, product, zipped
    from saddlescope.sweeps.folder import Folder
    from saddlescope.sweeps.job import Job, MeasureJob, PredictJob, TrainJob
    from saddlescope.sweeps.plan import Plan
    from saddlescope.sweeps.pool import Workers
    from saddlescope.sweeps.running import make_executor, run_plan, sweep
    from saddlescope.sweeps.where import filter_points

# Imported when first used: listing or verifying a folder does not wait for JAX.
_HOMES = {
    "axes": ("grid", "product", "zipped"),
    "folder": ("Folder",),
    "job": ("Job", "MeasureJob", "PredictJob", "TrainJob"),
    "plan": ("Plan",),
    "pool": ("Workers",),
    "running": ("make_executor", "run_plan", "sweep"),
    "where": ("filter_points",),
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names}
__all__ = [
    "Folder",
    "Job",
    "MeasureJob",
    "Plan",
    "PredictJob",
    "TrainJob",
    "Workers",
    "filter_points",
    "grid",
    "make_executor",
    "product",
    "run_plan",
    "sweep",
    "zipped",
]


def __getattr__(name):
    if name not in _MODULES:
        raise AttributeError(f"module 'saddlescope.sweeps' has no attribute {name!r}")
    return getattr(import_module(f"saddlescope.sweeps.{_MODULES[name]}"), name)
