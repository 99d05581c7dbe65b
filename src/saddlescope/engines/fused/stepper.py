"""The kernel under the driver. It gives and takes ordinary parameters of the net."""

import sys
import threading

import numpy as np

from saddlescope.engines.engine import Stepper
from saddlescope.engines.fused.kernel import train_steps
from saddlescope.engines.fused.packing import Packed

MESSAGE = "saddlescope: compiling the training kernel for {} (once on this machine, some 15 seconds) …"
compiled: set[str] = set()


def _compile_kernel(precision):
    """Compile or load from the cache on disk, before a run is timed. A message appears if it takes long."""
    if precision in compiled:
        return
    notice = threading.Timer(1.0, lambda: print(MESSAGE.format(precision), file=sys.stderr, flush=True))
    notice.start()
    try:
        tiny = Packed((1, 1), (1,), 1, precision)
        run_kernel(tiny, np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((1, 1), np.int64), 0, 0, 0.0)
    finally:
        notice.cancel()
    compiled.add(precision)


def run_kernel(packed, x, y, orders, first, n, lr, rate=1.0, momentum=0.0, clip=np.inf, slope=0.0, multiplier=1.0):
    """The losses before each of n steps, from step `first` of the first order on; the packed parameters move on."""
    number, dtype = packed.dtype.type, packed.dtype
    losses = np.zeros(n)
    factors = (number(v) for v in (lr, rate, momentum, clip, slope, multiplier))
    train_steps(x.astype(dtype), y.astype(dtype), orders, first, losses, *factors, *packed.arrays())
    return losses


class FusedStepper(Stepper):
    """The fused kernel of one run."""

    def __init__(self, setting):
        super().__init__(setting)
        net, task, optimiser = setting.net, setting.task, setting.optimiser
        _compile_kernel(setting.precision)
        self.max_steps = min(256 * self.steps_per_epoch, 100_000)
        self.x, self.y = np.asarray(self.data.x), np.asarray(self.data.y)
        self.dims = net.dims(task.inputs, task.outputs)
        self.packed = Packed(self.dims, net.widths, setting.batch, setting.precision)
        self.fixed = {name: np.asarray(v) for name, v in self.initial().items() if name in net.frozen}
        self.packed.freeze(self.fixed)
        self.held = None  # the state that `packed` holds now
        self.options = dict(
            rate=net.rate("C0"),
            momentum=optimiser.momentum or 0.0,
            slope=getattr(net.activation, "slope", 0.0),
            clip=np.inf if optimiser.clip is None else optimiser.clip,
            multiplier=net.parameterisation.multiplier(net.widths[0]),
        )

    def start(self):
        trained = {name: np.asarray(v) for name, v in self.setting.net.trained(self.initial()).items()}
        moving = self.setting.optimiser.momentum is not None
        return trained, {name: np.zeros_like(v) for name, v in trained.items()} if moving else {}

    def advance(self, state, step, n, lr):
        if self.held is not state:
            self.packed.set(*state)
        self.held = None  # until the kernel is done: an interrupted call leaves half a state behind
        orders, first = self.orders(step, n)
        losses = run_kernel(self.packed, self.x, self.y, orders, first, n, lr, **self.options)
        self.held = self.packed.get(bool(state[1]))
        return self.held, losses

    def params(self, state):
        return self.fixed | state[0]

    def loss(self, state):
        """In plain numpy: a compilation for each shape would cost more than most runs."""
        params, h = self.params(state), self.x
        with np.errstate(over="ignore", invalid="ignore"):  # a run that diverges is a result
            for j in range(len(self.dims) - 1):
                z = h @ params[f"A{j}"].T + params[f"b{j}"]
                z = np.where(z > 0, z, self.options["slope"] * z)
                h = params[f"c{j}"] + self.options["multiplier"] * (z @ params[f"C{j}"].T)
            return float(np.mean(np.sum((self.y - h) ** 2, axis=1)))
