"""Calls of the kernel: numbers in the precision of the run, and a buffer for what comes back."""

import math
from dataclasses import dataclass

import numpy as np

from saddlescope.engines.fused.kernel import MICRO, train_steps
from saddlescope.engines.fused.packing import LOOK, Packed
from saddlescope.engines.watch import Watch

NOTHING = Watch(math.inf, 0, -math.inf, ())


@dataclass
class Call:
    """What stays the same in all calls of one run.

    **Arguments:**

    - `packed`: the parameters, which every call moves on.
    - `x`, `y`: the samples, in the precision of the run.
    - `words`: the seed of the batch orders.
    - `rate`: factor of the learning rate of C.
    - `momentum`: of descent; of Adam, b1.
    - `adam`: whether the step is Adam's, with `b2` and `eps`.
    - `clip`: the largest norm of the gradient.
    - `slope`: of the activation, below zero.
    - `multiplier`: of the features.
    """

    packed: Packed
    x: np.ndarray
    y: np.ndarray
    words: np.ndarray
    rate: float = 1.0
    momentum: float = 0.0
    adam: bool = False
    b2: float = 0.0
    eps: float = 1.0
    clip: float = math.inf
    slope: float = 0.0
    multiplier: float = 1.0

    def __post_init__(self):
        number = self.packed.dtype.type
        self.numbers = (number(self.rate), number(self.momentum), self.adam, number(self.b2), number(self.eps))
        self.numbers += (number(self.clip), number(self.slope), number(self.multiplier))
        self.nothing = np.zeros((0, self.y.shape[1]), self.packed.dtype)
        self.steps_per_epoch = -(-len(self.packed.order) // self.packed.batch)

    def train(self, step, n, lr, first_epoch=0, watch=None):
        """The losses before each of up to n steps from this one on; fewer where a rule may speak (`watch`)."""
        losses, epoch = np.empty(n), first_epoch + step // self.steps_per_epoch
        means, watch = np.empty(0), watch or NOTHING
        known = len(watch.losses)
        if watch is not NOTHING:
            means = np.empty(known + n // self.steps_per_epoch)
            means[:known] = watch.losses
        first = step % self.steps_per_epoch
        about = (epoch, first, losses, means, known, float(watch.after), watch.window, watch.level, self.nothing, step)
        done = self._run(self.x, *about, self.packed.batch, lr)
        return losses[:done]

    def channels(self, x):
        """The outputs of all blocks at the rows of x, which is in the precision of the run."""
        each, size = self.packed.dims[1:], min(max(self.packed.batch, LOOK), MICRO)
        found, none = np.empty((len(x), each.sum()), self.packed.dtype), np.empty(0)
        if len(x):
            self._run(x, 0, 0, none, none, 0, math.inf, 0, -math.inf, found, 0, size, 0.0)
        return np.split(found, np.cumsum(each)[:-1], axis=1)

    def _run(self, x, epoch, first, losses, means, known, after, window, level, outputs, done, size, lr):
        return train_steps(  # type: ignore[reportCallIssue]  (numba's own signature)
            x, self.y, self.words, epoch, first, losses, means, known, after, window, level, outputs, done, size,
            self.packed.dtype.type(lr), *self.numbers, *self.packed.arrays(look=len(outputs) > 0),
        )  # fmt: skip
