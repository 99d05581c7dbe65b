"""What the weights on a plateau are near to, and when they will leave it."""

from dataclasses import dataclass, replace

import numpy as np

from saddlescope.explanations.plateau import PlateauExplanation
from saddlescope.nets.net import Params
from saddlescope.observables import ByNorm, ByRank, ByRays, WidthRule
from saddlescope.setting import Setting
from saddlescope.stages import Plateau
from saddlescope.tasks import Moments, Samples
from saddlescope.theory import (
    KINDS,
    Silent,
    Span,
    escape_steps,
    nearest_embedded,
    properties,
    reduce,
    relax,
    saddle,
)
from saddlescope.theory.escape_time import grown_until
from saddlescope.theory.narrow_levels import narrow
from saddlescope.theory.properties import Properties

SMALL = 0.1  # of the largest unit; of the weights, for a fixed point to be near
FAR = 0.5  # of the weights: a fixed point farther than this is not what the plateau is
NARROW = 3  # widths below the effective one that are tried, from one on
LEARNED = 1e-9  # of the first loss: nothing lies lower
SILENT = 0.01  # a loss within this share of the zero map's is that of silent units
EARLY = 0.05  # of the level: gained so much, growth shows where it leads
BUDGETS = 5  # a drop is looked for as many budgets ahead


@dataclass(frozen=True)
class Nearby:
    """What the weights of one run are near to, plateau by plateau.

    **Arguments:**

    - `setting`: The setting of the run, with a two-layer net of units.
    - `statistics`: What the loss sees of the data, in double precision.
    - `first_loss`: The loss at the start of the run.
    """

    setting: Setting
    statistics: Samples | Moments
    first_loss: float

    def explain_plateau(
        self,
        plateau: Plateau,
        drop: float | None,
        saved: tuple[int, Params] | None,
    ) -> PlateauExplanation:
        """Explain one plateau, from the weights saved on it and their step."""
        here = PlateauExplanation(plateau.start, plateau.end, plateau.level, drop=drop)
        if saved is None:
            return here
        step, params = saved
        here = replace(here, step=step)
        task, net = self.setting.task, self.setting.net
        p = properties(net.unit, task.inputs, task.outputs)
        at_zero = saddle(net, _zeros(params), self.statistics)
        if p.silent and abs(at_zero.loss - plateau.level) < SILENT * at_zero.loss:
            return self._at_origin(here, params, p, at_zero)
        return self._near_units(here, params, p)

    def _at_origin(self, here, params, p, at_zero):
        """Explain a plateau on which all units are silent."""
        kind = next(k for k in KINDS if k.fits(p))
        ahead = self._escape({}, params, _zeros(params), kind, 0, at_zero.loss)
        smooth = p.homogeneous or not p.positively  # ReLU has no Hessian at zero
        return replace(
            here,
            width=0,
            fixed_level=at_zero.loss,
            saddle=at_zero.kind if smooth else "not smooth",
            predicted=here.step + ahead,
        )

    def _near_units(self, here, params, p):
        """Explain a plateau on which some units have grown."""
        theta = np.concatenate([params["v"], params["u"]], axis=1)
        width = int(rule_for(p)(theta))
        near = self._nearest(params, width)
        here = replace(here, width=width, kind=near.kind, residual=near.residual)
        if not near.fixed or near.distance > FAR:
            return replace(here, saddle="none near" if near.fixed else "none found")
        learned = near.level < LEARNED * self.first_loss and near.distance < SMALL
        held, free = _held_and_free(params, theta, near)
        ahead = None
        if not learned and len(free["u"]):
            ahead = self._escape(held, free, near.point, near.kind, near.width, near.level)
        return replace(
            here,
            distance=near.distance,
            fixed_level=near.level,
            saddle="minimum" if learned else near.saddle.kind,
            predicted=None if ahead is None else here.step + ahead,
        )

    def _nearest(self, params, width):
        """The nearest embedded fixed point of this width or a smaller one.

        Where none is found, it is the last one tried.
        """
        task, net = self.setting.task, self.setting.net
        tried = sorted({*range(1, min(NARROW, width) + 1), width})
        shape = task.inputs, task.outputs
        found = [nearest_embedded(net, params, self.statistics, h, *shape) for h in tried]
        return min((n for n in found if n.fixed), key=lambda n: n.distance, default=found[-1])

    def _escape(self, held, free, point, kind, width, level):
        """Steps to the next drop, from weights that are free to grow beside those that are held.

        The drop ends where a net of one unit more does, which relaxes from what has grown when a
        twentieth of the level is gained. Where that net finds nothing better, it ends there.
        """
        net, statistics, lr = self.setting.net, self.statistics, self.setting.optimiser.lr
        if width >= net.units:
            return np.inf
        most = BUDGETS * self.setting.budget
        early, ahead = grown_until(net, free, point, statistics, lr, EARLY * level, most)
        if np.isinf(early):
            return early
        whole = {n: np.concatenate([held[n], w]) if held else w for n, w in ahead.items()}
        start = _grown(reduce(whole, kind, width + 1))
        after = relax(narrow(net, width + 1), start, statistics)[1]
        fall = max(level - after, EARLY * level)
        return escape_steps(net, free, point, statistics, lr, fall, most)[0]


def _zeros(params):
    return {name: np.zeros_like(w) for name, w in params.items()}


def _held_and_free(params, theta, near):
    """The weights that stay at the fixed point, and those that are free to grow away from it."""
    if isinstance(near.kind, Span):  # what grows is off the manifold, in all units
        on = near.kind.project(params, near.width)
        return {}, {n: near.point[n] + w - on[n] for n, w in params.items()}
    small = _still_small(theta, near)
    return [{n: w[rows] for n, w in params.items()} for rows in (~small, small)]


def _still_small(theta, near):
    """The units that have yet to grow: all silent ones, else those far below the largest."""
    norms = np.linalg.norm(theta, axis=1)
    if isinstance(near.kind, Silent):
        return norms < np.sort(norms)[-near.width]
    return norms < SMALL * norms.max()


def _grown(params):
    """The weights, with small units enlarged to a size at which they would count."""
    norms = np.sqrt((params["v"] ** 2).sum(1) + (params["u"] ** 2).sum(1))
    whole = norms.max() if norms.max() > SMALL else 1.0
    factor = np.maximum(1, 0.3 * whole / np.maximum(norms, 1e-300))[:, None]
    return {name: factor * w for name, w in params.items()}


def rule_for(p: Properties) -> WidthRule:
    """The rule that counts effective units of a kind: by rank, by norm or by rays.

    **Arguments:**

    - `p`: What the unit is like, as `theory.properties` measures it.
    """
    if p.linear:
        return ByRank()
    if p.order >= 2:
        return ByNorm()
    return ByRays()
