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
from saddlescope.figures import BLUE, ORANGE
from saddlescope.nets import Identity, ReLU
from saddlescope.papers.escape._plateaus import BELOW, RANK_ONE, SPREAD, first_rest, ratios, spaced, spectra, wait
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


def window(run, end):
    """s₂/s₁ from the escape up to a time, saved × layer."""
    inside = (run.times >= wait(run)) & (run.times <= end)
    return ratios(spectra(run)[inside])


def next_plateau(run):
    """The first plateau below the origin's, whatever the layers are; None where there is none."""
    start = run["loss"].values[0]
    return next((p for p in run.stages.plateaus if p.level < BELOW * start), None)


def rank_one_at_escape(run, rest):
    """Every layer from the third on is rank one where the loss leaves the origin."""
    return bool(np.all(window(run, rest.end)[0, 2:] <= RANK_ONE))


PREMISE = ("layers from the third on are rank one at the escape", rank_one_at_escape)


def until_reached(run, rest):
    """They are so at every instant until the loss moves least."""
    return bool(np.all(window(run, run.times[rest.at])[:, 2:] <= RANK_ONE))


def until_left(run, rest):
    """They are so at every instant until the plateau ends."""
    return bool(np.all(window(run, rest.end)[:, 2:] <= RANK_ONE))


def no_less(run, rest):
    """The same layers are on the plateau as near to rank one as at the escape, or nearer."""
    found = window(run, rest.end)[:, 2:]
    return bool(np.all(ratios(spectra(run)[rest.at])[2:] <= found[0] + SPREAD))


def inner_stay(results):
    """The inner layers of nets that come to a plateau are rank one from the escape to its end."""
    pairs = [(run, next_plateau(run)) for run in results.runs() if run.finite]
    found = [window(run, plateau.end)[:, 1:-1] for run, plateau in pairs if plateau is not None]
    there = [f for f in found if np.all(f[0] <= RANK_ONE)]
    text = f"{len(found)} of {number_of(results.measured.sizes['run'], 'run')} come to a plateau"
    text += f"; the inner layers are rank one at the escape in {len(there)} of these"
    if not there:
        return CheckResult(False, text, unclear=True)
    good = sum(bool(np.all(f <= RANK_ONE)) for f in there)
    text += f"; the claim holds in {of_these(good, len(there))}; {say_window(results, next_plateau)}"
    return holds_in_share(good, len(there), text)


def say_window(results, rest_of=first_rest):
    """Median over runs of the ratio at the escape and of the largest after it, by layer."""
    return "; ".join(f"{net}: {_say_net(results.select(net=net), rest_of)}" for net in results.values("net"))


def _say_net(results, rest_of):
    pairs = [(run, rest_of(run)) for run in results.runs() if run.finite]
    found = [window(run, rest.end) for run, rest in pairs if rest is not None]
    if not found:
        return "no run came to rest"
    first, most = (np.median([f(w) for w in found], axis=0) for f in (lambda w: w[0], lambda w: w.max(axis=0)))
    text = f"median s₂/s₁ by layer: at the escape {spaced(first, '.3f')}"
    return f"{text}, largest until the end of the plateau {spaced(most, '.3f')}"


def draw(results):
    nets = results.values("net")
    figure, axes = plt.subplots(2, len(nets), squeeze=False, figsize=(3.2 * len(nets), 5), sharex="col")
    for column, net in zip(axes.T, nets, strict=True):
        run = next(iter(results.select(net=net).runs()))
        column[0].plot(run["loss"].values, color=BLUE)
        rest = next_plateau(run)
        if rest is not None:
            for ax in column:
                ax.axvspan(wait(run), rest.end, color=ORANGE, alpha=0.15)
        column[0].set(ylabel="loss", title=f"{net}, first seed")
        for layer, curve in enumerate(ratios(spectra(run)).T, 1):
            column[1].plot(run.times, curve, lw=1, label=f"layer {layer}")
        column[1].axhline(RANK_ONE, color="0.5", ls="--", lw=0.8)
        column[1].set(xlabel="epoch", ylabel="$s_2/s_1$")
    axes[1, 0].legend(fontsize=6)
    return figure


experiment = Experiment(
    title="Layers stay rank one from the escape to the end of the next plateau",
    source="Section 5, conjecture 3",
    setting=setting,
    save_at=save_at,
    observe=(SPECTRA,),
    full=dict(net=tuple(NETS), seed=range(24)),
    quick=dict(net=tuple(NETS), seed=range(4)),
    draw=draw,
    claims=(
        Claim(
            f"Layers from the third on that are rank one (s₂/s₁ ≤ {RANK_ONE:g}) at the escape stay so until the next "
            "saddle is reached.",
            "E83 · Section 5, conjecture 3",
            where_rested(until_reached, say_window, by="net", premise=PREMISE),
            {"net": RELU},
            note=CHANGED,
        ),
        Claim(
            "They stay so until it is left.",
            "E83, ours · Section 5, conjecture 3",
            where_rested(until_left, say_window, left=True, by="net", premise=PREMISE),
            {"net": RELU},
            note=CHANGED,
        ),
        Claim(
            "On the plateau they are as near to rank one as at the escape.",
            "E83 · Section 5, conjecture 3",
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
