"""Why a run sits on a plateau: for each one, what the weights are near to, what theory says of it, and when it ends.

Works on any recorded run of a two-layer net of units under plain gradient descent whose weights were saved:
`train(setting, (Parameters(),), every(…))`, or the folder of an experiment that keeps them. For a plateau: the
effective width (by the rule that suits the unit's measured properties), the invariant manifold nearest to the weights
and how far it is, the embedded fixed point nearest to them, of that width or a smaller one, its loss beside the
measured level, its kind, and the step at which the weights' growth in its residual predicts the next drop, whether that
was seen yet or not. Growth is that of units that are still small, and of directions off the manifold: where units that
have grown leave a saddle by themselves, the step is not theirs. All is computed in double precision.
"""

from dataclasses import dataclass

import jax
import numpy as np
import xarray as xr

from saddlescope.errors import InvalidInput, require
from saddlescope.nets import Units
from saddlescope.observables import ByNorm, ByRank, ByRays
from saddlescope.results import Results
from saddlescope.setting import Setting
from saddlescope.stages import find_stages
from saddlescope.tables import Table
from saddlescope.theory import (
    KINDS,
    Kind,
    Silent,
    Span,
    escape_steps,
    nearest_embedded,
    properties,
    reduce,
    relax,
    saddle,
)  # fmt: skip
from saddlescope.theory.drop_schedule import plain_descent
from saddlescope.theory.narrow_levels import narrow
from saddlescope.theory.plateau_weights import saved_weights

COLUMNS = (
    "plateau", "steps", "level", "width", "manifold", "off it", "fixed point at", "its level", "its kind", "next drop",
    "predicted",
)  # fmt: skip
SMALL = 0.1  # of the largest unit; of the weights, for a fixed point to be near
FAR = 0.5  # of the weights: a fixed point farther than this is not what the plateau is
NARROW = 3  # widths below the effective one that are tried, from one on
LEARNED = 1e-9  # of the first loss: nothing lies lower
SILENT = 0.01  # a loss within this share of the zero map's is that of silent units
EARLY = 0.05  # of the level: gained so much, growth shows where it leads
BUDGETS = 5  # a drop is looked for as many budgets ahead


@dataclass(frozen=True)
class PlateauExplanation:
    """Of one plateau. What could not be found is None."""

    start: float
    end: float
    level: float
    step: int | None = None  # of the weights that were read
    width: int | None = None
    kind: Kind | None = None
    residual: float | None = None
    distance: float | None = None
    fixed_level: float | None = None
    saddle: str | None = None
    drop: float | None = None
    predicted: float | None = None

    @property
    def manifold(self):
        if self.step is None:
            return "no weights saved on it"
        return f"{self.kind.theorem} {self.kind.name}" if self.kind else "all silent"

    def row(self, number):
        return (number, f"{self.start:.0f}–{self.end:.0f}", self.level, self.width, self.manifold, self.residual,
                self.distance, self.fixed_level, self.saddle, self.drop, self.predicted)  # fmt: skip


def explain(results: Results | xr.Dataset, run: int = 0, setting: Setting | None = None) -> Table:
    """One row a plateau of one run. `run` is its number among results. `setting` is that of the run, where the run
    alone cannot tell: one with arrays of your own, or with a lambda."""
    data = one_of(results, run)
    setting = setting_of(data) if setting is None else setting
    axes = [f"{name} = {c.values}" for name, c in data.coords.items() if c.ndim == 0]
    title = f"Plateaus of {', '.join([type(setting.net).__name__, *(axes or [f'seed {setting.init_seed}'])])}"
    return Table("plateaus", title, COLUMNS, [d.row(k + 1) for k, d in enumerate(diagnose(data, setting))])


def setting_of(run) -> Setting:
    try:
        return Setting.from_json(str(run.setting.values))
    except InvalidInput as error:
        raise InvalidInput(
            f"The setting of this run cannot be made again: give it, explain(run, setting=…). {error}"
        ) from None


def one_of(results, run) -> xr.Dataset:
    require(isinstance(results, Results | xr.Dataset), "`explain` takes a trained run, or results of such runs.")
    if isinstance(results, Results):
        n = results.measured.sizes["run"]
        good = isinstance(run, int | np.integer) and 0 <= run < n
        require(good, f"There are {n} runs, numbered from 0; there is no run {run!r}.")
        results = list(results.runs())[run][0]
    else:
        require(run == 0, f"This is one run, number 0; there is no run {run!r}.")
    require(
        "setting" in results and "loss" in results and results.setting.ndim == 0,
        "`explain` takes a trained run, or results of trained runs, with settings and losses; these keep none.",
    )
    return results


