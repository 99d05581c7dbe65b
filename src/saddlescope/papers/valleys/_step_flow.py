"""Gradient flow of a small net on the two-sided step, in all its trained weights: App. B.

Two blocks of n random features with biases, r channels between them, 1/n in front of both sums:
f_k(x) = (1/n) Σ_c φ(a_c x + b_c) w_ck and ŷ(x) = (1/n) Σ_j φ(Σ_k m_jk f_k(x) + β_j) v_j. Trained are w
and v, at n times the gradient of ½ Σ_p π_p (ŷ(x_p) - y_p)². Nothing here knows the theory.

φ is a ReLU in the first block, whose features are frozen. In the second its kink is rounded, by
log(1 + exp(10 z))/10: at a kink a unit can slide along zero, where ReLU's flow has no derivative.
"""

from typing import NamedTuple

import numpy as np

SHARP = 10.0


class Step(NamedTuple):
    """What is read off a flow, time first: channels at the data and their velocity, channels at other places,
    residuals, backward signals."""

    times: np.ndarray
    f: np.ndarray
    velocity: np.ndarray
    elsewhere: np.ndarray
    residuals: np.ndarray
    signals: np.ndarray
    kernel: np.ndarray  # between the data
    kernel_elsewhere: np.ndarray  # from other places to the data


def relu(z):
    return np.maximum(z, 0)


def rounded(z):
    return np.logaddexp(0, SHARP * z) / SHARP


def rounded_slope(z):
    return 1 / (1 + np.exp(-np.clip(SHARP * z, -500, 500)))


def follow(delta, height, width, channels, end, steps, places, seed) -> Step:
    """Follow the flow by the classical method of order four."""
    rng = np.random.default_rng(seed)
    a, b, beta = rng.standard_normal((3, width))
    m, w, v = rng.standard_normal((width, channels)), rng.standard_normal((width, channels)), rng.standard_normal(width)
    x, y, pi = np.array([-delta, delta]), np.array([height, -height]), np.array([0.5, 0.5])
    here, there = relu(np.outer(x, a) + b), relu(np.outer(places, a) + b)

    def look(w, v):
        """Channels, hidden outputs, residuals and signals at the data."""
        f = here @ w / width
        inner = f @ m.T + beta
        hidden = rounded(inner)
        return f, hidden, hidden @ v / width - y, (rounded_slope(inner) * v) @ m / width

    def velocity(w, v):
        _, hidden, d, signal = look(w, v)
        return -here.T @ ((pi * d)[:, None] * signal), -hidden.T @ (pi * d)

    rows, h = [], end / steps
    for _ in range(steps + 1):
        f, _, d, signal = look(w, v)
        k1 = velocity(w, v)
        rows.append((f, here @ k1[0] / width, there @ w / width, d, signal))
        k2 = velocity(w + h / 2 * k1[0], v + h / 2 * k1[1])
        k3 = velocity(w + h / 2 * k2[0], v + h / 2 * k2[1])
        k4 = velocity(w + h * k3[0], v + h * k3[1])
        w, v = (now + h / 6 * (p + 2 * q + 2 * r + s) for now, p, q, r, s in zip((w, v), k1, k2, k3, k4, strict=True))
    f, moving, elsewhere, d, signals = (np.array(column) for column in zip(*rows, strict=True))
    times, own = np.linspace(0, end, steps + 1), here @ here.T / width
    return Step(times, f, moving, elsewhere, d, signals, own, there @ here.T / width)
