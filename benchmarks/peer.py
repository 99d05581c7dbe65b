"""Programs that train the same net on the same batches: what the fused kernel is timed against."""

from abc import ABC, abstractmethod

import numpy as np


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
