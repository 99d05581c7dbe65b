"""Theory: what the papers and we predict, as executable statements that say when they hold."""

from saddlescope.theory.all_levels import AllLinearLevels
from saddlescope.theory.constant_fit import ConstantFit
from saddlescope.theory.cosine_levels import CosineLevels
from saddlescope.theory.deep_levels import DeepLevels
from saddlescope.theory.drop_schedule import DropSchedule
from saddlescope.theory.embedded_start import EmbeddedStart
from saddlescope.theory.escape_rate import EscapeRate
from saddlescope.theory.escape_time import escape_steps
from saddlescope.theory.euler_gap import EulerGap
from saddlescope.theory.first_drop import FirstDrop
from saddlescope.theory.fixed_point import data_with_fixed_point
from saddlescope.theory.flow_time import FlowTime
from saddlescope.theory.frozen_at import FrozenAt
from saddlescope.theory.growth_rates import GrowthRates, ProjectedRate, first_directions
from saddlescope.theory.linear_fixed_points import LinearFixedPoints
from saddlescope.theory.linear_levels import LinearLevels
from saddlescope.theory.linear_system import LinearSystem
from saddlescope.theory.narrow_levels import NarrowLevels
from saddlescope.theory.nearest import nearest_embedded, nearest_kind
from saddlescope.theory.nearest_saddle import NearestSaddle
from saddlescope.theory.power_growth import PowerGrowth
from saddlescope.theory.prediction import ConditionalPrediction, Prediction
from saddlescope.theory.preserved_relation import PreservedRelation
from saddlescope.theory.properties import properties
from saddlescope.theory.quadratic import QuadraticDrops, explosion_steps, explosion_time
from saddlescope.theory.quadratic_next import QuadraticNextDrops
from saddlescope.theory.reduced_width import ReducedWidth
from saddlescope.theory.relations import KINDS, Equal, Kind, Rays, Silent, Span, embed, manifold_residual, reduce
from saddlescope.theory.relax import relax
from saddlescope.theory.relaxed_level import RelaxedLevel
from saddlescope.theory.relu_points import OrthogonalPoints
from saddlescope.theory.saddle import perturbed, saddle
from saddlescope.theory.silent_rate import silent_rate
from saddlescope.theory.spikes_by_layer import SpikesByLayer
from saddlescope.theory.top_directions import TopDirections
from saddlescope.theory.typical_drops import TypicalDrops
from saddlescope.theory.unit_order import UnitOrder

__all__ = [
    "KINDS",
    "AllLinearLevels",
    "ConditionalPrediction",
    "ConstantFit",
    "CosineLevels",
    "DeepLevels",
    "DropSchedule",
    "EmbeddedStart",
    "Equal",
    "EscapeRate",
    "EulerGap",
    "FirstDrop",
    "FlowTime",
    "FrozenAt",
    "GrowthRates",
    "Kind",
    "LinearFixedPoints",
    "LinearLevels",
    "LinearSystem",
    "NarrowLevels",
    "NearestSaddle",
    "OrthogonalPoints",
    "PowerGrowth",
    "Prediction",
    "PreservedRelation",
    "ProjectedRate",
    "QuadraticDrops",
    "QuadraticNextDrops",
    "Rays",
    "ReducedWidth",
    "RelaxedLevel",
    "Silent",
    "Span",
    "SpikesByLayer",
    "TopDirections",
    "TypicalDrops",
    "UnitOrder",
    "data_with_fixed_point",
    "embed",
    "escape_steps",
    "explosion_steps",
    "explosion_time",
    "first_directions",
    "manifold_residual",
    "nearest_embedded",
    "nearest_kind",
    "perturbed",
    "properties",
    "reduce",
    "relax",
    "saddle",
    "silent_rate",
]
