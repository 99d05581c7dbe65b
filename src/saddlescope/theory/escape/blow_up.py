"""When a net leaves the origin, from its initial weights: the blow-up of the localized flow, and
the escape of a run."""

from collections.abc import Iterator, Sequence

import numpy as np

from saddlescope.errors import require
from saddlescope.theory.escape.gradient import flatten
from saddlescope.theory.escape.localized import checked_net, layers_of, norm_of
from saddlescope.theory.escape.q_flow import TURN, Instant, q_flow

MOST_STEPS = 50_000
REST, WITHIN = 5_000, 4  # steps in which a flow at rest on a kink does not get farther than so many of them
SHRUNK = -30  # ln of the norm over that of the start: a net that still shrinks there never leaves
SETTLED = 1e-9  # of the blow-up time: how little two estimates differ, one e-fold of the norm apart


def blow_up_time(weights: Sequence[np.ndarray], X: np.ndarray, G: np.ndarray, turn: float = TURN) -> float:
    """T∞, when gradient flow on the localized loss from these weights diverges; infinite where it
    never does, as for a dead net or one that only shrinks.

    The flow is followed in q-time until its direction no longer matters. The rest is Proposition
    2.2 (corrected): R^(2−L) / ((L−2) κ), with κ the growth of ln R in q. From α times the weights
    it is α^(2−L) times as long, exactly. At depth 2 the norm grows exponentially, and no time is
    finite: depth 3 or more.

    Where the flow slides along kinks the error is in proportion to `turn`: 1 % at worst in the draws
    that we tried. It is not a number where the direction does not settle within 50,000 steps.

    **Arguments:**

    - `weights`: initial weights [W_1, …, W_L], with W_ℓ of shape (out, in).
    - `X`: inputs, of shape (inputs, points).
    - `G`: the gradient of the loss by the outputs at zero output, of shape (outputs, points).
    - `turn`: the length of a step of the flow, over the norm.
    """
    weights, X, G = _given(weights, X, G)
    depth = len(weights)
    require(
        depth >= 3,
        f"A blow-up time needs depth 3 or more; got {depth}. Use escape_time for a shallow net.",
    )
    lowest, estimate, agree = 0.0, np.inf, 0
    for now in _instants(weights, X, G, turn=turn):
        if now is None:
            return np.nan
        lowest = min(lowest, now.log_norm)
        if now.rate > 0 and now.log_norm >= lowest + 1:
            last, lowest = estimate, now.log_norm
            estimate = now.time + np.exp((2 - depth) * now.log_norm) / ((depth - 2) * now.rate)
            agree = agree + 1 if abs(estimate - last) <= SETTLED * estimate else 0
            if agree == 2:
                return float(norm_of(weights) ** (2.0 - depth) * estimate)
    return np.inf


def _given(weights, X, G):
    """As arrays of finite numbers."""
    weights, X, G = checked_net(weights, X, G)
    for name, values in (("weights", weights), ("X", [X]), ("G", [G])):
        bad = sum(int(np.sum(~np.isfinite(v))) for v in values)
        require(not bad, f"Values that are not finite: {bad} in {name}; give finite numbers.")
    return weights, X, G


def _instants(weights, X, G, turn=TURN, power=0.0) -> Iterator[Instant | None]:
    """The flow until it rests or shrinks for good; None at last where neither came in time."""
    if not norm_of(weights):
        return  # the origin itself is stationary
    before = None
    for k, now in enumerate(q_flow(weights, X, G, power, turn)):
        settled = now.turning <= SETTLED * abs(now.rate)
        if now.rate < 0 and (settled or now.log_norm < SHRUNK):
            return
        if k % REST == 0:
            here = np.append(flatten(now.weights), now.log_norm)
            if before is not None and np.linalg.norm(here - before) <= WITHIN * turn:
                return  # it goes back and forth across a kink, and not along it
            before = here
        yield now if k < MOST_STEPS else None


def escape_time(weights, X, G, learning_rate: float, level: float, power: float = 0.0) -> float:
    """Steps of gradient descent after which the outputs have ‖Y‖_F = `level`; infinite where they
    never do, and not a number where 50,000 steps of the flow do not decide it.

    It is t₁(level) / lr on the localized flow: it holds for a small level and for steps that let
    the weights grow little. For a rate lr ‖θ‖^(−power) the steps of that clock are counted; power L
    − 2 counts q-time.
    """
    require(
        level > 0 and learning_rate > 0,
        f"Need level > 0 and learning_rate > 0; got {level}, {learning_rate}.",
    )
    weights, X, G = _given(weights, X, G)
    depth, size = len(weights), norm_of(weights)
    asked = np.log(level) - depth * np.log(size or 1.0)
    before = None
    for now in _instants(weights, X, G, power=power):
        if now is None:
            return np.nan
        outputs = np.linalg.norm(layers_of(now.weights, X).before[-1])
        reached = depth * now.log_norm + np.log(max(outputs, 1e-300))
        if reached >= asked:
            share = (asked - before[0]) / (reached - before[0]) if before else 0.0
            first = before[1] if before else 0.0
            return float(size ** (2.0 - depth + power) * (first + share * (now.time - first)) / learning_rate)
        before = reached, now.time
    return np.inf
