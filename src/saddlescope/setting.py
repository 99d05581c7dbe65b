"""Setting: everything that determines one run. Same setting, same numbers.

The three seeds (data, init, batch order) default to one `seed` and feed separate streams. The full form, defaults
included, is the setting's identity: it prints, round-trips through JSON and gives the content hash.
"""

import dataclasses
import json
from typing import final

import equinox as eqx
import numpy as np

from saddlescope.errors import InvalidInput, require, require_kind
from saddlescope.nets.net import Net, Params
from saddlescope.optimisers import Constant, GradientDescent, GradientFlow, Optimiser, Schedule, StopRule
from saddlescope.serialization.identity import Part, build, content_hash, whole
from saddlescope.tasks.task import Moments, Samples, Task

DATA, INIT, BATCH = 0, 1, 2  # streams of random numbers
LONGEST = 10**9  # ticks of a run


@final
class Setting(Part):
    task: Task
    net: Net
    optimiser: Optimiser
    schedule: Schedule
    batch: int | None = eqx.field(static=True)
    budget: int = eqx.field(static=True)
    stop: tuple[StopRule, ...]
    reduce: bool = eqx.field(static=True)
    precision: str = eqx.field(static=True)
    engine: str = eqx.field(static=True)
    data_seed: int = eqx.field(static=True)
    init_seed: int = eqx.field(static=True)
    batch_seed: int = eqx.field(static=True)

    def __init__(
        self, task, net, optimiser, *, steps=None, epochs=None, budget=None, schedule=None, batch=None, stop=(),
        reduce=True, precision="float64", engine=None, seed=0, data_seed=None, init_seed=None, batch_seed=None,
    ):  # fmt: skip
        """`steps` is the budget of a full-batch run, `epochs` of a minibatch run (`batch` samples a step).

        `reduce=False` trains on the samples even where the net could train on their moments. `engine` is "jax" or
        "fused" (the compiled kernel of random-feature nets); left out, the faster one that fits. It is part of the
        setting, since the two agree in the numbers but not in their last bits.
        """
        self.task, self.net, self.optimiser = task, net, optimiser
        self.schedule = Constant() if schedule is None else schedule
        self.batch, self.reduce, self.precision = whole(batch), reduce, precision
        self.stop = (stop,) if isinstance(stop, StopRule) else tuple(stop)
        require(budget is None or steps is epochs is None, "Give the budget once: `steps` or `epochs`.")
        self.budget = whole(checked_budget(batch, steps, epochs) if budget is None else budget)
        self.engine = self.fitting_engine() if engine is None else engine
        check_seed("seed", whole(seed))
        self.data_seed, self.init_seed, self.batch_seed = (
            whole(seed if s is None else s) for s in (data_seed, init_seed, batch_seed)
        )

    def __check_init__(self):
        kinds = {"task": Task, "net": Net, "optimiser": Optimiser, "schedule": Schedule}
        for name, kind in kinds.items():
            given = type(getattr(self, name)).__name__
            require(isinstance(getattr(self, name), kind), f"`{name}` must be a {kind.__name__}, got {given}.")
        require(
            type(self.budget) is int and 0 < self.budget <= LONGEST,
            f"`{self.tick}s` must be a positive whole number, at most {LONGEST:,}; got {self.budget!r}.",
        )
        for name in ("data_seed", "init_seed", "batch_seed"):
            check_seed(name, getattr(self, name))
        require(
            self.precision in ("float32", "float64"),
            f"`precision` must be 'float32' or 'float64', got {self.precision!r}.",
        )
        require(
            self.optimiser.lr <= float(np.finfo(self.precision).max),
            f"`lr` must be finite in {self.precision}; got {self.optimiser.lr:g}.",
        )
        require(isinstance(self.reduce, bool), f"`reduce` is True or False, got {self.reduce!r}.")
        for rule in self.stop:
            require_kind(rule, StopRule, "`stop` takes stop rules such as LossBelow(0.1)")
        self._check_batch()
        self._check_engine()

    def but(self, **changes) -> "Setting":
        """This setting with some fields changed, checked anew; the engine is chosen again unless it is given."""
        kept = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name != "engine"}
        if {"steps", "epochs"} & changes.keys():
            del kept["budget"]
        return Setting(**kept | changes)

    def misfit(self) -> str | None:
        """Why the fused kernel cannot run this setting; None where it can."""
        if not self.net.fused:
            return "it trains random-feature nets of (leaky) ReLU with frozen rank → width maps and one multiplier"
        if not isinstance(self.optimiser, GradientDescent):
            return "it knows gradient descent, with or without momentum and clipping"
        return "it trains in batches: give `batch` and `epochs`" if self.batch is None else None

    def fitting_engine(self) -> str:
        if isinstance(self.optimiser, GradientFlow):
            return "flow"
        return "fused" if isinstance(self.net, Net) and self.misfit() is None else "jax"

    def _check_engine(self):
        flow = isinstance(self.optimiser, GradientFlow)
        allowed = ("flow",) if flow else ("jax", "fused")
        require(
            self.engine in allowed,
            f"`engine` must be {' or '.join(map(repr, allowed))} with {type(self.optimiser).__name__}; "
            f"got {self.engine!r}.",
        )
        if self.engine == "fused" and (reason := self.misfit()):
            raise InvalidInput(f"The fused kernel does not fit this setting: {reason}; use engine='jax'.")

    def _check_batch(self):
        if self.batch is None:
            require(
                self.task.size is not None or (self.net.uses_moments and self.reduce),
                f"{type(self.net).__name__} learns from samples, but the task is a population; give it `samples`.",
            )
            return
        require(not isinstance(self.optimiser, GradientFlow), "Gradient flow sees all data at once; leave `batch` out.")
        require(
            type(self.batch) is int and 0 < self.batch <= self.samples,
            f"`batch` must lie between 1 and the task's {self.samples} samples, got {self.batch}.",
        )

    @property
    def samples(self) -> int:
        """The number of samples of the task."""
        if self.task.size is None:
            raise InvalidInput("A minibatch needs samples, but the task is a population; give it `samples`.")
        return self.task.size

    @property
    def tick(self) -> str:
        """The unit of time of the run: a full-batch `step` or a minibatch `epoch`."""
        return "step" if self.batch is None else "epoch"

    def rng(self, stream: int, *more: int) -> np.random.Generator:
        seed = (self.data_seed, self.init_seed, self.batch_seed)[stream]
        return np.random.default_rng([seed, stream, *more])

    def data(self) -> Samples | Moments:
        """The samples or population moments, float64."""
        return self.task.data(self.rng(DATA))

    def initial(self) -> Params:
        """The parameters at step 0, float64."""
        return self.net.init(self.rng(INIT), self.task.inputs, self.task.outputs)

    def permutation(self, epoch: int) -> np.ndarray:
        """The order of the samples in an epoch."""
        return permutation(self.batch_seed, epoch, self.samples)

    @property
    def hash(self) -> str:
        return content_hash(self.form())

    def to_json(self) -> str:
        return json.dumps(self.form())

    @staticmethod
    def from_json(text: str, arrays=None) -> "Setting":
        try:
            value = build(json.loads(text), arrays)
        except json.JSONDecodeError as error:
            raise InvalidInput(f"A setting is stored as JSON, but this text is not: {error}.") from None
        if not isinstance(value, Setting):
            raise InvalidInput(f"This JSON holds a {type(value).__name__}, not a Setting.")
        return value


def check_seed(name, value):
    require(
        type(value) is int and 0 <= value < 2**63,
        f"`{name}` must be a non-negative whole number below 2⁶³, got {value!r}.",
    )


def permutation(seed, epoch, samples) -> np.ndarray:
    """A function of (seed, epoch), so a resume needs no generator state."""
    return np.random.default_rng([seed, BATCH, epoch]).permutation(samples)


def checked_budget(batch, steps, epochs):
    wanted, other = ("steps", epochs) if batch is None else ("epochs", steps)
    given = steps if batch is None else epochs
    require(
        given is not None and other is None,
        f"A {'full-batch' if batch is None else 'minibatch'} run is budgeted in {wanted}: give `{wanted}=…` alone.",
    )
    return given
