"""What a theory says of a setting: curves in an observable's own shape, or named summaries.

Summaries use the axes `stage` (plateau levels) and `mode` or `sample` (what is learned when), `drop` (when
the loss falls). A prediction is made from
the setting alone, its initial draw included; it never sees a measurement, and shares no code with one.
"""

from abc import abstractmethod

import numpy as np

from saddlescope.serialization.identity import Part
from saddlescope.setting import Setting

Predicted = dict[str, tuple[str | tuple[str, ...], np.ndarray]]


class Prediction(Part):
    @abstractmethod
    def __call__(self, setting: Setting) -> Predicted:
        """Variables as (axes, values). Refuses a setting outside the theory's domain, with the reason."""
