"""Mean-field paper, Appendix E.2: how often ReLU nets end at a degenerate point, by rank and width.

The paper: for ReLU the only bad limits are those where every φ'(H) is zero, and their probability
is e^{−O(r)}. Nets of two blocks without mixing bias, all weights Gaussian, three points with random
targets, are trained by gradient descent with steps of 0.1 (kinks then need no floor). What ends
above a hundredth of its first loss has failed, and is one of

- *all dead*: L_c·f(x) ≤ 0 for all neurons at all points, the paper's event;
- *dead points*: the same at some of the points that are not fitted;
- *at the kink*: |f| < 0.05 at a point that is not fitted, with live neurons: the channels are held
  there;
- *slow*: the loss has fallen by more than 2 % since half of the time;
- *other*: at rest for another reason.

A dead point needs a direction f with L_c·f ≤ 0 for all n neurons. By Wendel's theorem one exists
with probability 2^{1−n} Σ_{k<r} C(n−1, k): it *grows* with the rank, and falls with the width.
"""

from dataclasses import replace
from math import comb

import jax
import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import decided_by, groups_by, holds_in_share, share_text
from saddlescope.claims import FAILS, HOLDS, UNCLEAR, CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, GREEN, ORANGE, RED, WIDTH, letters
from saddlescope.meanfield import Measure, meanfield
from saddlescope.meanfield.laws import GaussianFeatures, StartLaw
from saddlescope.nets.activation import ReLU
from saddlescope.statistics import wilson

T, STEP, FAILED, STILL = 1000.0, 0.1, 1e-2, 0.98
CAUSES = ("all dead", "dead points", "at the kink", "slow", "other")
SLOW = CAUSES.index("slow")
KINK = 0.05  # of |f| where descent by steps of 0.1 jumps to and fro across f = 0


def net_for(rank, width, seed):
    rng = np.random.default_rng([seed, rank, width])
    data = Measure([-0.9, 0.0, 0.9], rng.uniform(-1, 1, 3))
    return meanfield(data, rank, 1, ReLU(), features=GaussianFeatures(3.0, 1.0), start=StartLaw(0, 0, 1)).net(
        width, seed
    )


def measure(rank, width, seed):
    net = net_for(rank, width, seed)
    system, start = net.system()
    half, end = net.descend(T / 2, STEP), net.descend(T, STEP)
    first, middle, last = (float(system.loss(s)) for s in (start, half, end))
    f, outputs = map(np.asarray, system.channels(jax.tree.map(np.asarray, end)))
    dead = np.all(f @ net.frozen[1][:, :-1].T <= 0, axis=1)
    wrong = np.abs(outputs - net.limit.measure.y)[:, 0] > 0.1
    failed = last > FAILED * first
    return {
        "loss": last / first,
        "failed": failed,
        "cause": cause(failed, dead, wrong, np.linalg.norm(f, axis=1) < KINK, last / max(middle, 1e-300)),
        "dead_points": int(dead.sum()),
        "half_space": wendel(width, rank),
    }


def cause(failed, dead, wrong, small, change):
    """The index of what a failure is, in the order of CAUSES; −1 for a net that fits."""
    if not failed:
        return -1
    rules = dead.all(), (dead & wrong).any(), (small & wrong).any(), change < STILL
    return next((i for i, true in enumerate(rules) if true), len(rules))


def wendel(n, r):
    """The probability that n random directions in r dimensions lie in one half-space."""
    return min(1.0, 2.0 ** (1 - n) * sum(comb(n - 1, k) for k in range(r)))


# ---- Claims ----


def counts(results, width, slow=True):
    """(rank, failures, nets) at one width; slow nets are failures or not."""
    m = results.select(width=width).measured
    failed = m.failed.values.astype(bool) & (slow | (m.cause.values != SLOW))
    return [
        (r, int(failed[m["rank"].values == r].sum()), int(np.sum(m["rank"].values == r)))
        for r in results.values("rank")
    ]


def paper_event(results):
    """Every failure at rest is the paper's event, all neurons dead at all points; a slow net has no limit yet."""
    m = results.measured
    failed = results.where(m.failed.values.astype(bool) & (m.cause.values != SLOW))
    if not failed.measured.sizes["run"]:
        return None
    found = failed.measured.cause.values
    said = ", ".join(f"{int(np.sum(found == i))} {name}" for i, name in enumerate(CAUSES))
    good = int(np.sum(found == 0))
    return holds_in_share(good, len(found), f"{share_text(good, len(found))} are; failures: {said}", 1.0)


def rarer(first, last):
    """Whether the second of two shares (count, number) is lower, by their intervals."""
    (low, high), (low_last, high_last) = wilson(*first), wilson(*last)
    return HOLDS if high_last < low else FAILS if low_last > high else UNCLEAR


