"""The fused engine: when the kernel fits. The kernel itself is loaded when a run begins."""

from typing import final

from saddlescope.engines.engine import Engine
from saddlescope.losses import SquaredError
from saddlescope.nets import LeakyReLU, RandomFeatureNet, ReLU
from saddlescope.optimisers import Adam, GradientDescent


@final
class Fused(Engine):
    """The compiled kernel of low-rank random-feature nets: minibatch descent or Adam on the squared error, near the
    machine's limit, with or without momentum and clipping."""

    name = "fused"
    overhead = 2e4

    def why_not(self, setting):
        if not _fits_net(setting.net):
            return "it trains random-feature nets of (leaky) ReLU with frozen rank → width maps and one multiplier"
        if not isinstance(setting.optimiser, GradientDescent | Adam):
            return "it knows gradient descent and Adam, with or without momentum and clipping"
        if isinstance(setting.optimiser, Adam) and not setting.optimiser.eps > 0:
            return "with eps = 0, Adam divides by zero where a gradient is zero"
        if not isinstance(setting.loss, SquaredError):
            return "it knows the squared error alone"
        return "it trains in batches: give `batch` and `epochs`" if setting.batch is None else None

    def begin(self, setting):
        from saddlescope.engines.fused.stepper import FusedStepper

        return FusedStepper(setting)


def _fits_net(net):
    if not isinstance(net, RandomFeatureNet):
        return False
    blocks = range(len(net.widths))
    return (
        net.trainable == "narrow"
        and not net.residual
        and isinstance(net.activation, ReLU | LeakyReLU)
        and len({net.parameterisation.multiplier(w) for w in net.widths}) == 1
        and len({net.rate(f"C{j}") for j in blocks}) == 1
        and all(net.rate(f"c{j}") == 1 for j in blocks)
    )
