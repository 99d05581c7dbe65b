"""Theory: what the papers and we predict, as executable statements that say when they hold."""

from saddlescope.theory.constant_fit import ConstantFit
from saddlescope.theory.cosine_levels import CosineLevels
from saddlescope.theory.deep_levels import DeepLevels
from saddlescope.theory.drop_schedule import DropSchedule
from saddlescope.theory.escape_time import escape_steps
from saddlescope.theory.euler_gap import EulerGap
from saddlescope.theory.fixed_point import data_with_fixed_point
from saddlescope.theory.flow_time import FlowTime
from saddlescope.theory.frozen_at import FrozenAt
from saddlescope.theory.growth_rates import GrowthRates, ProjectedRate, first_directions
from saddlescope.theory.linear_fixed_points import LinearFixedPoints
from saddlescope.theory.linear_levels import LinearLevels
from saddlescope.theory.linear_system import LinearSystem
from saddlescope.theory.narrow_levels import NarrowLevels
from saddlescope.theory.nearest import nearest_embedded
from saddlescope.theory.prediction import Prediction
from saddlescope.theory.preserved_relation import PreservedRelation
from saddlescope.theory.properties import properties
from saddlescope.theory.quadratic import QuadraticDrops, explosion_steps, explosion_time
from saddlescope.theory.reduced_width import ReducedWidth
from saddlescope.theory.relations import (
    KINDS,
    Equal,
    Kind,
    Rays,
    Silent,
    Span,
    embed,
    manifold_residual,
    reduce,
)
from saddlescope.theory.relax import relax
from saddlescope.theory.relaxed_level import RelaxedLevel
from saddlescope.theory.relu_points import OrthogonalPoints
from saddlescope.theory.saddle import perturbed, saddle
from saddlescope.theory.silent_rate import silent_rate
from saddlescope.theory.spikes_by_layer import SpikesByLayer

__all__ = [
    "KINDS",
    "ConstantFit",
    "CosineLevels",
    "DeepLevels",
    "DropSchedule",
    "Equal",
    "EulerGap",
    "FlowTime",
    "FrozenAt",
    "GrowthRates",
    "Kind",
    "LinearFixedPoints",
    "LinearLevels",
    "LinearSystem",
    "NarrowLevels",
    "OrthogonalPoints",
    "Prediction",
    "PreservedRelation",
    "ProjectedRate",
    "QuadraticDrops",
    "Rays",
    "ReducedWidth",
    "RelaxedLevel",
    "Silent",
    "Span",
    "SpikesByLayer",
    "data_with_fixed_point",
    "embed",
    "escape_steps",
    "explosion_steps",
    "explosion_time",
    "first_directions",
    "manifold_residual",
    "nearest_embedded",
    "perturbed",
    "properties",
    "reduce",
    "relax",
    "saddle",
    "silent_rate",
]
