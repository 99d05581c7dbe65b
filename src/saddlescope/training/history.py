"""What a run has recorded so far, and how it goes to a file and to a labelled dataset."""

from dataclasses import dataclass, field, fields

import numpy as np
import xarray as xr

from saddlescope.observables.observable import Observable


@dataclass
class History:
    lr: float = 0.0  # of the next tick
    losses: list[float] = field(default_factory=list)  # one a tick
    step_losses: list[np.ndarray] = field(default_factory=list)  # one row a tick, if asked for
    lrs: list[float] = field(default_factory=list)
    cuts: list[int] = field(default_factory=list)  # ticks done at each change of the learning rate
    event_ticks: list[int] = field(default_factory=list)
    event_kinds: list[str] = field(default_factory=list)
    saved_ticks: list[int] = field(default_factory=list)
    saved_reasons: list[str] = field(default_factory=list)
    saved: dict[str, list[np.ndarray]] = field(default_factory=dict)
    status: str = "running"
    closed: bool = False  # a full-batch curve has one loss more than ticks, at its end
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0

    @property
    def tick(self):
        return len(self.losses) - self.closed

    def event(self, kind):
        self.event_ticks.append(self.tick)
        self.event_kinds.append(kind)

    def save(self, reason, values):
        self.saved_ticks.append(self.tick)
        self.saved_reasons.append(reason)
        for name, value in values.items():
            self.saved.setdefault(name, []).append(np.asarray(value))

    def arrays(self):
        """All of it as named arrays, without pickle."""
        plain = {k: np.asarray(v) for k, v in vars(self).items() if k != "saved"}
        return {f"history.{k}": v for k, v in plain.items()} | {
            f"saved.{k}": np.stack(v) for k, v in self.saved.items()
        }

    @staticmethod
    def of(arrays):
        """From such arrays; ValueError where they are not those of a history."""
        history, known = History(), {f.name: f.type for f in fields(History) if f.name != "saved"}
        for key, value in arrays.items():
            kind, _, name = key.partition(".")
            if kind == "saved":
                history.saved[name] = list(value)
            elif kind == "history":
                check_field(name, known.get(name), value)
                setattr(history, name, list(value) if name == "step_losses" else value.tolist())
        history.check()
        return history

    def check(self):
        pairs = (self.losses, self.lrs), (self.event_ticks, self.event_kinds), (self.saved_ticks, self.saved_reasons)
        lengths = all(len(a) == len(b) for a, b in pairs) and len(self.step_losses) in (0, len(self.losses))
        ends = self.status.partition(" ")[0].rstrip(":") in ("running", "finished", "stopped", "diverged")
        if not (lengths and ends and all(len(v) == len(self.saved_ticks) for v in self.saved.values())):
            raise ValueError("its parts do not fit together")

    def dataset(self, tick: str, observe: tuple[Observable, ...], **about) -> xr.Dataset:
        """One run. Dimensions: `step` or `epoch` for what is kept at each, `saved` for observables, `event`."""
        variables = {
            "loss": (tick, np.asarray(self.losses, float)),
            "learning_rate": (tick, np.asarray(self.lrs, float)),
            "status": ((), self.status),
            "cpu_seconds": ((), self.cpu_seconds),
            "wall_seconds": ((), self.wall_seconds),
        }
        if self.step_losses:
            variables["step_loss"] = ((tick, "batch"), np.stack(self.step_losses))
        variables |= {name: ((), value) for name, value in about.items()}
        variables |= labelled({name: np.stack(values) for name, values in self.saved.items()}, observe)
        coords = {
            tick: np.arange(len(self.losses)),
            f"saved_{tick}": ("saved", np.asarray(self.saved_ticks, int)),
            "saved_because": ("saved", np.asarray(self.saved_reasons, object)),
            f"event_{tick}": ("event", np.asarray(self.event_ticks, int)),
            "event_kind": ("event", np.asarray(self.event_kinds, object)),
        }
        return xr.Dataset(variables, coords)


def check_field(name, kind, value):
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
