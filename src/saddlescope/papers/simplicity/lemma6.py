"""Simplicity paper, Lemma 6 and Remark 2: all fixed points of a linear net, and how many maps they
have.

Random moments with three outputs and three or five inputs, eight units. Sufficient: weights built
as Eq. 40 says have no gradient. Necessary: Newton's method from random starts finds fixed points;
do all have a map and spans as Eq. 40 says? With more inputs than outputs a silent unit (v = 0) may
have any u that the residual does not see: there Eq. 40 is not necessary. Remark 2: of rank r there
are (D over r) maps, by counting what was built and found.
"""

from math import comb

import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE, WIDTH, letters
from saddlescope.losses import squared_error
from saddlescope.nets import linear_units
from saddlescope.tasks import Moments
from saddlescope.theory import LinearFixedPoints
from saddlescope.theory.relax import curvature, settle

OUTPUTS, UNITS, STARTS = 3, 8, 60
FIXED, SAME = 1e-10, 1e-6


def measure(inputs, seed, starts):
    rng = np.random.default_rng([inputs, seed])
    root = rng.standard_normal((inputs, inputs))
    moments = Moments(
        rng.standard_normal((OUTPUTS, inputs)), root @ root.T / inputs + 0.3 * np.eye(inputs), np.zeros(())
    )
    net, points = linear_units(UNITS, 1.0), LinearFixedPoints(moments)
    built = [points.weights(chosen, UNITS, rng) for chosen in points.sets]
    slopes = [gradient(net, p, moments) for p in built]
    fixed = [p for p, slope in zip(built, slopes, strict=True) if slope < FIXED]
    found = [p for p in (newton(net, moments, rng, inputs) for _ in range(starts)) if p is not None]
    listed = [chosen if gap < SAME else None for chosen, gap in map(points.nearest, found)]
    known = [(p, chosen) for p, chosen in zip(found, listed, strict=True) if chosen is not None]
    zero = points.level(())
    return {
        "built_gradient": max(slopes), "found": len(found), "on_the_list": len(known),
        "in_spans": sum(points.outside(p, chosen) < SAME for p, chosen in known),
        "found_by_search": len({chosen for _, chosen in known}),
        "maps_seen": (("rank",), maps_by_rank([p["v"].T @ p["u"] for p in (*fixed, *found)])),
        "level_gap": max(abs(float(squared_error(net, p, moments)) / zero - points.level(c) / zero) for p, c in known)
        if known else np.nan,
    } | ({"loose_gradient": loose(moments, points, rng)} if inputs > OUTPUTS else {})  # fmt: skip


def gradient(net, params, moments):
    return float(np.abs(curvature(net, {n: jnp.asarray(w) for n, w in params.items()}, moments)[1]).max())


def newton(net, moments, rng, inputs):
    """A fixed point of a net of one to three units, or of all; None where the steps do not settle."""
    units, scale = rng.choice([1, 2, 3, UNITS]), rng.choice([0.3, 1.0])
    start = {"u": scale * rng.standard_normal((units, inputs)), "v": scale * rng.standard_normal((units, OUTPUTS))}
    params, _, slope = settle(net, start, moments, rounds=200)
    return params if slope < FIXED else None


def maps_by_rank(maps):
    """How many different maps there are of each rank."""
    different = []
    for W in maps:
        if all(np.abs(W - other).max() > SAME for other in different):
            different.append(W)
    ranks = [int(np.linalg.matrix_rank(W, tol=SAME)) for W in different]
    return np.bincount(ranks, minlength=OUTPUTS + 1)


def loose(moments, points, rng):
    """The gradient where a silent unit's u lies outside the span of Eq. 40, in what the residual does not see."""
    params, (_, inner) = points.weights((0,), UNITS, rng), points.bases((0,))
    error = (points.optimum - params["v"].T @ params["u"]) @ moments.xx
    free = np.linalg.svd(error)[2][np.linalg.matrix_rank(error, tol=1e-9) :]
    free = free - free @ inner @ np.linalg.pinv(inner)
    longest = free[np.argmax((free**2).sum(1))]
    assert np.linalg.norm(longest) > 0.1  # it does lie outside
    wide = {"u": np.vstack([params["u"], longest]), "v": np.vstack([params["v"], np.zeros(OUTPUTS)])}
    return gradient(linear_units(UNITS + 1, 1.0), wide, moments)


def sufficient(results):
    worst = results.measured.built_gradient.values
    good = int(np.sum(worst < FIXED))
    return always(good, len(worst), f"{share_text(good, len(worst))}; largest gradient of any set {worst.max():.1e}")


