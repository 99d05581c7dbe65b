"""Simplicity paper, Fig. 1 caption: the end of a run is a stable fixed point, the middle plateau is not.

All weights at the end are moved at random by a hundredth of their norm, and trained on as long as before. They should
stay near, at the same loss. They need not return: the minima form a manifold, along which nothing pulls back. A run has
not quite ended at its last step, so that it is trained on without the move as well, and the two are compared. The same
move on the middle plateau is the control: there the weights should leave the point. Measured is the distance in the
end, over the length of the move.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import groups_by, holds_in_share, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.explanations import saved_weights
from saddlescope.figures import BLUE, ORANGE, WIDTH, shared_legend
from saddlescope.initials import given_weights
from saddlescope.observables import Parameters
from saddlescope.papers.simplicity._panels import NAMES, STEPS, panel_setting
from saddlescope.sweeps import TrainJob
from saddlescope.training import SaveAt, every

MOVE = 0.01  # of the weights' norm
STAYS, LEAVES = 2, 10  # times the move
NONE = -1.0  # no plateau


def setting(panel, seed):
    steps = STEPS[panel]
    return {"whole": TrainJob(panel_setting(panel, seed), (Parameters(),), every(steps // 1000, steps))}


def points(run):
    """The weights on the middle plateau, where there is one, and at the end."""
    plateaus = run.stages.plateaus
    middle = saved_weights(run, plateaus[1]) if len(plateaus) > 2 else None
    return ({"plateau": middle[1]} if middle else {}) | {"end": last_weights(run)}


def follow(runs, settings, seed):
    """From both points, moved; from the end also as it is."""
    rng, found = np.random.default_rng(seed), points(runs["whole"])
    starts = {name: moved(point, rng) for name, point in found.items()} | {"still": found["end"]}
    return {name: _job(settings["whole"].replace(initial=given_weights(start))) for name, start in starts.items()}


def _job(setting):
    return TrainJob(setting, (Parameters(),), SaveAt(steps=(0,)))


def moved(point, rng):
    move = {name: rng.standard_normal(w.shape) for name, w in point.items()}
    size = MOVE * norm(point) / norm(move)
    return {name: w + size * move[name] for name, w in point.items()}


def norm(params):
    return np.sqrt(sum(np.sum(w**2) for w in params.values()))


def analyse(runs, settings):
    """How far the weights are in the end from where they would be without the move, or from the plateau's point; over
    the move. And the difference of the two losses at the end, over the first loss."""
    whole = points(runs["whole"])
    compared = {"end": last_weights(runs["still"])} | {n: w for n, w in whole.items() if n == "plateau"}
    apart = {name: _difference(last_weights(runs[name]), point) for name, point in compared.items()}
    found = {name: float(norm(gap) / (MOVE * norm(whole[name]))) for name, gap in apart.items()}
    gap = float(runs["end"].loss[-1] - runs["still"].loss[-1]) / float(runs["whole"].loss[0])
    return {"plateau": NONE} | found | {"end_loss": gap}


def last_weights(run):
    return {name: run[f"param_{name}"].values[-1] for name in ("u", "v")}


def _difference(one, other):
    return {name: one[name] - other[name] for name in one}


def stays(results):
    """Within twice the move of the run that was not moved, and at its loss."""
    m = results.measured
    good = (m["end"].values < STAYS) & (np.abs(m.end_loss.values) < 1e-3)
    return told(results, good, "end")


def leaves(results):
    return told(results, results.measured["plateau"].values > LEAVES, "plateau")


def told(results, good, name):
    far = lambda p: np.median(results.select(panel=p).measured[name].values)  # noqa: E731
    by = "; ".join(f"{p}: {far(p):.2g}" for p in results.values("panel"))
    text = f"{share_text(int(good.sum()), len(good))}; median distance over the move {by}"
    return holds_in_share(good.sum(), len(good), text, groups=groups_by(results, "panel", good))


def draw(results):
    figure, ax = plt.subplots(figsize=(WIDTH, 2.6))
    names = [p for p in NAMES if results.select(panel=p).measured.sizes["run"]]
    for name, colour, mark, shift in (("plateau", ORANGE, "^", -0.1), ("end", BLUE, "o", 0.1)):
        for k, p in enumerate(names):
            far = results.select(panel=p).measured[name].values
            word = {"plateau": "moved off the middle plateau", "end": "moved off the end"}[name] if k == 0 else None
            ax.semilogy(np.full(len(far), k + shift), np.where(far > 0, far, np.nan), mark, color=colour, mfc="none",
                        ms=4, label=word)  # fmt: skip
    for limit in (STAYS, LEAVES):
        ax.axhline(limit, color="0.6", ls=":", lw=0.8)
    words = [NAMES[p].replace(", ", ",\n", 1).replace("r c", "r\nc").replace("U c", "U\nc") for p in names]
    ax.set(ylabel="distance in the end, over the move", xticks=range(len(names)))
    ax.set_xticklabels(words)
    shared_legend(figure)
    return figure


experiment = Experiment(
    title="Moved a little, the weights stay near the end of a run, and leave its middle plateau",
    source="Fig. 1, caption",
    setting=setting,
    follow=follow,
    analyse=analyse,
    full=dict(panel=NAMES, seed=range(11)),
    quick=dict(panel=("B", "D"), seed=range(2)),
    draw=draw,
    drawn="One mark per run: the distance after as many steps as the run has, over the length of the move. At the end "
    "it is the distance from the same run without the move; on the plateau it is the distance from the point that was "
    "left. Dotted lines: what counts as staying (below 2) and leaving (above 10).",
    claims=(
        Claim("The end is a stable fixed point: after a small move of all weights they stay near, at the same loss.",
              "S71 · Fig. 1", stays),
        Claim("Control: the same move leads away from the middle plateau.", "ours", leaves),
    ),
)  # fmt: skip
