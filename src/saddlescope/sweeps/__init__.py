"""A grid of settings in, one labelled dataset out."""

from itertools import product

import xarray as xr

from saddlescope.results import collect
from saddlescope.sweeps.execute import execute
from saddlescope.training import train

__all__ = ["execute", "grid", "sweep"]


def grid(**axes) -> list[dict]:
    """All combinations, the last axis running fastest: grid(lr=(0.1, 0.01), seed=range(3))."""
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


def sweep(setting, points, observe=(), save_at=None, workers=1, quiet=False) -> xr.Dataset:
    """Train `setting(**point)` for every point; one dataset with a dimension `run`."""
    jobs = [(setting(**point), tuple(observe), save_at) for point in points]
    return collect(execute(train_quietly, jobs, workers, quiet), points)


def train_quietly(setting, observe, save_at):
    return train(setting, observe, save_at, quiet=True)
