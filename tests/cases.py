"""One list of everything: an example of every part. A class missing here fails a test."""

import importlib
import pkgutil

import saddlescope
from saddlescope.identity import Part, subclasses
from saddlescope.nets import Identity, LinearUnits, ReLU, Sigmoid, Square, Tanh, Units
from saddlescope.observables import (
    Balancedness,
    ByNorm,
    ByRank,
    ByRays,
    EffectiveWidth,
    FullLoss,
    GradientNorm,
    LearnedModes,
    LearnedSamples,
    Parameters,
    SingularValues,
    UnitDirections,
    UnitNorms,
)  # fmt: skip
from saddlescope.optimisers import (
    Adam,
    Constant,
    GradientDescent,
    GradientFlow,
    HalveOnStagnation,
    LearningRateBelow,
    LossBelow,
    StepDecay,
)  # fmt: skip
from saddlescope.setting import Setting
from saddlescope.tasks import Cosine, LinearTeacher, Points
from saddlescope.theory import DropSchedule, LinearLevels, OrthogonalPoints, ReducedWidth

COVARIANCE = ((1, 1), (1, 4))
TEACHER = LinearTeacher(((1, 0), (0, 1)), COVARIANCE)
TWO_POINTS = Points(((1, 0.5), (-1, 2)), ((1,), (-1,)))


def linear_setting(**changes):
    """Fig. 1B with W* = I, shortened."""
    given = dict(task=TEACHER, net=LinearUnits(50, 1e-6), optimiser=GradientDescent(0.01), steps=300) | changes
    return Setting(**given)


def relu_setting(**changes):
    given = dict(task=TWO_POINTS, net=Units(50, ReLU(), 1e-6), optimiser=GradientDescent(0.01), steps=300) | changes
    return Setting(**given)


def minibatch_setting(**changes):
    """A small tanh net on a cosine, with a short last batch."""
    given = dict(
        task=Cosine(1, 30), net=Units(8, Tanh(), 1.0, bias=True), optimiser=GradientDescent(0.05), batch=7, epochs=60,
        schedule=HalveOnStagnation(), stop=(LossBelow(1e-3), LearningRateBelow(1e-4)),
    )  # fmt: skip
    return Setting(**given | changes)


CASES = [
    Cosine(1, 16), TEACHER, TWO_POINTS,
    LinearTeacher(((1, 0, 2), (0, 1, 0)), ((2, 0, 0), (0, 1, 0.5), (0, 0.5, 1)), 64),
    Identity(), ReLU(), Sigmoid(), Square(), Tanh(),
    LinearUnits(5, 0.3), Units(6, ReLU(), 0.5), Units(6, Tanh(), 0.5, bias=True), Units(4, Square(), 0.5),
    GradientDescent(0.01), GradientDescent(0.01, momentum=0.9, clip=1.0), Adam(1e-3), Adam(1e-3, clip=0.5),
    GradientFlow(0.01), Constant(), StepDecay(0.9, 3), HalveOnStagnation(), HalveOnStagnation(2, 5),
    LossBelow(0.1), LearningRateBelow(1e-6),
    FullLoss(), GradientNorm(), Parameters(), SingularValues(), UnitNorms(), UnitDirections(), Balancedness(),
    ByRank(), ByNorm(), ByRays(), EffectiveWidth(ByRank()), EffectiveWidth(ByRays(0.2, 0.9)), LearnedModes(),
    LearnedSamples(),
    LinearLevels(), DropSchedule(), ReducedWidth(), OrthogonalPoints(),
    linear_setting(), relu_setting(), minibatch_setting(), linear_setting(optimiser=GradientFlow(0.01)),
]  # fmt: skip


def of_kind(kind):
    return [case for case in CASES if isinstance(case, kind)]


def all_parts():
    """Every concrete part that the package defines."""
    for module in pkgutil.walk_packages(saddlescope.__path__, "saddlescope."):
        importlib.import_module(module.name)
    return {c for c in subclasses(Part) if c.__module__.startswith("saddlescope.") and not c.__abstractmethods__}
