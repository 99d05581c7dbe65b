"""Simplicity paper, Fig. 2C: large weights of low rank start near an invariant manifold, not near a
saddle.

κ = 1, H = 100. The initial weights are Θ = C W of rank r, with noise of 1e-6. The paper gives no
size: the entries of W have deviation 0.7, and, added once those had been seen, 1/3, with which Θ is
about as large as the solution's. With r = 0 there is a plateau first; with r = 1, 2 the loss falls
at once to a plateau, exponentially, and drops 3 - r times after; with r = 3 it only falls, and the
weights end with rank three all the same.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import holds_in_share, in_most_runs, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, BLUE, GREEN, ORANGE, PURPLE, WIDTH, letters, shared_legend
from saddlescope.observables import ByRank, EffectiveWidth
from saddlescope.papers.simplicity import _fig2 as fig2
from saddlescope.theory import LinearLevels
from saddlescope.training import every

width = EffectiveWidth(ByRank())
STEPS = 3000
STRAIGHT, POWERS = 0.95, (1, 2, 3)  # rivals of an exponential: (1 + n/τ)^-p
SPREADS = {"0.7": 0.7, "1/3": 1 / 3}


def setting(spread, rank, seed):
    return fig2.linear_run(seed, rank=rank, spread=SPREADS[spread], steps=STEPS)


def analyse(run, made, rank):
    """How straight the first fall is in the logarithm, beside power laws; whether ranks come one by one; the last."""
    ranks = run.effective_width.values.astype(int)
    changed = ranks[np.concatenate([[True], np.diff(ranks) != 0])]
    return fall_of(run) | {"one_by_one": list(changed) == list(range(rank, 4)), "last_rank": int(ranks[-1])}


def starts(run):
    """Whether there is a plateau at the start, and how many drops there are."""
    stages = run.stages
    return not any(d.kind == "slope" for d in stages.all_falls), stages.n_drops


def as_said(run):
    return starts(run) == (False, 3 - int(run["rank"]))


def drops_by_rank(results):
    of = lambda r: [starts(m)[1] for m in results.select(rank=r).runs()]  # noqa: E731
    times = lambda found: ", ".join(f"{n} ({found.count(n)})" for n in sorted(set(found)))  # noqa: E731
    return "drops by rank " + "; ".join(f"{r}: {times(of(r))}" for r in results.values("rank"))


def rank_by_rank(run):
    """The rank of the weights goes from r to three, one by one."""
    return bool(run.one_by_one)


def fall_of(run):
    """|correlation| of step and ln(loss - first plateau), from the start until 2 % of the first fall is left; and what
    an exponential and the best of the rivals leave of that logarithm, as root mean squares. -1 without a fall."""
    plateaus = run.stages.plateaus
    above = run.loss.values - (plateaus[0].level if len(plateaus) > 1 else 0.0)
    end = int(np.argmax(above < 0.02 * above[0]))
    if end <= 3:
        return {"straight": -1.0, "left_by_exponential": -1.0, "left_by_rival": -1.0}
    n, log = np.arange(end), np.log(above[:end])
    times = np.geomspace(0.05 * end, 20 * end, 60)
    power = min(left(log, np.log1p(n / t), slope=-p) for p in POWERS for t in times)
    return {
        "straight": abs(float(np.corrcoef(n, log)[0, 1])),
        "left_by_exponential": left(log, n),
        "left_by_rival": min(power, left(log, n**2)),
    }


def left(log, x, slope=None):
    """Root mean square of a curve less a line in x; of the best slope, or of one that is given."""
    fitted = np.polyval(np.polyfit(x, log, 1), x) if slope is None else slope * x + np.mean(log - slope * x)
    return float(np.sqrt(np.mean((log - fitted) ** 2)))


def exponential(results):
    """Straight in the logarithm, and nearer to an exponential than to a power law or to exp(-n²)."""
    m = results.measured
    straight, own, rival = (m[n].values for n in ("straight", "left_by_exponential", "left_by_rival"))
    good = (straight > STRAIGHT) & (own < rival)
    text = f"|correlation| of step and logarithm {straight.min():.3f} or more, asked {STRAIGHT:g}; an exponential is "
    text += f"nearer than a power law or exp(-n²) in {int(np.sum(own < rival))}, median misfit {np.median(own):.2g} "
    text += f"against {np.median(rival):.2g}"
    return holds_in_share(good.sum(), len(good), f"{share_text(int(good.sum()), len(good))}; {text}")


def no_plateau(results):
    """The loss falls from the start, without any plateau before the end; the weights end with rank three."""
    found = [(not starts(m)[0] and starts(m)[1] == 0, int(m.last_rank)) for m in results.runs()]
    good = sum(falls and w == 3 for falls, w in found)
    text = f"{share_text(good, len(found))}; rank at the end {', '.join(map(str, sorted({w for _, w in found})))}"
    return holds_in_share(good, len(found), text)


def levels(results):
    return next(results.runs()).predicted["plateau_level"].values[:-1]  # the last is zero


def draw(results):
    spreads = [s for s in SPREADS if results.select(spread=s).measured.sizes["run"]]
    figure, rows = plt.subplots(len(spreads), 2, figsize=(WIDTH, 2.4 * len(spreads)), squeeze=False)
    for row, spread in zip(rows, spreads, strict=True):
        panel(row[0], row[1], results.select(spread=spread), spread)
    letters(rows.flat)
    shared_legend(figure, ncols=5)
    return figure


def panel(left, right, results, spread):
    for rank, colour, line in zip(range(4), (BLUE, ORANGE, GREEN, PURPLE), ("-", "--", "-.", ":"), strict=True):
        for i, m in enumerate(results.select(rank=rank).runs()):
            style = {"color": colour, "lw": 1.2 if i == 0 else 0.2, "label": f"rank {rank}" if i == 0 else None}
            left.plot(np.arange(1, m.sizes["step"] + 1), m.loss.values, **style)
            if i == 0:
                right.plot(m.saved_step + 1, m.effective_width, color=colour, lw=1.4, ls=line)
    for k, level in enumerate(levels(results)):
        left.axhline(level, color=BLACK, ls="--", lw=0.7, label=None if k else "theory: levels")
    left.set(xlabel="step + 1", ylabel="loss", title=f"weights of size {spread}", xscale="log")
    left.set_yscale("symlog", linthresh=1)
    left.set_ylim(0)
    right.set(xlabel="step + 1", ylabel="rank of the weights", xscale="log", yticks=range(0, 11, 2))
    right.set_ylim(-0.2, 6.2)


STEEP = (
    "It is steeper at first and slower later, the more so the larger the weights: several modes fall at once, each at "
    "a rate of its own."
)
TWO = (
    "The last drop, from 0.03, is at times too near the one before to be two; one run waits in its first fall. The "
    "ranks come one by one all the same."
)


def claims_of(spread):
    at = lambda *ranks: {"spread": spread, "rank": ranks}  # noqa: E731
    return (
        Claim(f"From weights of size {spread} and rank 1 or 2 the loss falls at once, then drops 3 - r times.",
              "S31 · Fig. 2C", in_most_runs(as_said, drops_by_rank, by="rank"), at(1, 2), note=TWO),
        Claim(f"From weights of size {spread} and rank 1 or 2 the rank grows by one at a time, to three.",
              "S31 · Fig. 2C", in_most_runs(rank_by_rank, by="rank"), at(1, 2)),
        *(Claim(f"From weights of size {spread} and rank {r} the first fall is exponential.", f"{number} · Fig. 2C",
                exponential, at(r), note=STEEP) for r, number in ((1, "S31"), (2, "S31"), (3, "S32"))),
        Claim(f"From weights of size {spread} and the rank required the loss falls at once, and the solution has low "
              "rank.", "S32 · Fig. 2C", no_plateau, at(3)),
    )  # fmt: skip


experiment = Experiment(
    title="Loss curves from large initial weights of low rank",
    source="Fig. 2C",
    setting=setting,
    full=dict(spread=SPREADS, rank=range(4), seed=range(40)),
    quick=dict(spread=("0.7",), rank=range(4), seed=range(1)),
    save_at=every(20, STEPS),
    observe=(width,),
    predict=(LinearLevels(),),
    analyse=analyse,
    keep=("loss", "effective_width"),
    draw=draw,
    drawn="Left: loss of every run by the rank of its initial weights, the first seed thick; dashed, the levels of "
    "Lemma 6. The axis of the loss is linear below one and logarithmic above. Right: rank of the first seed's weights; "
    "where curves coincide, later ranks are dashed over earlier ones. Rank 0 is noise at first, of full rank six.",
    claims=tuple(claim for spread in SPREADS for claim in claims_of(spread)),
)  # fmt: skip
