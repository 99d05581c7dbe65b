"""Checkpoints: the engine's state and the history in one npz, written atomically, bound to the setting's hash."""

import json
import zipfile
from dataclasses import asdict
from pathlib import Path

import jax
import numpy as np

from saddlescope import numerics
from saddlescope.atomic import atomic_write
from saddlescope.refusal import Refusal, refuse_unless
from saddlescope.training.history import History


def identity(run):
    """What must agree for a resume to give the same bits and the same record."""
    observe = [o.form() for o in run.observe]
    return json.dumps([run.setting.hash, run.engine.name, numerics.VERSION, observe, asdict(run.save_at), run.per_step])


def write_checkpoint(path, who, state, history):
    leaves = {f"state.{i}": np.asarray(x) for i, x in enumerate(jax.tree.leaves(state))}
    with atomic_write(path) as file:
        np.savez(file, who=np.asarray(who), **leaves, **history.arrays())


def read_checkpoint(path, who, template):
    """State and history, or None where there is no file yet."""
    if not Path(path).exists():
        return None
    arrays = read_arrays(path)
    refuse_unless(
        str(arrays.get("who")) == who,
        f"The checkpoint {path} belongs to another setting, engine or record; give each run its own file.",
    )
    return restored(arrays, template), History.of(arrays)


def read_instant(path, setting, engine):
    """State and history of a setting's checkpoint, whatever it observed."""
    refuse_unless(Path(path).exists(), f"There is no checkpoint {path}.")
    arrays = read_arrays(path)
    known = json.loads(str(arrays.get("who", "[]")))[:3] == [setting.hash, engine.name, numerics.VERSION]
    refuse_unless(known, f"The checkpoint {path} belongs to another setting, engine or version.")
    return restored(arrays, engine.start()), History.of(arrays)


def read_arrays(path):
    try:
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            return {k: file[k] for k in file.files}
    except (OSError, ValueError, TypeError, EOFError, zipfile.BadZipFile, KeyError) as error:
        raise Refusal(f"The checkpoint {path} is damaged ({error}); delete it to start anew.") from None


def restored(arrays, template):
    leaves, tree = jax.tree.flatten(template)
    state = [arrays[f"state.{i}"].astype(x.dtype) for i, x in enumerate(leaves)]
    return jax.tree.unflatten(tree, jax.tree.map(jax.numpy.asarray, state))
