"""One list of everything: an example of every part. A class missing here fails a test."""

import importlib
import pkgutil

import jax.numpy as jnp
import numpy as np

import saddlescope
from saddlescope.engines import CachedFeatures, Flow, Fused, Jax
from saddlescope.explanations import NextDrops
from saddlescope.initials import FirstUnits, Scaled, given_weights
from saddlescope.losses import CrossEntropy, CustomLoss, SquaredError
from saddlescope.meanfield import (
    GaussianFeatures,
    GaussianMixing,
    GemanMcClure,
    LaplaceMixing,
    PseudoHuber,
    RademacherMixing,
    RowMixing,
    SphereFeatures,
    Squared,
    StartLaw,
    UniformFeatures,
    UniformMixing,
)  # fmt: skip
from saddlescope.nets import (
    MLP,
    BiasFreeMLP,
    ConvUnit,
    Cube,
    CustomUnit,
    DeepUnits,
    Erf,
    Gaussian,
    Identity,
    LeakyReLU,
    LinearHead,
    LinearTransformer,
    LowRankMLP,
    MeanField,
    MergedHead,
    MuP,
    Neuron,
    OneMinusCos,
    ReLU,
    RoundedLeakyReLU,
    Sigmoid,
    Sin,
    SoftmaxHead,
    Square,
    Tanh,
    TanhTimes,
    UniformFanIn,
    Units,
    linear_units,
    low_rank,
)  # fmt: skip
from saddlescope.observables import (
    Accuracy,
    ActivationEffect,
    ActivationRanks,
    Balancedness,
    BottleneckRanks,
    ByNorm,
    ByRank,
    ByRays,
    ChannelPartials,
    EffectiveWidth,
    Fit,
    FullLoss,
    GradientNoise,
    GradientNorm,
    HeldOutLoss,
    LayerNorms,
    LearnedModes,
    LearnedSamples,
    LogRatios,
    LossOnFirst,
    MinimaCounts,
    PaperMinima,
    Parameters,
    ProminentMinima,
    ResidualAmplitudes,
    Sharpness,
    SingularValues,
    StrongImbalance,
    SymmetryDefect,
    TestError,
    TopSingularValues,
    UnitDirections,
    UnitNorms,
    WeakBalance,
    WeightDensity,
    WeightRanks,
)  # fmt: skip
from saddlescope.optimisers import (
    Adam,
    Constant,
    GradientDescent,
    GradientFlow,
    HalveOnStagnation,
    LearningRateBelow,
    LossBelow,
    NormScaledDescent,
    StepDecay,
    StepDownOnStagnation,
    WarmUp,
)  # fmt: skip
from saddlescope.serialization.part import Part, subclasses
from saddlescope.setting import Setting
from saddlescope.tasks import (
    ArrayTask,
    Chirp,
    DigitPair,
    FunctionTask,
    ImageClasses,
    InContextRegression,
    LinearTeacher,
    Points,
    Teacher,
    cosine,
    cosine_sum,
    multi_frequency,
)
from saddlescope.theory import (
    AllLinearLevels,
    ConstantFit,
    CosineLevels,
    DeepLevels,
    DropSchedule,
    EmbeddedStart,
    Equal,
    EscapeRate,
    EulerGap,
    FirstDrop,
    FlowTime,
    FrozenAt,
    GrowthRates,
    LinearLevels,
    NarrowLevels,
    NearestSaddle,
    OrthogonalPoints,
    PowerGrowth,
    PreservedRelation,
    ProjectedRate,
    QuadraticDrops,
    QuadraticNextDrops,
    Rays,
    ReducedWidth,
    RelaxedLevel,
    Silent,
    Span,
    SpikesByLayer,
    TopDirections,
    TypicalDrops,
    UnitOrder,
)

COVARIANCE = ((1, 1), (1, 4))
TEACHER = LinearTeacher(((1, 0), (0, 1)), COVARIANCE)
TWO_POINTS = Points(((1, 0.5), (-1, 2)), ((1,), (-1,)))


def linear_setting(**changes):
    """Fig. 1B with W* = I, shortened."""
    given = dict(task=TEACHER, net=linear_units(50, 1e-6), optimiser=GradientDescent(0.01), steps=300) | changes
    return Setting(**given)


def relu_setting(**changes):
    net = Units(50, Neuron(ReLU()), 1e-6)
    return Setting(**dict(task=TWO_POINTS, net=net, optimiser=GradientDescent(0.01), steps=300) | changes)


def silent_setting():
    """Three linear units, the last of them silent."""
    rows = np.array([[0.3, -0.2], [0.1, 0.4], [0, 0]])
    start = given_weights({"u": rows, "v": rows[:, ::-1]})
    return linear_setting(net=linear_units(3, 0.3), initial=start, steps=20)


def deep_setting():
    return linear_setting(net=DeepUnits(4, Neuron(Identity()), (5,), 0.1))


