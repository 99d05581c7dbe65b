"""Escape paper, Section 5, conjecture 4: saddles of increasing bottleneck rank.

A net of depth 4 in its own clock c/‖θ‖² from deviation 0.001 passes a plateau within minutes. From 0.0002 a third of the
runs pass two. On each, the numerical bottleneck rank is read: the least rank to which some hidden layer can be cut
while the outputs change by at most a tenth.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import groups_by, holds_in_share, in_most_runs
from saddlescope.claims import CheckResult, Claim
from saddlescope.errors import number_of
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE
from saddlescope.observables import BottleneckRanks
from saddlescope.papers.escape._plateaus import rests, spectra
from saddlescope.papers.escape._rested import of_these, where_rested
from saddlescope.papers.escape._training import SPECTRA, Form, at_forms, on_named_data, require_data

FORMS = {
    "digits": Form("small", depth=4, width=100, scale=1e-3, c=1.5, power=2, epochs=250),
    "digits-small-start": Form("small", depth=4, width=100, scale=2e-4, c=1.5, power=2, epochs=900),
    "digits-depth-6": Form("small", depth=6, width=100, scale=0.02, c=14, power=4, epochs=1500),
    "mnist": Form("mnist", depth=4, width=100, scale=1e-3, c=0.25, power=2, epochs=60),
}
setting, save_at = at_forms(FORMS)


def bottleneck(run):
    """The least rank over the hidden layers, at every saved instant."""
    return run["bottleneck_rank"].values.min(axis=1)


def ranks_by_plateau(run):
    """The bottleneck rank on each plateau below the origin's, then at the end."""
    found = bottleneck(run)
    return [int(found[rest.at]) for rest in rests(run)] + [int(found[-1])]


def first_is_one(run, rest):
    return bool(bottleneck(run)[rest.at] == 1)


def increases(run):
    """Never smaller on a later plateau, and larger at the end than on the first."""
    ranks = ranks_by_plateau(run)
    return len(ranks) > 1 and bool(np.all(np.diff(ranks) >= 0)) and ranks[-1] > ranks[0]


def one_at_a_time(results):
    """From one plateau to the next the rank grows by one, in runs that have two or more."""
    several = np.array([len(rests(run)) > 1 for run in results.runs()])
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
    text = f"bottleneck rank on each plateau below the origin's, then at the end: {', '.join(rows)}"
    return f"{text}; outputs may change by a tenth"


def draw(results):
    runs = _shown(results)
    figure, axes = plt.subplots(2, len(runs), squeeze=False, figsize=(max(6, 3 * len(runs)), 5))
    for column, run in zip(axes.T, runs, strict=True):
        column[0].plot(run["loss"].values, color=BLUE)
        for rest in rests(run):
            column[0].axvspan(rest.start, rest.end, color=ORANGE, alpha=0.2)
        twin = column[0].twinx()
        twin.step(run.times, bottleneck(run), color=ORANGE, where="post")
        twin.set(ylim=(0, 11), ylabel=" ")  # the last column's name serves all
        column[0].set(xlabel="epoch", title=f"{run['form'].item()}, seed {run['seed'].item()}")
        column[1].plot(run.times, spectra(run)[:, -2], lw=0.8)
        column[1].set(xlabel="epoch")
    axes[0, 0].set_ylabel("loss", color=BLUE)
    twin.set_ylabel("bottleneck rank", color=ORANGE)
    axes[1, 0].set_ylabel("singular values of\nthe last hidden layer")
    return figure


def _shown(results):
    """The first run of each form; of a single form, its first three."""
    forms = results.values("form")
    each = 3 if len(forms) == 1 else 1
    return [run for form in forms for run in list(results.select(form=form).runs())[:each]]


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
    full=dict(form=tuple(FORMS), seed=range(14)),
    quick=dict(form=("digits",), seed=range(4)),
    where="form == 'digits-small-start' or seed < 6",
    check_available=require_data(FORMS),
    draw=draw,
    claims=on_named_data(CLAIMS, FORMS),
)
