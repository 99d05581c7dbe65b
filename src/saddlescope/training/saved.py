"""Observables read from what is stored, after training: from a run that kept its weights, or from a checkpoint."""

import jax.numpy as jnp
import numpy as np
import xarray as xr

from saddlescope.engines.engine import cast
from saddlescope.errors import require
from saddlescope.observables.observable import Observable, Snapshot, measure
from saddlescope.serialization.identity import with_traced_floats
from saddlescope.setting import Setting
from saddlescope.training.checkpoint import read_instant
from saddlescope.training.driver import engine_for
from saddlescope.training.history import labelled


def snapshot_at(setting: Setting, params, tick, lr) -> Snapshot:
    """The instant of a run at which the trained parameters had these values; frozen ones are drawn again."""
    data, dtype = setting.data(), setting.precision
    reduced = setting.batch is None and setting.reduce
    return Snapshot(
        with_traced_floats(setting.net, dtype), cast(setting.initial() | params, dtype),
        cast(setting.net.statistics(data) if reduced else data, dtype), cast(data, dtype),
        jnp.asarray(tick), jnp.asarray(lr, dtype), setting.task,
    )  # fmt: skip


def observe_saved(run: xr.Dataset, observe, setting: Setting | None = None) -> xr.Dataset:
    """Observables at every saved instant of one run that observed `Parameters`.

    The setting is the run's own. Where it cannot be rebuilt from its JSON, being made of arrays or a lambda, give it.
    """
    observe = (observe,) if isinstance(observe, Observable) else tuple(observe)
    kept = {str(name).removeprefix("param_"): v for name, v in run.data_vars.items() if str(name).startswith("param_")}
    require(bool(kept), "Nothing to read from: the run kept no weights. Train with `Parameters()` observed.")
    setting = Setting.from_json(str(run["setting"].values)) if setting is None else setting
    require(setting.hash == str(run["hash"].values), "This setting is not the run's own: their hashes differ.")
    ticks, rates = run[f"saved_{setting.tick}"].values, run["learning_rate"].values
    rows = []
    for i, tick in enumerate(ticks):
        params = {name: v.isel(saved=i).values for name, v in kept.items()}
        rows.append(measure(observe, snapshot_at(setting, params, tick, rates[max(tick - 1, 0)])))
    values = {name: np.stack([np.asarray(row[name]) for row in rows]) for name in rows[0]}
    return xr.Dataset(labelled(values, observe), {f"saved_{setting.tick}": ("saved", ticks)})


def observe_checkpoint(path, setting: Setting, observe) -> dict[str, np.ndarray]:
    """Observables at the instant at which a checkpoint of this setting was written."""
    observe = (observe,) if isinstance(observe, Observable) else tuple(observe)
    engine = engine_for(setting)
    state, history = read_instant(path, setting, engine)
    lr = history.lrs[history.tick - 1] if history.tick else history.lr  # of the last step, as while training
    found = measure(observe, snapshot_at(setting, engine.params(state), history.tick, lr))
    return {name: np.asarray(value) for name, value in found.items()}
