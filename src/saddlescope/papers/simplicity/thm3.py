"""Simplicity paper, Theorem 3 and F.3: relations between units that descent preserves, and the narrower net they make.

Four random units, the last put on a manifold: (i) equal to the first, (ii) silent, (iii) proportional to the first,
(iv) a sum of the others. Trained by gradient descent on random targets; then: how far is it from the relation, as a
share of the way that the weights went, and does the net without it (Eq. 28 and its siblings) still have the same map?
Where φ lacks the property it is a control. The factor of (iii) is far from 1, which would be (i), true of any φ.
"""

import jax.numpy as jnp
import numpy as np

from saddlescope.checks import always, share_text
from saddlescope.claims import Claim
from saddlescope.engines.jax_loop import full_batch
from saddlescope.experiment import Experiment
from saddlescope.nets import Units
from saddlescope.optimisers import GradientDescent
from saddlescope.papers.simplicity._units import UNITS, controls_fail, kinds_figure, measured, sizes
from saddlescope.tasks import Samples
from saddlescope.theory import Equal, Rays, Silent, Span
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


def measure(unit, kind, seed):
    rng = np.random.default_rng(seed)
    (inputs, outputs), net = sizes(unit), Units(4, UNITS[unit], 0.7)
    gamma = relation(kind, rng, measured(unit).homogeneous)
    start = {name: w.copy() for name, w in net.init(rng, inputs, outputs).items()}
    for w in start.values():
        w[3] = gamma @ w[:3]
    x = rng.standard_normal((40, inputs))
    data = Samples(x, rng.standard_normal((40, outputs)))
    end, losses = descend(net, start, data, RATES.get(unit, 1e-3))
    moved = np.linalg.norm(np.concatenate([(end[n] - start[n]).ravel() for n in start]))
    size = np.linalg.norm(np.concatenate([end[n].ravel() for n in start]))
    off = np.linalg.norm(np.concatenate([(end[n][3] - gamma @ end[n][:3]).ravel() for n in start]))
    narrow = without(end, 3, gamma)
    return {
        "fits": KINDS[kind].fits(measured(unit)),
        "off_manifold": float(off / moved), "moved": float(moved / size), "fall": float(losses[0] / losses[-1]),
        "map_gap": float(jnp.abs(net(end, x) - net(narrow, x)).max() / jnp.abs(net(end, x)).max()),
    }  # fmt: skip


def descend(net, params, data, lr):
    """Plain descent, by the engine's own loop."""
    optimiser, params = GradientDescent(lr), {n: jnp.asarray(w) for n, w in params.items()}
    carry = params, optimiser.transform().init(params)
    (end, _), losses = full_batch(
        net, optimiser, data, carry, jnp.zeros((STEPS, 1)), jnp.asarray(STEPS), jnp.asarray(lr)
    )
    return {n: np.asarray(w) for n, w in end.items()}, np.asarray(losses[:, 0])


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
    return kinds_figure(results, titles, off, (KEPT, BROKEN), "distance from the manifold over the way moved")


experiment = Experiment(
    title="Relations between units that descent preserves",
    source="Theorem 3",
    measure=measure,
    full=dict(unit=UNITS, kind=KINDS, seed=range(20)),
    quick=dict(unit=("linear", "relu", "quadratic", "sigmoid", "tanh"), kind=KINDS, seed=range(1)),
    draw=draw,
    claims=(
        *(Claim(f"{way.theorem} The relation is preserved under descent.", f"S8 · Theorem 3 {way.theorem}", preserved,
                {"kind": kind}) for kind, way in KINDS.items()),
        Claim("Controls: without the property of φ the relation is lost.", "S8 · Theorem 3",
              controls_fail(off, BROKEN)),
        Claim("On the manifold a net of one unit less has the same map.", "S9 · F.3, Eq. 28", narrower),
    ),
)  # fmt: skip
