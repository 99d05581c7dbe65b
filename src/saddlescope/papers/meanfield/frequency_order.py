"""Mean-field paper, Section 3: are low frequencies learned first in the limit? Nothing is trained.

The target is a sum of cos πkx, k = 1 … 6, on 24 points: with equal heights, or with heights that rise
as k. The first layer starts at zero and the blocks above correlated with L, so that the output starts
at zero. The limit is solved on quadrature nodes of the mixing law. The residual of mode k is the
projection of y − ŷ on cos πkx; its half-time is when it first is half of its start. Features are erf
of deviation `std`: the wider, the more frequencies they resolve. Leaky ReLU is in `mode_speed`.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always, groups_by
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, WIDTH, letters
from saddlescope.meanfield import Measure, meanfield
from saddlescope.meanfield.by_nodes import follow_nodes
from saddlescope.meanfield.laws import GaussianFeatures, StartLaw
from saddlescope.nets.activation import Erf
from saddlescope.statistics import exponents

POINTS, TIME, SAVES = 24, 150.0, 60
MODES = np.arange(1, 7)
X = -1 + (np.arange(POINTS) + 0.5) * 2 / POINTS
COSINES = np.cos(np.pi * MODES[:, None] * X)  # orthogonal on these points
NETS = {"rank 1": (1, 1, 24), "rank 2": (2, 1, 16), "three blocks": (1, 2, 24)}  # rank, depth, nodes
APART = 0.1  # of the largest channel: channels that differ by less have not taken different frequencies
HEIGHTS = {"equal": np.ones(len(MODES)), "rising": MODES.astype(float)}


def limit_of(net, std, heights):
    rank, depth, _ = NETS[net]
    y = HEIGHTS[heights] @ COSINES / np.linalg.norm(HEIGHTS[heights])
    start = (StartLaw(slope=0), *(StartLaw(slope=3 if depth == 1 else 2),) * depth)
    return meanfield(Measure(X, y), rank, depth, Erf(), features=GaussianFeatures(std, std), start=start)


def measure(net, std, heights):
    limit = limit_of(net, std, heights)
    times = np.append(0.0, np.geomspace(0.1, TIME, SAVES))
    channels = follow_nodes(limit, times, nodes=NETS[net][2])
    residual = (limit.measure.y.T - channels[-1][:, :, 0]) @ COSINES.T / (POINTS / 2)
    share = residual / residual[0]
    return {
        "time": (("save",), times),
        "residual": (("save", "mode"), share),
        "half_time": (("mode",), np.array([half_time(times, s) for s in share.T])),
        "channel_gap": float(np.abs(channels[0] - channels[0][:, :, :1]).max()),
        "channel_size": float(np.abs(channels[0]).max()),
    }


def half_time(times, share):
    """When |share| first is one half, on a line between saved times; infinite if never."""
    below = np.flatnonzero(np.abs(share) <= 0.5)
    if not below.size:
        return np.inf
    i = below[0]
    low, high = np.abs(share[i - 1 : i + 1])
    return float(times[i - 1] + (low - 0.5) / (low - high) * (times[i] - times[i - 1]))


def low_first(results):
    halves = results.measured.half_time.values
    good = np.isfinite(halves).all(axis=1) & (np.diff(halves, axis=1) > 0).all(axis=1)
    reached = np.isfinite(halves).ravel()
    slope, half = exponents(np.tile(MODES, len(halves))[reached, None], halves.ravel()[reached])
    text = f"{good.sum()} of {good.size} flows; half-times grow as k^{slope[0]:.2f} ± {half[0]:.2f}"
    text += f", from {halves[:, 0].min():.2g} at k = 1 to {halves[:, -1].max():.3g} at k = 6"
    return always(int(good.sum()), good.size, text, groups_by(results, "net", good))


def one_by_one(results):
    """When a mode is half learned, the next one still has nine tenths of its start or more."""
    left = np.array([_left_of_next(run) for run in results.runs()])
    good = (left >= 0.9).all(axis=1)
    text = f"{good.sum()} of {good.size} flows; the next mode has {left.min():.0%} to {left.max():.0%} left"
    return always(int(good.sum()), good.size, text)


def _left_of_next(run):
    times, share = run.time.values, np.abs(run.residual.values)
    halves = run.half_time.values[:-1]
    return [np.interp(t, times, share[:, k + 1]) for k, t in enumerate(halves)]


def channels_differ(results):
    part = results.select(net="rank 2").measured
    if not part.sizes["run"]:
        return None
    gap, size = part.channel_gap.values, part.channel_size.values
    good = gap > APART * size
    text = f"largest |f_1 − f_2| {gap.max():.1e} of |f| up to {size.max():.2g}, over {gap.size} flows"
    return always(int(good.sum()), gap.size, text)


def draw(results):
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 2.8))
    run = next(iter(results.runs()))
    shades = plt.get_cmap("viridis")(np.linspace(0.05, 0.9, len(MODES)))
    for k, colour in zip(MODES, shades, strict=True):
        left.semilogx(run.time.values[1:], run.residual.values[1:, k - 1], color=colour, lw=1.2, label=f"k = {k}")
    left.set(xlabel="time", ylabel="residual of cos πkx over its start")
    title = f"{run.net.item()}, deviation {run['std'].item():g}, {run.heights.item()} heights"
    left.set_title(title)
    left.legend()
    for name in results.values("net"):
        for i, run in enumerate(results.select(net=name).runs()):
            colour = f"C{results.values('net').index(name)}"
            right.loglog(MODES, run.half_time.values, "o-", ms=3, lw=0.8, color=colour, label=None if i else name)
    right.loglog(MODES, 0.5 * MODES**2.0, color=BLACK, ls="--", lw=0.8, label="slope 2")
    right.set(xlabel="frequency k", ylabel="half-time", xticks=MODES, xticklabels=MODES)
    right.minorticks_off()
    right.set_title("all flows")
    right.legend()
    letters((left, right))
    return figure


experiment = Experiment(
    title="Low frequencies first: half-times of cos πkx in the exact limit",
    source="Abstract, Section 3",
    measure=measure,
    full=dict(net=tuple(NETS), std=(10.0, 20.0, 40.0), heights=tuple(HEIGHTS)),
    quick=dict(net=("rank 1",), std=(20.0, 40.0), heights=tuple(HEIGHTS)),
    draw=draw,
    drawn="A: what is left of each frequency in one flow. B: when half is left, one line per flow; the dashed "
    "line has slope 2.",
    claims=(
        Claim("Frequencies are learned in order, the lowest first.", "M5 · Abstract, Section 3", low_first),
        Claim(
            "Frequencies are learned one by one.",
            "ours, stricter than M5",
            one_by_one,
            note="Half-times of neighbours differ by factors of 1.3 to 4, so that their falls overlap.",
        ),
        Claim(
            "Different channels capture different frequencies.",
            "M5 · Abstract, Section 3, in the limit",
            channels_differ,
            note="With one law for all channels they are equal for ever: see meanfield.channel_collapse.",
        ),
    ),
)
