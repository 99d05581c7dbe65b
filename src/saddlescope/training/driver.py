"""The driver: it owns the schedule, events, observables, checkpoints and progress of one run, whatever the engine."""

import time
from pathlib import Path

import xarray as xr

from saddlescope.errors import require, require_kind
from saddlescope.numerics import reproducible
from saddlescope.observables.observable import Observable
from saddlescope.progress import Progress, looping, raise_if_stopped
from saddlescope.serialization.part import storable
from saddlescope.setting import Setting
from saddlescope.training.checkpoint import read_checkpoint, write_checkpoint
from saddlescope.training.running import RunUnderWay
from saddlescope.training.save_at import SaveAt

CHECKPOINT_SECONDS = 5


@reproducible()
def train(
    setting: Setting,
    observe: Observable | tuple[Observable, ...] = (),
    save_at: SaveAt | None = None,
    *,
    checkpoint: str | Path | None = None,
    keep_last: bool = True,
    per_step: bool = False,
    quiet: bool = False,
) -> xr.Dataset:
    """Run one setting: a dataset with `loss` and `learning_rate` at every step (minibatch: epoch), and the observables
    where they were saved.

    A run that stops being finite is a result: it is marked, with all that was measured.

    **Arguments:**

    - `setting`: what to train.
    - `observe`: what to read off the run.
    - `save_at`: when to read it, such as `every(10, 3000)`; the end is always read.
    - `checkpoint`: a file. The run continues from it if it is there, and keeps it up to date.
    - `keep_last`: False leaves the end of a finished run out of the checkpoint.
    - `per_step`: keep the loss of each minibatch step too, as `step_loss`.
    - `quiet`: show no progress.
    """
    observe = (observe,) if isinstance(observe, Observable) else tuple(observe)
    save_at = SaveAt() if save_at is None else save_at
    _check_kinds(setting, observe, save_at)
    save_at.check_within(setting)
    run = RunUnderWay(setting, observe, save_at, per_step)
    if checkpoint is not None:
        require(storable(setting.to_json()), "A setting with a lambda runs but is not stored: name it.")
        run.state, run.history = read_checkpoint(checkpoint, run) or (run.state, run.history)
    written = time.monotonic()
    try:
        with looping(), Progress("step", setting.budget, quiet) as bar:
            while not run.over:
                run.take(*run.stepper.advance(*run.next_call()))
                raise_if_stopped()
                bar(run.history.step, run.line())
                if checkpoint is not None and time.monotonic() - written > CHECKPOINT_SECONDS:
                    write_checkpoint(checkpoint, run)
                    written = time.monotonic()
    finally:  # done, or stopped by Ctrl-C: either way the run can resume from here
        if checkpoint is not None and run.consistent and (keep_last or not run.over):
            write_checkpoint(checkpoint, run)
    return run.dataset()


@reproducible()
def time_first_steps(setting: Setting, observe: tuple[Observable, ...], save_at: SaveAt) -> tuple[float, int]:
    """CPU seconds of the first steps of a run, about a second of them, and their number."""
    for limit in (0.0, 1.0):  # the first time compiles
        run, start = RunUnderWay(setting, observe, save_at), time.process_time()
        while not run.over and (run.history.step == 0 or time.process_time() - start < limit):
            run.take(*run.stepper.advance(*run.next_call()))
    return time.process_time() - start, run.history.step


def _check_kinds(setting, observe, save_at):
    given = {"setting": (setting, Setting), "save_at": (save_at, SaveAt)}
    given |= {f"observe[{i}]": (o, Observable) for i, o in enumerate(observe)}
    for name, (value, kind) in given.items():
        require_kind(value, kind, f"`{name}` must be of the kind {kind.__name__}")
