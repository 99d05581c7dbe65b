"""Simplicity paper, Theorem 3 and F.3: relations between units that descent preserves, and the
narrower net they make.

Four random units, the last put on a manifold: (i) equal to the first, (ii) silent, (iii)
proportional to the first, (iv) a sum of the others. Trained by gradient descent on random targets;
then: how far is it from the relation, as a share of the way that the weights went, and does the net
without it (Eq. 28 and its siblings) still have the same map? Where φ lacks the property it is a
control. The factor of (iii) is far from 1, which would be (i), true of any φ. The theorem is for any loss with two
derivatives: beside the squared error ln cosh and the logistic loss.
"""

from functools import cache

import jax.numpy as jnp
import numpy as np

from saddlescope.checks import always, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.initials import given_weights
from saddlescope.nets import Units
from saddlescope.observables import Parameters
from saddlescope.optimisers import GradientDescent
from saddlescope.papers.simplicity._units import LOSSES, OTHERS, UNITS, controls_fail, kinds_figure, measured, sizes
from saddlescope.setting import Setting
from saddlescope.tasks import ArrayTask
from saddlescope.theory import Equal, PreservedRelation, Rays, Silent, Span
from saddlescope.theory.relations.span import without

KINDS = {"equal": Equal(), "silent": Silent(), "ray": Rays(), "span": Span()}
RATES = {"cubic": 1e-4}  # at 1e-3 some of its runs diverge
STEPS, KEPT, BROKEN = 4000, 1e-9, 1e-2


def relation(kind, rng, any_sign):
    """Factors γ of the last unit, θ_4 = Σ_j γ_j θ_j; of either sign where φ allows it."""
    ray = rng.uniform(0.3, 0.6) * (rng.choice((-1, 1)) if any_sign else 1)
    return {
        "equal": np.array([1.0, 0, 0]), "silent": np.zeros(3), "ray": np.array([ray, 0, 0]),
        "span": rng.uniform(-1, 1, 3),
    }[kind]  # fmt: skip


@cache
def drawn(unit, kind, seed, criterion):
    """The factors of the relation, initial weights that obey it, and samples: from one stream of
    random numbers.
    """
    rng = np.random.default_rng(seed)
    inputs, outputs = sizes(unit)
    gamma = relation(kind, rng, measured(unit).homogeneous)
    start = {name: w.copy() for name, w in net(unit).init(rng, inputs, outputs).items()}
    for w in start.values():
        w[3] = gamma @ w[:3]
    x = rng.standard_normal((40, inputs))
    y = rng.standard_normal((40, outputs))
    return gamma, start, ArrayTask(x, (y > 0).astype(float) if criterion == "logistic" else y)


def net(unit):
    return Units(4, UNITS[unit], 0.7)


def setting(unit, kind, seed, criterion):
    _, start, task = drawn(unit, kind, seed, criterion)
    return Setting(
        task=task,
        net=net(unit),
        optimiser=GradientDescent(RATES.get(unit, 1e-3)),
        initial=given_weights(start),
        loss=LOSSES[criterion],
        train_on_moments=False,
        steps=STEPS,
        seed=seed,
    )


def predict(unit, kind, seed, criterion):
    gamma, _, _ = drawn(unit, kind, seed, criterion)
    return (PreservedRelation(gamma),) if criterion == "squared" and KINDS[kind].fits(measured(unit)) else ()


def analyse(run, setting, unit, kind, seed, criterion):
    gamma, start, task = drawn(unit, kind, seed, criterion)
    end, losses = {n: run[f"param_{n}"].values[-1] for n in start}, run.loss.values
    moved = np.linalg.norm(np.concatenate([(end[n] - start[n]).ravel() for n in start]))
    size = np.linalg.norm(np.concatenate([end[n].ravel() for n in start]))
    off = np.linalg.norm(np.concatenate([(end[n][3] - gamma @ end[n][:3]).ravel() for n in start]))
    wide, narrow = (setting.net(p, task.x) for p in (end, without(end, 3, gamma)))
    return {
        "fits": KINDS[kind].fits(measured(unit)),
        "off_manifold": float(off / moved),
        "moved": float(moved / size),
        "fall": float(losses[0] / losses[STEPS - 1]),
        "map_gap": float(jnp.abs(wide - narrow).max() / jnp.abs(wide).max()),
    }


def part_of(results, fits):
    return results.where(results.measured.fits.values.astype(bool) == fits).measured


def preserved(results):
    part = part_of(results, True)
    if not part.sizes["run"]:
        return None
    good = (part.off_manifold.values <= KEPT) & (part.moved.values > 1e-2)
    text = f"{share_text(good.sum(), good.size)}; largest distance {part.off_manifold.values.max():.1e} of the way, "
    text += f"limit {KEPT:g}; the way is {part.moved.values.min():.2g} of the weights or more"
    return always(good.sum(), good.size, text)


def narrower(results):
    part = part_of(results, True)
    gap = part.map_gap.values
    good = int(np.sum(gap <= KEPT))
    if not len(gap):
        return None
    return always(good, len(gap), f"{share_text(good, len(gap))}; largest change of the map {gap.max():.1e}")


def off(rows):
    return rows.off_manifold.values


def draw(results):
    titles = {kind: f"{way.theorem} {kind}" for kind, way in KINDS.items()}
    label = "distance from the relation, over the way that the weights went"
    return kinds_figure(results, titles, off, (KEPT, BROKEN), label)


SQUARED = {"criterion": "squared"}
experiment = Experiment(
    title="Relations between units that gradient descent preserves",
    source="Theorem 3",
    setting=setting,
    observe=(Parameters(),),
    predict=predict,
    analyse=analyse,
    full=dict(unit=UNITS, kind=KINDS, seed=range(20), criterion=LOSSES),
    quick=dict(unit=("linear", "relu", "quadratic", "sigmoid", "tanh"), kind=KINDS, seed=range(1), criterion=LOSSES),
    where="criterion == 'squared' or seed < 5",
    draw=draw,
    drawn="One mark per run: how far the last unit is from its relation to the others after 4,000 steps. "
    "Exact zeros are drawn at the left edge. Dotted lines: below the first the relation is preserved, "
    "beyond the second a control has lost it.",
    claims=(
        *(Claim(f"{way.theorem} The relation is preserved under descent.", f"S8 · Theorem 3 {way.theorem}", preserved,
                {"kind": kind} | SQUARED) for kind, way in KINDS.items()),
        Claim("Controls: without the property of φ the relation is lost.", "S8 · Theorem 3",
              controls_fail(off, BROKEN), SQUARED),
        Claim("On the manifold a net of one unit less has the same map.", "S9 · F.3, Eq. 28", narrower, SQUARED),
        Claim("Under other losses (ln cosh, logistic) each relation is preserved as well.", "S68 · Theorem 3",
              preserved, {"criterion": OTHERS}),
        Claim("Controls under other losses: without the property of φ the relation is lost.", "S68 · Theorem 3",
              controls_fail(off, BROKEN), {"criterion": OTHERS}),
    ),
)  # fmt: skip
