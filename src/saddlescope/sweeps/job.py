"""What is done at one point of a sweep: a setting trained and observed, what theory says of one, or a measurement that
trains nothing.

A job's name is its identity: the hash of what determines its numbers, what is kept of it, and the version of our
arithmetic. Same name, same bits.
"""

import hashlib
import inspect
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import xarray as xr

from saddlescope import numerics
from saddlescope.errors import InvalidInput, reason_of, require
from saddlescope.observables.observable import Observable
from saddlescope.results import named
from saddlescope.serialization.identity import content_hash, storable
from saddlescope.setting import Setting
from saddlescope.sweeps.axes import format_point
from saddlescope.sweeps.cost import work
from saddlescope.training import SaveAt, train
from saddlescope.training.checkpoint import record_form

ALONE = SaveAt()  # the end and nothing else


class Saying(Protocol):
    """What theory offers: of a setting, variables as (axes, values)."""

    def __call__(self, setting: Setting) -> Mapping[str, Any]: ...

    def form(self) -> Any: ...


class Job(ABC):
    name: str

    @property
    @abstractmethod
    def work(self) -> float:
        """How much there is to do, in arbitrary units: it orders jobs and shares out the time that is left."""

    @abstractmethod
    def run(self, checkpoint: Path | None) -> xr.Dataset:
        """The run. A long one keeps `checkpoint` up to date and goes on from it."""

    def check_storable(self):  # noqa: B027
        """Refuse what cannot be kept in a folder."""


@dataclass(frozen=True)
class TrainJob(Job):
    setting: Setting
    observe: tuple[Observable, ...] = ()
    save_at: SaveAt = ALONE
    per_step: bool = False

    @property
    def name(self) -> str:  # type: ignore[override]
        kept = content_hash(record_form(self.observe, self.save_at, self.per_step))
        return f"{self.setting.hash}-{kept[:8]}-v{numerics.VERSION}"

    @property
    def work(self):
        return work(self.setting)

    def run(self, checkpoint):
        return train(
            self.setting, self.observe, self.save_at, checkpoint=checkpoint, keep_last=False, per_step=self.per_step,
            quiet=True,
        )  # fmt: skip

    def check_storable(self):
        require(
            storable(self.setting.to_json()), "A setting with a lambda runs but cannot be stored: name the function."
        )


@dataclass(frozen=True)
class PredictJob(Job):
    setting: Setting
    predictions: tuple[Saying, ...]

    @property
    def name(self) -> str:  # type: ignore[override]
        said = [self.setting.hash, *(prediction.form() for prediction in self.predictions)]
        return f"{content_hash(said)}-p-v{numerics.VERSION}"

    @property
    def work(self):
        return 1.0

    def run(self, checkpoint):
        start, found = time.process_time(), {}
        for prediction in self.predictions:
            found |= prediction(self.setting)
        return named({**found, "cpu_seconds": time.process_time() - start})


@dataclass(frozen=True)
class MeasureJob(Job):
    function: Callable
    point: tuple[tuple[str, object], ...]

    @property
    def name(self) -> str:  # type: ignore[override]
        what = [self.function.__module__, self.function.__qualname__, source_of(self.function)]
        return f"{content_hash([what, [[k, repr(v)] for k, v in self.point]])}-m-v{numerics.VERSION}"

    @property
    def work(self):
        return 1.0

    def run(self, checkpoint):
        start = time.process_time()
        found = at(self.function, **dict(self.point))
        return named({**found, "cpu_seconds": time.process_time() - start})


@cache
def source_of(function):
    """Of the whole file: a measurement may lean on anything in it."""
    return hashlib.sha256(Path(inspect.getfile(function)).read_bytes()).hexdigest()


def at(function, **point):
    """function(**point), where a value that an axis cannot take is refused by name."""
    try:
        return function(**point)
    except KeyError as error:
        wrong = next((axis for axis, value in point.items() if value == error.args[0]), None)
        about = f"{error.args[0]!r} is no {wrong}" if wrong else f"{error.args[0]!r} is not known"
        raise InvalidInput(
            f"Nothing can be run at {format_point(point)}: {about}; `saddlescope show` names the values."
        ) from error
    except (TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(f"Nothing can be run at {format_point(point)} ({reason_of(error).rstrip('.')}).") from error