def rare_in_rank(results):
    """At every width fewer nets are at rest above the minimum at the largest rank than at the least, by intervals."""
    words, said = {}, []
    for width in results.values("width"):
        rows = counts(results, width, slow=False)
        words[f"n = {width}"] = rarer(rows[0][1:], rows[-1][1:]) if len(rows) > 1 else UNCLEAR
        said.append(f"n = {width}: " + ", ".join(f"{bad}/{n} at r = {r}" for r, bad, n in rows))
    return decided_by(words, "; ".join(said))


def dead_with_rank(results):
    """Nets with dead points, by rank, at the least width."""
    width = min(results.values("width"))
    m = results.select(width=width).measured
    shares = {r: m.dead_points.values[m["rank"].values == r] > 0 for r in results.values("rank")}
    if len(shares) < 2 or not any(d.any() for d in shares.values()):
        return None
    found = {r: (int(d.sum()), len(d)) for r, d in shares.items()}
    text = ", ".join(f"{k} of {n} at r = {r} (half-space {wendel(width, r):.2g})" for r, (k, n) in found.items())
    ranks = sorted(found)
    return decided_by({"dead points": rarer(found[ranks[0]], found[ranks[-1]])}, f"n = {width}: {text}")


def event_rare(results):
    """Ends with all neurons dead at all points: rare is a share whose interval lies below one tenth."""
    found = results.measured.cause.values == 0
    low, high = wilson(int(found.sum()), len(found))
    return CheckResult(high < 0.1, share_text(int(found.sum()), len(found)), unclear=low < 0.1 <= high)


def fits(results):
    """Slow nets may or may not get there: the word must be the same both ways."""
    good, slow = ~results.measured.failed.values.astype(bool), results.measured.cause.values == SLOW
    text = f"{share_text(int(good.sum()), len(good))} end below a hundredth of their first loss"
    text += f"; {slow.sum()} still fall"
    sure, likely = (
        holds_in_share(int(g.sum()), len(g), text, groups=groups_by(results, "rank", g)) for g in (good, good | slow)
    )
    same = (sure.holds, sure.partly, sure.unclear) == (likely.holds, likely.partly, likely.unclear)
    return sure if same else replace(sure, holds=False, partly=False, unclear=True)


def draw(results):
    figure, axes = plt.subplots(1, 2, figsize=(WIDTH, 2.7))
    m, ranks = results.measured, results.values("rank")
    for width, color in zip(results.values("width"), (BLUE, ORANGE, GREEN, RED, "0.4"), strict=False):
        rows = counts(results, width)
        axes[0].plot(ranks, [bad / n for _, bad, n in rows], "o-", color=color, ms=3, label=f"n = {width}")
    axes[0].set(xlabel="rank r", ylabel="share of nets that fail", title="failures by width n", ylim=(0, None))
    axes[0].legend()
    below = np.zeros(len(ranks))
    for i, (name, color) in enumerate(zip(CAUSES, (RED, ORANGE, GREEN, BLUE, "0.7"), strict=True)):
        share = np.array([np.mean(m.cause.values[m["rank"].values == r] == i) for r in ranks])
        axes[1].bar(range(len(ranks)), share, bottom=below, color=color, label=name)
        below += share
    axes[1].set(
        xlabel="rank r", ylabel="share of nets", title="what failures are, all widths", xticks=range(len(ranks))
    )
    axes[1].set_xticklabels(ranks)
    axes[1].legend()
    letters(axes)
    return figure


experiment = Experiment(
    title="Failures of ReLU nets by rank and width, and what they are",
    source="Appendix E.2",
    measure=measure,
    full=dict(rank=(1, 2, 3, 4, 6, 8), width=(16, 32, 64, 128, 256), seed=range(40)),
    quick=dict(rank=(1, 8), width=(16,), seed=range(24)),
    draw=draw,
    drawn="A: the share of nets whose loss ends above a hundredth of the first. B: the same for all widths "
    "together, divided by what holds them; their sum is the share that fails.",
    claims=(
        Claim("ReLU nets reach the minimum with high probability.", "M33 · Section 2.4", fits),
        Claim(
            "A failure is a point where all φ' vanish on the whole support.",
            "M80 · E.2",
            paper_event,
            note="Nets fail where channels are held at the kink f = 0, with live neurons on both sides of it.",
        ),
        Claim("Ends where all φ' vanish on the whole support are rare.", "M80 · E.2", event_rare),
        Claim("Failures become rarer with the rank.", "M80 · E.2, all failures", rare_in_rank),
        Claim(
            "Dead points become rarer with the rank.",
            "M80 · E.2, dead points",
            dead_with_rank,
            note="The more channels, the more room for a direction f with L·f ≤ 0 in all neurons (Wendel).",
        ),
    ),
)