def necessary(results):
    """Every fixed point found is on the list, with rows in the spans."""
    found, listed, within = points_found(results)
    text = f"{found} fixed points: {listed} with a map of Eq. 40, {within} with rows in its spans"
    parts = {inputs: points_found(results.select(inputs=inputs)) for inputs in results.values("inputs")}
    groups = {f"{inputs} inputs": (min(on, spans), n) for inputs, (n, on, spans) in parts.items()}
    return always(min(listed, within), found, text, groups) if found else None


def points_found(results):
    """How many fixed points there are, are on the list, and have rows in the spans."""
    return [int(results.measured[n].sum()) for n in ("found", "on_the_list", "in_spans")]


def not_necessary(results):
    """In every data set the search finds a fixed point with a row outside. One that is built has no gradient whatever
    the data are: a number beside it."""
    m = results.measured
    outside = m.on_the_list.values - m.in_spans.values
    good = int(np.sum(outside > 0))
    text = f"{share_text(good, len(outside))} have fixed points with a row outside, {outside.sum()} in all; "
    text += f"largest gradient of one that is built {m.loose_gradient.values.max():.1e}"
    return always(good, len(outside), text)


def counts(results):
    """Different maps of each rank, of fixed points built and found: (D over r) in every data set. Those built have as
    many by themselves, if they are fixed points: one more, found by the search, would refute it."""
    seen = np.array([m.maps_seen.values for m in results.runs()])
    said = np.array([comb(OUTPUTS, r) for r in range(OUTPUTS + 1)])
    good = int(np.sum(np.all(seen == said, axis=1)))
    searched = results.measured.found_by_search.values
    found = int(results.measured.found.sum())
    text = f"{share_text(good, len(seen))} have {', '.join(map(str, said))} of ranks 0 to 3"
    alone = f"{found} fixed points found; alone they have {searched.min()} to {searched.max()} of {said.sum()} maps"
    return always(good, len(seen), f"{text}; {alone}")


def levels(results):
    gap = results.measured.level_gap.values
    good = int(np.sum(gap < 1e-9))
    text = f"{share_text(good, len(gap))}; largest gap {gap.max():.1e} of the loss of zero weights"
    return always(good, len(gap), text)


def draw(results):
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 2.7))
    for inputs, colour, shift in ((3, BLUE, -0.08), (5, ORANGE, 0.08)):
        runs = list(results.select(inputs=inputs).runs())
        if not runs:
            continue
        left.plot([m.found for m in runs], [m.in_spans for m in runs], "o", color=colour, mfc="none",
                  label=f"{inputs} inputs")  # fmt: skip
        mean = np.mean([m.maps_seen for m in runs], axis=0)
        right.bar(np.arange(OUTPUTS + 1) + 2 * shift, mean, 0.3, color=colour, label=f"{inputs} inputs, mean")
    left.axline((0, 0), slope=1, color="0.6", ls="--", lw=0.8)
    right.plot(range(OUTPUTS + 1), [comb(OUTPUTS, r) for r in range(OUTPUTS + 1)], "k_", ms=18, label="(D over r)")
    left.set(xlabel="fixed points found", ylabel="as Eq. 40 says", title="Newton's method, random starts")
    right.set(xlabel="rank r", ylabel="different maps", ylim=(0, 5.2), title="Remark 2", xticks=range(OUTPUTS + 1))
    for ax in (left, right):
        ax.legend()
    letters((left, right))
    return figure


SQUARE = {"inputs": OUTPUTS}
experiment = Experiment(
    title="Fixed points of a linear net: the listed ones and those found by search",
    source="Lemma 6, Remark 2",
    measure=measure,
    full=dict(inputs=(3, 5), seed=range(10), starts=(STARTS,)),
    quick=dict(inputs=(3, 5), seed=range(1), starts=(6,)),
    draw=draw,
    drawn="A: one mark per data set, the fixed points that Newton's method finds and how many of them have "
    "weights as Eq. 40 says; the dashed line is all of them. B: the mean number of different maps of "
    "each rank among fixed points built and found, beside the binomial coefficient.",
    claims=(
        Claim("Weights as in Eq. 40 are fixed points, for every set of eigenvectors.", "S45 · Lemma 6", sufficient),
        Claim("Every fixed point has weights as in Eq. 40.", "S45 · Lemma 6", necessary,
              note="Not with more inputs than outputs: a silent unit's u may lie in what the residual does not see. "
              "All maps are those of Eq. 40."),
        Claim("With as many inputs as outputs every fixed point has weights as in Eq. 40.", "ours", necessary, SQUARE),
        Claim("With more inputs than outputs Eq. 40 is not necessary.", "ours", not_necessary, {"inputs": 5}),
        Claim("The loss at such a fixed point is that of zero weights less the eigenvalues of the set.", "ours",
              levels),
        Claim("There are (D over r) maps of rank r, and search finds no other.", "S46 · Remark 2", counts, SQUARE),
    ),
)  # fmt: skip
