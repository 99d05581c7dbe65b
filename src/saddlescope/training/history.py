"""What a run has recorded so far, and how it goes to a file and to a labelled dataset."""

from dataclasses import dataclass, field, fields

import numpy as np
import xarray as xr

from saddlescope.observables.observable import Observable


@dataclass
class History:
    """The record of one run. A *tick* of it is a step of a full-batch run, an epoch of a minibatch run."""

    lr: float = 0.0  # of the next step
    step: int = 0  # optimiser steps done
    losses: list[float] = field(default_factory=list)  # one per tick
    pending: list[float] = field(default_factory=list)  # step losses of the epoch that is under way
    step_losses: list[np.ndarray] = field(default_factory=list)  # one row per epoch, if asked for
    lrs: list[float] = field(default_factory=list)
    cuts: list[int] = field(default_factory=list)  # ticks done at each change of the learning rate
    event_steps: list[int] = field(default_factory=list)
    event_kinds: list[str] = field(default_factory=list)
    saved_steps: list[int] = field(default_factory=list)
    saved_reasons: list[str] = field(default_factory=list)
    saved: dict[str, list[np.ndarray]] = field(default_factory=dict)
    status: str = "running"
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0

    def event(self, kind):
        self.event_steps.append(self.step)
        self.event_kinds.append(kind)

    def save(self, steps, reasons, values):
        """What was read after these steps, and why; every value has one row per step."""
        self.saved_steps += steps
        self.saved_reasons += reasons
        for name, rows in values.items():
            self.saved.setdefault(name, []).extend(map(np.asarray, rows))

    def arrays(self) -> dict[str, np.ndarray]:
        """All of it as named arrays, without pickle."""
        plain = {k: np.asarray(v) for k, v in vars(self).items() if k != "saved"}
        return {f"history.{k}": v for k, v in plain.items()} | {
            f"saved.{k}": np.stack(v) for k, v in self.saved.items()
        }

    @staticmethod
    def of(arrays) -> "History":
        """From such arrays; ValueError where they are not those of a history."""
        history, known = History(), {f.name: f.type for f in fields(History) if f.name != "saved"}
        for key, value in arrays.items():
            kind, _, name = key.partition(".")
            if kind == "saved":
                history.saved[name] = list(value)
            elif kind == "history":
                _check_field(name, known.get(name), value)
                setattr(history, name, list(value) if name == "step_losses" else value.tolist())
        history.check()
        return history

    def check(self):
        """ValueError where the parts do not fit together."""
        pairs = (self.losses, self.lrs), (self.event_steps, self.event_kinds), (self.saved_steps, self.saved_reasons)
        lengths = all(len(a) == len(b) for a, b in pairs) and len(self.step_losses) in (0, len(self.losses))
        ends = self.status.partition(" ")[0].rstrip(":") in ("running", "finished", "stopped", "diverged")
        if not (lengths and ends and all(len(v) == len(self.saved_steps) for v in self.saved.values())):
            raise ValueError("its parts do not fit together")

    def check_clock(self, steps_per_epoch: int, budget: int):
        """ValueError where there are more steps than the budget, or other losses than the steps done have given."""
        if not 0 <= self.step <= budget:
            raise ValueError("it is beyond the end of the run")
        ticks, rest = divmod(self.step, steps_per_epoch)
        running = self.status == "running"
        # The end adds one: the loss after the last step, or the mean of an epoch that the budget cuts short.
        extra = (0,) if running else (0, 1)
        if len(self.losses) - ticks not in extra or (running and len(self.pending) != rest):
            raise ValueError("its losses are not those of the steps done")

    def dataset(self, steps_per_epoch: int | None, observe: tuple[Observable, ...], **about) -> xr.Dataset:
        """One run. The loss lies along `step`, or along `epoch` of a minibatch run; observables along `saved`.

        `steps_per_epoch` is None for a full-batch run.
        """
        axis = "step" if steps_per_epoch is None else "epoch"
        variables = {
            "loss": (axis, np.asarray(self.losses, float)),
            "learning_rate": (axis, np.asarray(self.lrs, float)),
            "status": ((), self.status),
            "cpu_seconds": ((), self.cpu_seconds),
            "wall_seconds": ((), self.wall_seconds),
        }
        if self.step_losses:
            variables["step_loss"] = ((axis, "batch"), np.stack(self.step_losses))
        variables |= {name: ((), value) for name, value in about.items()}
        variables |= labelled({name: np.stack(values) for name, values in self.saved.items()}, observe)
        coords = {
            axis: np.arange(len(self.losses)),
            "saved_because": ("saved", np.asarray(self.saved_reasons, str)),
            "event_kind": ("event", np.asarray(self.event_kinds, str)),
        }
        for dim, steps in (("saved", self.saved_steps), ("event", self.event_steps)):
            coords[f"{dim}_step"] = (dim, np.asarray(steps, int))
            if steps_per_epoch is not None:  # epochs that were finished by then
                coords[f"{dim}_epoch"] = (dim, np.asarray(steps, int) // steps_per_epoch)
        return xr.Dataset(variables, coords)


def _check_field(name, kind, value):
    """Whether an array can be this field: numbers, or text; a list, or one."""
    wanted = str(kind)
    shape = 2 if "ndarray" in wanted else int("list" in wanted)
    letters = "U" if "str" in wanted else "b" if "bool" in wanted else "iu" if "int" in wanted else "f"
    empty = value.size == 0  # numpy makes floats of an empty list
    if kind is None or (not empty and (value.ndim != shape or value.dtype.kind not in letters)):
        raise ValueError(f"{name!r} is not of a history")


def labelled(saved: dict[str, np.ndarray], observe: tuple[Observable, ...]) -> dict:
    """Saved values with the names of their axes: the observable's own, or made from the variable's name."""
    axes = {o.name: o.axes for o in observe}
    return {
        name: (("saved", *(axes.get(name) or (f"{name}_{i}" for i in range(values.ndim - 1)))), values)
        for name, values in saved.items()
    }
