"""Explain the plateaus of a run."""

import numpy as np
import xarray as xr

from saddlescope.errors import InvalidInput, require
from saddlescope.explanations.nearby import Nearby
from saddlescope.explanations.plateau import COLUMNS, PlateauExplanation
from saddlescope.nets import Units
from saddlescope.numerics import reproducible
from saddlescope.results import Results, Run
from saddlescope.setting import Setting
from saddlescope.stages import find_stages
from saddlescope.tables import Table
from saddlescope.theory.drop_schedule import plain_descent
from saddlescope.theory.plateau_weights import saved_weights

Runs = Results | Run | xr.Dataset


@reproducible()
def explain(results: Runs, run: int = 0, setting: Setting | None = None) -> Table:
    """Explain why a run sits on each of its plateaus: a table with one row per plateau.

    A row has the effective width, by the rule that suits the unit's measured properties. It has the
    invariant manifold nearest to the weights, and how far that is. It has the embedded fixed point
    nearest to them, of that width or a smaller one, with its loss and its kind. Last comes
    the step at which the weights' growth in its residual predicts the next drop, seen or not. All is
    computed in double precision.

    Holds for two-layer nets of units under plain gradient descent, whose weights were saved:
    `train(setting, (Parameters(),), every(…))`, or the folder of an experiment that keeps them.
    Growth is that of units that are still small, and of directions off the manifold. Where units
    that have grown leave a saddle by themselves, the predicted step is not theirs.

    **Arguments:**

    - `results`: A trained run, or results of several.
    - `run`: The number of the run among the results, from 0.
    - `setting`: The setting of the run. The run alone cannot tell it if the setting has arrays of
      your own, or a lambda: give it then.
    """
    data = _one_of(results, run)
    setting = _setting_of(data) if setting is None else setting
    axes = [f"{name} = {c.values}" for name, c in data.coords.items() if c.ndim == 0]
    words = [type(setting.net).__name__, *(axes or [f"seed {setting.init_seed}"])]
    rows = [found.row(k + 1) for k, found in enumerate(diagnose(data, setting))]
    return Table("plateaus", f"Plateaus of {', '.join(words)}", COLUMNS, rows)


@reproducible()
def diagnose(run: Run | xr.Dataset, setting: Setting | None = None) -> list[PlateauExplanation]:
    """Explain each plateau of a run, as values: what `explain` prints.

    **Arguments:**

    - `run`: A trained run.
    - `setting`: The setting of the run, where the run alone cannot tell.
    """
    run = run.measured if isinstance(run, Run) else run
    setting = _setting_of(run) if setting is None else setting
    require(isinstance(setting.net, Units), "`explain` knows two-layer nets of units: use Units.")
    plain_descent(setting)  # refuses any other
    require(
        {"param_u", "param_v", "saved_step"} <= {*run.variables},
        "The weights of this run were not saved: train it with `observe=(Parameters(),)` and `save_at=every(…)`.",
    )
    loss = run["loss"].values
    require(
        bool(np.isfinite(loss[0])),
        "The first loss of this run is NaN or infinite: nothing can be explained.",
    )
    nearby = Nearby(setting, setting.statistics(), float(loss[0]))
    stages = find_stages(loss)
    drops = [d.at for d in stages.drops]
    next_drops = [next((at for at in drops if at > p.at), None) for p in stages.plateaus]
    return [
        nearby.explain_plateau(p, drop, saved_weights(run, p))
        for p, drop in zip(stages.plateaus, next_drops, strict=True)
    ]


def _setting_of(run) -> Setting:
    try:
        return Setting.from_json(str(run["setting"].values))
    except InvalidInput as error:
        raise InvalidInput(
            f"The setting of this run cannot be made again: give it, explain(run, setting=…). {error}"
        ) from None


def _one_of(results, run) -> xr.Dataset:
    require(isinstance(results, Runs), "`explain` takes a trained run, or results of such runs.")
    if isinstance(results, Results):
        n = results.measured.sizes["run"]
        good = isinstance(run, int | np.integer) and 0 <= run < n
        require(good, f"There are {n} runs, numbered from 0; there is no run {run!r}.")
        results = list(results.runs())[run]
    else:
        require(run == 0, f"This is one run, number 0; there is no run {run!r}.")
    data = results.measured if isinstance(results, Run) else results
    require(
        "setting" in data and "loss" in data and data["setting"].ndim == 0,
        "`explain` takes a trained run, or results of trained runs, with settings and losses; these keep none.",
    )
    return data
