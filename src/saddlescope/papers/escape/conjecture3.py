"""Escape paper, Section 5, conjecture 3: layers that are rank one at the escape stay so until the next saddle.

ReLU nets of six and four layers on the small digits and, as a control, linear ones of six. s₂/s₁ of every layer is read
every other epoch, from where the loss has left the origin to the end of the next plateau. The nets of four layers leave
it within their budget, those of six mostly do not. Layers from the third on are judged, in the control all but the
first and last. The linear net is nearer to a tie (singular values .64 and .56 of GXᵀ) and faster:
so it starts smaller and steps half as far. At the form of the ReLU net its s₂/s₁ is .53 when the loss leaves the
origin. Batches of 32 make its outer layers grow for as long as it rests, so that balance is not asked of it.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import in_most_runs
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE
from saddlescope.nets import Identity, ReLU
from saddlescope.papers.escape._plateaus import BELOW, DOMINANT, SPREAD, first_rest, ratios, spectra, wait, where_rested
from saddlescope.papers.escape._training import SPECTRA, Form
from saddlescope.training import every_epoch

FORM = Form("small", depth=6, width=50, scale=0.01, c=14, power=4, epochs=350)
FOUR = Form("small", depth=4, width=100, scale=1e-3, c=1.5, power=2, epochs=120)
NETS = {
    "relu": (FORM, ReLU()),
    "relu-4": (FOUR, ReLU()),
    "linear": (FORM._replace(scale=0.002, c=7), Identity()),
}
RELU = ("relu", "relu-4")


def setting(net, seed):
    form, activation = NETS[net]
    return form.setting(seed, activation)


def save_at(net, seed):
    return every_epoch(2, NETS[net][0].epochs)


def window(run, rest):
    """s₂/s₁ from the escape to the end of the plateau, saved × layer."""
    inside = (run.times >= wait(run)) & (run.times <= rest.end)
    return ratios(spectra(run)[inside])


def next_plateau(run):
    """The first plateau below the origin's, whatever the layers are; None where there is none."""
    start = run["loss"].values[0]
    return next((p for p in run.stages.plateaus if p.level < BELOW * start), None)


def stays(run, rest):
    """One value dominates in every layer from the third on, at every instant."""
    return bool(np.all(window(run, rest)[:, 2:] < DOMINANT))


def no_less(run, rest):
    """The same layers are on the plateau as near to rank one as at the escape, or nearer."""
    found = window(run, rest)[:, 2:]
    return bool(np.all(ratios(spectra(run)[rest.at])[2:] <= found[0] + SPREAD))


def inner_stay(run):
    plateau = next_plateau(run)
    return plateau is not None and bool(np.all(window(run, plateau)[:, 1:-1] < DOMINANT))


def say_window(results, rest_of=first_rest):
    """Median over runs of the ratio at the escape and of the largest after it, by layer."""
    return "; ".join(f"{net}: {_say_net(results.select(net=net), rest_of)}" for net in results.values("net"))


def _say_net(results, rest_of):
    pairs = [(run, rest_of(run)) for run in results.runs() if run.finite]
    found = [window(run, rest) for run, rest in pairs if rest is not None]
    if not found:
        return "no run came to rest"
    first, most = (np.median([f(w) for w in found], axis=0) for f in (lambda w: w[0], lambda w: w.max(axis=0)))
    return f"median s₂/s₁ by layer: at the escape {_said(first)}, largest until the end of the plateau {_said(most)}"


def _said(values):
    return " ".join(f"{v:.3f}" for v in values)


def draw(results):
    nets = results.values("net")
    figure, axes = plt.subplots(2, len(nets), squeeze=False, figsize=(4.5 * len(nets), 5.4), sharex="col")
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
        column[1].axhline(DOMINANT, color="0.5", ls="--", lw=0.8)
        column[1].set(xlabel="epoch", ylabel="$s_2/s_1$")
    axes[1, 0].legend(fontsize=6)
    return figure


experiment = Experiment(
    title="Layers stay rank one from the escape to the end of the next plateau",
    source="Section 5, conjecture 3",
    setting=setting,
    save_at=save_at,
    observe=(SPECTRA,),
    full=dict(net=tuple(NETS), seed=range(12)),
    quick=dict(net=tuple(NETS), seed=range(4)),
    draw=draw,
    claims=(
        Claim(
            "From the escape to the end of the next plateau, layers from the third on stay rank one.",
            "E83 · Section 5, conjecture 3",
            where_rested(stays, say_window),
            {"net": RELU},
        ),
        Claim(
            "On the plateau they are as near to rank one as at the escape.",
            "E83 · Section 5, conjecture 3",
            where_rested(no_less, say_window),
            {"net": RELU},
        ),
        Claim(
            "Control: the inner layers of a linear net do so too.",
            "E84 · Section 5",
            in_most_runs(inner_stay, lambda results: say_window(results, next_plateau)),
            {"net": "linear"},
        ),
    ),
)
