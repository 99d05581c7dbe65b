"""A finite net drawn from the laws of a limit: its flow, and its descent by steps."""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.errors import require
from saddlescope.meanfield.by_nodes import attributes_of, records_of
from saddlescope.meanfield.flow import Flow, labelled
from saddlescope.meanfield.laws.features import with_one
from saddlescope.meanfield.limit import Limit
from saddlescope.meanfield.node_solver import solve_nodes
from saddlescope.meanfield.nodes import Nodes, NodeSystem, State
from saddlescope.numerics import reproducible
from saddlescope.serialization.part import as_int


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
        width = as_int(width)
        require(type(width) is int and width > 0, f"`width` must be a positive whole number; got {width!r}.")
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
    def flow(self, T: float, times: np.ndarray | int = 101, rtol: float = 1e-9, floor: float | None = None) -> Flow:
        """Follow the net's gradient flow to time T; arguments as in `flow_of_limit`."""
        from saddlescope.meanfield.solve import FLOOR, check_schedules, checked_times

        times = checked_times(T, times)
        check_schedules(self.limit.schedules, times)
        system, start = self.system()
        solved = solve_nodes(system, start, times, rtol, FLOOR * T * self.limit.kinked if floor is None else floor)
        data = labelled(
            self.limit.measure,
            times,
            records_of(system, solved),
            attributes_of(self.limit, solved, "net", rtol) | {"width": self.width},
        )
        own = self.features(self.limit.measure.x).T

        def weights_at(block, frozen):
            require(
                frozen is self.frozen[block], "A finite net has the weights of its own neurons alone: pass net.frozen."
            )
            if block == 0:
                return np.stack([-own @ g for g in solved.states[0]])
            return solved.states[1][block - 1] - self.start[block]

        return Flow(data, weights_at, f"net of width {self.width}, rank {self.limit.rank}")

    @reproducible()
    def descend(self, T: float, step: float, seed: int | None = None) -> State:
        """Gradient descent by steps of this length to time T; with a seed, on one random point per step.

        Returns Γ and the weights of the blocks above the first.
        """
        require(0 < step <= T, f"`step` must lie between 0 and T = {T:g}; got {step:g}.")
        system, start = self.system()
        steps, points = round(T / step), jnp.zeros(0, int)
        if seed is not None:
            drawn = np.random.default_rng(seed).choice(len(system.targets), steps, p=self.limit.measure.weights)
            longer = 1 << (steps - 1).bit_length()  # one compilation for all lengths up to a power of two
            points = jnp.asarray(np.pad(drawn, (0, longer - steps)))
        return jax.tree.map(np.asarray, _descend(system, start, jnp.asarray(step), points, jnp.asarray(steps)))


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
