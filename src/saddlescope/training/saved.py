"""Observables read from what is stored, after training: from a run that kept its weights, or from a checkpoint."""

from pathlib import Path

import numpy as np
import xarray as xr

from saddlescope.errors import require
from saddlescope.initials.given import given_weights
from saddlescope.initials.named_leaves import replace_leaves
from saddlescope.nets.net import Params
from saddlescope.numerics import reproducible
from saddlescope.observables.observable import Observable, Snapshot, measure
from saddlescope.setting import Setting
from saddlescope.training.checkpoint import read_instant
from saddlescope.training.history import labelled
from saddlescope.training.running import held_out_for, snapshot_of

Observed = Observable | tuple[Observable, ...]


def _snapshot_at(setting: Setting, params, observe, step: int, lr: float) -> Snapshot:
    """The instant of a run at which the trained parameters had these values; frozen ones are drawn again.

    It is evaluated by the setting's engine, as while training: the bits are then the same.
    """
    everything = setting.net.merged(setting.initial_params(), params)
    there = setting.replace(initial=given_weights(everything), engine=setting.engine)
    stepper = there.engine.begin(there)
    state = stepper.start() if stepper.on_host else None
    return snapshot_of(stepper, state, stepper.initial(), held_out_for(setting, observe), step, lr)


@reproducible()
def observe_at(
    setting: Setting, params: Params, observe: Observed, step: int = 0, lr: float | None = None
) -> dict[str, np.ndarray]:
    """Observables of a setting's net with given trained parameters; by default at its first learning rate."""
    observe = (observe,) if isinstance(observe, Observable) else tuple(observe)
    found = measure(observe, _snapshot_at(setting, params, observe, step, setting.optimiser.lr if lr is None else lr))
    return {name: np.asarray(value) for name, value in found.items()}


@reproducible()
def loss_at(setting: Setting, params: Params) -> float:
    """The loss on all data with given trained parameters, as the setting's engine computes it."""
    there = setting.replace(initial=given_weights(params), engine=setting.engine)
    stepper = there.engine.begin(there)
    return stepper.loss(stepper.start())


@reproducible()
def observe_saved(run: xr.Dataset, observe: Observed, setting: Setting | None = None) -> xr.Dataset:
    """Observables at every saved instant of one run that observed `Parameters`.

    The setting is the run's own. Where it cannot be rebuilt from its JSON, being made of arrays or a lambda, give it.
    """
    observe = (observe,) if isinstance(observe, Observable) else tuple(observe)
    kept = {str(n).removeprefix("param_"): v for n, v in run.data_vars.items() if str(n).startswith("param_")}
    require(bool(kept), "Nothing to read from: the run kept no weights. Train with `Parameters()` observed.")
    setting = Setting.from_json(str(run["setting"].values)) if setting is None else setting
    require(setting.hash == str(run["hash"].values), "This setting is not the run's own: their hashes differ.")
    steps, rates = run["saved_step"].values, run["learning_rate"].values
    tree = setting.net.trained(setting.initial_params())
    rows = []
    for i, step in enumerate(steps):
        params = replace_leaves(tree, {name: v.isel(saved=i).values for name, v in kept.items()})
        lr = float(rates[max(-(-step // setting.steps_per_epoch) - 1, 0)])
        rows.append(measure(observe, _snapshot_at(setting, params, observe, step, lr)))
    values = {name: np.stack([np.asarray(row[name]) for row in rows]) for name in rows[0]}
    coords = {str(n): v for n, v in run.coords.items() if v.dims == ("saved",)}
    return xr.Dataset(labelled(values, observe), coords)


@reproducible()
def observe_checkpoint(path: str | Path, setting: Setting, observe: Observed) -> dict[str, np.ndarray]:
    """Observables at the instant at which a checkpoint of this setting was written."""
    stepper = setting.engine.begin(setting)
    state, history = read_instant(path, setting, stepper)
    ticks = -(-history.step // setting.steps_per_epoch)
    lr = history.lrs[ticks - 1] if history.lrs else history.lr  # of the last step, as while training
    return observe_at(setting, stepper.params(state), observe, history.step, lr)
