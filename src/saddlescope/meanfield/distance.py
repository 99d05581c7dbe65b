"""How far finite nets are from the limit: every net beside the limit at its own neurons."""

from collections.abc import Iterable, Sequence

import numpy as np
import xarray as xr

from saddlescope.errors import require
from saddlescope.meanfield.finite import FiniteNet
from saddlescope.meanfield.flow import Flow
from saddlescope.meanfield.limit import Limit
from saddlescope.meanfield.marching import march_systems
from saddlescope.meanfield.node_solver import solve_nodes
from saddlescope.meanfield.nodes import State
from saddlescope.meanfield.numbers import whole_number
from saddlescope.meanfield.request import least_step
from saddlescope.numerics import reproducible

NAMES = ("sup", "rms", "output")
RTOL = 1e-7  # of a net's steps: far below the distances, which are about 1/√n


@reproducible()
def distances_to_limit(limit: Limit, widths: Sequence[int], seeds: Sequence[int], T: float, **options) -> xr.Dataset:
    """Distances between nets and the limit, D_T of the meanfield paper and its root mean square.

    The limit is evaluated at each net's own draws (exact coupling), so that nets are independent of each other and no
    wide reference net is needed. Nets of one width are followed side by side.

    `sup` is the largest difference of a weight over times and neurons, `rms` the largest root mean square over neurons,
    `output` the largest difference of an output. Attributes have the slope of each in the width: −1/2 in theory.

    **Arguments:**

    - `limit`: of a start that moves.
    - `widths`: of the nets.
    - `seeds`: of the nets, at each width.
    - `T`: the end of the flow.
    - `options`: of `flow_of_limit`; `times` are those of the maximum.
    """
    widths, seeds = _listed(widths, "widths"), _listed(seeds, "seeds")
    require(
        not limit.note,
        "The start is a stationary point of the limit, so that the distance measures noise alone: give the start law "
        "a mean or slope.",
    )
    flow = limit.flow(T, **{"times": 21, **options})
    found = [_of_width(flow, limit, width, seeds) for width in widths]
    arrays = {name: (("width", "seed"), np.array([[net[name] for net in row] for row in found])) for name in NAMES}
    slopes = {f"slope_{name}": slope_in_width(widths, values) for name, (_, values) in arrays.items()}
    return xr.Dataset(
        arrays,
        {"width": widths, "seed": seeds},
        {"solver": flow.solver, "error": flow.error, "T": T} | slopes,
    )


def _listed(given, name) -> list[int]:
    several = isinstance(given, Iterable) and not isinstance(given, str)
    require(several, f"`{name}` must be several whole numbers, such as [64, 256]; got {given!r}.")
    found = [whole_number(one, name[:-1], int(name == "widths")) for one in given]
    require(len(found) > 0, "The distance needs one width and one seed, or more.")
    return found


def slope_in_width(widths: Sequence[int], distances: np.ndarray) -> float:
    """The slope of the logarithm of the root mean square over seeds in ln n; NaN for a single width."""
    if len(set(widths)) < 2:
        return float("nan")
    return float(np.polyfit(np.log(widths), np.log((distances**2).mean(axis=1)) / 2, 1)[0])


def _of_width(flow, limit, width, seeds):
    nets = [limit.net(width, seed) for seed in seeds]
    states = follow_nets(nets, flow.data.time.values)
    return [
        {name: values.max() for name, values in gaps_over_time(flow, net, state).items()}
        for net, state in zip(nets, states, strict=True)
    ]


def follow_nets(nets: Sequence[FiniteNet], times: np.ndarray) -> list[State]:
    """Γ and weights of nets of one width at these times, one state per net with the time as first axis.

    Nets of a smooth activation are followed side by side. A kink shortens the steps of one net, not those of all.
    """
    limit = nets[0].limit
    if limit.kinked:
        floor = least_step(times[-1])
        return [solve_nodes(*net.system(), times, RTOL, floor).states for net in nets]
    gammas, weights = march_systems([net.system() for net in nets], times, RTOL, 0.0).states
    return [(gammas[i], tuple(w[i] for w in weights)) for i in range(len(nets))]


def gaps_over_time(flow: Flow, net: FiniteNet, state: State) -> dict[str, np.ndarray]:
    """The net's distance from the limit at every saved time of the flow.

    `sup` is the largest over neurons and channels, `rms` the root mean square of the worst block, `output` the largest
    over points, `loss` the difference of the losses.
    """
    moved = weights_of(net, state)
    gaps = [flow.weights_at(b, frozen) - w for b, (frozen, w) in enumerate(zip(net.frozen, moved, strict=True))]
    outputs = outputs_of(net, state)
    measure, residual = net.limit.measure, net.limit.residual
    losses = residual.value(outputs - measure.y).sum(axis=2) @ measure.weights
    return {
        "sup": np.max([np.abs(g).max(axis=(1, 2)) for g in gaps], axis=0),
        "rms": np.max([np.sqrt((g**2).mean(axis=(1, 2))) for g in gaps], axis=0),
        "output": np.abs(flow.data.output.values - outputs).max(axis=(1, 2)),
        "loss": np.abs(flow.loss.values - losses),
    }


def weights_of(net: FiniteNet, state: State) -> list[np.ndarray]:
    """w(t) − w(0) of every block, time × neuron × output."""
    own = net.features(net.limit.measure.x).T
    return [-own @ state[0], *(np.asarray(w) - start for w, start in zip(state[1], net.start[1:], strict=True))]


def channels_of(net: FiniteNet, state: State) -> np.ndarray:
    """f¹ of a net at its points, time × point × channel."""
    features = net.features(net.limit.measure.x)
    return features @ (net.start[0] - features.T @ state[0]) / net.width


def outputs_of(net: FiniteNet, state: State) -> np.ndarray:
    """ŷ of a net at its points, time × point × output."""
    f = channels_of(net, state)
    for frozen, w in zip(net.frozen[1:], state[1], strict=True):
        f = np.asarray(net.limit.activation(f @ frozen[:, :-1].T + frozen[:, -1])) @ w / net.width
    return f
