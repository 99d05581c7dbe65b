"""Adam's spikes: Fig. 9 and 10 and App. D. Rank 10, batch 512, lr 1e-4 fixed, gradients clipped to
norm 1 as App. C.1 says of all experiments.

A spike is a stretch that lies √10 or more from the running median of the loss (over 1000 epochs, or a
twentieth of a shorter run), and ten times or more at its extreme; stretches closer than 20 epochs,
or a thousandth of a shorter run, are one, since the loss zigzags from epoch to epoch in a spike. One
that lies below is a dip, the paper's "down then up", as into a valley; one above it is a jump. A
spike's two sides are the epochs from its start to the extreme and from there to its end. A control
at a third of the rate has three times the epochs, and spikes are three times as long.
"""

import numpy as np

from saddlescope.checks import groups_by, holds_in_share
from saddlescope.errors import number_of
from saddlescope.nets import low_rank
from saddlescope.optimisers import Adam
from saddlescope.setting import Setting
from saddlescope.tasks import cosine_sum

RATE = 1e-4
EPOCHS, WHOLE = 100_000, 300_000  # of the controls, and of the paper
CONTROLS = {  # precision, rate ÷, clip
    "float32": ("float32", 1, 1.0), "float64": ("float64", 1, 1.0), "third": ("float32", 3, 1.0),
    "free": ("float32", 1, None),
}  # fmt: skip
CONTROL_WORDS = {
    "float32": "as in the paper", "float64": "float64", "third": "a third of the rate", "free": "not clipped",
}  # fmt: skip
EDGE, EXTREME = 0.5, 1.0  # decades
DRAWN = (
    "Upper row: the loss of the first seed; the band is from its least to its largest value in stretches of equal "
    "length, the line is the least. Lower row: 300 epochs around its farthest spike. Titles give means over seeds."
)
SHOWN, CLOSE = 1500, 300  # stretches of a whole curve; epochs around its farthest spike


def adam_run(factor, N, bs, L, control, seed, lr, width, epochs):
    precision, part, clip = CONTROLS[control]
    return Setting(
        task=cosine_sum(factor, N),
        net=low_rank(10, L, width),
        optimiser=Adam(lr / part, clip=clip),
        batch=bs, epochs=part * epochs, precision=precision, seed=seed,
    )  # fmt: skip


def from_median(loss, slower=1.0):
    """Decades from the running median."""
    from scipy.ndimage import median_filter

    height = np.log10(np.asarray(loss, float))
    window = int(min(1000 * slower, len(height) / 20)) | 1
    return height - median_filter(height, window, mode="nearest")


def spikes(loss, slower=1.0) -> list[tuple[float, int, int]]:
    """(decades above the running median, epochs to the extreme, epochs from it) of every spike.

    At a rate that is `slower` times as small, everything lasts as many times as long.
    """
    from scipy.ndimage import binary_closing

    away = from_median(loss, slower)
    join, found = int(max(2, min(20 * slower, len(away) / 1000))), []
    for sign in (1, -1):
        beyond = binary_closing(sign * away > EDGE, np.ones(1 + join))
        ends = np.flatnonzero(np.diff(beyond.astype(int), prepend=0, append=0))
        for at in (np.arange(a, b) for a, b in zip(ends[::2], ends[1::2], strict=True)):
            top = at[np.argmax(sign * away[at])]
            if sign * away[top] >= EXTREME:
                found.append((float(away[top]), int(top - at[0] + 1), int(at[-1] - top + 1)))
    return found


def analyse(run, setting):
    """Counts of dips and jumps; the curve thinned for drawing, as the least and largest of each stretch; and the epochs
    around the farthest spike of its second half."""
    loss, slower = run.loss.values, max(1.0, RATE / setting.optimiser.lr)
    found, away = spikes(loss, slower), from_median(loss, slower)
    cut = np.array_split(np.arange(len(loss)), min(SHOWN, len(loss)))
    far = len(loss) // 2 + int(np.argmax(np.abs(away[len(loss) // 2 :])))
    near = np.arange(max(0, far - CLOSE // 2), min(len(loss), far + CLOSE // 2))
    return {
        "dips": sum(h < 0 for h, *_ in found), "jumps": sum(h > 0 for h, *_ in found),
        "tallest": 10 ** max((abs(h) for h, *_ in found), default=0.0),
        "near_floor": float(np.mean(loss <= 2 * np.minimum.accumulate(loss))),
        "sides": float(np.median([a / b for _, a, b in found])) if found else np.nan,
        "least_loss": loss.min(), "last_loss": loss[-1], "epochs": len(loss),
        "low": (("stretch",), np.array([loss[c].min() for c in cut])),
        "high": (("stretch",), np.array([loss[c].max() for c in cut])),
        "around": (("moment",), loss[near]), "around_at": (("moment",), near),
    }  # fmt: skip


def are_dips(results, by=None):
    """Of the runs with spikes, in most the greater part of them are dips; decided for each value of an axis as well.
    A run without a spike says nothing, and is left out."""
    m = results.measured
    spiky = (m.dips + m.jumps).values > 0
    part, dips = results.where(spiky), (m.dips > m.jumps).values[spiky]
    text = f"{int(dips.sum())} of {number_of(int(spiky.sum()), 'run')} with spikes; {counts(results)}"
    groups = groups_by(part, by, dips) if by and len(dips) else None
    return holds_in_share(dips.sum(), len(dips), f"{text}; without a spike {int(np.sum(~spiky))}", groups=groups)


def counts(results):
    return f"dips {listed(results, 'dips')}; jumps {listed(results, 'jumps')}"


def symmetric(results):
    """In most runs that have spikes the median of one side over the other lies between ½ and 2."""
    ratios = results.measured.sides.values
    ratios = ratios[np.isfinite(ratios)]
    if not ratios.size:
        return holds_in_share(0, 0, "no run has a spike")
    good = int(np.sum((ratios >= 0.5) & (ratios <= 2)))
    shown = ", ".join(f"{r:.2g}" for r in ratios)
    text = f"{good} of {ratios.size} runs with spikes; epochs to the extreme over epochs from it, median: {shown}"
    return holds_in_share(good, ratios.size, text)


def show(ax, run, colour):
    """The curve of a run: a band from the least to the largest loss of each stretch, its least as a line."""
    at = np.linspace(0, float(run.epochs), run.sizes["stretch"])
    ax.fill_between(at, run.low, run.high, color=colour, alpha=0.35, lw=0, rasterized=True)
    ax.semilogy(at, run.low, color=colour, lw=0.8)
    ax.locator_params(axis="x", nbins=4)
    ax.set(xlabel="epoch")


def show_close(ax, run, colour):
    """The epochs around the farthest spike."""
    ax.semilogy(run.around_at - float(run.around_at[0]), run.around, color=colour, lw=0.9)
    ax.set(xlabel=f"epochs from {int(run.around_at[0]):,}")


def numbers(runs) -> str:
    """Dips and jumps, means over the runs."""
    dips, jumps = (np.mean([int(m[name]) for m in runs]) for name in ("dips", "jumps"))
    return f"dips {dips:.3g}, jumps {jumps:.3g}"


def listed(results, name):
    return ", ".join(f"{v:.3g}" for v in results.measured[name].values)
