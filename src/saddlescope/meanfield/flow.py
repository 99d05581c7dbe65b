"""A flow, of the limit or of a finite net, as labelled arrays."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import xarray as xr

from saddlescope.numerics import reproducible


@dataclass(frozen=True)
class Flow:
    """A solution at its saved times.

    **Arguments:**

    - `data`: an xarray dataset: loss(time), output(time, point, output), channels(time, block, point, channel),
      signal(time, block, point, channel), B(time, point, output, channel) = ∂ŷ/∂f¹ and Gamma(time, point, channel),
      with the points' x, y and weight. Its attributes name the solver, its error, its steps and the share of the time
      on the shortest step.
    - `weights`: the function behind `weights_at`.
    - `title`: what it is the flow of.
    """

    data: xr.Dataset
    weights: Callable[[int, np.ndarray], np.ndarray]
    title: str

    @reproducible()
    def weights_at(self, block: int, frozen: np.ndarray) -> np.ndarray:
        """w(t) − w(0) of neurons of a block (0 is the first) with these frozen weights, time × neuron × output."""
        return self.weights(block, frozen)

    @property
    def loss(self) -> xr.DataArray:
        """The loss at every saved time."""
        return self.data["loss"]

    @property
    def error(self) -> float:
        """The largest error of the outputs, as estimated by the solver."""
        return float(self.data.attrs["error"])

    @property
    def solver(self) -> str:
        """memory, quadrature, particles or net."""
        return self.data.attrs["solver"]

    def draw(self, path=None):
        """Draw loss, outputs and channels; into a file where a path is given."""
        from saddlescope.figures.meanfield import draw_flow

        return draw_flow(self, path)

    def __str__(self):
        loss, a = self.loss.values, self.data.attrs
        floor = f", {a['on_floor']:.0%} of the time on the shortest step" if a["on_floor"] else ""
        return (
            f"{self.title}: loss {loss[0]:.4g} at time 0, {loss[-1]:.4g} at time {float(self.data.time[-1]):g}\n"
            f"solver {a['solver']}, error {a['error']:.1e}, {a['steps']} steps{floor}"
            + (f"\n{a['note']}" if a.get("note") else "")
        )


def labelled(measure, times, records, attributes) -> xr.Dataset:
    """The dataset of a flow from one record per time: loss, channels, signals, B and Γ.

    **Arguments:**

    - `measure`: the data.
    - `times`: the saved times.
    - `records`: one (loss, channels, signals, B, Γ) per time; channels and signals have one array per block.
    - `attributes`: of the dataset.
    """
    losses, channels, signals, slopes, gammas = zip(*records, strict=True)
    hidden = len(channels[0]) - 1
    output = np.stack([c[-1] for c in channels])

    def stacked(series):
        blocks = [np.stack([s[i] for s in series]) for i in range(hidden)]
        return np.stack(blocks, axis=1) if hidden else np.empty((len(times), 0, len(measure.x), 0))

    of_channels = ("time", "block", "point", "channel")
    arrays = {
        "loss": ("time", np.array(losses)),
        "output": (("time", "point", "output"), output),
        "channels": (of_channels, stacked(channels)),
        "signal": (of_channels, stacked(signals)),
        "B": (("time", "point", "output", "channel"), np.stack(slopes)) if hidden else None,
        "Gamma": (("time", "point", "channel" if hidden else "output"), np.stack(gammas)),
        "x": (("point", "input"), measure.x),
        "y": (("point", "output"), measure.y),
        "weight": ("point", measure.weights),
    }
    kept = {name: value for name, value in arrays.items() if value is not None}
    return xr.Dataset(kept, {"time": np.asarray(times), "block": np.arange(1, hidden + 1)}, attributes)
