"""Escape paper, Fig. 4 and Section 5: is it depth or initial scale that makes the plateau?

The paper trains depth 4 with the clock of depth 6, c/‖θ‖⁴, at one initial scale. Here depth 4 has both that clock and
its own, c/‖θ‖², over three initial scales. Both clocks of a scale start with the same step: c₄ = c₂ ‖θ₀‖².

`--axis form=paper` is the paper's own width and scale.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import holds_in_share, share_text
from saddlescope.claims import CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE
from saddlescope.papers.escape._plateaus import deep_layers, first_rest, ratios, spectra, wait
from saddlescope.papers.escape._training import SPECTRA, Form, require_data
from saddlescope.tasks import ImageClasses

FORMS = {
    "digits": Form("small", depth=4, width=50, scale=1e-2, c=1.5, power=2, epochs=200),
    "digits-wide": Form("small", depth=4, width=100, scale=1e-2, c=1.5, power=2, epochs=600),
    "mnist": Form("mnist", depth=4, width=100, scale=1e-2, c=0.25, power=2, epochs=60),
    "paper": Form("mnist", depth=4, width=1000, scale=1e-3, c=0.25, power=2, epochs=1000),
}
CLOCKS = ("own", "fourth")


def form_at(form, depth, scale, clock):
    """The form at another depth, scale and clock."""
    made = FORMS[form]._replace(scale=scale)
    if depth == 6:  # its own clock is the fourth power
        return made._replace(depth=6, c=9 * made.c, power=4, epochs=2 * made.epochs)
    if clock == "own":
        return made
    task = ImageClasses(made.dataset)
    number = made.setting(0).net.parameter_count(task.inputs, task.outputs)
    return made._replace(c=made.c * scale**2 * number, power=4)


def setting(form, depth, scale, clock, seed):
    return form_at(form, depth, scale, clock).setting(seed)


def save_at(form, depth, scale, clock, seed):
    return form_at(form, depth, scale, clock).instants()


def length(run):
    """Epochs of the plateau after the first escape; 0 where there is none."""
    rest = first_rest(run)
    return 0.0 if rest is None else rest.end - rest.start


def by_seed(results, read, **only):
    """{seed: read(run)} of the finite runs with these values."""
    part = results.select(**only)
    return {int(run["seed"]): read(run) for run in part.runs() if run.finite}


def compared(results, read, good, first, second, words):
    """good(a, b) for each seed that has both; None where no seed has."""
    a, b = (by_seed(results, read, **only) for only in (first, second))
    both = sorted(set(a) & set(b))
    if not both:
        return None
    found = [bool(good(a[s], b[s])) for s in both]
    text = ", ".join(f"{a[s]:.3g} and {b[s]:.3g}" for s in both)
    return holds_in_share(sum(found), len(found), f"{share_text(sum(found), len(found))}; {words}: {text}")


def share(run):
    """Length of the plateau over the wait at the origin."""
    return length(run) / max(wait(run), 1)


def depth_matters(results):
    scale = max(results.values("scale"))
    if len(results.values("depth")) < 2:
        return None
    four, six = (dict(depth=d, scale=scale, clock="own") for d in (4, 6))
    words = f"plateau over wait at the origin, deviation {scale:g}, depth 6 and 4"
    return compared(results, share, lambda a, b: a > b, six, four, words)


def scale_matters_not(results):
    scales = results.values("scale")
    if len(scales) < 2 or 4 not in results.values("depth"):
        return None
    small, large = (dict(depth=4, scale=s, clock="own") for s in (min(scales), max(scales)))
    words = f"epochs of the plateau at depth 4, deviation {min(scales):g} and {max(scales):g}"
    return compared(results, length, lambda a, b: a <= b, small, large, words)


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
    """At the smallest scale the first layer is far from rank one on the plateau, and the deeper layers are not."""
    if 4 not in results.values("depth"):
        return None
    least = dict(depth=4, scale=min(results.values("scale")), clock="own")
    words = "s₂/s₁ of the first layer, and largest of the deeper ones, at the smallest scale"
    pairs = {
        s: (a, by_seed(results, deep_ratio, **least)[s]) for s, a in by_seed(results, first_ratio, **least).items()
    }
    known = {s: p for s, p in pairs.items() if np.isfinite(p).all()}
    if not known:
        return CheckResult(False, "no run came to rest", unclear=True)
    good = sum(a > 0.1 and a > 5 * b for a, b in known.values())
    text = ", ".join(f"{a:.2g} and {b:.2g}" for a, b in known.values())
    return holds_in_share(good, len(known), f"{share_text(good, len(known))}; {words}: {text}")


def clock_is_its_own(results):
    """Between scales the wait at the origin changes by less than a factor of two with the own clock, and by more with
    the fourth power."""
    scales = results.values("scale")
    if len(scales) < 2 or set(results.values("clock")) != set(CLOCKS) or 4 not in results.values("depth"):
        return None
    factors = {}
    for clock in CLOCKS:
        small, large = (by_seed(results, wait, depth=4, scale=s, clock=clock) for s in (min(scales), max(scales)))
        factors[clock] = {s: _factor(small[s], large[s]) for s in small.keys() & large.keys()}
    both = sorted(factors["own"].keys() & factors["fourth"].keys())
    good = sum(factors["own"][s] < 2 < factors["fourth"][s] for s in both)
    text = ", ".join(f"{factors['own'][s]:.2g} and {factors['fourth'][s]:.2g}" for s in both)
    words = f"the wait changes by factors of {text} (c/‖θ‖² and c/‖θ‖⁴)"
    return holds_in_share(good, len(both), f"{share_text(good, len(both))}; {words}")


def _factor(a, b):
    """How many times the larger is the smaller; infinite where only one run escapes."""
    if np.isinf(a) and np.isinf(b):
        return 1.0
    return max(a, b) / max(1.0, min(a, b))


def draw(results):
    rows = [(d, c) for d in results.values("depth") for c in results.values("clock")]
    rows = [(d, c) for d, c in rows if results.select(depth=d, clock=c).measured.sizes["run"]]
    scales = results.values("scale")
    figure, axes = plt.subplots(len(rows), len(scales), squeeze=False, figsize=(3.4 * len(scales), 2.4 * len(rows)))
    for line, (depth, clock) in zip(axes, rows, strict=True):
        for ax, scale in zip(line, scales, strict=True):
            for run in results.select(depth=depth, clock=clock, scale=scale).runs():
                ax.plot(run["loss"].values, color=BLUE, lw=0.8)
                values = spectra(run)[:, -2]
                ax.plot(run.times, values[:, 1] / values[:, 0], color=ORANGE, lw=0.8)
            power = "‖θ‖⁴" if depth == 6 or clock == "fourth" else "‖θ‖²"
            ax.set(
                xlabel="epoch",
                title=f"depth {depth}, c/{power}, deviation {scale:g}",
                ylim=(0, 2.4),
            )
            ax.set_xscale("symlog", linthresh=10)
            ax.set_xlim(left=0)
            ax.set_visible(bool(ax.lines))  # not every depth has every scale
    axes[0, 0].set_ylabel("loss (blue), $s_2/s_1$ of\nthe last hidden layer (orange)")
    return figure


experiment = Experiment(
    title="Depth or initial scale: what makes the plateau of a ReLU net",
    source="Fig. 4",
    setting=setting,
    save_at=save_at,
    observe=(SPECTRA,),
    full=dict(form=("mnist",), depth=(4, 6), scale=(1e-2, 1e-3, 1e-4), clock=CLOCKS, seed=range(2)),
    quick=dict(form=("digits",), depth=(4, 6), scale=(1e-2, 1e-3), clock=CLOCKS, seed=range(4)),
    where="depth == 4 or (clock == 'own' and scale == 0.01)",
    check_available=require_data(FORMS),
    draw=draw,
    claims=(
        Claim(
            "Plateaus are more distinct at depth 6 than at depth 4.",
            "E91 · Section 5, Fig. 4",
            depth_matters,
        ),
        Claim(
            "At depth 4 a smaller initial scale does not make the plateau longer: depth is needed.",
            "E91 · Section 5",
            scale_matters_not,
            note="in its own clock the plateau of depth 4 grows as the initial scale falls",
        ),
        Claim(
            "Small initial weights make the deeper layers rank one, but not the first.",
            "E87 · Section 5",
            first_layer_stays,
        ),
        Claim(
            "The learning rate c/‖θ‖^(L-2) makes the wait at the origin independent of the scale.",
            "E23, E36 · Section 2.1",
            clock_is_its_own,
        ),
    ),
)
