"""The mean-field limit of low-rank random-feature nets, solved; and finite nets beside it.

It stands beside `training` and `theory`: a limit is neither a run (no width, no seed) nor a formula (it is solved in
time), and its finite nets are coupled to it neuron by neuron, which a run of a setting is not.
"""

from saddlescope.meanfield.flow import Flow
from saddlescope.meanfield.laws import (
    GaussianFeatures,
    GaussianMixing,
    LaplaceMixing,
    RademacherMixing,
    RowMixing,
    SphereFeatures,
    StartLaw,
    UniformFeatures,
    UniformMixing,
)
from saddlescope.meanfield.limit import Limit, meanfield
from saddlescope.meanfield.measure import Measure
from saddlescope.meanfield.residuals import GemanMcClure, PseudoHuber, Squared

__all__ = [
    "Flow",
    "GaussianFeatures",
    "GaussianMixing",
    "GemanMcClure",
    "LaplaceMixing",
    "Limit",
    "Measure",
    "PseudoHuber",
    "RademacherMixing",
    "RowMixing",
    "SphereFeatures",
    "Squared",
    "StartLaw",
    "UniformFeatures",
    "UniformMixing",
    "meanfield",
]
