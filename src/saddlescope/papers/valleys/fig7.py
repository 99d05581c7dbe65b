"""Valleys paper, Fig. 7: channel partials at depth 2, at epoch 0 and after 180 epochs of
f3_N768_bs8_L2 at rank 10.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import in_most_runs
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import WIDTH, letters
from saddlescope.observables import ChannelPartials, FullLoss
from saddlescope.papers.valleys._partials import extrema, show
from saddlescope.papers.valleys._runs import WIDE, main_run
from saddlescope.training import SaveAt

BLOCKS = {"partial_0": "first bottleneck", "partial_1": "second bottleneck"}
EPOCHS = 180


def setting(seed, width):
    return main_run(2, seed, width, epochs=EPOCHS)


def analyse(run, setting):
    """Extrema per channel of both bottlenecks at both instants, and the channels."""
    found = {}
    for name in BLOCKS:
        found[f"extrema_{name}"] = ("instant",), np.array([extrema(f) for f in run[name].values])
        found[name] = ("instant", "x", "channel"), run[name].values
    return found


def clearer(run):
    start, end = run.extrema_partial_1.values
    return end > start


def say(results):
    return "; ".join(f"{word}: {a:.2f} then {b:.2f} extrema per channel" for name, word in BLOCKS.items()
                     for a, b in [np.mean(results.measured[f"extrema_{name}"].values, axis=0)])  # fmt: skip


def draw(results):
    run = next(iter(results.runs()))
    figure, axes = plt.subplots(2, 2, figsize=(WIDTH, 3.8), sharex=True)
    for row, (name, word) in zip(axes, BLOCKS.items(), strict=True):
        for ax, i in zip(row, (0, 1), strict=True):
            show(ax, run[name].values[i], f"{word}, epoch {(0, EPOCHS)[i]}")
            ax.set_xlabel("x" if name == "partial_1" else "")
        row[0].set_ylabel("channel output")
    letters(axes.flat)
    return figure


experiment = Experiment(
    title="Channel outputs at depth 2, before and after training",
    source="Fig. 7",
    setting=setting,
    full=dict(seed=range(12), width=(WIDE,)),
    quick=dict(seed=range(1), width=(256,)),
    save_at=SaveAt(epochs=(0, EPOCHS)),
    observe=(ChannelPartials(points=401), FullLoss()),
    analyse=analyse,
    draw=draw,
    drawn="The ten channels of the first seed, from the first (dark) to the last (light).",
    claims=(Claim("Epoch 180 shows clearer oscillation than epoch 0.", "V10 · Fig. 7", in_most_runs(clearer, say)),),
)