def diagnose(run: xr.Dataset, setting: Setting | None = None) -> list[PlateauExplanation]:
    """What `explain` prints, as values."""
    setting = setting_of(run) if setting is None else setting
    require(isinstance(setting.net, Units), "`explain` knows two-layer nets of units: use Units.")
    plain_descent(setting)  # refuses any other
    require(
        {"param_u", "param_v", "saved_step"} <= {*run.variables},
        "The weights of this run were not saved: train it with `observe=(Parameters(),)` and `save_at=every(…)`.",
    )
    loss = run["loss"].values
    require(bool(np.isfinite(loss[0])), "The loss of this run is not a number from the start.")
    statistics = setting.net.statistics(jax.tree.map(lambda a: np.asarray(a, float), setting.data()))
    stages = find_stages(loss)
    falls = [d.at for d in stages.falls]
    return [of_one(setting, run, statistics, p, next((at for at in falls if at > p.at), None)) for p in stages.plateaus]


def of_one(setting, run, statistics, plateau, drop):
    plain = PlateauExplanation(plateau.start, plateau.end, plateau.level, drop=drop)
    found = saved_weights(run, plateau)
    if found is None:
        return plain
    step, params = found
    p = properties(setting.net.unit, setting.task.inputs, setting.task.outputs)
    point = {name: np.zeros_like(w) for name, w in params.items()}
    at_zero = saddle(setting.net, point, statistics)
    if p.silent and abs(at_zero.loss - plateau.level) < SILENT * at_zero.loss:
        kind = next(k for k in KINDS if k.fits(p))
        ahead = escape(setting, {}, params, point, statistics, kind, 0, at_zero.loss)
        smooth = p.homogeneous or not p.positively  # ReLU has no Hessian at zero
        return PlateauExplanation(plateau.start, plateau.end, plateau.level, step, 0, None, None, None, at_zero.loss,
                         at_zero.kind if smooth else "not smooth", drop, step + ahead)  # fmt: skip
    return near_units(setting, statistics, plateau, drop, step, params, p, float(run["loss"].values[0]))


def near_units(setting, statistics, plateau, drop, step, params, p, first):
    """Of a plateau on which some units have grown."""
    theta = np.concatenate([params["v"], params["u"]], axis=1)
    width = int(rule_for(p)(theta))
    near = nearest_of(setting, params, statistics, width)
    here = plateau.start, plateau.end, plateau.level, step, width, near.kind, near.residual
    if not near.fixed or near.distance > FAR:
        return PlateauExplanation(*here, drop=drop, saddle="none near" if near.fixed else "none found")
    learned = near.level < LEARNED * first and near.distance < SMALL
    small, held, width = still_small(theta, near), {}, near.width
    if isinstance(near.kind, Span):  # what grows is off the manifold, in all units
        on = near.kind.project(params, width)
        free = {n: near.point[n] + w - on[n] for n, w in params.items()}
    else:
        free, held = ({n: w[rows] for n, w in params.items()} for rows in (small, ~small))
    ahead = None
    if not learned and len(free["u"]):
        ahead = step + escape(setting, held, free, near.point, statistics, near.kind, width, near.level)
    return PlateauExplanation(*here, near.distance, near.level, "minimum" if learned else near.saddle.kind, drop, ahead)


def nearest_of(setting, params, statistics, width):
    """The nearest embedded fixed point of this width, or of a smaller one; where none is found, what was sought."""
    shape = setting.task.inputs, setting.task.outputs
    tried = sorted({*range(1, min(NARROW, width) + 1), width})
    found = [nearest_embedded(setting.net, params, statistics, h, *shape) for h in tried]
    return min((n for n in found if n.fixed), key=lambda n: n.distance, default=found[-1])


def still_small(theta, near):
    """The units that have yet to grow: of silent ones all but the largest, else those far below the largest."""
    norms = np.linalg.norm(theta, axis=1)
    if isinstance(near.kind, Silent):
        return norms < np.sort(norms)[-near.width]
    return norms < SMALL * norms.max()


def escape(setting, held, free, point, statistics, kind, width, level):
    """Steps to the next drop, from the weights that are free to grow, beside those that are held. It ends where one
    unit more does, begun from what has grown when a twentieth is gained; there, where that net finds nothing better."""
    if width >= setting.net.units:
        return np.inf
    net, lr, most = setting.net, setting.optimiser.lr, BUDGETS * setting.budget
    early, ahead = escape_steps(net, free, point, statistics, lr, EARLY * level, most)
    if np.isinf(early):
        return early
    whole = {n: np.concatenate([held[n], w]) if held else w for n, w in ahead.items()}
    after = relax(narrow(net, width + 1), grown(reduce(whole, kind, width + 1)), statistics)[1]
    return escape_steps(net, free, point, statistics, lr, max(level - after, EARLY * level), most)[0]


def grown(params):
    """With units that are still small at a size at which they would count."""
    norms = np.sqrt((params["v"] ** 2).sum(1) + (params["u"] ** 2).sum(1))
    whole = norms.max() if norms.max() > SMALL else 1.0
    factor = np.maximum(1, 0.3 * whole / np.maximum(norms, 1e-300))[:, None]
    return {name: factor * w for name, w in params.items()}


def rule_for(p):
    """How effective units are counted, by what φ is like."""
    if p.linear:
        return ByRank()
    if p.order >= 2:
        return ByNorm()
    return ByRays()
