"""Escape paper, Fig. 4 and Section 5: is it depth or initial scale that makes the plateau?

The paper trains depth 4 with the clock of depth 6, c/‖θ‖⁴, at one initial scale. Here depth 4 has both that clock and
its own, c/‖θ‖², over three initial scales. Both clocks of a scale start with the same step: c₄ = c₂ ‖θ₀‖².

Depths are compared at the deviation 0.005: the singular values of the initial noise, about 2 √width · deviation, are
then 0.1 on MNIST and 0.07 on the digits, and 0.06 in the paper. The length of a plateau over the wait at the origin
does not depend on c, so that depth 6 has the largest that does not overshoot at the escape. In a first form it was 9
times that of depth 4, the deviation was 0.01, and on MNIST depth 6 never left the origin. There depth 4 leaves it
within two epochs, too few to compare waits; on the digits it takes five.

`--axis form=paper` is the paper's own width and scale.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from saddlescope.checks import holds_in_share, share_text
from saddlescope.claims import CheckResult, Claim
from saddlescope.errors import number_of
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE, WIDTH, letters
from saddlescope.papers.escape._plateaus import RANK_ONE, deep_layers, ratios
from saddlescope.papers.escape._readings import LOSS, ratios_on, reading
from saddlescope.papers.escape._rested import of_these
from saddlescope.papers.escape._stays import factor_of_waits, longer_share, no_longer, said, seen_wait, stay
from saddlescope.papers.escape._training import SPECTRA, Form, on_named_data, require_data
from saddlescope.tasks import ImageClasses

FORMS = {
    "digits": Form("small", depth=4, width=50, scale=1e-2, c=1.5, power=2, epochs=200),
    "digits-long": Form("small", depth=4, width=50, scale=1e-2, c=1.5, power=2, epochs=200),  # six layers for longer
    "mnist": Form("mnist", depth=4, width=100, scale=1e-2, c=0.25, power=2, epochs=30),
    "paper": Form("mnist", depth=4, width=1000, scale=1e-3, c=0.25, power=2, epochs=1000),
}
CLOCKS = ("own", "fourth")
SIX = {"digits": (13.5, 400), "digits-long": (13.5, 3000), "mnist": (7.5, 150), "paper": (10, 1000)}  # c, epochs
COMPARED = 0.005  # the deviation at which depths are compared


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


def by_draw(results, read, **only):
    """{(form, seed): read(run)} of the finite runs with these values."""
    part = results.select(**only)
    return {(str(run["form"].item()), int(run["seed"])): read(run) for run in part.runs() if run.finite}


def counted(found, words):
    """{(form, seed): True or False}, decided for each form as well."""
    forms = dict.fromkeys(form for form, _ in found)
    groups = {f: [good for (form, _), good in found.items() if form == f] for f in forms}
    parts = {form: (sum(good), len(good)) for form, good in groups.items()}
    return holds_in_share(sum(found.values()), len(found), words, groups=parts)


def compared(results, compare, first, second, words):
    """compare(a, b) of each draw that has both stays, as True, False or None where they cannot tell."""
    a, b = (by_draw(results, stay, **only) for only in (first, second))
    both = sorted(a.keys() & b.keys())
    if not both:
        return None
    found = {d: compare(a[d], b[d]) for d in both}
    told = {d: good for d, good in found.items() if good is not None}
    text = "; ".join(f"{said(a[d])} and {said(b[d])}" for d in both)
    words = f"{words}: {text}"
    start = f"{len(told)} of {number_of(len(both), 'pair')} can tell"
    if not told:
        return CheckResult(False, f"{start}; {words}", unclear=True)
    return counted(told, f"{start}; the claim holds in {of_these(sum(told.values()), len(told))}; {words}")


def depth_matters(results):
    if len(results.values("depth")) < 2:
        return None
    four, six = (dict(depth=d, scale=COMPARED, clock="own") for d in (4, 6))
    words = f"epochs of the plateau after those at the origin, deviation {COMPARED:g}, depth 6 and depth 4"
    return compared(results, longer_share, six, four, words)


def scale_matters_not(results):
    scales = results.values("scale")
    if len(scales) < 2 or 4 not in results.values("depth"):
        return None
    small, large = (dict(depth=4, scale=s, clock="own") for s in (min(scales), max(scales)))
    words = f"epochs of the plateau after those at the origin, depth 4, deviation {min(scales):g} and {max(scales):g}"
    return compared(results, no_longer, small, large, words)


def first_and_deep(run):
    """s₂/s₁ of the first layer, and the largest of the deeper ones, on the plateau; None where there is none."""
    if not run["rested"]:
        return None
    found = ratios_on(run)
    return float(found[0]), float(found[deep_layers(len(found))].max())


def first_layer_stays(results):
    """At the smallest scale the deeper layers are rank one on the plateau, and the first is not."""
    if 4 not in results.values("depth"):
        return None
    least = dict(depth=4, scale=min(results.values("scale")), clock="own")
    known = {draw: pair for draw, pair in by_draw(results, first_and_deep, **least).items() if pair is not None}
    if not known:
        return CheckResult(False, "no run came to rest", unclear=True)
    good = {draw: deep <= RANK_ONE < first and first > 5 * deep for draw, (first, deep) in known.items()}
    first, deep = np.array(list(known.values())).T
    text = f"s₂/s₁ at the smallest scale: of the first layer {first.min():.2g} to {first.max():.2g}, largest of the "
    text += f"deeper ones {deep.min():.2g} to {deep.max():.2g}"
    return counted(good, f"{share_text(sum(good.values()), len(good))}; {text}")


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
    good = {d: own[d] < 2 < fourth[d] for d in both}
    text = ", ".join(f"{own[d]:.2g} and {fourth[d]:.2g}" for d in both)
    words = f"the wait changes by factors of {text} (c/‖θ‖² and c/‖θ‖⁴)"
    return counted(good, f"{share_text(sum(good.values()), len(good))}; {words}")


def _factors(results, clock, small, large):
    """{(form, seed): by which factor the wait changes between two scales}, where it can be told."""
    a, b = (by_draw(results, seen_wait, depth=4, scale=s, clock=clock) for s in (small, large))
    found = {d: factor_of_waits(a[d], b[d]) for d in a.keys() & b.keys()}
    return {d: factor for d, factor in found.items() if factor is not None}


DATA = {"digits": "digits", "digits-long": "digits", "mnist": "MNIST", "paper": "MNIST, the paper's scale"}
CLOCK = {(4, "own"): "c/‖θ‖²", (4, "fourth"): "c/‖θ‖⁴", (6, "own"): "c/‖θ‖⁴"}


def draw(results):
    """One form, MNIST if it is there: a row per depth and clock, a column per scale."""
    form = next(name for name in reversed(DATA) if name in results.values("form"))
    results = results.select(form=form)
    rows = [pair for pair in CLOCK if results.select(depth=pair[0], clock=pair[1]).measured.sizes["run"]]
    scales = results.values("scale")
    size = (WIDTH, 0.5 + 1.6 * len(rows))
    figure, axes = plt.subplots(len(rows), len(scales), squeeze=False, figsize=size, sharey=True)
    for line, (depth, clock) in zip(axes, rows, strict=True):
        for ax, scale in zip(line, scales, strict=True):
            for run in results.select(depth=depth, clock=clock, scale=scale).runs():
                ax.plot(run["loss"].values, color=BLUE, lw=0.7)
                ax.plot(run["times"].values, ratios(run["spectra"].values[:, -2]), color=ORANGE, lw=0.7)
            ax.set(ylim=(0, 2.4))
            ax.set_xscale("symlog", linthresh=10)
            ax.set_xlim(left=0)
            if ax.lines:
                ax.set_title(f"depth {depth}, {CLOCK[depth, clock]}, deviation {scale:g}")
            else:  # not every depth has every scale
                ax.set_axis_off()
    shown = [ax for ax in axes.flat if ax.lines]
    for ax in shown:
        ax.set_xlabel("epoch")
    names = ("loss", "$s_2/s_1$ of the last hidden layer")
    lines = [Line2D([], [], color=colour, label=name) for name, colour in zip(names, (BLUE, ORANGE), strict=True)]
    title = f"on {DATA[form]}"
    if len(shown) < axes.size:
        next(ax for ax in axes.flat if not ax.lines).legend(handles=lines, title=title, loc="center")
    else:
        figure.legend(handles=lines, title=title, loc="outside lower center", ncols=2)
    letters(shown)
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
        "At depth 4 the wait at the origin changes with the scale by less than two at c/‖θ‖², by more at c/‖θ‖⁴.",
        "E23 · Section 2.1",
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
    analyse=reading,
    keep=LOSS,
    full=dict(form=("mnist", "digits-long"), depth=(4, 6), scale=(1e-2, COMPARED, 1e-4), clock=CLOCKS, seed=range(12)),
    quick=dict(form=("digits",), depth=(4, 6), scale=(COMPARED, 1e-3), clock=CLOCKS, seed=range(4)),
    where=f"(depth == 4 or (clock == 'own' and scale == {COMPARED})) and (form != 'mnist' or seed < 5)",
    check_available=require_data(FORMS),
    draw=draw,
    drawn="Loss (blue) and s₂/s₁ of the last hidden layer (orange) of every run, for each depth, learning rate and "
    "deviation of the initial weights. Epochs are spaced evenly up to ten, by their logarithm from there.",
    claims=on_named_data(CLAIMS, FORMS, "mnist"),
)
