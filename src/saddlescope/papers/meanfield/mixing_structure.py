"""Mean-field paper, Remark G.1: does a structured L make channels take different frequencies? Nothing is trained.

The target is cos πx + cos 3πx on 24 points, with two channels and erf features of deviation `std`.
*Gauss* is the usual L. *axes* has neurons that read one channel each, half of them per channel, with
deviation 1; *axes 1:4* has deviations 1 and 4; *blocks* has L = (g, 0) and (g, 3g), so that the
second channel is read by half of the neurons. For each channel we read the share of cos 3πx in
its power of both modes. Specialised channels would have shares near 0 and near 1: we ask for a
difference of 1/2 at the end, in one of the flows of a structure or more.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import decided_by
from saddlescope.claims import CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import WIDTH, letters
from saddlescope.meanfield import Measure, meanfield
from saddlescope.meanfield.by_nodes import follow_nodes
from saddlescope.meanfield.laws import GaussianFeatures, GaussianMixing, RowMixing, StartLaw
from saddlescope.nets.activation import Erf

POINTS, TIME, APART = 24, 30.0, 0.5
X = -1 + (np.arange(POINTS) + 0.5) * 2 / POINTS
LOW, HIGH = np.cos(np.pi * X), np.cos(3 * np.pi * X)


STRUCTURES = {
    "Gauss": GaussianMixing(),
    "axes": RowMixing(((1.0, 0.0), (0.0, 1.0))),
    "axes 1:4": RowMixing(((1.0, 0.0), (0.0, 4.0))),
    "blocks": RowMixing(((1.0, 0.0), (1.0, 3.0))),
}
NAMES = {"Gauss": "Gaussian", "axes": "one each, alike", "axes 1:4": "one each, 1 : 4", "blocks": "blocks"}
STRUCTURED = tuple(name for name in STRUCTURES if name != "Gauss")


def measure(structure, std, height):
    start = (StartLaw(slope=0), StartLaw(slope=3))
    data = Measure(X, (LOW + height * HIGH) / np.hypot(1, height))
    features, mixing = GaussianFeatures(std, std), STRUCTURES[structure]
    limit = meanfield(data, 2, 1, Erf(), features=features, mixing=mixing, start=start)
    times = np.append(0.0, np.geomspace(0.1, TIME, 40))
    channels, outputs = follow_nodes(limit, times, nodes=16)
    low, high = (channels.transpose(0, 2, 1) @ mode for mode in (LOW, HIGH))
    share = high[1:] ** 2 / (low[1:] ** 2 + high[1:] ** 2)
    return {
        "time": (("save",), times[1:]),
        "share": (("save", "channel"), share),
        "level": float(np.mean((outputs[-1] - data.y) ** 2) / 2),
    }


def specialise(results):
    shares = results.measured.share.values[:, -1]
    found = np.abs(np.diff(shares, axis=1))[:, 0]
    by = {s: found[results.measured.structure.values == s] for s in results.values("structure")}
    text = ", ".join(f"{s} {v.min():.3f} to {v.max():.3f}" for s, v in by.items())
    words = {s: bool(v.max() >= APART) for s, v in by.items()}
    return decided_by(words, f"difference of both shares: {text}; asked {APART:g}")


def equal_by_gauss(results):
    gap = np.abs(np.diff(results.measured.share.values, axis=-1)).max()
    return CheckResult(bool(gap <= 1e-9), f"largest difference of both shares {gap:.1e}", exact=True)


def draw(results):
    names = results.values("structure")
    figure, axes = plt.subplots(1, len(names), figsize=(WIDTH, 2.3), sharey=True, squeeze=False)
    for ax, name in zip(axes[0], names, strict=True):
        for i, run in enumerate(results.select(structure=name).runs()):
            for k in (0, 1):
                label = None if i else f"channel {k + 1}"
                ax.semilogx(run.time.values, run.share.values[:, k], color=f"C{k}", lw=1.6 - k, label=label)
        ax.set(xlabel="time", ylim=(-0.02, 1.02))
        ax.set_title(NAMES[name])
    axes[0, 0].set_ylabel("share of cos 3πx in a channel")
    axes[0, 0].legend(loc="upper left")
    letters(axes[0])
    return figure


experiment = Experiment(
    title="Frequencies in each channel of the limit, for four structures of the mixing matrix",
    source="Remark G.1",
    measure=measure,
    full=dict(structure=tuple(STRUCTURES), std=(10.0, 20.0), height=(0.5, 1.0, 2.0)),
    quick=dict(structure=tuple(STRUCTURES), std=(20.0,), height=(1.0,)),
    draw=draw,
    drawn="Each panel is one structure of the mixing matrix, each line one channel of one flow: the share of "
    "the higher frequency in its power. Specialised channels would lie near 0 and near 1.",
    claims=(
        Claim(
            "A structured L, of three kinds, lets channels specialise to different frequencies.",
            "M112 · Remark G.1",
            specialise,
            only=dict(structure=STRUCTURED),
            note="All channels see one kernel and one residual: a structure sets their sizes, not their frequencies.",
        ),
        Claim(
            "With one Gaussian law both channels have the same frequencies.",
            "ours",
            equal_by_gauss,
            only=dict(structure="Gauss"),
            built=True,
        ),
    ),
)
