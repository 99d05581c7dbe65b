"""What is done at one point of a sweep.

A job's name is its identity: the hash of what determines its numbers, what is kept of it, and the version of our
arithmetic. Same name, same bits.
"""

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import jax
import numpy as np
import xarray as xr

from saddlescope.errors import InvalidInput, reason_of, require
from saddlescope.nets import Net
from saddlescope.numerics import VERSION, reproducible
from saddlescope.observables.observable import Observable
from saddlescope.results import named
from saddlescope.serialization.own_code import code_identity
from saddlescope.serialization.part import content_hash, storable
from saddlescope.setting import Setting
from saddlescope.sweeps.axes import format_point
from saddlescope.training import SaveAt, train
from saddlescope.training.running import RunUnderWay
from saddlescope.training.save_at import record_form

if TYPE_CHECKING:  # theory brings scipy's solvers, which few jobs need
    from saddlescope.theory.prediction import Prediction

ALONE = SaveAt()  # the end and nothing else
PREDICTED = "predicted."  # before the names of what a conditional prediction says about a run
_counted: dict[str, int] = {}
_last_record: tuple = (None, None, None, None, "")


class Job(ABC):
    """What is done at one point, in a worker, and its name."""

    name: str

    @property
    @abstractmethod
    def work(self) -> float:
        """How much there is to do, in arbitrary units: it orders jobs and shares out the time that is left."""

    @abstractmethod
    def run(self, checkpoint: Path | None) -> xr.Dataset:
        """Do it. A long job keeps `checkpoint` up to date and resumes from it."""

    def check_storable(self):  # noqa: B027
        """Refuse what cannot be kept in a folder."""


@dataclass(frozen=True)
class TrainJob(Job):
    """One setting, trained and observed.

    **Arguments:**

    - `setting`: what to train.
    - `observe`, `save_at`, `per_step`: what to read off the run, and when, as of `train`.
    - `predict`: conditional predictions, made from the run's saved weights.
    """

    setting: Setting
    observe: tuple[Observable, ...] = ()
    save_at: SaveAt = ALONE
    per_step: bool = False
    predict: "tuple[Prediction, ...]" = ()

    @property
    def name(self) -> str:  # type: ignore[override]
        record = _record_hash(self.observe, self.save_at, self.per_step, self.predict)
        return f"{self.setting.hash}-{record}-v{VERSION}"

    @property
    def work(self) -> float:
        """Multiplications of the whole budget, about: it is not known when a stop rule will end a run."""
        setting, task = self.setting, self.setting.task
        moments = setting.batch is None and setting.train_on_moments and setting.loss.uses_moments(setting.net)
        seen = task.inputs if moments else (setting.batch or task.size or 1)
        weights = _weights(setting.net, task.inputs, task.outputs)
        return setting.budget * setting.engine.cost_per_step(seen, weights)

    def run(self, checkpoint, keep_last: bool = False):
        run = train(
            self.setting,
            self.observe,
            self.save_at,
            checkpoint=checkpoint,
            keep_last=keep_last,
            per_step=self.per_step,
            quiet=True,
        )
        return run.assign(said_of(run, self.setting, self.predict))

    def why_unreadable(self) -> str:
        """Why the observables cannot be read off the run before its first step; empty where they can."""
        try:
            RunUnderWay(self.setting, self.observe, self.save_at)
        except (InvalidInput, KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            return reason_of(error)
        return ""

    def check_storable(self):
        require(
            storable(self.setting.to_json()), "A setting with a lambda runs but cannot be stored: name the function."
        )


def _record_hash(observe, save_at: SaveAt, per_step, predict) -> str:
    """Eight hex digits of what is kept of a run. It is the same for all runs of a sweep, so the last one is kept."""
    global _last_record
    known = _last_record  # read once: another thread may replace it
    # Observables and predictions by identity: comparing them takes longer than writing them out.
    if known[0] is observe and known[1] is predict and known[2:4] == (save_at, per_step):
        return known[4]
    kept, said = record_form(observe, save_at, per_step), [p.json_values() for p in predict]
    found = content_hash([kept, said] if said else kept)[:8]
    _last_record = observe, predict, save_at, per_step, found
    return found


def _weights(net: Net, inputs: int, outputs: int) -> int:
    key = json.dumps([net.json_values(), inputs, outputs])  # comparing nets takes longer than comparing their forms
    if key not in _counted:
        _counted[key] = net.parameter_count(inputs, outputs) or _drawn_count(net, inputs, outputs)
    return _counted[key]


def _drawn_count(net, inputs, outputs):
    params = net.init(np.random.default_rng(0), inputs, outputs)
    return sum(int(np.size(v)) for v in jax.tree.leaves(params))


def said_of(run: xr.Dataset, setting: Setting, predictions) -> dict:
    """What conditional predictions say about a run, under names of their own."""
    from saddlescope.results import Run

    found = {}
    for prediction in predictions:
        found |= prediction(setting, Run(run))
    return {f"{PREDICTED}{name}": value for name, value in named(found).variables.items()}


@dataclass(frozen=True)
class PredictJob(Job):
    """What theory says of a setting.

    **Arguments:**

    - `setting`: the setting; None where nothing is trained and the predictions carry all they need.
    - `predictions`: what is asked about it.
    """

    setting: Setting | None
    predictions: "tuple[Prediction, ...]"

    @property
    def name(self) -> str:  # type: ignore[override]
        about = None if self.setting is None else self.setting.hash
        said = [about, *(prediction.json_values() for prediction in self.predictions)]
        return f"{content_hash(said)}-p-v{VERSION}"

    @property
    def work(self) -> float:
        return 1.0

    @reproducible()
    def run(self, checkpoint):
        start, found = time.process_time(), {}
        for prediction in self.predictions:
            found |= prediction(self.setting)  # type: ignore[arg-type]
        return named({**found, "cpu_seconds": time.process_time() - start})


@dataclass(frozen=True)
class MeasureJob(Job):
    """A measurement that trains nothing.

    **Arguments:**

    - `function`: gives numbers, and (axes, values), by name.
    - `point`: its arguments.
    """

    function: Callable
    point: tuple[tuple[str, object], ...]

    @property
    def name(self) -> str:  # type: ignore[override]
        given = [[k, repr(v)] for k, v in self.point]
        return f"{content_hash([code_identity(self.function), given])}-m-v{VERSION}"

    @property
    def work(self) -> float:
        return 1.0

    @reproducible()
    def run(self, checkpoint):
        start = time.process_time()
        found = at(self.function, **dict(self.point))
        return named({**found, "cpu_seconds": time.process_time() - start})


def as_jobs(made, job: Callable[[Setting], TrainJob]) -> dict[str, TrainJob]:
    """What `setting` or `follow` gave, as jobs by name: a setting, a job, or several by name."""
    several = made if isinstance(made, Mapping) else {"": made}
    return {str(name): value if isinstance(value, TrainJob) else job(value) for name, value in several.items()}


def at(function, **point):
    """function(**point), where a value that an axis cannot take is refused by name."""
    try:
        return function(**point)
    except KeyError as error:
        wrong = next((axis for axis, value in point.items() if value == error.args[0]), None)
        about = f"{error.args[0]!r} is not a value of {wrong}" if wrong else f"{error.args[0]!r} is not known"
        raise InvalidInput(
            f"Nothing can be run at {format_point(point)}: {about}; `saddlescope show` names the values."
        ) from error
    except (TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(f"Nothing can be run at {format_point(point)} ({reason_of(error).rstrip('.')}).") from error
