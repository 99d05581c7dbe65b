"""The flow of the limit on nodes: a quadrature rule of the mixing law, or random particles."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.meanfield.flow import Flow, labelled
from saddlescope.meanfield.laws.features import with_one
from saddlescope.meanfield.limit import Limit
from saddlescope.meanfield.marching import march_systems
from saddlescope.meanfield.node_solver import NodeFlow, solve_nodes
from saddlescope.meanfield.nodes import Nodes, NodeSystem, State


def flow_by_quadrature(limit: Limit, times, rtol, floor, nodes: int = 24) -> Flow:
    """Gauss rules of the mixing law; the error is the difference to a rule of two thirds as many nodes.

    **Arguments:**

    - `limit`, `times`, `rtol`, `floor`: as in `flow_of_limit`.
    - `nodes`: nodes per coordinate of the mixing law.
    """

    def rule(count):
        return [limit.mixing.nodes(limit.rank, count, limit.kinked) for _ in range(limit.depth)]

    return _flow(limit, rule(nodes), rule(max(2 * nodes // 3, 2)), times, rtol, floor, "quadrature")


def flow_by_particles(limit: Limit, times, rtol, floor, count: int = 4096, seed: int = 0) -> Flow:
    """Random nodes in mirrored pairs; the error is the difference to half as many.

    **Arguments:**

    - `limit`, `times`, `rtol`, `floor`: as in `flow_of_limit`.
    - `count`: particles per block.
    - `seed`: of the draw.
    """
    rng = np.random.default_rng(seed)
    drawn = [limit.mixing.draw(rng, max(count // 2, 1), limit.rank) for _ in range(limit.depth)]
    all_nodes = [np.concatenate([d, -d]) for d in drawn]  # the mean of L is then exactly 0, as in the law
    half = [np.concatenate([d, -d]) for d in (d[: max(len(d) // 2, 1)] for d in drawn)]
    equal = [[(d, np.full(len(d), 1 / len(d))) for d in nodes] for nodes in (all_nodes, half)]
    return _flow(limit, *equal, times, rtol, floor, "particles")


def follow_nodes(limit: Limit, times: np.ndarray, nodes: int = 24, rtol: float = 1e-7) -> list[np.ndarray]:
    """Outputs of every block on quadrature nodes, time × point × channel each; ŷ is the last.

    It compiles little and takes many short steps, for long times and smooth activations.

    **Arguments:**

    - `limit`, `times`, `rtol`: as in `flow_of_limit`.
    - `nodes`: nodes per coordinate of the mixing law.
    """
    rule = limit.mixing.nodes(limit.rank, nodes, limit.kinked)
    system, start = system_of(limit, [rule] * limit.depth)
    gamma, weights = march_systems([(system, start)], times, rtol, 0.0)
    states = gamma[0], tuple(w[0] for w in weights)
    return [np.asarray(c) for c in _channels(system, jax.tree.map(jnp.asarray, states))]


@eqx.filter_jit
def _channels(system, states):
    return jax.lax.map(system.channels, states)


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


def _flow(limit, rules, fewer, times, rtol, floor, name) -> Flow:
    system, start = system_of(limit, rules)
    solved = solve_nodes(system, start, times, rtol, floor)
    rough_system, rough_start = system_of(limit, fewer)
    rough = solve_nodes(rough_system, rough_start, times, rtol, floor)
    records, other = records_of(system, solved), records_of(rough_system, rough)
    gap = max(np.abs(a[1][-1] - b[1][-1]).max() for a, b in zip(records, other, strict=True))
    attributes = attributes_of(limit, solved, name, gap)
    return Flow(
        labelled(limit.measure, times, records, attributes),
        _weights(limit, rules, solved, rtol, floor),
        f"limit, rank {limit.rank}, {limit.depth + 1} blocks",
    )


def attributes_of(limit, solved: NodeFlow, name: str, error: float) -> dict:
    """What a dataset says of its solver."""
    from saddlescope.meanfield.stationary import SENTENCE, is_stationary

    note = SENTENCE if name != "net" and is_stationary(limit) else ""
    return {
        "solver": name,
        "error": float(error),
        "steps": solved.steps,
        "on_floor": solved.on_floor,
        "note": note,
    }


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


def _weights(limit, rules, solved, rtol, floor):
    """w(t) − w(0) of given neurons: they follow the flow once more, as nodes of weight 0."""

    def weights_at(block, frozen):
        if block == 0:
            features = np.asarray(limit.activation(frozen @ with_one(limit.measure.x).T))
            return np.stack([-features @ g for g in solved.states[0]])
        nodes, weights = rules[block - 1]
        more = list(rules)
        more[block - 1] = np.concatenate([nodes, frozen]), np.append(weights, np.zeros(len(frozen)))
        system, start = system_of(limit, more)
        followed = solve_nodes(system, start, solved.times, rtol, floor).states[1][block - 1]
        return followed[:, len(nodes) :] - np.asarray(start[1][block - 1])[len(nodes) :]

    return weights_at
