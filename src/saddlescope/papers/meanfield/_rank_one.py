"""The limit of rank one with leaky ReLU and no mixing bias: four numbers, with the flow held at the
kink where it is.

With two points, w₂ enters through P = E[w₂|L|; L > 0] and N = E[w₂|L|; L < 0] alone:

    ŷ_p = P φ(f_p) + N φ(−f_p),     Ṗ = −E[L²; L > 0] Σ π_p d_p φ(f_p),     Ṅ = −E[L²; L < 0] Σ π_p d_p φ(−f_p),
    ḟ = −K (π d B),                 B = P − αN where f > 0,  αP − N where f < 0.

A net of finite width obeys the same equations, with averages over its own neurons and its own
kernel.

Where f_p = 0 and d_p B drives it back from both sides, it is *held* (Filippov): f_p stays 0, and
the weight of B within its two values is whatever keeps it there. No step size enters, unlike in a
solver with a floor.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp


class RankOne(NamedTuple):
    """The equations above.

    **Arguments:**

    - `weights`, `targets`: π and y of two points.
    - `kernel`: K, 2 × 2.
    - `squares`: E[L²; L > 0] and E[L²; L < 0].
    - `slope`: α.
    """

    weights: np.ndarray
    targets: np.ndarray
    kernel: np.ndarray
    squares: np.ndarray
    slope: float

    def phi(self, z):
        return np.where(z > 0, z, self.slope * z)

    def outputs(self, state):
        f, P, N = state[:2], state[2], state[3]
        return P * self.phi(f) + N * self.phi(-f)

    def loss(self, state):
        return float(self.weights @ (self.outputs(state) - self.targets) ** 2 / 2)

    def sides(self, state):
        """B above and below the kink."""
        _, _, P, N = state
        return P - self.slope * N, self.slope * P - N

    def velocity(self, state, held=None):
        f = state[:2]
        d = self.outputs(state) - self.targets
        above, below = self.sides(state)
        g = self.weights * d * np.where(f > 0, above, below)
        if held is not None:
            other = 1 - held
            g[held] = -self.kernel[held, other] * g[other] / self.kernel[held, held]
        pull = self.weights * d
        return np.append(-self.kernel @ g, -self.squares * [pull @ self.phi(f), pull @ self.phi(-f)])

    def share(self, state, p):
        """Where within [below, above] B must lie to hold f_p at zero: 0 … 1, else the kink cannot hold it."""
        above, below = self.sides(state)
        other, d = 1 - p, self.outputs(state) - self.targets
        B = above if state[other] > 0 else below
        needed = -self.kernel[p, other] * self.weights[other] * d[other] * B / self.kernel[p, p]
        return (needed / (self.weights[p] * d[p]) - below) / (above - below)

    def attracts(self, state, p):
        """Whether the kink at f_p = 0 pulls f_p back from both sides, at this state."""
        above, below = self.sides(state)
        d = (self.outputs(state) - self.targets)[p]
        return d * (above - below) > 0 and 0 <= self.share(state, p) <= 1


def of_limit(limit) -> tuple[RankOne, np.ndarray]:
    """The equations of a limit and its start; w₂ starts with a mean, independent of L."""
    x = limit.measure.x
    nodes, weights = limit.mixing.nodes(1, 24, True)
    size, square = weights @ np.abs(nodes[:, 0]), weights @ nodes[:, 0] ** 2
    half = limit.starts[1].means(1)[0] * size / 2
    start = np.append(limit.first_channels(x)[:, 0], [half, half])
    return _system(limit, limit.first_kernel(x, x), np.full(2, square / 2)), start


def of_net(net) -> tuple[RankOne, np.ndarray]:
    """The equations of a finite net and its start."""
    features, L, w = net.features(net.limit.measure.x), net.frozen[1][:, 0], net.start[1][:, 0]
    up, n = L > 0, net.width
    mixed = np.array([np.sum((w * np.abs(L))[side]) / n for side in (up, ~up)])
    squares = np.array([np.sum(L[side] ** 2) / n for side in (up, ~up)])
    start = np.append(features @ net.start[0][:, 0] / n, mixed)
    return _system(net.limit, features @ features.T / n, squares), start


def _system(limit, kernel, squares):
    return RankOne(limit.measure.weights, limit.measure.y[:, 0], kernel, squares, limit.activation.slope)


class Course(NamedTuple):
    """A solution: times, states (time × 4), the point that is held at the end (−1: none) and since when."""

    times: np.ndarray
    states: np.ndarray
    held: int
    since: float


def follow(system: RankOne, state: np.ndarray, T: float) -> Course:
    """Follow the flow to time T, from event to event: a channel reaches the kink, or a held one is let go."""
    if not system.velocity(state).any():  # at rest on the kink: a hair beyond it would start to move
        return Course(np.array([0.0, T]), np.stack([state, state]), -1, 0.0)
    time, held, since = 0.0, None, 0.0
    times, states = [np.zeros(1)], [state[None]]
    while time < T:
        events = [_crossing(p) for p in (0, 1) if p != held]
        events += [_release(system, held)] if held is not None else []
        found = solve_ivp(
            partial(_right_side, system, held), (time, T), state, "DOP853", rtol=1e-10, atol=1e-12, events=events
        )
        times.append(found.t[1:])
        states.append(found.y.T[1:])
        time, state = found.t[-1], found.y[:, -1].copy()
        if found.status == 1 and held is None:
            p = int(np.abs(state[:2]).argmin())
            crossed = state.copy()
            crossed[p] = 0.0
            held = p if system.attracts(crossed, p) else None
            state = crossed if held is not None else _past(system, state, p)
            since = time
        elif found.status == 1:
            state, held = _past(system, state, held), None
    return Course(np.concatenate(times), np.concatenate(states), -1 if held is None else held, since)


def _crossing(p):
    def event(t, z):
        return z[p]

    event.terminal = True
    return event


def _release(system, held):
    def event(t, z):
        share = system.share(z, held)
        return min(share, 1 - share)

    event.terminal, event.direction = True, -1
    return event


def _past(system, state, p):
    """A hair beyond the kink, on the side to which the flow goes."""
    state = state.copy()
    state[p] = 1e-12
    state[p] = 1e-12 if system.velocity(state)[p] > 0 else -1e-12
    return state


def _right_side(system, held, _, state):
    return system.velocity(state, held)
