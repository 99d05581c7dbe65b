"""Eq. 2 and 3 of the meanfield paper as they are printed, for a net as Section 2.2 prints it.

Weights w_1(c, k) have a channel index, w_i(c) for i ≥ 2 have none. So every channel above the first block is the same,
f_k = E[w φ(H)] for all k. With J = L − 1 blocks the printed rates are

    ∂_t w_1(c, k) = −E_Z[d φ(H_1) B_k],        B_k = E_C[L_k φ'(H_2) w_2],
    ∂_t w_i(c) = −E_Z[D_i φ(H_i)],             D_i = φ'(H_i) w_i Σ_k E_C[D_{i+1} L_k],

with D_J = d in the text and D_J = d w_J φ'(H_J) in Eq. 3. They hold for two blocks with the D_J of the text. Weights of
the data are left to the caller: nothing here is exact but what the paper prints.
"""

from typing import NamedTuple

import numpy as np


class PrintedNet(NamedTuple):
    """A finite net as Section 2.2 prints it; φ is tanh.

    **Arguments:**

    - `frozen`: L of every block, neuron × input; the first reads x.
    - `weights`: w_1, neuron × channel, then w_i of every block above, one number per neuron.
    """

    frozen: tuple[np.ndarray, ...]
    weights: tuple[np.ndarray, ...]

    def forward(self, x: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray]:
        """H of every block, point × neuron; channels that enter each block above the first; and ŷ, one per point."""
        rank = self.weights[0].shape[1]
        fields, channels, f = [], [], x
        for L, w in zip(self.frozen, self.weights, strict=True):
            H = f @ L.T
            fields.append(H)
            f = np.tanh(H) @ (w if w.ndim == 2 else w[:, None]) / len(L)
            f = np.repeat(f, rank, axis=1) if w.ndim == 1 else f
            channels.append(f)
        return fields, channels[:-1], channels[-1][:, 0]


def printed_rates(net: PrintedNet, x: np.ndarray, y: np.ndarray, as_in_text: bool) -> list[np.ndarray]:
    """∂_t of every w as Eq. 2 and 3 print them, with equal weights of the points and the squared loss.

    **Arguments:**

    - `net`: the net.
    - `x`, `y`: the points.
    - `as_in_text`: take D_J = d, as the text says; else that of Eq. 3.
    """
    fields, _, output = net.forward(x)
    d = output - y
    signal = np.repeat(d[:, None], len(net.frozen[-1]), axis=1)
    if not as_in_text:
        signal = signal * net.weights[-1] * slope(fields[-1])
    rates = [_average(signal, fields[-1])]
    for i in range(len(net.frozen) - 2, 0, -1):
        back = (signal @ net.frozen[i + 1]).sum(axis=1) / len(net.frozen[i + 1])
        signal = slope(fields[i]) * net.weights[i] * back[:, None]
        rates.append(_average(signal, fields[i]))
    rates.append(-np.tanh(fields[0]).T @ (d[:, None] * printed_signals(net, fields)) / len(x))
    return rates[::-1]


def printed_signals(net: PrintedNet, fields: list[np.ndarray]) -> np.ndarray:
    """B_k = E_C[L_k φ'(H_2) w_2] at every point, point × channel."""
    return (slope(fields[1]) * net.weights[1]) @ net.frozen[1] / len(net.frozen[1])


def slope(H: np.ndarray) -> np.ndarray:
    """tanh'."""
    return 1 - np.tanh(H) ** 2


def _average(signal, H):
    return -(signal * np.tanh(H)).mean(axis=0)
