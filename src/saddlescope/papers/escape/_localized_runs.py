"""What `localized` reads off its runs: the true loss and the localized one, trained from the same draw."""

import jax
import jax.numpy as jnp
import numpy as np

from saddlescope.losses import CrossEntropy, CustomLoss, SquaredError
from saddlescope.theory.escape.localized import circle, gradient_at_zero, layers_of, norm_of

FAR = 1e20


def squared_slope(outputs, targets):
    """C(0) + L0 of the squared error, for one sample."""
    return jnp.sum(targets**2) - 2 * jnp.sum(targets * outputs)


def entropy_slope(outputs, targets):
    """C(0) + L0 of the cross-entropy, for one sample."""
    return jnp.log(len(targets)) + jnp.sum((1 / len(targets) - targets) * outputs)


COSTS = {
    "squared": (SquaredError(), CustomLoss(squared_slope)),
    "cross-entropy": (CrossEntropy(), CustomLoss(entropy_slope)),
}


def data_of(cost, seed):
    """X of shape (inputs, points), and targets (outputs, points)."""
    if cost == "squared":
        X, G = circle(8)
        return X, -G  # targets of the sign that gives Example 1's G
    rng = np.random.default_rng([3, seed])
    return rng.standard_normal((4, 12)), np.eye(3)[:, np.arange(12) % 3]


def path_of(run, X, depth, lr):
    """Weights, norm, unit direction, ‖Y‖ and time of gradient flow at each saved step."""
    names = ["u", *(f"W{k}" for k in range(2, depth + 1))]
    rows = [[run[f"param_{n}"].values[i] for n in names] for i in range(run.sizes["saved"])]
    large = (k for k, w in enumerate(rows) if max(np.abs(m).max() for m in w) > FAR)
    rows = rows[: next(large, len(rows))]  # in q-time the localized loss grows for ever, up to an overflow
    norm = np.array([norm_of(w) for w in rows])
    step = norm ** (2.0 - depth)  # dt/dq
    steps = np.diff(run["saved_step"].values[: len(rows)]) * lr
    return {
        "weights": rows,
        "norm": norm,
        "theta": np.stack([np.concatenate([m.ravel() for m in w]) for w in rows]) / norm[:, None],
        "outputs": np.array([np.linalg.norm(layers_of(w, X).before[-1]) for w in rows]),
        "time": np.append(0, np.cumsum(steps * (step[1:] + step[:-1]) / 2)),
    }


def direction_at(path, r):
    """θ/‖θ‖ at the first saved step with ‖Y‖ ≥ r; at the end if there is none."""
    return path["theta"][int(np.argmax(path["outputs"] >= r)) if path["outputs"].max() >= r else -1]


def crossing(path, r):
    """When ‖Y‖ first reaches r, on a line in its logarithm; infinite if never."""
    k = int(np.argmax(path["outputs"] >= r))
    if k == 0:
        return np.inf
    log = np.log(np.maximum(path["outputs"][k - 1 : k + 1], 1e-300))
    return float(np.interp(np.log(r), log, path["time"][k - 1 : k + 1]))


def value_of(cost, outputs, targets):
    return COSTS[cost][0].of_outputs(outputs.T, targets.T)


def formulas(cost, shape, rng):
    """Eq. 1 at random targets Y* and outputs Y.

    - `order`: the power of ‖Y‖ with which C(Y) − C(0) − Tr[GᵀY] vanishes.
    - `remainder_gap`: how far it is from ‖Y‖²/N, relative; 0 for the cross-entropy, of which nothing is said.
    - `gradient_gap`: how far G is from automatic differentiation, relative.
    """
    classes, points = shape
    squared = cost == "squared"
    targets = rng.standard_normal(shape) if squared else np.eye(classes)[:, rng.integers(classes, size=points)]
    outputs, G = rng.standard_normal(shape), gradient_at_zero(targets, cost)

    def remainder(k):
        change = value_of(cost, k * outputs, targets) - value_of(cost, 0 * outputs, targets)
        return float(change) - k * float(np.sum(G * outputs))

    sizes = np.array([1e-1, 1e-2, 1e-3])
    slope = np.polyfit(np.log(sizes), np.log([abs(remainder(k)) for k in sizes]), 1)[0]
    exact = float(np.sum(outputs**2) / points)
    found = jax.grad(lambda out: value_of(cost, out, targets))(jnp.zeros(shape))
    return {
        "order": float(slope),
        "remainder_gap": abs(remainder(1.0) / exact - 1) if squared else 0.0,
        "gradient_gap": float(np.abs(np.asarray(found) - G).max() / np.abs(G).max()),
    }
