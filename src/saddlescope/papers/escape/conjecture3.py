"""Escape paper, Section 5, conjecture 3: layers that are rank one at the escape stay so until the next saddle.

ReLU nets of six and four layers on the small digits and, as a control, linear ones of six. s₂/s₁ of every layer is read
every other epoch, from where the loss has left the origin to the end of the next plateau. A layer is rank one where
s₂/s₁ ≤ 0.1. Layers from the third on are judged, in the control all but the first and last. A run counts if they are
rank one at the escape. The nets of four layers leave the plateau within their budget, those of six mostly do not.

In a first form a ratio below 0.5 counted as rank one, and runs counted that never leave the plateau. The deviation of
the six-layer net was 0.01: the draw alone has singular values up to 2 √50 · 0.01 = 0.14, so that s₂/s₁ at the escape,
where s₁ is about 1, is above 0.1. It is now 0.005.

The linear net is nearer to a tie (singular values .64 and .56 of GXᵀ) and faster: so it starts smaller and steps half
as far. At the first form of the ReLU net its s₂/s₁ is .53 when the loss leaves the origin. Batches of 32 make its outer
layers grow for as long as it rests, so that balance is not asked of it.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import holds_in_share
from saddlescope.claims import CheckResult, Claim
from saddlescope.errors import number_of
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, GREEN, ORANGE, PURPLE, RED, SKY, WIDTH, letters
from saddlescope.nets import Identity, ReLU
from saddlescope.papers.escape._plateaus import BELOW, RANK_ONE, SPREAD, first_rest, ratios, spaced, spectra, wait
from saddlescope.papers.escape._readings import LOSS, ratios_on, reading, rested
from saddlescope.papers.escape._rested import of_these, where_rested
from saddlescope.papers.escape._training import SPECTRA, Form
from saddlescope.training import every_epoch

FORM = Form("small", depth=6, width=50, scale=0.005, c=14, power=4, epochs=350)
FOUR = Form("small", depth=4, width=100, scale=1e-3, c=1.5, power=2, epochs=120)
NETS = {
    "relu": (FORM, ReLU()),
    "relu-4": (FOUR, ReLU()),
    "linear": (FORM._replace(scale=0.002, c=7), Identity()),
}
RELU = ("relu", "relu-4")
CHANGED = "In the first form s₂/s₁ < 0.5 was asked, of all runs that came to rest, and up to the plateau's end."


def setting(net, seed):
    form, activation = NETS[net]
    return form.setting(seed, activation)


def save_at(net, seed):
    return every_epoch(2, NETS[net][0].epochs)


def analyse(run, made):
    """The stays of a run, and the largest s₂/s₁ by layer from the escape to three later times."""
    found, rest, plateau = reading(run), first_rest(run), next_plateau(run)
    ends = {"at_escape": wait(run)}
    if rest is not None:
        ends |= {"until_reached": run.times[rest.at], "until_left": rest.end}
    if plateau is not None:
        ends |= {"until_plateau_ends": plateau.end}
        found |= {"plateau_end": float(plateau.end)}
    return found | {name: (("layer",), largest(run, end)) for name, end in ends.items() if np.isfinite(wait(run))}


def largest(run, end):
    """The largest s₂/s₁ of every layer from the escape to a time."""
    return ratios(spectra(run)[(run.times >= wait(run)) & (run.times <= max(end, first_after(run)))]).max(axis=0)


def first_after(run):
    """The first saved time after the escape."""
    return run.times[np.argmax(run.times >= wait(run))]


def next_plateau(run):
    """The first plateau below the origin's, whatever the layers are; None where there is none."""
    start = run["loss"].values[0]
    return next((p for p in run.stages.plateaus if p.level < BELOW * start), None)


def deep_within(name):
    """Layers from the third on are rank one at every instant from the escape to a later one."""
    return lambda run: bool(np.all(run[name].values[2:] <= RANK_ONE))


PREMISE = ("layers from the third on are rank one at the escape", deep_within("at_escape"))


def no_less(run):
    """The same layers are on the plateau as near to rank one as at the escape, or nearer."""
    return bool(np.all(ratios_on(run)[2:] <= run["at_escape"].values[2:] + SPREAD))


