"""The kernel under the driver. It gives and takes ordinary parameters of the net."""

import math
from typing import Any

import numpy as np

from saddlescope.engines.batch_order import BATCH
from saddlescope.engines.engine import Stepper
from saddlescope.engines.fused.call import Call
from saddlescope.engines.fused.compiling import make_ready
from saddlescope.engines.fused.order import seed_words
from saddlescope.engines.fused.packing import Packed
from saddlescope.optimisers import Adam


class FusedStepper(Stepper):
    """The fused kernel of one run. Its state: trained parameters, and by `v` and `s` what the optimiser remembers."""

    watches = on_host = True

    def __init__(self, setting):
        super().__init__(setting)
        net, task = setting.net, setting.task
        make_ready(setting.precision)
        self.max_steps = min(256 * self.steps_per_epoch, 100_000)
        x, y = np.array(self.data.x), np.array(self.data.y)  # writable: numba would compile apart for others
        dims = net.dims(task.inputs, task.outputs)
        self.packed = Packed(dims, net.widths, setting.batch, len(x), setting.precision)
        drawn = self.initial()
        self.first = net.trained(drawn)
        self.fixed = {name: v for name, v in drawn.items() if name in net.frozen}
        self.packed.freeze(self.fixed)
        self.held = None  # the state that `packed` holds now
        self.kinds, options = _remembered(setting.optimiser)
        self.call = Call(
            self.packed,
            x,
            y,
            seed_words(setting.batch_seed, BATCH),
            rate=net.rate("C0"),
            slope=getattr(net.activation, "slope", 0.0),
            clip=math.inf if setting.optimiser.clip is None else setting.optimiser.clip,
            multiplier=net.parameterisation.multiplier(net.widths[0]),
            **options,
        )

    def start(self):
        return self.first, {kind: {name: np.zeros_like(v) for name, v in self.first.items()} for kind in self.kinds}

    def advance(self, state, step, n, lr, watch=None):
        self._hold(state)
        self.held = None  # until the kernel is done: an interrupted call leaves half a state behind
        losses = self.call.train(step, n, lr, self.setting.first_epoch, watch)
        self.held = self.packed.get(), {kind: self.packed.get(kind) for kind in self.kinds}
        return self.held, losses

    def _hold(self, state):
        if self.held is not state:
            self.packed.set(*state)
            self.held = state

    def params(self, state):
        return self.fixed | state[0]

    def channels(self, state, x):
        """By the kernel's forward pass: no shape has to be compiled for it."""
        self._hold(state)
        return self.call.channels(np.array(x, self.packed.dtype))

    def loss(self, state):
        with np.errstate(over="ignore", invalid="ignore"):  # a run that diverges is a result
            return float(np.mean(np.sum((self.call.y - self.channels(state, self.call.x)[-1]) ** 2, axis=1)))


def _remembered(optimiser) -> tuple[tuple[str, ...], dict[str, Any]]:
    """What is remembered of every trained parameter, and the kernel's options for it."""
    if isinstance(optimiser, Adam):
        return ("v", "s"), dict(adam=True, momentum=optimiser.b1, b2=optimiser.b2, eps=optimiser.eps)
    return ("v",) if optimiser.momentum is not None else (), dict(momentum=optimiser.momentum or 0.0)
