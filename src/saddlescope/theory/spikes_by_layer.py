"""How many spikes the channels of each layer have."""

from typing import final

import numpy as np

from saddlescope.errors import require
from saddlescope.nets import RandomFeatureNet
from saddlescope.theory.prediction import Prediction


@final
class SpikesByLayer(Prediction):
    """The conjecture of the valleys paper (Section 3 and App. C.10): layer ℓ has about 2ℓ spikes in
    its partials.

    `spikes` lies along `block`, for the hidden blocks ℓ = 1, 2, … in turn. The paper derives no
    number; "on the order of 2ℓ" leaves open whether periods are counted or extrema.

    Said of trained low-rank random-feature nets on one-dimensional targets that oscillate enough.
    """

    def __call__(self, setting):
        net = setting.net
        require(
            isinstance(net, RandomFeatureNet) and setting.task.inputs == 1,
            "This conjecture is for random-feature nets on one-dimensional targets.",
        )
        return {"spikes": ("block", 2.0 * np.arange(1, len(net.ranks) + 1))}
