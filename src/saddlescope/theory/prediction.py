"""The kind of all predictions."""

from abc import abstractmethod

import numpy as np

from saddlescope.serialization.identity import Part
from saddlescope.setting import Setting

Predicted = dict[str, tuple[str | tuple[str, ...], np.ndarray]]


class Prediction(Part):
    """Abstract base of predictions: what a theory says of a setting.

    A prediction is made from the setting alone, its initial draw included. It never sees a
    measurement, and shares no code with one. It gives curves in an observable's own shape, or named
    summaries. Summaries use the axes `stage` (plateau levels), `mode` or `sample` (what is learned
    when) and `drop` (when the loss falls).

    A prediction of your own is a subclass with `__call__`.
    """

    @abstractmethod
    def __call__(self, setting: Setting) -> Predicted:
        """Variables as (axes, values). Refuses a setting outside the theory's domain, with the
        reason."""
