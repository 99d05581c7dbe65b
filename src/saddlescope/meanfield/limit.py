"""The limit of infinite width of a low-rank random-feature net: what it is made of, and its flow."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from saddlescope.errors import InvalidInput, number_of, require, require_kind
from saddlescope.meanfield.flow import Neurons
from saddlescope.meanfield.laws import FeatureLaw, GaussianFeatures, GaussianMixing, MixingLaw, StartLaw
from saddlescope.meanfield.laws.spread import EvenlySpread
from saddlescope.meanfield.measure import Measure, as_measure
from saddlescope.meanfield.numbers import whole_number
from saddlescope.meanfield.problem import Block, Problem
from saddlescope.meanfield.residuals import Residual, Squared
from saddlescope.nets.activation import Activation, Identity, LeakyReLU, is_kinked
from saddlescope.numerics import reproducible
from saddlescope.tasks.task import Task


def constant(t):
    """ξ = 1."""
    return 1.0


@dataclass(frozen=True)
class Limit:
    """The mean-field limit of a net of `depth` bottlenecks of one rank, on a finite data measure.

    Reference: meanfield paper, Section 2, with the equations of `nodes.py`.

    **Arguments:**

    - `measure`: the data, points with weights.
    - `rank`: channels per bottleneck; `depth`: the number of bottlenecks (0: random features alone).
    - `activation`: φ of every block.
    - `features`, `mixing`: the laws of frozen weights of the first block and of those above.
    - `starts`: the laws of trained weights at the start, one per block.
    - `residual`: the loss of one residual.
    - `schedules`: ξ_i(t), one per block.
    """

    measure: Measure
    rank: int
    depth: int
    activation: Activation
    features: FeatureLaw
    mixing: MixingLaw
    starts: tuple[StartLaw, ...]
    residual: Residual
    schedules: tuple[Callable, ...]

    # ---- What it is made of ----

    @property
    def widths(self) -> tuple[int, ...]:
        """The outputs of every block: the rank, and at last the task's outputs."""
        return (self.rank,) * self.depth + (self.measure.outputs,)

    @property
    def kinked(self) -> bool:
        """Whether the activation has a kink, along which a flow may slide."""
        return is_kinked(self.activation)

    @reproducible()
    def first_kernel(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """K(x, z) of the first layer."""
        return self.features.kernel(self.activation, x, z)

    @reproducible()
    def first_channels(self, x: np.ndarray) -> np.ndarray:
        """f¹(0, x), point × channel."""
        start, channels = self.starts[0], self.widths[0]
        smooth = np.outer(self.features.mean(self.activation, x), start.means(channels))
        slopes = start.slopes(channels, x.shape[1] + 1)
        if slopes.any():
            smooth = smooth + self.features.slope(self.activation, x) @ slopes.T
        if start.atoms:
            places = start.places(x.shape[1])[:, :-1]
            smooth = smooth + self.first_kernel(x, places) @ start.heights(channels)
        return smooth

    @cached_property
    def problem(self) -> Problem:
        """All arrays of the memory form; the mixing law must be Gaussian."""
        blocks = [self._block(s, o) for s, o in zip(self.starts[1:], self.widths[1:], strict=True)]
        x = self.measure.x
        return Problem(
            self.measure.weights,
            self.measure.y,
            self.first_kernel(x, x),
            self.first_channels(x),
            tuple(blocks),
            self.residual,
            self.schedules,
        )

    def _block(self, start, outputs) -> Block:
        r, deviations = self.rank, self.mixing.deviations(self.rank)
        if deviations is None:
            raise InvalidInput(f"The memory form needs GaussianMixing; got {type(self.mixing).__name__}.")
        parts = start.means(outputs), start.slopes(outputs, r + 1), start.places(r), start.heights(outputs)
        return Block(deviations, *parts)

    def neurons(self, block: int, count: int) -> Neurons:
        """Neurons of a block, evenly spread over its law."""
        spread, outputs = EvenlySpread(), self.widths[block]
        inputs = self.rank if block else self.measure.inputs
        frozen = (self.mixing if block else self.features).draw(spread, count, inputs)
        law = self.starts[block]
        return Neurons(frozen, law.average(frozen, outputs, self.activation), law.std)

    @property
    def title(self) -> str:
        """What it is the limit of, in a few words."""
        return f"limit, rank {self.rank}, {number_of(self.depth + 1, 'block')}"

    @cached_property
    def note(self) -> str:
        """A sentence where nothing moves at the start; else nothing."""
        from saddlescope.meanfield.stationary import SENTENCE, is_stationary

        return SENTENCE if is_stationary(self) else ""

    # ---- What it does ----

    def flow(self, T: float, **options):
        """Follow the limit to time T; see `flow_of_limit`."""
        from saddlescope.meanfield.solve import flow_of_limit

        return flow_of_limit(self, T, **options)

    def net(self, width: int, seed: int = 0):
        """Draw a finite net of this width from the same laws."""
        from saddlescope.meanfield.finite import FiniteNet

        return FiniteNet.draw(self, width, seed)

    def distance(self, widths: Sequence[int], seeds: Sequence[int], T: float, **options):
        """Measure how far nets are from the limit; see `distances_to_limit`."""
        from saddlescope.meanfield.distance import distances_to_limit

        return distances_to_limit(self, widths, seeds, T, **options)

    def escape_time(self, width: int) -> float:
        """When a net of this width leaves a start that is stationary in the limit; see `escape_time_of`."""
        from saddlescope.meanfield.stationary import escape_time_of

        return escape_time_of(self, whole_number(width, "width"))


def meanfield(
    task: Task | Measure,
    rank: int,
    depth: int = 1,
    activation: Activation | None = None,
    *,
    features: FeatureLaw | None = None,
    mixing: MixingLaw | None = None,
    start: StartLaw | Sequence[StartLaw] | None = None,
    residual: Residual | None = None,
    schedules: Callable | Sequence[Callable] = constant,
) -> Limit:
    """Make the mean-field limit of a low-rank random-feature net on a task.

    **Arguments:**

    - `task`: a task with samples, or a `Measure` of points with weights.
    - `rank`: channels per bottleneck.
    - `depth`: the number of bottlenecks; the net has depth + 1 blocks.
    - `activation`: φ; the default is LeakyReLU(0.1).
    - `features`: the law of the first block's frozen weights; the default is GaussianFeatures().
    - `mixing`: the law of frozen weights above; the default is GaussianMixing(), without bias.
    - `start`: the law of trained weights at the start, one for all blocks or one per block; the default is StartLaw().
    - `residual`: the loss of one residual; the default is Squared().
    - `schedules`: ξ(t) ≥ 0, one for all blocks or one per block; the default is 1.
    """
    measure = as_measure(task)
    rank, depth = whole_number(rank, "rank", most=10_000), whole_number(depth, "depth", 0, 1000)
    activation = LeakyReLU(0.1) if activation is None else activation
    require_kind(activation, Activation, "`activation` must be one of saddlescope.nets, such as Tanh()")
    require(
        not isinstance(activation, Identity) or depth == 0, "A linear activation makes a linear net: choose another."
    )
    features = _part(features, GaussianFeatures(), FeatureLaw, "features")
    _check_bias(measure, features)
    limit = Limit(
        measure,
        rank,
        depth,
        activation,
        features,
        _part(mixing, GaussianMixing(), MixingLaw, "mixing"),
        _one_per_block(StartLaw() if start is None else start, depth + 1, StartLaw, "start laws"),
        _part(residual, Squared(), Residual, "residual"),
        _one_per_block(schedules, depth + 1, Callable, "schedules"),
    )
    for law, outputs, inputs in zip(limit.starts, limit.widths, (measure.inputs, *limit.widths), strict=False):
        law.check_sizes(inputs, outputs)
    return limit


def _part(given, default, kind, name):
    if given is None:
        return default
    require_kind(given, kind, f"`{name}` must be one of saddlescope.meanfield, such as {type(default).__name__}()")
    return given


def _one_per_block(given, blocks, kind, name):
    single = isinstance(given, kind)
    found = (given,) * blocks if single else tuple(given) if isinstance(given, Sequence) else (given,)
    require(
        len(found) == blocks and all(isinstance(one, kind) for one in found),
        f"{blocks} blocks need {blocks} {name}, or one for all; got {given!r}.",
    )
    return found


def _check_bias(measure, features):
    """In one dimension without bias every feature is a ray through 0: few targets can be fitted."""
    if features.has_bias or measure.inputs > 1:
        return
    x = measure.x[:, 0]
    rays = [measure.y[x > 0] / x[x > 0, None], measure.y[x < 0] / x[x < 0, None], measure.y[x == 0]]
    straight = all(np.ptp(r, axis=0).max(initial=0) < 1e-12 for r in rays[:2] if len(r)) and not rays[2].any()
    require(
        straight,
        "Without bias and with one input the first layer has two rays of features, x > 0 and x < 0: this target "
        "cannot be fitted. Give the features a bias, or add an input that is constant.",
    )
