"""Checkpoints: the engine's state and the history in one checked file, bound to the setting's hash."""

import json
from pathlib import Path

import jax
import numpy as np

from saddlescope import numerics
from saddlescope.errors import InvalidInput, require
from saddlescope.storage.files import BROKEN, Damaged, read_checked, write_checked
from saddlescope.training.history import History
from saddlescope.training.save_at import record_form


class DamagedCheckpoint(InvalidInput):
    def __init__(self, path, why):
        super().__init__(f"The checkpoint {path} is damaged ({why}); delete it to start again.")


def _identity(run):
    """What must agree for a resume to give the same bits and the same record."""
    record = record_form(run.observe, run.save_at, run.per_step)
    return json.dumps([run.setting.hash, run.setting.engine.name, numerics.VERSION, *record])


def write_checkpoint(path, run):
    leaves = {f"state.{i}": np.asarray(x) for i, x in enumerate(jax.tree.leaves(run.state))}
    write_checked(path, leaves | run.history.arrays(), {"who": _identity(run)})


def read_checkpoint(path, run):
    """State and history, or None where there is no file yet."""
    if not Path(path).exists():
        return None
    arrays, about = _read_arrays(path)
    require(
        about.get("who") == _identity(run),
        f"The checkpoint {path} belongs to another setting, engine or record; give each run its own file.",
    )
    return _restored(path, arrays, run.state, run.setting)


def read_instant(path, setting, stepper):
    """State and history of a setting's checkpoint, whatever it observed."""
    require(Path(path).exists(), f"There is no checkpoint {path}.")
    arrays, about = _read_arrays(path)
    try:
        known = json.loads(about["who"])[:3] == [setting.hash, setting.engine.name, numerics.VERSION]
    except BROKEN:
        known = False
    require(known, f"The checkpoint {path} belongs to another setting, engine or version.")
    return _restored(path, arrays, stepper.start(), setting)


def _read_arrays(path):
    try:
        return read_checked(path)
    except Damaged as error:
        raise DamagedCheckpoint(path, error) from None


def _restored(path, arrays, template, setting):
    """State and history from a checkpoint's arrays, if they have the shapes of this run's."""
    leaves, tree = jax.tree.flatten(template)
    try:
        state = [arrays[f"state.{i}"] for i in range(len(leaves))]
        alike = all(s.shape == x.shape and s.dtype == x.dtype for s, x in zip(state, leaves, strict=True))
        require(alike, "its state is another net's")
        history = History.of(arrays)
        history.check_clock(setting.steps_per_epoch, setting.budget)
        return jax.tree.unflatten(tree, jax.tree.map(jax.numpy.asarray, state)), history
    except BROKEN as error:
        raise DamagedCheckpoint(path, error) from None
