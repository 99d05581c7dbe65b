"""Gradient flow of a small net on the two-sided step, in all its trained weights: App. B.

Two blocks of n random features with biases, r channels between them, 1/n in front of both sums:
f_k(x) = (1/n) Σ_c φ(a_c x + b_c) w_ck and ŷ(x) = (1/n) Σ_j φ(Σ_k m_jk f_k(x) + β_j) v_j. Trained are w
and v, at n times the gradient of ½ Σ_p π_p (ŷ(x_p) - y_p)². Nothing here knows the theory.
"""

from typing import NamedTuple

import numpy as np


class Step(NamedTuple):
    """What is read off a flow, time first: channels at the data and at other places, residuals, backward signals."""

    times: np.ndarray
    f: np.ndarray
    elsewhere: np.ndarray
    residuals: np.ndarray
    signals: np.ndarray
    kernel: np.ndarray  # between the data
    kernel_elsewhere: np.ndarray  # from other places to the data


def relu(z):
    return np.maximum(z, 0)


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
        return f, relu(inner), relu(inner) @ v / width - y, ((inner > 0) * v) @ m / width

    def velocity(w, v):
        _, hidden, d, signal = look(w, v)
        return -here.T @ ((pi * d)[:, None] * signal), -hidden.T @ (pi * d)

    rows, h = [], end / steps
    for _ in range(steps + 1):
        f, _, d, signal = look(w, v)
        rows.append((f, there @ w / width, d, signal))
        k1 = velocity(w, v)
        k2 = velocity(w + h / 2 * k1[0], v + h / 2 * k1[1])
        k3 = velocity(w + h / 2 * k2[0], v + h / 2 * k2[1])
        k4 = velocity(w + h * k3[0], v + h * k3[1])
        w, v = (now + h / 6 * (p + 2 * q + 2 * r + s) for now, p, q, r, s in zip((w, v), k1, k2, k3, k4, strict=True))
    f, elsewhere, d, signals = (np.array(column) for column in zip(*rows, strict=True))
    times, own = np.linspace(0, end, steps + 1), here @ here.T / width
    return Step(times, f, elsewhere, d, signals, own, there @ here.T / width)
