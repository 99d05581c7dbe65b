"""Programs that train the same net on the same batches: what the fused kernel is timed against."""

from abc import ABC, abstractmethod

import numpy as np
from timing import cpu_seconds, repeats

MOST = 200  # epochs of a turn
# Of how far the weights move in an epoch. Rounding in float32 grows over some hundred steps to a thousandth or so; a
# program without clipping, or with another rate, is off by tenths.
SAME = 0.01


class Peer(ABC):
    """One program, from the starting weights of a setting on.

    **Arguments:**

    - `setting`: a minibatch run of a random-feature net in float32, whose batches divide its samples.
    """

    def __init__(self, setting):
        data, widths = setting.data(), setting.net.widths
        self.setting, self.batch, self.done = setting, setting.batch, 0
        self.x, self.y = (np.asarray(v, np.float32) for v in (data.x, data.y))
        params = {name: np.array(v, np.float32) for name, v in setting.initial_params().items()}
        self.frozen = [(params[f"A{j}"], params[f"b{j}"]) for j in range(len(widths))]
        self.trained = [(params[f"C{j}"], params[f"c{j}"]) for j in range(len(widths))]

    def rows(self, epochs):
        """The sample numbers of the next epochs, one row per step."""
        orders = [self.setting.permutation(self.done + i) for i in range(epochs)]
        self.done += epochs
        return np.concatenate(orders).reshape(-1, self.batch)

    @abstractmethod
    def run(self, epochs: int) -> None:
        """Train so many epochs, from where the last call has ended."""

    @abstractmethod
    def weights(self) -> list[np.ndarray]:
        """C and c of every block now."""


def flops(setting):
    """Operations of one step.

    Two per weight and sample for each map forward, dC, and back through C and A; norm and update.
    """
    dims = setting.net.dims(1, 1)
    total = 0
    for j, width in enumerate(setting.net.widths):
        n, out = dims[j], dims[j + 1]
        total += 2 * width * (setting.batch * (n + 2 * out + (n + out) * (j > 0)) + 2 * out)
    return total


def check_weights(peers):
    """Refuse to compare programs that compute different things: after an epoch all must have the same weights."""
    start = _flat(next(iter(peers.values())))
    for peer in peers.values():
        peer.run(1)
    found = {name: _flat(peer) for name, peer in peers.items()}
    first, expected = next(iter(found.items()))
    for name, weights in found.items():
        error = np.linalg.norm(weights - expected) / np.linalg.norm(expected - start)
        if not error < SAME:
            raise SystemExit(f"{name} has other weights than {first} after an epoch: relative error {error:.1e}.")


def _flat(peer):
    return np.concatenate([w.ravel() for w in peer.weights()])


def turn_of(peer):
    epochs = repeats(peer.run, MOST)
    peer.run(epochs)  # a scan of so many epochs is compiled here
    return lambda: cpu_seconds(lambda: peer.run(epochs)) / epochs / peer.setting.steps_per_epoch
