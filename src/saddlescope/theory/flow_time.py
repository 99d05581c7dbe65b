"""How the time of an event scales with learning rate and batch where descent follows the flow."""

from typing import final

from saddlescope.errors import require
from saddlescope.optimisers import Constant, GradientDescent
from saddlescope.theory.prediction import Prediction


@final
class FlowTime(Prediction):
    """Exponents of the time to any event, such as leaving a plateau, in learning rate and batch
    size.

    A run that follows the gradient flow reaches a point after a fixed lr × steps, whatever the
    batch. So steps scale as lr⁻¹ and batch⁰, and epochs, of N / batch steps each, as lr⁻¹ and
    batch¹: `lr_exponent_steps`, `bs_exponent_steps`, `lr_exponent_epochs` and `bs_exponent_epochs`.
    Where the noise of batches or clipping decides, they are others.

    Holds for minibatch descent without momentum at a constant learning rate that is small against 1
    / λ, with λ the largest curvature; clipped runs follow the flow only while their gradients are
    shorter than the clip.
    """

    def __call__(self, setting):
        o = setting.optimiser
        plain = isinstance(o, GradientDescent) and o.momentum is None
        require(
            plain and isinstance(setting.schedule, Constant) and setting.batch is not None,
            "This theory is for minibatch descent at a constant learning rate, without momentum.",
        )
        exponents = {"lr_exponent_steps": -1, "bs_exponent_steps": 0}
        exponents |= {"lr_exponent_epochs": -1, "bs_exponent_epochs": 1}
        return {name: ((), float(value)) for name, value in exponents.items()}
