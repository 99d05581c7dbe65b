"""Gradient flow on the localized loss in q-time, where direction and norm come apart (escape paper,
Section 2.1).

With q = ∫ ‖θ‖^(L−2) dt the direction u = θ/‖θ‖ obeys du/dq = −(I − uuᵀ)∇L0(u) on its own. Then ln
‖θ‖ = −L ∫ L0(u) dq and t = ∫ ‖θ‖^(2−L) dq. Nothing in q depends on the size α of the start, and
times scale as α^(2−L) exactly: here the start has norm one.

A step turns the direction by `TURN` or less, or lets the norm grow by as much: dq = TURN /
‖∇L0(u)‖, by the classical fourth-order rule with the signs of all hidden values held. A step ends
at the first kink that it meets. An adaptive solver would stall: the flow slides along kinks, where
its velocity jumps back and forth. So a kink that was met a few times is passed by: full steps back
and forth across it follow the mean velocity, with an error in proportion to TURN.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from saddlescope.theory.escape.gradient import flatten, unflatten

TURN = 1 / 128  # where the flow slides, blow-up times were off by 1 % at worst and 0.1 % typically
MEETINGS = 4  # with one kink; where there are more the flow slides along it
STILL = 1e-14  # of the largest gradient that weights of these sizes can have: rounding
LOCATED = 5000  # hidden values; where there are more, one kink matters little and a step meets too many


class Instant(NamedTuple):
    """The flow at one instant, from a start of norm one.

    **Arguments:**

    - `q`: q-time since the start.
    - `time`: ∫ ‖θ‖^(2−L+power) dq: the time t where the power is 0.
    - `log_norm`: ln ‖θ‖.
    - `rate`: −L · L0(u), the growth of ln ‖θ‖ in q.
    - `weights`: the direction u, as matrices.
    - `slides`: whether a kink was met twice so far: from then on errors are in proportion to TURN.
    - `turning`: ‖du/dq‖.
    """

    q: float
    time: float
    log_norm: float
    rate: float
    weights: list[np.ndarray]
    slides: bool
    turning: float


def q_flow(weights, X, G, power: float = 0.0, turn: float = TURN) -> Iterator[Instant]:
    """Instants of the flow, one after the other, without an end; it ends where the gradient
    vanishes up to rounding."""
    flow = _Flow(weights, X, G, power)
    state, q = flow.start, 0.0
    hidden = flow.hidden(state)
    meetings = np.zeros(hidden.size, int)
    while True:
        velocity = flow.velocity(state, hidden > 0)
        slides = bool(np.any(meetings > 1))
        turning = float(np.linalg.norm(velocity[:-2]))
        yield Instant(float(q), state[-1], state[-2], velocity[-2], unflatten(state[:-2], weights), slides, turning)
        size = np.linalg.norm(velocity[:-1])
        if size <= STILL * flow.steepest(state):
            return
        fresh = meetings < (MEETINGS if hidden.size <= LOCATED else 0)
        dq, state, met = flow.step(state, velocity, turn / size, hidden, fresh)
        meetings[met] += 1
        hidden, q = flow.hidden(state), q + dq


class _Flow:
    """The equations of one net: a state is the direction, ln ‖θ‖ and the time, in one vector."""

    def __init__(self, weights, X, G, power):
        self.like, self.X, self.G = weights, np.asarray(X, float), np.asarray(G, float)
        self.exponent = 2 - len(weights) + power
        theta = flatten(weights)
        # Rounded: from α times the weights the direction has other last bits, and a flow that slides would show them.
        # Each entry keeps 12 digits of its own: a layer may be small beside the others, and still grow.
        digits, powers = np.frexp(theta / np.linalg.norm(theta))
        self.start = np.append(np.ldexp(np.round(digits, 12), powers), [0.0, 0.0])
        self.ends = np.cumsum([w.shape[0] * self.X.shape[1] for w in weights[:-1]])

    def hidden(self, state, signs=None):
        """Z_1 … Z_{L-1} in one vector; with `signs` those that the net has while these are held."""
        return flatten(self._layers(unflatten(state[:-2], self.like), signs)[0])

    def _layers(self, weights, signs):
        before, after, held = (
            [],
            [self.X],
            None if signs is None else np.split(signs, self.ends[:-1]),
        )
        for k, matrix in enumerate(weights[:-1]):
            z = matrix @ after[-1]
            before.append(z)
            after.append(z * (z > 0 if held is None else held[k].reshape(z.shape)))
        return before, after

    def velocity(self, state, signs):
        """Of a state, while the signs of hidden values are held."""
        u = state[:-2]
        weights = unflatten(u, self.like)
        after = self._layers(weights, signs)[1]
        held, gradient, back = np.split(signs, self.ends[:-1]), [], self.G
        for k in reversed(range(len(weights))):
            gradient.append((back @ after[k].T).ravel())
            if k:
                back = (weights[k].T @ back) * held[k - 1].reshape(after[k].shape)
        slope = np.concatenate(gradient[::-1])
        radial = u @ slope / (u @ u)
        return np.concatenate([u * radial - slope, [-radial, np.exp(self.exponent * state[-2])]])

    def steepest(self, state):
        """A bound of ‖∇L0‖: for each layer the product of the norms of all others, of X and of G."""
        norms = np.array([np.linalg.norm(w) for w in unflatten(state[:-2], self.like)])
        others = [np.prod(np.delete(norms, k)) for k in range(len(norms))]
        return np.linalg.norm(others) * np.linalg.norm(self.X) * np.linalg.norm(self.G)

    def step(self, state, velocity, dq, hidden, fresh):
        """Its length, the new state, and the fresh kinks that ended it: it goes just past the
        first, or is a full step."""
        signs, past, ended = hidden > 0, 1e-9 * dq, np.zeros(hidden.size, bool)
        for _ in range(8):
            new = self._rk4(state, velocity, dq, signs)
            there = self.hidden(new, signs)
            met = fresh & ((there > 0) != signs)
            if not met.any():
                break
            share = np.full(met.shape, np.inf)
            share[met] = hidden[met] / (hidden[met] - there[met])
            first = float(share.min())
            ended = share == first
            if dq * (1 - first) <= 2 * past:
                break
            dq = dq * first + past
        return dq, new, ended

    def _rk4(self, state, k1, dq, signs):
        k2 = self.velocity(state + dq / 2 * k1, signs)
        k3 = self.velocity(state + dq / 2 * k2, signs)
        k4 = self.velocity(state + dq * k3, signs)
        new = state + dq / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        new[:-2] /= np.linalg.norm(new[:-2])
        return new
