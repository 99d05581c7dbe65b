"""The flow of the limit on nodes: a quadrature rule of the mixing law, or random particles."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.meanfield.flow import Flow, Neurons, labelled
from saddlescope.meanfield.laws.features import with_one
from saddlescope.meanfield.limit import Limit
from saddlescope.meanfield.node_solver import NodeFlow, solve_nodes
from saddlescope.meanfield.nodes import Nodes, NodeSystem, State

COARSER, HIGHER = 100.0, 4.0  # tolerance and floor of the second run that estimates the error


def flow_by_quadrature(limit: Limit, times, rtol, floor, nodes: int = 24, implicit: bool = False) -> Flow:
    """Gauss rules of the mixing law; the error is the difference to a rule of two thirds as many nodes.

    **Arguments:**

    - `limit`, `times`, `rtol`, `floor`, `implicit`: as in `flow_of_limit`.
    - `nodes`: nodes per coordinate of the mixing law.
    """

    def rule(count):
        return [limit.mixing.nodes(limit.rank, count, limit.kinked) for _ in range(limit.depth)]

    return _flow(limit, rule(nodes), rule(max(2 * nodes // 3, 2)), times, (rtol, floor, implicit), "quadrature")


def flow_by_particles(
    limit: Limit, times, rtol, floor, count: int = 4096, seed: int = 0, implicit: bool = False
) -> Flow:
    """Random nodes in mirrored pairs; the error is the difference to half as many.

    **Arguments:**

    - `limit`, `times`, `rtol`, `floor`, `implicit`: as in `flow_of_limit`.
    - `count`: particles per block.
    - `seed`: of the draw.
    """
    rng = np.random.default_rng(seed)
    drawn = [limit.mixing.draw(rng, max(count // 2, 1), limit.rank) for _ in range(limit.depth)]
    all_nodes = [np.concatenate([d, -d]) for d in drawn]  # the mean of L is then exactly 0, as in the law
    half = [np.concatenate([d, -d]) for d in (d[: max(len(d) // 2, 1)] for d in drawn)]
    equal = [[(d, np.full(len(d), 1 / len(d))) for d in nodes] for nodes in (all_nodes, half)]
    return _flow(limit, *equal, times, (rtol, floor, implicit), "particles")


def system_of(limit: Limit, rules) -> tuple[NodeSystem, State]:
    """The equations of the limit on nodes, and its start; `rules` has (nodes, weights) per block."""
    x, widths = limit.measure.x, limit.widths
    first = limit.first_channels(x)
    system = NodeSystem(
        jnp.asarray(limit.measure.weights),
        jnp.asarray(limit.measure.y),
        jnp.asarray(limit.first_kernel(x, x)),
        jnp.asarray(first),
        tuple(Nodes(jnp.asarray(nodes), jnp.asarray(weights)) for nodes, weights in rules),
        limit.activation,
        limit.residual,
        limit.schedules,
    )
    starts = [
        jnp.asarray(start.average(nodes, outputs, limit.activation))
        for start, outputs, (nodes, _) in zip(limit.starts[1:], widths[1:], rules, strict=True)
    ]
    return system, (jnp.zeros(first.shape), tuple(starts))


def _flow(limit, rules, fewer, times, steps, name) -> Flow:
    system, start = system_of(limit, rules)
    solved = solve_nodes(system, start, times, *steps)
    # With nodes of weight 0 the smaller rule has the larger one's shape: nothing is compiled again.
    padded = [_padded(*few, len(many[0])) for few, many in zip(fewer, rules, strict=True)]
    rough_system, rough_start = system_of(limit, padded)
    rtol, floor, implicit = steps
    rough = solve_nodes(rough_system, rough_start, times, COARSER * rtol, HIGHER * floor, implicit)
    records, other = records_of(system, solved), records_of(rough_system, rough)
    gap = max(np.abs(a[1][-1] - b[1][-1]).max() for a, b in zip(records, other, strict=True))
    attributes = attributes_of(solved, name, gap) | {"note": limit.note}
    data = labelled(limit.measure, times, records, attributes)
    return Flow(data, NodeSolution(limit, rules, system, solved, steps), limit.title)


def _padded(nodes, weights, count):
    more = max(count - len(nodes), 0)
    return np.concatenate([nodes, np.zeros((more, nodes.shape[1]))]), np.append(weights, np.zeros(more))


def attributes_of(solved: NodeFlow, name: str, error: float) -> dict:
    """What a dataset says of its solver."""
    return {"solver": name, "error": float(error), "steps": solved.steps, "on_floor": solved.on_floor, "note": ""}


def records_of(system: NodeSystem, solved: NodeFlow):
    """One record per saved time, for `labelled`."""
    found = jax.tree.map(np.asarray, _records(system, jax.tree.map(jnp.asarray, solved.states)))
    return [jax.tree.map(lambda a, i=i: a[i], found) for i in range(len(solved.times))]


@eqx.filter_jit
def _records(system, states):
    def one(state):
        slopes = system.slopes(state) if system.blocks else jnp.zeros(0)
        return system.loss(state), system.channels(state), system.signals(state), slopes, state[0]

    return jax.lax.map(one, states)


def channels_of(system: NodeSystem, solved: NodeFlow, first: np.ndarray, kernel: np.ndarray) -> tuple:
    """The outputs of every block, time × point × output, at other inputs.

    **Arguments:**

    - `system`, `solved`: the flow.
    - `first`: f¹(0) at these inputs.
    - `kernel`: K between these inputs and the data.
    """
    moved = eqx.tree_at(lambda s: (s.first, s.kernel), system, (jnp.asarray(first), jnp.asarray(kernel)))
    found = _channels(moved, jax.tree.map(jnp.asarray, solved.states))
    return tuple(np.asarray(a) for a in found)


@eqx.filter_jit
def _channels(system, states):
    return jax.lax.map(system.channels, states)


class NodeSolution(NamedTuple):
    """The limit at any neuron and any input.

    **Arguments:**

    - `limit`: what was solved.
    - `rules`: nodes and weights of every block above the first.
    - `system`, `solved`: the equations and the flow.
    - `steps`: tolerance, floor, and whether steps were implicit.
    """

    limit: Limit
    rules: list
    system: NodeSystem
    solved: NodeFlow
    steps: tuple[float, float, bool]

    def weights_at(self, block, frozen):
        """w(t) − w(0) of given neurons: they follow the flow once more, as nodes of weight 0."""
        limit = self.limit
        if block == 0:
            features = np.asarray(limit.activation(frozen @ with_one(limit.measure.x).T))
            return np.stack([-features @ g for g in self.solved.states[0]])
        nodes, weights = self.rules[block - 1]
        more = list(self.rules)
        more[block - 1] = np.concatenate([nodes, frozen]), np.append(weights, np.zeros(len(frozen)))
        system, start = system_of(limit, more)
        followed = solve_nodes(system, start, self.solved.times, *self.steps).states[1][block - 1]
        return followed[:, len(nodes) :] - np.asarray(start[1][block - 1])[len(nodes) :]

    def channels_at(self, x):
        """The outputs of every block; see `Flow`."""
        limit = self.limit
        kernel = limit.first_kernel(x, limit.measure.x)
        return channels_of(self.system, self.solved, limit.first_channels(x), kernel)

    def neurons(self, block, count) -> Neurons:
        """Neurons that are evenly spread over the law; see `Flow`."""
        return self.limit.neurons(block, count)
