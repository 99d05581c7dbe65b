"""Escape paper, Fig. 4 and Section 5: is it depth or initial scale that makes the plateau?

The paper trains depth 4 with the clock of depth 6, c/‖θ‖⁴, at one initial scale. Here depth 4 has both that clock and
its own, c/‖θ‖², over three initial scales. Both clocks of a scale start with the same step: c₄ = c₂ ‖θ₀‖².

Depths are compared at the deviation 0.003: at width 100 the singular values of the initial noise, about 2 √width ·
deviation, are then those of the paper. The length of a plateau over the wait at the origin does not depend on c, which
for depth 6 on MNIST is that of `fig1`. In a first form it was 9 times that of depth 4, the deviation was 0.01, and depth
6 never left the origin. On MNIST depth 4 leaves the origin within two epochs, too few to compare waits; the digits
take five.

`--axis form=paper` is the paper's own width and scale.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import holds_in_share, share_text
from saddlescope.claims import CheckResult, Claim
from saddlescope.errors import number_of
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE
from saddlescope.papers.escape._plateaus import RANK_ONE, deep_layers, first_rest, ratios, spectra
from saddlescope.papers.escape._rested import of_these
from saddlescope.papers.escape._stays import factor_of_waits, longer_share, no_longer, said, seen_wait, stay
from saddlescope.papers.escape._training import SPECTRA, Form, on_named_data, require_data
from saddlescope.tasks import ImageClasses

FORMS = {
    "digits": Form("small", depth=4, width=50, scale=1e-2, c=1.5, power=2, epochs=200),
    "mnist": Form("mnist", depth=4, width=100, scale=1e-2, c=0.25, power=2, epochs=30),
    "paper": Form("mnist", depth=4, width=1000, scale=1e-3, c=0.25, power=2, epochs=1000),
}
CLOCKS = ("own", "fourth")
SIX = {"digits": (13.5, 400), "mnist": (30, 90), "paper": (10, 1000)}  # c and epochs of depth 6
COMPARED = 0.003  # the deviation at which depths are compared


def form_at(form, depth, scale, clock):
    """The form at another depth, scale and clock."""
    made = FORMS[form]._replace(scale=scale)
    if depth == 6:  # its own clock is the fourth power
        c, epochs = SIX[form]
        return made._replace(depth=6, c=c, power=4, epochs=epochs)
    if clock == "own":
        return made
    task = ImageClasses(made.dataset)
    number = made.setting(0).net.parameter_count(task.inputs, task.outputs)
    return made._replace(c=made.c * scale**2 * number, power=4)


def setting(form, depth, scale, clock, seed):
    return form_at(form, depth, scale, clock).setting(seed)


def save_at(form, depth, scale, clock, seed):
    return form_at(form, depth, scale, clock).instants()


def by_seed(results, read, **only):
    """{seed: read(run)} of the finite runs with these values."""
    part = results.select(**only)
    return {int(run["seed"]): read(run) for run in part.runs() if run.finite}


def compared(results, compare, first, second, words):
    """compare(a, b) of each seed that has both stays, as True, False or None where they cannot tell."""
    a, b = (by_seed(results, stay, **only) for only in (first, second))
    both = sorted(set(a) & set(b))
    if not both:
        return None
    found = {s: compare(a[s], b[s]) for s in both}
    good = [value for value in found.values() if value is not None]
    text = "; ".join(f"{said(a[s])} and {said(b[s])}" for s in both)
    told = f"{len(good)} of {number_of(len(both), 'pair')} can tell"
    if not good:
        return CheckResult(False, f"{told}; {words}: {text}", unclear=True)
    told += f"; the claim holds in {of_these(sum(good), len(good))}"
    return holds_in_share(sum(good), len(good), f"{told}; {words}: {text}")


def depth_matters(results):
    scale = max(results.values("scale"))
    if len(results.values("depth")) < 2:
        return None
    four, six = (dict(depth=d, scale=scale, clock="own") for d in (4, 6))
    words = f"epochs of the plateau after those at the origin, deviation {scale:g}, depth 6 and depth 4"
    return compared(results, longer_share, six, four, words)


def scale_matters_not(results):
    scales = results.values("scale")
    if len(scales) < 2 or 4 not in results.values("depth"):
        return None
    small, large = (dict(depth=4, scale=s, clock="own") for s in (min(scales), max(scales)))
    words = f"epochs of the plateau after those at the origin, depth 4, deviation {min(scales):g} and {max(scales):g}"
    return compared(results, no_longer, small, large, words)


def deep_ratio(run):
    """The largest s₂/s₁ of the deeper layers on the plateau; NaN where there is none."""
    rest = first_rest(run)
    if rest is None:
        return np.nan
    found = ratios(spectra(run)[rest.at])
    return float(found[deep_layers(len(found))].max())


def first_ratio(run):
    rest = first_rest(run)
    return np.nan if rest is None else float(ratios(spectra(run)[rest.at])[0])


def first_layer_stays(results):
    """At the smallest scale the deeper layers are rank one on the plateau, and the first is not."""
    if 4 not in results.values("depth"):
        return None
    least = dict(depth=4, scale=min(results.values("scale")), clock="own")
    pairs = by_seed(results, lambda run: (first_ratio(run), deep_ratio(run)), **least)
    known = [pair for pair in pairs.values() if np.isfinite(pair).all()]
    if not known:
        return CheckResult(False, "no run came to rest", unclear=True)
    good = sum(deep <= RANK_ONE < first and first > 5 * deep for first, deep in known)
    text = ", ".join(f"{first:.2g} and {deep:.2g}" for first, deep in known)
    words = "s₂/s₁ of the first layer, and largest of the deeper ones, at the smallest scale"
    return holds_in_share(good, len(known), f"{share_text(good, len(known))}; {words}: {text}")


def clock_is_its_own(results):
    """Between scales the wait at the origin changes by less than a factor of two with the own clock, and by more with
    the fourth power."""
    scales = results.values("scale")
    if len(scales) < 2 or set(results.values("clock")) != set(CLOCKS) or 4 not in results.values("depth"):
        return None
    own, fourth = (_factors(results, clock, min(scales), max(scales)) for clock in CLOCKS)
    both = sorted(own.keys() & fourth.keys())
    if not both:
        return CheckResult(False, "too few runs have left the origin", unclear=True)
    good = sum(own[s] < 2 < fourth[s] for s in both)
    text = ", ".join(f"{own[s]:.2g} and {fourth[s]:.2g}" for s in both)
    words = f"the wait changes by factors of {text} (c/‖θ‖² and c/‖θ‖⁴)"
    return holds_in_share(good, len(both), f"{share_text(good, len(both))}; {words}")


def _factors(results, clock, small, large):
    """{seed: by which factor the wait changes between two scales}, where it can be told."""
    a, b = (by_seed(results, seen_wait, depth=4, scale=s, clock=clock) for s in (small, large))
    found = {s: factor_of_waits(a[s], b[s]) for s in a.keys() & b.keys()}
    return {s: factor for s, factor in found.items() if factor is not None}


def draw(results):
    rows = [(d, c) for d in results.values("depth") for c in results.values("clock")]
    rows = [(d, c) for d, c in rows if results.select(depth=d, clock=c).measured.sizes["run"]]
    scales = results.values("scale")
    figure, axes = plt.subplots(len(rows), len(scales), squeeze=False, figsize=(3 * len(scales), 2.6 * len(rows)))
    for line, (depth, clock) in zip(axes, rows, strict=True):
        for ax, scale in zip(line, scales, strict=True):
            for run in results.select(depth=depth, clock=clock, scale=scale).runs():
                ax.plot(run["loss"].values, color=BLUE, lw=0.8)
                values = spectra(run)[:, -2]
                ax.plot(run.times, values[:, 1] / values[:, 0], color=ORANGE, lw=0.8)
            power = "‖θ‖⁴" if depth == 6 or clock == "fourth" else "‖θ‖²"
            ax.set(
                xlabel="epoch",
                title=f"depth {depth}, c/{power}\ndeviation {scale:g}",
                ylim=(0, 2.4),
            )
            ax.set_xscale("symlog", linthresh=10)
            ax.set_xlim(left=0)
            ax.set_visible(bool(ax.lines))  # not every depth has every scale
    for ax in axes[:, 0]:
        ax.set_ylabel("loss (blue), $s_2/s_1$ of\nthe last hidden layer (orange)")
    return figure


CLAIMS = (
    Claim(
        "Plateaus are more distinct at depth 6 than at depth 4: longer beside the wait at the origin.",
        "E91 · Section 5, Fig. 4",
        depth_matters,
        note="Added after the first verdicts: runs that end at the origin or on the plateau may not tell.",
    ),
    Claim(
        "At depth 4 a smaller initial scale does not make the plateau longer: depth is needed.",
        "E91 · Section 5",
        scale_matters_not,
        note=(
            "In its own clock the plateau of depth 4 grows as the initial scale falls. "
            "In the first form, pairs of runs without a plateau counted for the claim."
        ),
    ),
    Claim(
        f"Small initial weights make the deeper layers rank one (s₂/s₁ ≤ {RANK_ONE:g}), but not the first.",
        "E87 · Section 5",
        first_layer_stays,
        note="In the first form only the first layer had a limit of its own; the deeper ones had a fifth of it.",
    ),
    Claim(
        "The learning rate c/‖θ‖^(L-2) makes the wait at the origin independent of the scale.",
        "E23, E36 · Section 2.1",
        clock_is_its_own,
        note="In the first form two runs that never left the origin counted for the claim.",
    ),
)


experiment = Experiment(
    title="Depth or initial scale: what makes the plateau of a ReLU net",
    source="Fig. 4",
    setting=setting,
    save_at=save_at,
    observe=(SPECTRA,),
    full=dict(form=("mnist", "digits"), depth=(4, 6), scale=(1e-2, COMPARED, 1e-4), clock=CLOCKS, seed=range(12)),
    quick=dict(form=("digits",), depth=(4, 6), scale=(COMPARED, 1e-3), clock=CLOCKS, seed=range(4)),
    where=f"(depth == 4 or (clock == 'own' and scale == {COMPARED})) and (form != 'mnist' or seed < 6)",
    check_available=require_data(FORMS),
    draw=draw,
    claims=on_named_data(CLAIMS, FORMS, "mnist"),
)
