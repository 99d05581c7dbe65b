"""A question of ours: how does the time to leave the first plateau scale, and how much of it is the clipping?

Exponents in rate and batch, in epochs and in steps, at both thresholds, with the gradient clipped to norm 1 as in the
paper and without clipping; five seeds. If noise drove the escape, time in steps would fall with smaller batches; if it
follows the gradient flow, it is a constant of lr × steps, whatever the batch: exponents -1 and 0 in steps, -1 and 1 in
epochs.
"""

import matplotlib.pyplot as plt

from saddlescope.claims import Claim, Finding
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE
from saddlescope.papers.valleys import _escape as escape
from saddlescope.papers.valleys._escape import THRESHOLDS, UNITS, fitted, shown

RATES, BATCHES = (1e-2, 5e-3, 2.5e-3), (1, 4, 16, 64)
CLIPS = {"clipped": 1.0, "free": 0.0}


def setting(clip, lr, bs, seed, width):
    return escape.escape_run(lr, bs, seed, CLIPS[clip], width)


def flow_time(clip):
    """In steps: exponent -1 in the rate and 0 in the batch, both within 0.15."""

    def check(results):
        part = results.select(clip=clip)
        good, words = [], []
        for threshold in THRESHOLDS:
            (a, b), (da, db), late = fitted(part, threshold, "steps")
            good.append(abs(a + 1) <= 0.15 and abs(b) <= 0.15)
            words.append(f"threshold {threshold}: lr {shown(a, da)}, batch {shown(b, db)}, {late} censored")
        return Finding(all(good), "; ".join(words), any(good))

    return check


def clipping_slows(results):
    """At batch 1 and each rate: the median time, clipped, above 1.2 times that of runs not clipped."""
    good, words = [], []
    for threshold in THRESHOLDS:
        pairs = []
        for lr in results.values("lr"):
            both = [escape.alive(results.select(clip=clip, bs=1, lr=lr)) for clip in CLIPS]
            if all(part.measured.sizes["run"] for part in both):
                pairs.append([escape.median(part, threshold) for part in both])
        if not pairs:
            return None
        good += [clipped > 1.2 * free for clipped, free in pairs]
        words.append(f"threshold {threshold}: " + ", ".join(f"{a:.0f} and {b:.0f}" for a, b in pairs))
    lost = int((~results.measured.finite.values).sum())
    text = f"median epochs by rate, clipped and not, {'; '.join(words)}; {lost} runs diverged and have no time"
    return Finding(all(good), text, any(good))


def draw(results):
    figure, axes = plt.subplots(1, 4, figsize=(12, 3.2))
    grid = [(threshold, unit) for threshold in THRESHOLDS for unit in UNITS]
    for ax, (threshold, unit) in zip(axes, grid, strict=True):
        for clip, colour, shift in (("clipped", BLUE, 0.94), ("free", ORANGE, 1.06)):
            part = results.select(clip=clip)
            if not part.measured.sizes["run"]:
                continue
            found, late = escape.times(part, threshold, unit)
            points = escape.alive(part).measured
            bs, time = points.bs.values * shift, found * points.lr.values
            ax.loglog(bs[~late], time[~late], ".", color=colour, label=clip)
            ax.loglog(bs[late], time[late], "^", mfc="none", mec=colour, label=f"{clip}, censored")
        ax.set(xlabel="batch size", ylabel=f"lr × {unit} to a loss of {threshold}")
        ax.set_xticks(results.values("bs"), map(str, results.values("bs")))
        ax.minorticks_off()
    axes[0].legend(fontsize=7)
    return figure


def tables(results):
    words = {"clipped": "clipped to norm 1", "free": "not clipped"}
    return tuple(
        escape.exponents_table(f"exponents_{clip}", results.select(clip=clip), f"Exponents of the escape time, {word}")
        for clip, word in words.items()
        if results.select(clip=clip).measured.sizes["run"]
    )


experiment = Experiment(
    title="How the escape from the first plateau scales",
    where="a question of ours, beside Fig. 6",
    setting=setting,
    full=dict(clip=CLIPS, lr=RATES, bs=BATCHES, seed=range(5), width=(1024,)),
    quick=dict(clip=CLIPS, lr=(1e-2, 5e-3), bs=(4, 16), seed=range(1), width=(64,)),
    digest=escape.digest,
    draw=draw,
    tables=tables,
    claims=(
        Claim("Clipped, the escape takes a fixed lr × steps, whatever the batch.", "ours", flow_time("clipped")),
        Claim("Not clipped, the escape takes a fixed lr × steps, whatever the batch.", "ours", flow_time("free")),
        Claim("At batch 1 clipping makes the plateau longer.", "ours", clipping_slows),
    ),
)
