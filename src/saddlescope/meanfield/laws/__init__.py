"""Laws of what is drawn: features of the first layer, mixing weights of the blocks above, weights at the start."""

from saddlescope.meanfield.laws.features import FeatureLaw, GaussianFeatures, SphereFeatures, UniformFeatures
from saddlescope.meanfield.laws.mixing import (
    GaussianMixing,
    LaplaceMixing,
    MixingLaw,
    RademacherMixing,
    UniformMixing,
)
from saddlescope.meanfield.laws.rows import RowMixing
from saddlescope.meanfield.laws.start import StartLaw

__all__ = [
    "FeatureLaw",
    "GaussianFeatures",
    "GaussianMixing",
    "LaplaceMixing",
    "MixingLaw",
    "RademacherMixing",
    "RowMixing",
    "SphereFeatures",
    "StartLaw",
    "UniformFeatures",
    "UniformMixing",
]
