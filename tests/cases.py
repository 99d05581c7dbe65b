"""One list of everything: an example of every part. A class missing here fails a test."""

import importlib
import pkgutil

import saddlescope
from saddlescope.identity import Part, subclasses
from saddlescope.nets import (
    MLP,
    Gaussian,
    Identity,
    LeakyReLU,
    LinearUnits,
    MeanField,
    MuP,
    ReLU,
    Sigmoid,
    Square,
    Tanh,
    UniformFanIn,
    Units,
    low_rank,
)  # fmt: skip
from saddlescope.observables import (
    Balancedness,
    ByNorm,
    ByRank,
    ByRays,
    ChannelPartials,
    EffectiveWidth,
    Fit,
    FullLoss,
    GradientNoise,
    GradientNorm,
    LearnedModes,
    LearnedSamples,
    LogRatios,
    MinimaCounts,
    PaperMinima,
    Parameters,
    ProminentMinima,
    ResidualAmplitudes,
    Sharpness,
    SingularValues,
    SymmetryDefect,
    TestError,
    UnitDirections,
    UnitNorms,
    WeightDensity,
)  # fmt: skip
from saddlescope.optimisers import (
    Adam,
    Constant,
    GradientDescent,
    GradientFlow,
    HalveOnStagnation,
    Ladder,
    LearningRateBelow,
    LossBelow,
    NormScaledDescent,
    StepDecay,
)  # fmt: skip
from saddlescope.setting import Setting
from saddlescope.tasks import (
    Chirp,
    GivenArrays,
    GivenFunction,
    LinearTeacher,
    Points,
    cosine,
    cosine_sum,
    multi_frequency,
)
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
        task=cosine(1, 30), net=Units(8, Tanh(), 1.0, bias=True), optimiser=GradientDescent(0.05), batch=7, epochs=60,
        schedule=HalveOnStagnation(), stop=(LossBelow(1e-3), LearningRateBelow(1e-4)),
    )  # fmt: skip
    return Setting(**given | changes)


def random_feature_setting(**changes):
    """The valleys paper's protocol on a small net, with a short last batch."""
    given = dict(
        task=cosine_sum(2, 30), net=low_rank(3, 2, 20), optimiser=GradientDescent(0.01, clip=1.0), batch=4, epochs=40,
        schedule=HalveOnStagnation(), stop=LearningRateBelow(1e-6),
    )  # fmt: skip
    return Setting(**given | changes)


def parabola(x):
    return x**2


CASES = [
    cosine(1, 16), TEACHER, TWO_POINTS, cosine_sum(3, 48), multi_frequency(0.3, 60), Chirp(6, 2, 40),
    GivenFunction(parabola, 9), GivenArrays([[0.0, 1.0], [1.0, 0.5], [2.0, 2.0]], [1.0, -1.0, 0.5]),
    LinearTeacher(((1, 0, 2), (0, 1, 0)), ((2, 0, 0), (0, 1, 0.5), (0, 0.5, 1)), 64),
    Identity(), ReLU(), LeakyReLU(), LeakyReLU(0.3), Sigmoid(), Square(), Tanh(),
    UniformFanIn(), Gaussian(), MeanField(), MuP(),
    low_rank(3, 2, 8), low_rank(2, 1, 7, activation=LeakyReLU(0.2), trainable="all", parameterisation=MuP()),
    low_rank(3, 3, 9, activation=Tanh(), residual=True, parameterisation=MeanField()), MLP((6, 5)),
    LinearUnits(5, 0.3), Units(6, ReLU(), 0.5), Units(6, Tanh(), 0.5, bias=True), Units(4, Square(), 0.5),
    GradientDescent(0.01), GradientDescent(0.01, momentum=0.9, clip=1.0), Adam(1e-3), Adam(1e-3, clip=0.5),
    GradientFlow(0.01), NormScaledDescent(0.01, 2), Ladder((1.0, 0.5, 0.1, 0.05, 0.01)),
    Constant(), StepDecay(0.9, 3), HalveOnStagnation(), HalveOnStagnation(2, 5),
    LossBelow(0.1), LearningRateBelow(1e-6),
    FullLoss(), GradientNorm(), Parameters(), SingularValues(), UnitNorms(), UnitDirections(), Balancedness(),
    ByRank(), ByNorm(), ByRays(), EffectiveWidth(ByRank()), EffectiveWidth(ByRays(0.2, 0.9)), LearnedModes(),
    LearnedSamples(), Fit(50), TestError(), TestError(40, seed=3), ChannelPartials((0, 2), 30), SymmetryDefect(21),
    LogRatios(0.1), PaperMinima(), ProminentMinima(), MinimaCounts(PaperMinima(), 200, "float32"),
    MinimaCounts(ProminentMinima()), ResidualAmplitudes(), ResidualAmplitudes(4), Sharpness(20), GradientNoise(7),
    WeightDensity(0.5, 10),
    LinearLevels(), DropSchedule(), ReducedWidth(), OrthogonalPoints(),
    linear_setting(), relu_setting(), minibatch_setting(), random_feature_setting(),
    random_feature_setting(engine="jax"), linear_setting(optimiser=GradientFlow(0.01)),
]  # fmt: skip


def of_kind(kind):
    return [case for case in CASES if isinstance(case, kind)]


def all_parts():
    """Every concrete part that the package defines."""
    for module in pkgutil.walk_packages(saddlescope.__path__, "saddlescope."):
        importlib.import_module(module.name)
    return {c for c in subclasses(Part) if c.__module__.startswith("saddlescope.") and not c.__abstractmethods__}
