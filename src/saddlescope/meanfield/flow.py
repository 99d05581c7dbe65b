"""A flow, of the limit or of a finite net, as labelled arrays."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import xarray as xr

from saddlescope.errors import InvalidInput, require
from saddlescope.meanfield.measure import Measure, as_rows
from saddlescope.numerics import reproducible

SUFFIXES = (".png", ".pdf", ".svg")
CLIMB = 0.01  # of the largest loss
GRID = 201  # inputs between the points, for figures


class Neurons(NamedTuple):
    """Neurons of one block, and the law of their trained weights at the start.

    **Arguments:**

    - `frozen`: (L, b), neuron × (input + 1).
    - `start`: w⁰ without its noise, neuron × output.
    - `std`: the deviation of the noise; 0 in a net, whose noise is drawn.
    """

    frozen: np.ndarray
    start: np.ndarray
    std: float


class Solution(Protocol):
    """What a solver knows between and beyond the points of the data."""

    def weights_at(self, block: int, frozen: np.ndarray) -> np.ndarray:
        """w(t) − w(0) of neurons with these frozen weights, time × neuron × output."""
        ...

    def channels_at(self, x: np.ndarray) -> tuple[np.ndarray, ...]:
        """The outputs of every block at inputs x, time × point × output."""
        ...

    def neurons(self, block: int, count: int) -> Neurons:
        """About `count` neurons of a block, evenly spread over its law; a net has its own."""
        ...


@dataclass(frozen=True)
class Flow:
    """A solution at its saved times.

    **Arguments:**

    - `data`: an xarray dataset: loss(time), output(time, point, output), channels(time, block, point, channel),
      signal(time, block, point, channel), B(time, point, output, channel) = ∂ŷ/∂f¹ and Gamma(time, point, channel),
      with the points' x, y and weight. Its attributes name the solver, its error, its steps and the share of the time
      on the shortest step.
    - `solution`: what answers for other neurons and other inputs.
    - `title`: what it is the flow of.
    """

    data: xr.Dataset
    solution: Solution
    title: str

    @reproducible()
    def weights_at(self, block: int, frozen: np.ndarray) -> np.ndarray:
        """w(t) − w(0) of neurons of a block (0 is the first) with these frozen weights, time × neuron × output."""
        self._check_block(block)
        frozen, wide = as_rows(frozen, "frozen weights"), self.data.sizes["channel" if block else "input"] + 1
        require(
            frozen.shape[1] == wide,
            f"Neurons of block {block} have {wide} frozen weights, the bias last; got {frozen.shape[1]}.",
        )
        return self.solution.weights_at(block, frozen)

    @reproducible()
    def channels_at(self, x) -> xr.Dataset:
        """Channels and outputs at any inputs: channels(time, block, point, channel), output(time, point, output)."""
        x = as_rows(x, "inputs")
        inputs = self.data.sizes["input"]
        require(x.shape[1] == inputs, f"Inputs of this flow have {inputs} coordinates; got {x.shape[1]}.")
        of_blocks = self.solution.channels_at(x)
        arrays = _arrays_of_channels(of_blocks) | {"x": (("point", "input"), x)}
        return xr.Dataset(arrays, {"time": self.data.time, "block": self.data.block})

    def density(
        self,
        block: int,
        channel: int = 0,
        time: float | None = None,
        at: np.ndarray | None = None,
        count: int = 4096,
    ) -> xr.DataArray:
        """The density of one channel's trained weights in a block (0 is the first) at a saved time.

        **Arguments:**

        - `block`, `channel`: whose weights.
        - `time`: the saved time nearest to this; the last by default.
        - `at`: where the density is evaluated; 201 places over its support by default.
        - `count`: neurons, evenly spread over the law, whose mixture of Gaussian densities it is.
        """
        from saddlescope.meanfield.density import density_of

        self._check_block(block)
        return density_of(self, block, channel, time, at, count)

    def _check_block(self, block):
        blocks = self.data.sizes["block"] + 1
        require(block in range(blocks), f"This flow has blocks 0 to {blocks - 1}; got {block!r}.")

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

    def draw(self, path: str | Path | None = None):
        """Draw loss, outputs and channels; into a .png, .pdf or .svg file where a path is given."""
        from saddlescope.figures.meanfield import draw_flow

        named = path is None or isinstance(path, str | Path)
        require(named, f"A figure goes into a .png, .pdf or .svg file; got {path!r}.")
        known = path is None or Path(path).suffix.lower() in SUFFIXES
        require(known, f"A figure is .png, .pdf or .svg; got {Path(path or '').name!r}.")
        return draw_flow(self.data, self.title, self.between(), path)

    def between(self):
        """Channels and outputs on a fine grid of a one-dimensional input; None for more inputs."""
        x = self.data.x.values
        if x.shape[1] > 1 or np.ptp(x) == 0:
            return None
        margin = 0.1 * np.ptp(x)
        try:
            return self.channels_at(np.linspace(x.min() - margin, x.max() + margin, GRID))
        except InvalidInput:  # a uniform law knows its kernel within [−1, 1] alone
            return self.channels_at(np.linspace(x.min(), x.max(), GRID))

    def __str__(self):
        loss, a = self.loss.values, self.data.attrs
        floor = f", {a['on_floor']:.0%} of the time on the shortest step" if a["on_floor"] else ""
        return (
            f"{self.title}: loss {loss[0]:.4g} at time 0, {loss[-1]:.4g} at time {float(self.data.time[-1]):g}\n"
            f"solver {a['solver']}, error {a['error']:.1e}, {a['steps']} steps{floor}"
            + (f"\n{a['note']}" if a.get("note") else "")
        )


def labelled(measure: Measure, times, records, attributes) -> xr.Dataset:
    """The dataset of a flow from one record per time: loss, channels, signals, B and Γ.

    **Arguments:**

    - `measure`: the data.
    - `times`: the saved times.
    - `records`: one (loss, channels, signals, B, Γ) per time; channels and signals have one array per block.
    - `attributes`: of the dataset.
    """
    losses, channels, signals, slopes, gammas = zip(*records, strict=True)
    _check_falls(np.array(losses), attributes["on_floor"])
    hidden = len(channels[0]) - 1
    of_signals = [np.stack([s[i] for s in signals]) for i in range(hidden + 1)]
    arrays = {
        "loss": ("time", np.array(losses)),
        **_arrays_of_channels([np.stack([c[i] for c in channels]) for i in range(hidden + 1)]),
        "signal": _arrays_of_channels(of_signals)["channels"],
        "Gamma": (("time", "point", "channel" if hidden else "output"), np.stack(gammas)),
        "x": (("point", "input"), measure.x),
        "y": (("point", "output"), measure.y),
        "weight": ("point", measure.weights),
    }
    if hidden:
        arrays["B"] = (("time", "point", "output", "channel"), np.stack(slopes))
    return xr.Dataset(arrays, {"time": np.asarray(times), "block": np.arange(1, hidden + 1)}, attributes)


def _check_falls(losses, on_floor):
    """A gradient flow never climbs; on steps that are too long for it, it does."""
    rise = np.diff(losses).max(initial=0.0)
    require(
        np.isfinite(losses).all() and (on_floor == 0 or rise <= CLIMB * losses.max()),
        f"The shortest step is too long for this flow: its loss rises by {rise:.2g}. Give a smaller `floor`.",
    )


def _arrays_of_channels(blocks):
    """Outputs of every block, time × point × output, as the arrays `channels` and `output`."""
    *hidden, output = blocks
    empty = np.empty((*output.shape[:2], 0))[:, None][:, :0]
    channels = np.stack(hidden, axis=1) if hidden else empty
    return {
        "output": (("time", "point", "output"), output),
        "channels": (("time", "block", "point", "channel"), channels),
    }
