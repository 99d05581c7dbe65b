"""The flow of the limit on nodes: a quadrature rule of the mixing law, or random particles."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.meanfield.flow import Flow, Neurons, labelled
from saddlescope.meanfield.laws.features import with_one
from saddlescope.meanfield.limit import Limit
from saddlescope.meanfield.marching import NodeFlow, march_system, march_systems
from saddlescope.meanfield.node_solver import solve_nodes
from saddlescope.meanfield.nodes import Nodes, NodeSystem, State
from saddlescope.meanfield.numbers import whole_number
from saddlescope.meanfield.step_length import COARSER, HIGHER

MOST_NODES = 180  # per coordinate: beyond it weights of Gauss rules overflow
PARTS = 16  # independent parts of the particles, whose spread is their error


def flow_by_quadrature(limit: Limit, times, rtol, floor, nodes: int = 24, implicit: bool = False) -> Flow:
    """Gauss rules of the mixing law; the error is the difference to two thirds as many nodes and larger steps.

    **Arguments:**

    - `limit`, `times`, `rtol`, `floor`, `implicit`: as in `flow_of_limit`.
    - `nodes`: nodes per coordinate of the mixing law.
    """
    nodes = whole_number(nodes, "nodes", 3, MOST_NODES)
    rules, fewer = (
        [limit.mixing.nodes(limit.rank, count, limit.kinked) for _ in range(limit.depth)]
        for count in (nodes, max(2 * nodes // 3, 2))
    )
    # With nodes of weight 0 the smaller rule has the larger one's shape: nothing is compiled again.
    padded = [_padded(*few, len(many[0])) for few, many in zip(fewer, rules, strict=True)]
    flow = _flow(limit, rules, times, (rtol, floor, implicit), "quadrature")
    rough = _outputs(limit, padded, times, (COARSER * rtol, HIGHER * floor, implicit))
    return _with_error(flow, np.abs(rough - flow.data.output.values).max())


def flow_by_particles(
    limit: Limit, times, rtol, floor, count: int = 4096, seed: int = 0, implicit: bool = False
) -> Flow:
    """Random nodes in mirrored pairs; the error is three standard errors, from 16 parts of them.

    **Arguments:**

    - `limit`, `times`, `rtol`, `floor`, `implicit`: as in `flow_of_limit`.
    - `count`: particles per block.
    - `seed`: of the draw.
    """
    count, seed = whole_number(count, "count", 2 * PARTS), whole_number(seed, "seed", 0, 2**63)
    rng, steps = np.random.default_rng(seed), (rtol, floor, implicit)
    drawn = [limit.mixing.draw(rng, PARTS * (count // (2 * PARTS)), limit.rank) for _ in range(limit.depth)]
    flow = _flow(limit, [_mirrored(d) for d in drawn], times, steps, "particles")
    parts = [[_mirrored(d[i::PARTS]) for d in drawn] for i in range(PARTS)]
    outputs = _outputs_of_parts(limit, parts, times, steps)
    return _with_error(flow, 3 * outputs.std(axis=0, ddof=1).max() / np.sqrt(PARTS))


def _outputs_of_parts(limit, parts, times, steps):
    """Outputs of every part, part × time × point × output; side by side where no kink slows one of them down."""
    rtol, floor, implicit = steps
    if limit.kinked or implicit:
        return np.stack([_outputs(limit, part, times, steps) for part in parts])
    systems = [system_of(limit, part) for part in parts]
    gammas, weights = march_systems(systems, times, rtol, floor).states
    found = [
        np.asarray(_channels(system, (jnp.asarray(gammas[i]), tuple(jnp.asarray(w[i]) for w in weights)))[-1])
        for i, (system, _) in enumerate(systems)
    ]
    return np.stack(found)


def _mirrored(drawn):
    """Equal weights on L and −L: the mean of L is then exactly 0, as in the law."""
    return np.concatenate([drawn, -drawn]), np.full(2 * len(drawn), 0.5 / len(drawn))


def follow_nodes(limit: Limit, times: np.ndarray, nodes: int = 24, rtol: float = 1e-7) -> list[np.ndarray]:
    """Outputs of every block on quadrature nodes, time × point × channel each; ŷ is the last.

    It compiles little and takes many short steps, for long times and smooth activations.

    **Arguments:**

    - `limit`, `times`, `rtol`: as in `flow_of_limit`.
    - `nodes`: nodes per coordinate of the mixing law.
    """
    rule = limit.mixing.nodes(limit.rank, nodes, limit.kinked)
    system, start = system_of(limit, [rule] * limit.depth)
    states = march_system(system, start, times, rtol, 0.0).states
    return [np.asarray(c) for c in _channels(system, jax.tree.map(jnp.asarray, states))]


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


def _flow(limit, rules, times, steps, name) -> Flow:
    system, start = system_of(limit, rules)
    solved = solve_nodes(system, start, times, *steps)
    attributes = attributes_of(solved, name, 0.0) | {"note": limit.note}
    data = labelled(limit.measure, times, records_of(system, solved), attributes)
    return Flow(data, NodeSolution(limit, rules, system, solved, steps), limit.title)


def _outputs(limit, rules, times, steps):
    """Outputs alone, time × point × output."""
    system, start = system_of(limit, rules)
    return np.asarray(_channels(system, solve_nodes(system, start, times, *steps).states)[-1])


def _with_error(flow, error):
    flow.data.attrs["error"] = float(error)
    return flow


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
