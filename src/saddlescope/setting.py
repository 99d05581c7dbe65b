"""Setting: everything that determines one run. Same setting, same numbers."""

import dataclasses
import json
from typing import final

import equinox as eqx
import jax
import numpy as np

from saddlescope.engines import Engine, choose_engine, engine_named
from saddlescope.engines.batch_order import permutation
from saddlescope.engines.memory import refuse_too_large
from saddlescope.errors import InvalidInput, require, require_kind
from saddlescope.initials.initial import Initial
from saddlescope.losses import Loss, SquaredError
from saddlescope.nets.net import Net, Params
from saddlescope.numerics import reproducible
from saddlescope.optimisers import Constant, GradientFlow, Optimiser, Schedule, StopRule
from saddlescope.serialization.part import Part, as_int, content_hash, from_json_values
from saddlescope.tasks.task import Moments, Samples, Task

DATA, INIT, HELD_OUT = 0, 1, 3  # streams of random numbers; batch orders have number 2
LONGEST = 10**9  # steps of a run
KINDS = {"task": Task, "net": Net, "optimiser": Optimiser, "loss": Loss, "schedule": Schedule, "engine": Engine}


@final
class Setting(Part):
    """Everything that determines one run: same setting, same numbers.

    Its full form, defaults included, is its identity: it prints, round-trips through JSON and gives the hash.

    **Arguments:**

    - `task`: what is learned.
    - `net`: what learns.
    - `optimiser`: how it steps; its `lr` is the learning rate at the start.
    - `steps`: the budget in optimiser steps; or
    - `epochs`: the budget in epochs, of a minibatch run.
    - `budget`: the steps of a stored setting, in place of both.
    - `loss`: what is lowered; the squared error by default.
    - `schedule`: how the learning rate changes; constant by default.
    - `batch`: the number of samples per step; None for all data at every step.
    - `stop`: rules that end a run before its budget, such as `LossBelow(0.1)`.
    - `initial`: where it starts from; by default the net's own draw from the seed.
    - `train_on_moments`: False trains on the samples even where net and loss need moments alone.
    - `precision`: "float64" or "float32".
    - `engine`: how steps are computed, such as `Jax()`; by default the fastest that fits. It is part of the setting,
      since engines agree in the numbers but not in their last bits.
    - `seed`: the seed of data, initial weights and batch order, which have streams of their own.
    - `data_seed`, `init_seed`, `batch_seed`: one of these seeds alone.
    """

    task: Task
    net: Net
    optimiser: Optimiser
    loss: Loss
    schedule: Schedule
    batch: int | None = eqx.field(static=True)
    budget: int = eqx.field(static=True)
    stop: tuple[StopRule, ...]
    initial: Initial | None
    train_on_moments: bool = eqx.field(static=True)
    precision: str = eqx.field(static=True)
    engine: Engine
    data_seed: int = eqx.field(static=True)
    init_seed: int = eqx.field(static=True)
    batch_seed: int = eqx.field(static=True)

    def __init__(
        self,
        task: Task,
        net: Net,
        optimiser: Optimiser,
        *,
        steps: int | None = None,
        epochs: int | None = None,
        budget: int | None = None,
        loss: Loss | None = None,
        schedule: Schedule | None = None,
        batch: int | None = None,
        stop: StopRule | tuple[StopRule, ...] = (),
        initial: Initial | None = None,
        train_on_moments: bool = True,
        precision: str = "float64",
        engine: Engine | None = None,
        seed: int = 0,
        data_seed: int | None = None,
        init_seed: int | None = None,
        batch_seed: int | None = None,
    ):
        self.task, self.net, self.optimiser = task, net, optimiser
        self.loss = SquaredError() if loss is None else loss
        self.schedule = Constant() if schedule is None else schedule
        self.batch, self.initial = as_int(batch), initial
        self.train_on_moments, self.precision = train_on_moments, precision
        self.stop = (stop,) if isinstance(stop, StopRule) else tuple(stop)
        for name in ("task", "net", "optimiser", "loss", "schedule"):
            _check_kind(name, getattr(self, name))
        self._check_batch()
        self.budget = self._budget(as_int(steps), as_int(epochs), as_int(budget))
        self.engine = choose_engine(self) if engine is None else _engine(engine)
        _check_seed("seed", as_int(seed))
        self.data_seed, self.init_seed, self.batch_seed = (
            as_int(seed if s is None else s) for s in (data_seed, init_seed, batch_seed)
        )

    def __check_init__(self):
        for name in ("data_seed", "init_seed", "batch_seed"):
            _check_seed(name, getattr(self, name))
        require(
            self.precision in ("float32", "float64"),
            f"`precision` must be 'float32' or 'float64', got {self.precision!r}.",
        )
        require(
            self.optimiser.lr <= float(np.finfo(self.precision).max),
            f"`lr` must be finite in {self.precision}; got {self.optimiser.lr:g}.",
        )
        moments = self.train_on_moments
        require(isinstance(moments, bool), f"`train_on_moments` is True or False, got {moments!r}.")
        for rule in self.stop:
            require_kind(rule, StopRule, "`stop` takes stop rules such as LossBelow(0.1)")
        if self.initial is not None:
            require_kind(self.initial, Initial, "`initial` takes a start such as given_weights(params)")
        self._check_fit()

    def _budget(self, steps, epochs, budget):
        given = [name for name, v in (("steps", steps), ("epochs", epochs), ("budget", budget)) if v is not None]
        unit = "steps" if self.batch is None else "epochs"
        require(len(given) == 1, f"Give the budget once: `{unit}=…`; got {', '.join(given) or 'none'}.")
        if epochs is not None:
            require(self.batch is not None, "A full-batch run has no epochs: give `steps=…`, or a `batch`.")
            _check_count("epochs", epochs)
            return epochs * self.steps_per_epoch
        _check_count("steps", budget if steps is None else steps)
        return budget if steps is None else steps

    def _check_fit(self):
        """Refuse what does not go together, with the reason."""
        if reason := self.loss.why_not(self.task):
            raise InvalidInput(f"{type(self.loss).__name__} does not fit this task: {reason}.")
        if reason := self.engine.why_not(self):
            raise InvalidInput(
                f"The engine {type(self.engine).__name__} does not fit this setting: {reason}; "
                "leave `engine` out to have one chosen."
            )

    def _check_batch(self):
        if self.batch is None:
            require(
                self.task.size is not None or (self.loss.uses_moments(self.net) and self.train_on_moments),
                f"{type(self.net).__name__} learns from samples, but the task is a population; give it `samples`.",
            )
            return
        flow = isinstance(self.optimiser, GradientFlow)
        require(not flow, "Gradient flow sees all data at once; leave `batch` out.")
        require(
            type(self.batch) is int and 0 < self.batch <= self.samples,
            f"`batch` must lie between 1 and the task's {self.samples} samples, got {self.batch}.",
        )

    def replace(self, **changes) -> "Setting":
        """This setting with some fields changed, checked again. The engine is chosen again unless it is given, and
        a budget in epochs stays one where the batch changes."""
        kept = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name != "engine"}
        budget = kept.pop("budget")
        if not {"steps", "epochs", "budget"} & changes.keys():
            whole = self.batch is not None and budget % self.steps_per_epoch == 0
            kept |= {"epochs": self.epochs} if whole and changes.get("batch", 1) is not None else {"budget": budget}
        return Setting(**kept | changes)

    # ---- Time ----

    @property
    def samples(self) -> int:
        """The number of samples of the task."""
        if self.task.size is None:
            raise InvalidInput("A minibatch needs samples, but the task is a population; give it `samples`.")
        return self.task.size

    @property
    def steps_per_epoch(self) -> int:
        """Optimiser steps per epoch; one where every step sees all data."""
        return 1 if self.batch is None else -(-self.samples // self.batch)

    @property
    def epochs(self) -> int:
        """The whole epochs within the budget."""
        return self.budget // self.steps_per_epoch

    @property
    def loss_axis(self) -> str:
        """Along what the loss curve is kept: every `step` of a full-batch run, every `epoch` of a minibatch run."""
        return "step" if self.batch is None else "epoch"

    @property
    def first_epoch(self) -> int:
        """The number of the first epoch, which decides the order of its samples."""
        return 0 if self.initial is None else self.initial.first_epoch

    # ---- Data and weights ----

    def rng(self, stream: int, *more: int) -> np.random.Generator:
        """The generator of a stream of random numbers."""
        seed = self.init_seed if stream == INIT else self.data_seed
        return np.random.default_rng([seed, stream, *more])

    @reproducible()
    def data(self) -> Samples | Moments:
        """The samples or population moments, in float64."""
        refuse_too_large(self)
        return _as_numpy(self.task.data(self.rng(DATA)))

    @reproducible()
    def held_out(self) -> Samples | None:
        """Samples that are not trained on, in float64; None where the task has none."""
        found = self.task.held_out(self.rng(HELD_OUT))
        return None if found is None else _as_numpy(found)

    @reproducible()
    def statistics(self, data: Samples | Moments | None = None) -> Samples | Moments:
        """What the loss of this net needs of the data: samples, or moments where those suffice."""
        data = self.data() if data is None else data
        reduced = self.batch is None and self.train_on_moments
        return _as_numpy(self.loss.statistics(self.net, data)) if reduced else data

    def drawn_params(self) -> Params:
        """The net's own draw from the seed, in float64."""
        refuse_too_large(self)
        params = self.net.init(self.rng(INIT), self.task.inputs, self.task.outputs)
        for leaf in jax.tree.leaves(params):
            if not isinstance(leaf, np.ndarray | jax.Array) or leaf.dtype.kind != "f":
                raise InvalidInput(
                    f"{type(self.net).__name__}.init must give a tree of arrays of floats; it holds a "
                    f"{type(leaf).__name__}: keep structure in the net's fields."
                )
        return params

    @reproducible()
    def initial_params(self) -> Params:
        """The parameters at step 0, in float64."""
        return self.drawn_params() if self.initial is None else self.initial.params(self)

    def permutation(self, epoch: int) -> np.ndarray:
        """The order of the samples in an epoch."""
        return permutation(self.batch_seed, epoch + self.first_epoch, self.samples)

    # ---- Identity ----

    @property
    def hash(self) -> str:
        """Twenty hex digits that name this setting."""
        return content_hash(self.json_values())

    def to_json(self) -> str:
        """The full form as text."""
        return json.dumps(self.json_values())

    @staticmethod
    def from_json(text: str, arrays=None) -> "Setting":
        """The setting of such a text. `arrays` are those it was made with, keyed by their SHA-256."""
        try:
            value = from_json_values(json.loads(text), arrays)
        except json.JSONDecodeError as error:
            raise InvalidInput(f"A setting is stored as JSON, but this text is not: {error}.") from None
        if not isinstance(value, Setting):
            raise InvalidInput(f"This JSON holds a {type(value).__name__}, not a Setting.")
        return value


def _as_numpy(tree):
    return jax.tree.map(lambda a: np.asarray(a, float), tree)


def _engine(given):
    """An engine, or our own of this name."""
    found = engine_named(given) if isinstance(given, str) else given
    require_kind(found, Engine, f"`engine` must be an engine such as Jax(), not {given!r}")
    return found


def _check_kind(name, given):
    kind = KINDS[name]
    require(isinstance(given, kind), f"`{name}` must be a {kind.__name__}, got {type(given).__name__}.")


def _check_count(name, given):
    good = type(given) is int and 0 < given <= LONGEST
    require(good, f"`{name}` must be a positive whole number, at most {LONGEST:,}; got {given!r}.")


def _check_seed(name, value):
    good = type(value) is int and 0 <= value < 2**63
    require(good, f"`{name}` must be a non-negative whole number below 2⁶³, got {value!r}.")