def quadratic_setting(**changes):
    given = dict(task=Teacher(Square(), ((1, 0), (0, 1)), 30), net=Units(3, Neuron(Square()), 0.1))
    return Setting(**given | dict(optimiser=GradientDescent(0.01), steps=20) | changes)


def minibatch_setting(**changes):
    """A small tanh net on a cosine, with a short last batch."""
    given = dict(
        task=cosine(1, 30), net=Units(8, Neuron(Tanh(), bias=True), 1.0), optimiser=GradientDescent(0.05), batch=7,
        epochs=60, schedule=HalveOnStagnation(), stop=(LossBelow(1e-3), LearningRateBelow(1e-4)),
    )  # fmt: skip
    return Setting(**given | changes)


def random_feature_setting(**changes):
    """The valleys paper's protocol on a small net, with a short last batch."""
    given = dict(
        task=cosine_sum(2, 30), net=low_rank(3, 2, 20), optimiser=GradientDescent(0.01, clip=1.0), batch=4, epochs=40,
        schedule=HalveOnStagnation(), stop=LearningRateBelow(1e-6),
    )  # fmt: skip
    return Setting(**given | changes)


def image_setting(**changes):
    """Deep ReLU nets on small digits as the escape paper trains them, with a short last batch."""
    given = dict(
        task=ImageClasses("small", 60), net=BiasFreeMLP((8, 7, 6), 0.3), optimiser=NormScaledDescent(0.5, 2),
        loss=CrossEntropy(), batch=7, epochs=10,
    )  # fmt: skip
    return Setting(**given | changes)


def engine_for(setting):
    """What starts and advances a run of this setting."""
    return setting.engine.begin(setting)


def advance_epochs(stepper, state, epoch, n, lr):
    """The state n epochs on, and the losses before each step, one row per epoch."""
    each, losses = stepper.steps_per_epoch, []
    step, end = epoch * each, (epoch + n) * each
    while step < end:
        k = min(end - step, stepper.max_steps)
        state, new = stepper.advance(state, step, k, lr)
        losses.append(new)
        step += k
    return state, np.concatenate(losses).reshape(n, each)


def absolute(outputs, targets):
    return jnp.sum(jnp.abs(outputs - targets))


def parabola(x):
    return x**2


def product(x, u):
    """Quadratic in u, one number."""
    return (u @ x[: len(u)]) * jnp.sum(u)


