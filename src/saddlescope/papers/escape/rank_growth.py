"""Escape paper, Section 5, conjecture 4: saddles of increasing bottleneck rank.

A net of depth 4 in its own clock c/‖θ‖² from deviation 0.001 passes a plateau within minutes. From 0.0002 a third of
the runs pass two. On each, the numerical bottleneck rank is read: the least rank to which some hidden layer can be cut
while the outputs change by at most a tenth.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import groups_by, holds_in_share, in_most_runs
from saddlescope.claims import CheckResult, Claim
from saddlescope.errors import number_of
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE, WIDTH, letters
from saddlescope.observables import BottleneckRanks
from saddlescope.papers.escape._plateaus import rests
from saddlescope.papers.escape._readings import LOSS, reading
from saddlescope.papers.escape._rested import of_these, where_rested
from saddlescope.papers.escape._training import SPECTRA, Form, at_forms, on_named_data, require_data

FORMS = {
    "digits": Form("small", depth=4, width=100, scale=1e-3, c=1.5, power=2, epochs=250),
    "digits-small-start": Form("small", depth=4, width=100, scale=2e-4, c=1.5, power=2, epochs=900),
    "digits-depth-6": Form("small", depth=6, width=100, scale=0.02, c=14, power=4, epochs=1500),
    "mnist": Form("mnist", depth=4, width=100, scale=1e-3, c=0.25, power=2, epochs=60),
}
setting, save_at = at_forms(FORMS)


def analyse(run, made):
    """The stays of a run, and its bottleneck rank (the least over hidden layers) on every plateau and at the end."""
    rank = run["bottleneck_rank"].values.min(axis=1)
    found = rests(run)
    return reading(run) | {
        "plateau_rank": (("plateau",), np.array([rank[rest.at] for rest in found], int)),
        "plateau_start": (("plateau",), np.array([rest.start for rest in found], float)),
        "plateau_end": (("plateau",), np.array([rest.end for rest in found], float)),
        "start_rank": int(rank[0]),
        "end_rank": int(rank[-1]),
        "rank": (("instant",), rank),
    }


def on_plateaus(run, name="plateau_rank"):
    """One number per plateau; none where there is no plateau."""
    return run[name].values if name in run else np.array([])


def ranks_by_plateau(run):
    """The bottleneck rank on each plateau below the origin's, then at the end."""
    return [*map(int, on_plateaus(run)), int(run["end_rank"])]


def first_is_one(run):
    """It is one on the first plateau, and was more before training."""
    return bool(on_plateaus(run)[0] == 1 < run["start_rank"])


def increases(run):
    """Never smaller on a later plateau, and larger at the end than on the first."""
    ranks = ranks_by_plateau(run)
    return len(ranks) > 1 and bool(np.all(np.diff(ranks) >= 0)) and ranks[-1] > ranks[0]


def one_at_a_time(results):
    """From one plateau to the next the rank grows by one, in runs that have two or more."""
    several = np.array([len(on_plateaus(run)) > 1 for run in results.runs()])
    total = number_of(several.size, "run")
    if not several.any():
        return CheckResult(False, f"none of {total} has two plateaus below the origin's", unclear=True)
    part = results.where(several)
    good = np.array([bool(np.all(np.diff(ranks_by_plateau(run)[:-1]) == 1)) for run in part.runs()])
    text = f"{good.size} of {total} have two plateaus or more below the origin's"
    text += f"; the claim holds in {of_these(good.sum(), good.size)}; {say_ranks(part)}"
    return holds_in_share(good.sum(), good.size, text, groups=groups_by(part, "form", good))


def say_ranks(results):
    rows = [" ".join(map(str, ranks_by_plateau(run))) for run in results.runs() if run.finite]
    said = ", ".join(f"{row} ({number_of(rows.count(row), 'run')})" for row in dict.fromkeys(sorted(rows)))
    return f"bottleneck rank on each plateau below the origin's, then at the end: {said}; outputs may change by a tenth"


NAMES = {
    "digits": "digits, 4 layers",
    "digits-small-start": "digits, smaller start",
    "digits-depth-6": "digits, 6 layers",
    "mnist": "MNIST, 4 layers",
}


def draw(results):
    runs = _shown(results)
    figure, axes = plt.subplots(3, len(runs), squeeze=False, figsize=(WIDTH, 4.6), sharex="col", sharey="row")
    for (top, middle, bottom), run in zip(axes.T, runs, strict=True):
        top.plot(run["loss"].values, color=BLUE)
        for start, end in zip(*(on_plateaus(run, f"plateau_{w}") for w in ("start", "end")), strict=True):
            top.axvspan(start, end, color="0.92")
        top.set_title(NAMES[run["form"].item()])
        middle.step(run["times"].values, run["rank"].values, color=ORANGE, where="post")
        middle.set(ylim=(0, 10.5), yticks=(1, 5, 10))
        for k, curve in enumerate(run["spectra"].values[:, -2].T):
            look = dict(color=(BLUE, ORANGE)[k], lw=1.2, zorder=3) if k < 2 else dict(color="0.6", lw=0.6)
            bottom.plot(run["times"].values, curve, **look)
        bottom.set_xlabel("epoch")
    names = ("loss", "bottleneck rank", "singular values of\nthe last hidden layer")
    for ax, name in zip(axes[:, 0], names, strict=True):
        ax.set_ylabel(name)
    letters(axes.ravel())
    return figure


def _shown(results):
    """The run of most plateaus of each form; of a single form, its first three."""
    forms = results.values("form")
    if len(forms) == 1:
        return list(results.runs())[:3]
    return [max(results.select(form=form).runs(), key=lambda run: len(on_plateaus(run))) for form in forms]


CLAIMS = (
    Claim(
        "The first saddle after the origin has bottleneck rank one.",
        "E9, E10 · Section 1.2",
        where_rested(first_is_one, say_ranks, by="form"),
    ),
    Claim(
        "Later saddles and the end have larger bottleneck rank.",
        "E10, E88 · Section 5, conjecture 4",
        in_most_runs(increases, say_ranks, by="form"),
    ),
    Claim(
        "The rank grows by one from plateau to plateau.",
        "E88 · Section 5, conjecture 4",
        one_at_a_time,
        note="Asked only of runs with two plateaus or more; in the first form it was asked of all.",
    ),
)

experiment = Experiment(
    title="The bottleneck rank of a ReLU net from plateau to plateau",
    source="Section 5, conjecture 4",
    setting=setting,
    save_at=save_at,
    observe=(SPECTRA, BottleneckRanks()),
    analyse=analyse,
    keep=LOSS,
    full=dict(form=tuple(FORMS), seed=range(33)),  # a third of those from small starts have two plateaus: 11 decide
    quick=dict(form=("digits",), seed=range(4)),
    where="form == 'digits-small-start' or seed < 6",
    check_available=require_data(FORMS),
    draw=draw,
    drawn="One run per column. (Above) The loss; grey spans plateaus. (Middle) The least rank to which some hidden "
    "layer can be cut while the outputs change by at most a tenth. (Below) Ten singular values of the last "
    "hidden layer: the first is blue, the second orange.",
    claims=on_named_data(CLAIMS, FORMS),
)
