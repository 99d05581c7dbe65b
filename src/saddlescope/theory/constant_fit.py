"""The constant to which a net comes that learns nothing but a constant."""

from typing import final

import numpy as np

from saddlescope.errors import require
from saddlescope.losses import SquaredError
from saddlescope.optimisers import GradientDescent
from saddlescope.tasks.task import Moments
from saddlescope.theory.prediction import Prediction


@final
class ConstantFit(Prediction):
    """Where descent on the squared error ends among constants: at the targets' mean, or at their
    median.

    The gradient of a batch is its mean error, so that the mean of the targets is the fixed point.
    The gradient of a single sample, clipped, keeps its sign and loses its size: half of the samples
    pull up and half pull down at the median. Between a batch of one and large ones a clipped run
    ends between the two; the mean is predicted for all.

    Predicted are `level`, the constant of this run; `mean` and `median` of the training targets;
    and `plateau_level`, the loss of the constant: the level of the first plateau, and of a run that
    fails.

    Holds for tasks with samples and one output, gradient descent on the squared error, and a net
    with a bias at its output. For the median the clip must be small against the gradients of most
    samples.
    """

    def __call__(self, setting):
        data, optimiser = setting.data(), setting.optimiser
        require(
            not isinstance(data, Moments) and setting.task.outputs == 1,
            "This theory is for tasks with samples and one output.",
        )
        require(
            isinstance(optimiser, GradientDescent) and isinstance(setting.loss, SquaredError),
            "This theory is for gradient descent on the squared error.",
        )
        y = np.asarray(data.y)[:, 0]
        mean, median = np.mean(y), np.median(y)
        level = median if optimiser.clip is not None and setting.batch == 1 else mean
        return {
            "level": ((), level),
            "mean": ((), mean),
            "median": ((), median),
            "plateau_level": ("stage", np.array([np.mean((y - level) ** 2)])),
        }