CASES = [
    cosine(1, 16), TEACHER, TWO_POINTS, cosine_sum(3, 48), multi_frequency(0.3, 60), Chirp(6, 2, 40),
    FunctionTask(parabola, 9), ArrayTask([[0.0, 1.0], [1.0, 0.5], [2.0, 2.0]], [1.0, -1.0, 0.5]),
    LinearTeacher(((1, 0, 2), (0, 1, 0)), ((2, 0, 0), (0, 1, 0.5), (0, 0.5, 1)), 64),
    Identity(), ReLU(), LeakyReLU(), LeakyReLU(0.3), Sigmoid(), Square(), Tanh(), Erf(), RoundedLeakyReLU(0.2, 0.3),
    GaussianFeatures(2.0, 0.5), SphereFeatures(), SphereFeatures(bias=False), UniformFeatures(), GaussianMixing(),
    GaussianMixing(1.0, 0.3), UniformMixing(0.5, 0.1), RademacherMixing(), LaplaceMixing(2.0),
    RowMixing(((1, 0), (0, 4))), Squared(),
    PseudoHuber(0.5), GemanMcClure(2.0), StartLaw(), StartLaw((0.5, 1.0), 0.0, 0.3, (((0.1,), (1.0, 2.0)),)),
    UniformFanIn(), Gaussian(), MeanField(), MuP(),
    low_rank(3, 2, 8), low_rank(2, 1, 7, activation=LeakyReLU(0.2), trainable="all", parameterisation=MuP()),
    low_rank(3, 3, 9, activation=Tanh(), residual=True, parameterisation=MeanField()), MLP((6, 5)),
    BiasFreeMLP((6, 5), 0.5), BiasFreeMLP((4,), 0.5, Tanh()), LowRankMLP((6, 5), 2, 0.5),
    linear_units(5, 0.3), linear_units(5, 0.01, rank=2, spread=0.5), Units(6, Neuron(ReLU()), 0.5),
    Units(6, Neuron(Tanh(), bias=True), 0.5), Units(4, Neuron(Square()), 0.5), Units(4, Neuron(Cube()), 0.5),
    Units(3, CustomUnit(product), 0.5), Units(3, ConvUnit(2, Identity()), 0.5), Units(3, ConvUnit(2, ReLU(), 1), 0.5),
    Units(3, LinearHead(2), 0.5), Units(2, LinearHead(1, 2), 0.5), Units(3, MergedHead(2), 0.5),
    DeepUnits(4, Neuron(Identity()), (5,), 0.5), DeepUnits(4, Neuron(Identity()), (4, 4), 0.5, skip=1),
    DeepUnits(4, Neuron(ReLU()), (5, 4), 0.5, ReLU(), skip=2), DeepUnits(3, ConvUnit(2, Identity()), (4,), 0.5),
    DeepUnits(3, Neuron(Square()), (4,), 0.5), LinearTransformer(3, 4, 2, 0.5),
    Units(3, SoftmaxHead(2), 0.5), Neuron(ReLU()), Neuron(Square(), bias=True), CustomUnit(product, 2),
    ConvUnit(2, Identity()), ConvUnit(3, Tanh(), 2), LinearHead(2, 1), MergedHead(3), SoftmaxHead(2),
    DigitPair(3, 5, "small"), ImageClasses("small", 60), InContextRegression((1, 0.5), 5, 40),
    Teacher(Tanh(), ((1, 0), (0, 2)), 30), Teacher(Square(), ((1, 0), (0, 2)), 30, True),
    Teacher(Cube(), ((1, 0.5),), None), Cube(), Sin(), OneMinusCos(), TanhTimes(), TanhTimes(2),
    GradientDescent(0.01), GradientDescent(0.01, momentum=0.9, clip=1.0), Adam(1e-3), Adam(1e-3, clip=0.5),
    GradientFlow(0.01), NormScaledDescent(0.01, 2), StepDownOnStagnation((1.0, 0.5, 0.1, 0.05, 0.01)),
    Constant(), StepDecay(0.9, 3), HalveOnStagnation(), HalveOnStagnation(2, 5),
    LossBelow(0.1), LossBelow(0.1, within_epochs=True), LearningRateBelow(1e-6), WarmUp(10),
    SquaredError(), CrossEntropy(), CustomLoss(absolute), Jax(), Fused(), Flow(), CachedFeatures(),
    HeldOutLoss(), Accuracy(),
    given_weights({"u": np.ones((2, 1))}), Scaled(0.5), FirstUnits(linear_setting(net=linear_units(60, 1e-6))),
    EmbeddedStart(given_weights({"u": np.ones((1, 2)), "v": np.ones((1, 2))}), Silent()),
    Silent(), Rays(0.7, 0.3), Span((0.5, 0.1)), Equal(mirrored=True),
    FullLoss(), LossOnFirst(5), GradientNorm(), Parameters(), SingularValues(), TopSingularValues(2), UnitNorms(),
    UnitDirections(), Balancedness(),
    ByRank(), ByNorm(), ByRays(), EffectiveWidth(ByRank()), EffectiveWidth(ByRays(0.2, 0.9)), LearnedModes(),
    LearnedSamples(), Fit(50), TestError(), TestError(40, seed=3), ChannelPartials((0, 2), 30), SymmetryDefect(21),
    LogRatios(0.1), PaperMinima(), ProminentMinima(), MinimaCounts(PaperMinima(), 200, "float32"),
    MinimaCounts(ProminentMinima()), ResidualAmplitudes(), ResidualAmplitudes(4), Sharpness(20), GradientNoise(7),
    WeightDensity(0.5, 10), WeightRanks(), ActivationRanks(0.2, 50), ActivationEffect(50), BottleneckRanks(0.2, 50),
    WeakBalance(), StrongImbalance(), LayerNorms(),
    LinearLevels(), DropSchedule(), ReducedWidth(), OrthogonalPoints(), NarrowLevels(1, tries=2), QuadraticDrops(),
    DeepLevels(((1, 1),), tries=2), EulerGap(), GrowthRates(), ProjectedRate((1e-9,)),
    PreservedRelation((0, 0)), RelaxedLevel(2), ConstantFit(), CosineLevels(), FrozenAt(), FlowTime(),
    SpikesByLayer(), AllLinearLevels(), TypicalDrops(), TopDirections(), FirstDrop(2), UnitOrder(),
    PowerGrowth(2, (0.3, 0.1)), EscapeRate(), NearestSaddle(), NearestSaddle(None), QuadraticNextDrops(), NextDrops(),
    linear_setting(), relu_setting(), minibatch_setting(), random_feature_setting(),
    random_feature_setting(engine=Jax()), linear_setting(optimiser=GradientFlow(0.01)),
]  # fmt: skip


def sizes_for(net):
    """Inputs and outputs that this net can read and give."""
    unit = getattr(net, "unit", None)
    for tokens in (net, unit):
        if hasattr(tokens, "dimension"):
            return (tokens.dimension + 1) * 4, 1
    return (6, 1) if isinstance(unit, ConvUnit) else (3, 2)


def of_kind(kind):
    return [case for case in CASES if isinstance(case, kind)]


def all_parts():
    """Every concrete part that the package defines."""
    for module in pkgutil.walk_packages(saddlescope.__path__, "saddlescope."):
        importlib.import_module(module.name)
    return {c for c in subclasses(Part) if c.__module__.startswith("saddlescope.") and not c.__abstractmethods__}
