"""Simplicity paper, Theorem 1: a fixed point of a narrow net is one of a wider net, in four ways.
Nothing is trained.

A random net of two units, and targets it cannot fit, chosen so that it is at a fixed point of its
loss; then one unit more, (i) a copy, (ii) silent, (iii) proportional, with γ_u < 0 too, (iv) in the
span, with random factors. The theorem states each way for units with certain properties, measured
here from φ; where they are absent it is a control that must fail. Weights have deviation 2: near
zero two sigmoid units nearly span the constants, which would hide that control. Gradients are
relative to the sum of their absolute terms. The theorem is for any loss with two derivatives: beside the squared error
ln cosh and the logistic loss, with targets for which the same residuals leave no gradient.
"""

from itertools import pairwise

import jax.numpy as jnp
import numpy as np

from saddlescope.checks import always, share_text
from saddlescope.claims import CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.nets import Units
from saddlescope.papers.simplicity._units import LOSSES, OTHERS, UNITS, controls_fail, kinds_figure, measured, sizes
from saddlescope.tasks import Samples
from saddlescope.theory import Equal, Rays, Silent, Span, data_with_fixed_point, embed
from saddlescope.theory.fixed_point import outputs_and_slopes, relative_gradient

KINDS = {"copy": "(i)", "silent": "(ii)", "ray": "(iii)", "back": "(iii), γ_u < 0", "span": "(iv)"}
NUMBERS = {"copy": "S1", "silent": "S2", "ray": "S3", "back": "S3", "span": "S4"}
FEW = ("linear", "relu", "quadratic", "softmax", "tanh", "own")
EXACT, BROKEN = 1e-12, 1e-2


def made(kind, rng, narrow, any_sign):
    """A construction with random factors of either sign, but γ_u of (iii) positive where φ needs it, as ReLU does.
    Drawn again where a sum nearly cancels, or a factor is nearly 1: such a control hardly differs from what is true."""
    while True:
        a, b, c, d = rng.uniform(0.3, 1.5, 4) * rng.choice((-1, 1), 4)
        new = [np.linalg.norm(f @ narrow[n]) / np.linalg.norm(narrow[n]) for n, f in (("u", (a, c)), ("v", (b, d)))]
        if min(new) > 0.3 and abs(abs(a) - 1) > 0.3:
            break
    inner = a if any_sign else abs(a)
    return {"copy": Equal(b), "silent": Silent(), "ray": Rays(inner, b), "back": Rays(-abs(a), b),
            "span": Span((a, c), (b, d))}[kind]  # fmt: skip


def measure(unit, kind, seed, criterion):
    rng = np.random.default_rng(seed)
    (inputs, outputs), net = sizes(unit), Units(2, UNITS[unit], 2.0)
    narrow = net.init(rng, inputs, outputs)
    data = data_with_fixed_point(net, narrow, rng.standard_normal((40, inputs)), rng)
    data = with_targets(net, narrow, data, criterion)
    way = made(kind, rng, narrow, measured(unit).homogeneous)
    wide = embed(narrow, 3, way)
    before, after = (outputs_and_slopes(net, p, data.x)[0] for p in (narrow, wide))
    return {
        "fits": way.fits(measured(unit)),
        "narrow_gradient": relative_gradient(net, narrow, data, LOSSES[criterion]),
        "wide_gradient": relative_gradient(net, wide, data, LOSSES[criterion]),
        "map_gap": float(jnp.abs(after - before).max() / jnp.abs(before).max()),
    }


def with_targets(net, params, data, loss):
    """The same inputs with targets such that the slope of this loss in the outputs is that of the squared error."""
    outputs = np.asarray(net(params, data.x))
    residual = np.asarray(data.y) - outputs
    slope = 0.5 * residual / np.abs(residual).max()  # of ln cosh it is below one
    targets = {
        "squared": data.y,
        "log cosh": outputs + np.arctanh(slope),
        "logistic": 1 / (1 + np.exp(-outputs)) + slope,
    }
    return Samples(data.x, jnp.asarray(targets[loss]))


