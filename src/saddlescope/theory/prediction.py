"""The kind of all predictions."""

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from saddlescope.numerics import reproducible
from saddlescope.results import Run
from saddlescope.serialization.part import Part
from saddlescope.setting import Setting

Predicted = dict[str, tuple[str | tuple[str, ...], np.ndarray]]


class Prediction(Part):
    """What a theory says about a setting: curves in an observable's own shape, or named summaries.

    Summaries use the axes `stage` (plateau levels), `mode` or `sample` (what is learned when), `drop` (when the loss
    falls). A prediction is made from the setting alone, its initial draw included, and shares no code with a
    measurement. One that is `conditional` starts from the weights that a run had saved at a stated step.
    """

    conditional: ClassVar[bool] = False

    def __init_subclass__(cls, **more):
        """Whoever calls it, a prediction computes in double precision: in float32 a degree is not seen as one."""
        super().__init_subclass__(**more)
        if "__call__" in vars(cls):
            cls.__call__ = reproducible()(cls.__call__)

    @abstractmethod
    def __call__(self, setting: Setting) -> Predicted:
        """Variables as (axes, values). Refuses a setting outside the theory's domain, with the reason."""


class ConditionalPrediction(Prediction):
    """What a theory says about a run from its weights at a stated step on: the next drop, a rate of escape.

    It reads the weights that `Parameters()` saved, and where the loss is flat, but no later part of the curve. It
    returns the step that it read beside what it says.
    """

    conditional = True

    @abstractmethod
    def __call__(self, setting: Setting, run: Run) -> Predicted:  # type: ignore[override]
        """Variables as (axes, values). Refuses a setting outside the theory's domain, with the reason."""
