"""The density of trained weights: that of the start, carried along by the flow.

w(t) = w⁰(c) + u(t, L_c) + noise, with the same noise as at the start. So the density is a mixture over neurons c of
Gaussian densities, exact in the noise; neurons are spread evenly over the law of L by a Sobol sequence.
"""

import numpy as np
import xarray as xr

from saddlescope.errors import require
from saddlescope.meanfield.measure import as_rows
from saddlescope.meanfield.numbers import is_number, whole_number

PLACES, BINS, MARGIN = 201, 60, 4.0
CHUNK = 512  # neurons whose densities are held at once


def density_of(flow, block: int, channel: int, time: float | None, at: np.ndarray | None, count: int) -> xr.DataArray:
    """The density of a channel's weights; arguments as in `Flow.density`."""
    count = whole_number(count, "count")
    frozen, start, std = flow.solution.neurons(block, count)
    require(channel in range(start.shape[1]), f"Block {block} has channels 0 to {start.shape[1] - 1}; got {channel!r}.")
    times = flow.data.time.values
    inside = time is None or (is_number(time) and 0 <= time <= times[-1])
    require(inside, f"`time` must lie between 0 and {times[-1]:g}; got {time!r}.")
    at_time = len(times) - 1 if time is None else int(np.abs(times - time).argmin())
    centres = start[:, channel] + flow.weights_at(block, frozen)[at_time, :, channel]
    spread = std > 0 or np.ptp(centres) > 0
    require(spread, f"All weights of this channel are {centres[0]:g}: they have no density.")
    if at is None:
        at = np.linspace(centres.min() - MARGIN * std, centres.max() + MARGIN * std, PLACES)
    at = as_rows(at, "places of a density")[:, 0]
    values = _mixture(centres, std, at) if std > 0 else _histogram(centres, at)
    kind = "mixture of Gaussian densities" if std > 0 else "histogram"
    return xr.DataArray(
        values, {"w": at}, ("w",), "density", {"time": times[at_time], "neurons": len(centres), "kind": kind}
    )


def _mixture(centres, std, at):
    total = np.zeros(len(at))
    for start in range(0, len(centres), CHUNK):
        z = (at[:, None] - centres[start : start + CHUNK]) / std
        total += np.exp(-(z**2) / 2).sum(axis=1)
    return total / (np.sqrt(2 * np.pi) * std * len(centres))


def _histogram(centres, at):
    """Without noise the law may have spikes: the share of neurons per bin, read at the given places."""
    edges = np.linspace(centres.min(), centres.max() + 1e-12, BINS + 1)
    heights, _ = np.histogram(centres, edges, density=True)
    bins = np.searchsorted(edges, at, side="right") - 1
    inside = (bins >= 0) & (bins < BINS)
    return np.where(inside, heights[np.clip(bins, 0, BINS - 1)], 0.0)