def same_map_and_fixed(results):
    """The map and the gradient, to rounding, in every run where the theorem speaks."""
    rows = results.where(results.measured.fits.values.astype(bool)).measured
    if not rows.sizes["run"]:
        return None
    good = int(np.sum(worst_of(rows) <= EXACT))
    text = "; ".join(
        said_of(rows[name].values, word) for name, word in (("map_gap", "map"), ("wide_gradient", "gradient"))
    )
    return always(good, rows.sizes["run"], text)


def said_of(values, word):
    good = int(np.sum(values <= EXACT))
    return f"{word}: {share_text(good, len(values))}; largest {values.max():.1e}, limit {EXACT:g}"


def worst_of(rows):
    """Change of the map or gradient, the larger."""
    return np.maximum(rows.wide_gradient.values, rows.map_gap.values)


def works_for(results):
    """The kinds of unit for which each way keeps map and fixed point, in every draw: each a part of
    the one before.
    """
    part = results.measured
    rows = list(zip(part.kind.values.astype(str), part.unit.values.astype(str), worst_of(part), strict=True))
    failed = {k: {u for kind, u, gap in rows if kind == k and gap > EXACT} for k in KINDS}
    works = {k: {u for kind, u, _ in rows if kind == k} - failed[k] for k in KINDS}
    if set(results.values("unit")) != set(UNITS) or set(results.values("kind")) != set(KINDS):
        return None
    sets = [works[k] for k in ("copy", "silent", "ray", "span")]
    text = "; ".join(f"{KINDS[k]} {len(units)} of {len(UNITS)} kinds of unit" for k, units in works.items())
    return CheckResult(all(b < a for a, b in pairwise(sets)), f"{text}; (iv) {', '.join(sorted(works['span']))}")


def draw(results):
    titles = {"copy": "(i) copy", "silent": "(ii) silent", "ray": "(iii) ray", "back": "(iii) ray,\nfactor < 0",
              "span": "(iv) span"}  # fmt: skip
    label = "gradient or change of the map, relative, the larger"
    return kinds_figure(results, titles, worst_of, (EXACT, BROKEN), label)


SQUARED = {"criterion": "squared"}
experiment = Experiment(
    title="Four ways to embed a narrow net's fixed point in a wider net",
    source="Theorem 1",
    measure=measure,
    full=dict(unit=UNITS, kind=KINDS, seed=range(20), criterion=LOSSES),
    quick=dict(unit=FEW, kind=KINDS, seed=range(1), criterion=LOSSES),
    where="criterion == 'squared' or seed < 5",
    draw=draw,
    drawn="One mark per run: the change of the map, or the gradient relative to the sum of its absolute "
    "terms, whichever is larger. Exact zeros are drawn at the left edge. Dotted lines: below the first "
    "the theorem's statement is true to rounding, beyond the second a control has lost it.",
    claims=(
        *(Claim(f"{number} The wider net has the same map and is at a fixed point.",
                f"{NUMBERS[kind]} · Theorem 1 {number}", same_map_and_fixed, {"kind": kind} | SQUARED)
          for kind, number in KINDS.items()),
        Claim("Controls: units without the property lose the map or the fixed point.", "S1–S4 · Theorem 1",
              controls_fail(worst_of, BROKEN), SQUARED),
        Claim("More properties of φ allow more embedded fixed points.", "S5 · Remark 1", works_for, SQUARED),
        Claim("Under other losses (ln cosh, logistic) the wider net has the same map and is at a fixed point.",
              "S68 · Theorem 1", same_map_and_fixed, {"criterion": OTHERS}),
        Claim("Controls under other losses: units without the property lose the map or the fixed point.",
              "S68 · Theorem 1", controls_fail(worst_of, BROKEN), {"criterion": OTHERS}),
    ),
)  # fmt: skip
