"""Adam's spikes: Fig. 9 and 10 and App. D. Rank 10, batch 512, lr 1e-4 fixed; 20,000 or 10,000
epochs of its 300,000.

A spike is a stretch that lies √10 or more from the running median of the loss (over a twentieth of
the run), and ten times or more at its extreme; stretches closer than a thousandth of the run are
one, since the loss zigzags from epoch to epoch in a spike. One that lies below is a dip, the
paper's "down then up", as into a valley; one above it is a jump. A spike's two sides are the epochs
from its start to the extreme and from there to its end. A control at a third of the rate has three
times the epochs.
"""

import numpy as np

from saddlescope.checks import holds_in_share
from saddlescope.nets import low_rank
from saddlescope.optimisers import Adam
from saddlescope.setting import Setting
from saddlescope.tasks import cosine_sum

EPOCHS = 20_000
CONTROLS = {"float32": ("float32", 1), "float64": ("float64", 1), "third": ("float32", 3)}  # precision, rate ÷
CONTROL_WORDS = {"float32": "float32", "float64": "float64", "third": "a third of the rate"}
EDGE, EXTREME = 0.5, 1.0  # decades
SHOWN = 2000


def adam_run(factor, N, bs, L, control, seed, lr, width, epochs):
    precision, part = CONTROLS[control]
    return Setting(
        task=cosine_sum(factor, N),
        net=low_rank(10, L, width),
        optimiser=Adam(lr / part),
        batch=bs, epochs=part * epochs, precision=precision, seed=seed,
    )  # fmt: skip


def spikes(loss) -> list[tuple[float, int, int]]:
    """(decades above the running median, epochs to the extreme, epochs from it) of every spike."""
    from scipy.ndimage import binary_closing, median_filter

    height = np.log10(np.asarray(loss, float))
    away = height - median_filter(height, len(height) // 20 | 1, mode="nearest")
    found = []
    for sign in (1, -1):
        beyond = binary_closing(sign * away > EDGE, np.ones(1 + max(2, len(height) // 1000)))
        ends = np.flatnonzero(np.diff(beyond.astype(int), prepend=0, append=0))
        for at in (np.arange(a, b) for a, b in zip(ends[::2], ends[1::2], strict=True)):
            top = at[np.argmax(sign * away[at])]
            if sign * away[top] >= EXTREME:
                found.append((float(away[top]), int(top - at[0] + 1), int(at[-1] - top + 1)))
    return found


def analyse(run, setting):
    """Counts of dips and jumps, and the curve thinned for drawing: the least and largest of each stretch."""
    loss = run.loss.values
    found = spikes(loss)
    cut = np.array_split(np.arange(len(loss)), min(SHOWN, len(loss)))
    return {
        "dips": sum(h < 0 for h, *_ in found), "jumps": sum(h > 0 for h, *_ in found),
        "tallest": 10 ** max((abs(h) for h, *_ in found), default=0.0),
        "near_floor": float(np.mean(loss <= 2 * np.minimum.accumulate(loss))),
        "sides": float(np.median([a / b for _, a, b in found])) if found else np.nan,
        "least_loss": loss.min(), "last_loss": loss[-1], "epochs": len(loss), "curve": (("tick",), loss.astype("f4")),
        "low": (("stretch",), np.array([loss[c].min() for c in cut])),
        "high": (("stretch",), np.array([loss[c].max() for c in cut])),
    }  # fmt: skip


def with_dips(results) -> tuple[int, int, int]:
    """In how many runs there is a dip, in how many a spike of either kind, of how many."""
    m = results.measured
    return int(np.sum(m.dips > 0)), int(np.sum(m.dips + m.jumps > 0)), m.sizes["run"]


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


def show(ax, runs, colour, label=None):
    """The first run's curve as a band from its least to its largest loss, the others' least as lines."""
    for i, m in enumerate(runs):
        at = np.linspace(0, float(m.epochs), m.sizes["stretch"])
        if i == 0:
            ax.fill_between(at, m.low, m.high, color=colour, alpha=0.5, lw=0)
        ax.semilogy(at, m.low, color=colour, lw=1 if i == 0 else 0.3, label=label if i == 0 else None)
    ax.set(xlabel="epoch", ylabel="epoch loss")


def numbers(runs):
    """The numbers in a panel's title."""
    if not runs:
        return "not run"
    dips, jumps = (np.mean([int(m[name]) for m in runs]) for name in ("dips", "jumps"))
    return f"{dips:.1f} dips, {jumps:.1f} jumps per run"


def listed(results, name):
    return ", ".join(f"{v:.3g}" for v in results.measured[name].values)
