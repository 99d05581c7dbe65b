"""The fastest end of a search as descent leaves it: polished, but nothing is pruned or lifted.

`find_candidates` returns pruned nets. Their last hidden layer is one neuron wherever that keeps the speed, and at an
optimum it always does (Prop. 3.2). So W_{L-1} and W_L have rank one there by construction. Claims about ranks judge
these ends instead. BFGS of wide nets converges to rounding, so that no weight has to be cut.
"""

from typing import NamedTuple

import numpy as np

from saddlescope.theory.escape.certificates import depth2_optimum, depth3_optimum
from saddlescope.theory.escape.direction import RANK
from saddlescope.theory.escape.localized import localized_loss
from saddlescope.theory.escape.polish import polish
from saddlescope.theory.escape.problem import problem_of
from saddlescope.theory.escape.search import descend, random_starts

NONE = 1e-6  # a speed below this is no escape, with ‖X‖_op = ‖G‖_F = 1
SETTLED = 1e-9  # of a speed: what is off the direction is then √1e-9 = 3e-5 of it, below RANK


class End(NamedTuple):
    """Where the fastest of some descents ended.

    **Arguments:**

    - `weights`: [W_1, …, W_L] of the full width, with every ‖W_ℓ‖_F = 1; none where nothing escapes.
    - `speed`: −L0 of these weights; 0 where nothing escapes.
    """

    weights: list[np.ndarray]
    speed: float

    def reaches(self, speed) -> bool:
        """Whether it is as fast as a net that is known."""
        return bool(self.weights) and self.speed >= (1 - SETTLED) * speed


def fastest_end(X, G, depth, width, restarts, seed) -> End:
    """Descend from random starts alone, take the fastest end, and polish it."""
    problem = problem_of(X, G)
    widths = [len(problem.X), *([width] * (depth - 1)), len(G)]
    starts = random_starts(np.random.default_rng([seed, depth]), restarts, widths)
    ends = descend(starts, problem.X, problem.G)
    best = int(np.argmax(ends.speeds))
    if ends.speeds[best] <= NONE:
        return End([], 0.0)
    weights = problem.weights(polish([w[best] for w in ends.weights], problem.X, problem.G))
    return End(weights, float(-localized_loss(weights, X, G)))


def known_speed(X, G, depth) -> float:
    """A speed that certified weights of this depth have: s*(2), and for one output s*(3) from depth 3 on."""
    exact = depth3_optimum if depth > 2 and len(G) == 1 else depth2_optimum
    return exact(X, G).speed


def second_value(matrix) -> float:
    """s₂/s₁; 0 for one row or column."""
    values = np.append(np.linalg.svd(matrix, compute_uv=False), 0.0)
    return float(values[1] / values[0])


def is_rank_one(second) -> np.ndarray:
    """Whether s₂/s₁ is that of rank one, by the limit of every numerical rank here."""
    return np.asarray(second) <= RANK
