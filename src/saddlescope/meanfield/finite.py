"""A finite net drawn from the laws of a limit: its flow, and its descent by steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.errors import number_of, require
from saddlescope.meanfield.by_nodes import attributes_of, channels_of, records_of
from saddlescope.meanfield.flow import Flow, Neurons, labelled
from saddlescope.meanfield.laws.features import with_one
from saddlescope.meanfield.limit import Limit
from saddlescope.meanfield.marching import NodeFlow
from saddlescope.meanfield.node_solver import solve_nodes
from saddlescope.meanfield.nodes import Nodes, NodeSystem, State
from saddlescope.meanfield.numbers import is_number, whole_number
from saddlescope.meanfield.request import checked_request
from saddlescope.meanfield.step_length import COARSER
from saddlescope.numerics import reproducible

MOST_SEED = 2**63


@dataclass(frozen=True)
class FiniteNet:
    """A net of finite width: its frozen weights, and its trained ones at the start.

    **Arguments:**

    - `limit`: whose laws it is drawn from.
    - `frozen`: (L, b) of every block, neuron × (input + 1).
    - `start`: w of every block at the start, neuron × output.
    """

    limit: Limit
    frozen: tuple[np.ndarray, ...]
    start: tuple[np.ndarray, ...]

    @staticmethod
    @reproducible()
    def draw(limit: Limit, width: int, seed: int) -> "FiniteNet":
        """Draw every block with this width. A wider net of the same seed shares no neurons with it."""
        width, seed = whole_number(width, "width"), whole_number(seed, "seed", 0, MOST_SEED)
        rng = np.random.default_rng((seed, width))
        frozen = [limit.features.draw(rng, width, limit.measure.inputs)]
        frozen += [limit.mixing.draw(rng, width, limit.rank) for _ in range(limit.depth)]
        blocks = zip(limit.starts, frozen, limit.widths, strict=True)
        start = tuple(law.draw(rng, f, outputs, limit.activation) for law, f, outputs in blocks)
        return FiniteNet(limit, tuple(frozen), start)

    @property
    def width(self) -> int:
        """Neurons per block."""
        return len(self.frozen[0])

    @reproducible()
    def features(self, x: np.ndarray) -> np.ndarray:
        """φ(L·x + b) of the first block, point × neuron."""
        return np.asarray(self.limit.activation(with_one(x) @ self.frozen[0].T))

    def system(self) -> tuple[NodeSystem, State]:
        """The net's own equations: n times its gradient, exactly."""
        limit, features = self.limit, self.features(self.limit.measure.x)
        first = features @ self.start[0] / self.width
        equal = jnp.full(self.width, 1 / self.width)
        system = NodeSystem(
            jnp.asarray(limit.measure.weights),
            jnp.asarray(limit.measure.y),
            jnp.asarray(features @ features.T / self.width),
            jnp.asarray(first),
            tuple(Nodes(jnp.asarray(f), equal) for f in self.frozen[1:]),
            limit.activation,
            limit.residual,
            limit.schedules,
        )
        return system, (jnp.zeros(first.shape), tuple(map(jnp.asarray, self.start[1:])))

    @reproducible()
    def flow(
        self,
        T: float,
        times: np.ndarray | Sequence[float] | int = 101,
        rtol: float = 1e-9,
        floor: float | None = None,
        implicit: bool = False,
    ) -> Flow:
        """Follow the net's gradient flow to time T; arguments as in `flow_of_limit`."""
        times, floor = checked_request(self.limit, T, times, rtol, floor)
        system, start = self.system()
        solved = solve_nodes(system, start, times, rtol, floor, implicit)
        records = records_of(system, solved)
        rough = solve_nodes(system, start, times, min(COARSER * rtol, 0.1), floor, implicit)
        outputs = channels_of(system, rough, np.asarray(system.first), np.asarray(system.kernel))[-1]
        error = max(rtol, _error(records, outputs, times, floor * (solved.on_floor > 0)))
        attributes = attributes_of(solved, "net", error)
        data = labelled(self.limit.measure, times, records, attributes | {"width": self.width})
        title = f"net of width {self.width}, rank {self.limit.rank}, {number_of(len(self.frozen), 'block')}"
        return Flow(data, NetSolution(self, system, solved), title)

    @reproducible()
    def descend(self, T: float, step: float, seed: int | None = None) -> State:
        """Gradient descent by steps of this length to time T; with a seed, on one random point per step.

        Returns Γ and the weights of the blocks above the first.
        """
        require(is_number(T) and T > 0, f"T must be a positive time; got {T!r}.")
        require(is_number(step) and 0 < step <= T, f"`step` must lie between 0 and T = {T:g}; got {step!r}.")
        system, start = self.system()
        steps, points = round(T / step), jnp.zeros(0, int)
        if seed is not None:
            rng = np.random.default_rng(whole_number(seed, "seed", 0, MOST_SEED))
            drawn = rng.choice(len(system.targets), steps, p=self.limit.measure.weights)
            longer = 1 << (steps - 1).bit_length()  # one compilation for all lengths up to a power of two
            points = jnp.asarray(np.pad(drawn, (0, longer - steps)))
        found = jax.tree.map(np.asarray, _descend(system, start, jnp.asarray(step), points, jnp.asarray(steps)))
        finite = all(np.isfinite(a).all() for a in jax.tree.leaves(found))
        require(finite, f"Steps of length {step:g} diverge: take shorter ones.")
        return found


def _error(records, rough, times, floor):
    """The difference to larger steps; where the flow was on its shortest step, what outputs move in such a step."""
    outputs = np.stack([r[1][-1] for r in records])
    speed = np.abs(np.diff(outputs, axis=0) / np.diff(times)[:, None, None]).max()
    return max(np.abs(outputs - rough).max(), floor * speed)


class NetSolution(NamedTuple):
    """A finite net's flow at its own neurons and at any input.

    **Arguments:**

    - `net`: whose flow it is.
    - `system`, `solved`: the equations and the flow.
    """

    net: FiniteNet
    system: NodeSystem
    solved: NodeFlow

    def weights_at(self, block, frozen):
        """w(t) − w(0); see `Flow`."""
        require(
            frozen is self.net.frozen[block], "A finite net has the weights of its own neurons alone: pass net.frozen."
        )
        if block:
            return self.solved.states[1][block - 1] - self.net.start[block]
        features = self.net.features(self.net.limit.measure.x)
        return np.stack([-features.T @ g for g in self.solved.states[0]])

    def channels_at(self, x):
        """The outputs of every block; see `Flow`."""
        net, features = self.net, self.net.features(x)
        kernel = features @ net.features(net.limit.measure.x).T / net.width
        return channels_of(self.system, self.solved, features @ net.start[0] / net.width, kernel)

    def neurons(self, block, count) -> Neurons:
        """The net's own neurons; see `Flow`."""
        return Neurons(self.net.frozen[block], self.net.start[block], 0.0)


@eqx.filter_jit
def _descend(system, state, step, points, steps):
    """Steps on all points; on one of them each, where `points` are given."""

    def one(i, state):
        here = system
        if len(points):
            alone = jnp.zeros_like(system.probabilities).at[points[i]].set(1.0)
            here = eqx.tree_at(lambda s: s.probabilities, system, alone)
        return jax.tree.map(lambda s, v: s + step * v, state, here.velocity(i * step, state))

    return jax.lax.fori_loop(0, steps, one, state)