def inner_stay(results):
    """The inner layers of nets that come to a plateau are rank one from the escape to its end."""
    pairs = [run for run in results.runs() if run.finite and np.isfinite(run.get("plateau_end", np.nan))]
    there = [run for run in pairs if np.all(run["at_escape"].values[1:-1] <= RANK_ONE)]
    text = f"{len(pairs)} of {number_of(results.measured.sizes['run'], 'run')} come to a plateau"
    text += f"; the inner layers are rank one at the escape in {len(there)} of these"
    if not there:
        return CheckResult(False, text, unclear=True)
    good = sum(bool(np.all(run["until_plateau_ends"].values[1:-1] <= RANK_ONE)) for run in there)
    text += f"; the claim holds in {of_these(good, len(there))}; {say_window(results, 'until_plateau_ends')}"
    return holds_in_share(good, len(there), text)


def say_window(results, end="until_left"):
    """Median over runs of the ratio at the escape and of the largest after it, by layer."""
    return "; ".join(f"{net}: {_say_net(results.select(net=net), end)}" for net in results.values("net"))


def _say_net(results, end):
    found = [run for run in results.runs() if run.finite and end in run and np.isfinite(run[end].values).all()]
    if not found:
        return "no run came to rest"
    first, most = (np.median([run[name].values for run in found], axis=0) for name in ("at_escape", end))
    text = f"median s₂/s₁ by layer: at the escape {spaced(first, '.3f')}"
    return f"{text}, largest until the end of the plateau {spaced(most, '.3f')}"


NAMES = {"relu": "ReLU, 6 layers", "relu-4": "ReLU, 4 layers", "linear": "linear, 6 layers"}


def draw(results):
    nets = results.values("net")
    figure, axes = plt.subplots(2, len(nets), squeeze=False, figsize=(WIDTH, 3.8), sharex="col")
    for column, net in zip(axes.T, nets, strict=True):
        run = _shown(results.select(net=net))
        column[0].plot(run["loss"].values, color=BLUE)
        if "plateau_end" in run and np.isfinite(run["plateau_end"]):
            for ax in column:
                ax.axvspan(float(run["wait"]), float(run["plateau_end"]), color="0.92")
        column[0].set_title(NAMES[net])
        curves = ratios(run["spectra"].values).T
        for layer, (curve, colour) in enumerate(zip(curves, (BLUE, SKY, GREEN, ORANGE, RED, PURPLE), strict=False), 1):
            column[1].plot(run["times"].values, curve, lw=1, color=colour, label=f"layer {layer}")
        column[1].axhline(RANK_ONE, color="0.5", ls="--", lw=0.8)
        column[1].set(xlabel="epoch", ylim=(0, 1))
    axes[0, 0].set_ylabel("loss")
    axes[1, 0].set_ylabel("$s_2/s_1$")
    most = max(axes[1], key=lambda ax: len(ax.lines))
    figure.legend(*most.get_legend_handles_labels(), ncols=6, loc="outside lower center")
    letters(axes.ravel())
    return figure


def _shown(results):
    """The first run that left its plateau, or else the first."""
    runs = list(results.runs())
    return next((run for run in runs if rested(run) and run["left"]), runs[0])


experiment = Experiment(
    title="Layers stay rank one from the escape to the end of the next plateau",
    source="Section 5, conjecture 3",
    setting=setting,
    save_at=save_at,
    observe=(SPECTRA,),
    analyse=analyse,
    keep=LOSS,
    full=dict(net=tuple(NETS), seed=range(24)),
    quick=dict(net=tuple(NETS), seed=range(4)),
    draw=draw,
    drawn="One run of each net: loss (above) and s₂/s₁ of every layer (below). Grey spans the time from the escape "
    "to the end of the next plateau; the dashed line is what counts as rank one.",
    claims=(
        Claim(
            f"Layers from the third on that are rank one (s₂/s₁ ≤ {RANK_ONE:g}) at the escape stay so until the next "
            "saddle is reached.",
            "E83 · Section 5, conjecture 3",
            where_rested(deep_within("until_reached"), say_window, by="net", premise=PREMISE),
            {"net": RELU},
            note=CHANGED,
        ),
        Claim(
            "They stay so until it is left.",
            "E83, ours · Section 5, conjecture 3",
            where_rested(deep_within("until_left"), say_window, left=True, by="net", premise=PREMISE),
            {"net": RELU},
            note=f"A second path grows in them before the loss drops. {CHANGED}",
        ),
        Claim(
            "On the plateau they are as near to rank one as at the escape.",
            "E83, ours · Section 5, conjecture 3",
            where_rested(no_less, say_window, by="net"),
            {"net": RELU},
        ),
        Claim(
            "Control: the inner layers of a linear net stay rank one until the end of the plateau.",
            "E84 · Section 5",
            inner_stay,
            {"net": "linear"},
            note=CHANGED,
        ),
    ),
)
