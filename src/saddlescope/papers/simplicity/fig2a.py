"""Simplicity paper, Fig. 2A: more units hardly change a linear net's curve, but shorten the
plateaus of attention.

κ = 1; beside the two nets of the figure the quadratic net of Fig. 1G, of which App. I says the same
as of attention. "Hardly" has a number: every drop of mode k comes ln(H) / (4 lr s_k) steps earlier,
since its start is a sum over H units (ours). From H = 3 to 1000 that shortens the wait from the
first to the last drop as well, by about a third. Narrow nets show more: mode k grows only where
modes 1 to k - 1 do not, in H - k + 1 directions of the units' space.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.claims import CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import WIDTH, letters
from saddlescope.nets import Neuron, Square, Units
from saddlescope.optimisers import GradientDescent
from saddlescope.papers.simplicity import _fig2 as fig2
from saddlescope.papers.simplicity._panels import task
from saddlescope.setting import Setting
from saddlescope.theory import DropSchedule, LinearLevels, TypicalDrops

WIDTHS = {"linear": (3, 10, 30, 100, 300, 1000), "attention": (5, 10, 25, 50, 100), "quadratic": (5, 10, 25, 50, 100)}
SEEDS = {"linear": 40, "attention": 10, "quadratic": 40}  # of the first and the last ten could not tell
NAMES = {"linear": "linear net", "attention": "linear attention", "quadratic": "quadratic net"}


def setting(net, units, seed, samples):
    return {
        "linear": lambda: fig2.linear_run(seed, units),
        "attention": lambda: fig2.attention_run(seed, units, steps=60_000, samples=samples),
        "quadratic": lambda: Setting(
            task("G"), Units(units, Neuron(Square()), 0.005), GradientDescent(0.04), steps=6000, seed=seed
        ),
    }[net]()


def predict(net, units, seed, samples):
    return (LinearLevels(), DropSchedule(), TypicalDrops()) if net == "linear" else ()


def shortens(results, time=fig2.wait, word="steps from the first to the last drop"):
    """A median time at the largest width over that at the least, unless said otherwise the wait from the first to the
    last drop; bounds of 95 % of resampled seeds; words."""
    widths = sorted(results.values("units"))
    waits = {h: np.array([time(m) for m in results.select(units=h).runs()]) for h in widths}
    least, most = waits[widths[0]], waits[widths[-1]]
    rng, ratio = np.random.default_rng(0), np.median(most) / np.median(least)
    drawn = [[np.median(rng.choice(w, len(w))) for w in (most, least)] for _ in range(2000)]
    low, high = np.quantile([a / b if b else np.inf for a, b in drawn], (0.025, 0.975))
    by = fig2.listed({h: float(np.median(w)) for h, w in waits.items()})
    text = f"{word} by units {by}, a factor of {ratio:.2f} ({low:.2f} to {high:.2f})"
    return low, high, text


def last_drop(run):
    """Steps until the last drop: all of learning."""
    found = fig2.all_drops(run)
    return found[-1] if found else np.inf


def speeds_up(results):
    """From the least to the largest width the last drop comes in less than two thirds of the time."""
    if len(results.values("units")) < 2:
        return None
    low, high, text = shortens(results, last_drop, "steps to the last drop")
    return CheckResult(bool(high < 2 / 3), text, unclear=bool(low < 2 / 3 < high))


def not_faster(results):
    """The same is not so: the time falls by less than a third."""
    if len(results.values("units")) < 2:
        return None
    low, high, text = shortens(results, last_drop, "steps to the last drop")
    return CheckResult(bool(low > 2 / 3), text, unclear=bool(low < 2 / 3 < high))


def little(results):
    """In a linear net from the least to the largest width the wait changes by less than a third."""
    if len(results.values("units")) < 2:
        return None
    low, high, text = shortens(results)
    return CheckResult(bool(low > 2 / 3 and high < 4 / 3), text, unclear=any(low < t < high for t in (2 / 3, 4 / 3)))


def much(results):
    """From the least to the largest number of units the wait falls below two thirds."""
    if len(results.values("units")) < 2:
        return None
    low, high, text = shortens(results)
    return CheckResult(bool(high < 2 / 3), text, unclear=bool(low < 2 / 3 < high))


def shift(name):
    """Slope of each drop's step over ln H, against that of the typical step of this name: within a tenth, by the bounds
    of 95 % of resampled seeds. A tenth is ours: what one unit of ln H changes is then known to a step or two."""

    def check(results):
        widths = np.array(sorted(results.values("units")))
        if len(widths) < 3:
            return None
        parts = [results.select(units=h) for h in widths]
        found = [np.array([fig2.three_drops(m) for m in part.runs()]) for part in parts]
        said = _slopes(widths, [next(part.runs()).predicted[name].values for part in parts])
        rng = np.random.default_rng(0)
        drawn = [_slopes(widths, [rng.choice(d, len(d)).mean(0) for d in found]) / said for _ in range(2000)]
        low, high = np.quantile(drawn, (0.025, 0.975), axis=0)
        rows = list(zip(_slopes(widths, [d.mean(0) for d in found]), said, low, high, strict=True))
        text = "; ".join(
            f"drop {k}: {a:.1f} per unit of ln H, predicted {b:.1f}, a factor of {a / b:.2f} ({lo:.2f} to {hi:.2f})"
            for k, (a, b, lo, hi) in enumerate(rows, 1)
        )
        within, outside = (low > 0.9) & (high < 1.1), (high < 0.9) | (low > 1.1)
        return CheckResult(bool(within.all()), text, unclear=bool(not within.all() and not outside.any()))

    return check


def _slopes(widths, steps):
    """Steps per unit of ln H, of each drop; NaN where a run has fewer drops."""
    x, y = np.log(widths) - np.log(widths).mean(), np.array(steps)
    with np.errstate(invalid="ignore"):
        return x @ y / (x @ x)


def draw(results):
    figure, axes = plt.subplots(1, 3, figsize=(WIDTH, 2.9))
    shown = [net for net in WIDTHS if results.select(net=net).measured.sizes["run"]]
    for ax, net in zip(axes, shown, strict=False):
        fig2.curves(ax, results.select(net=net), "units", WIDTHS[net], lambda h: f"H = {h}")
        ax.set(title=NAMES[net], ylim=(0, 1.9 * ax.get_ylim()[1] if net == "linear" else None))
        ax.locator_params(axis="x", nbins=4)
    letters(axes[: len(shown)])
    for ax in axes[len(shown) :]:
        ax.remove()
    return figure


LINEAR, ATTENTION = {"net": "linear"}, {"net": "attention"}
experiment = Experiment(
    title="Effect of width on the plateaus of linear nets, attention and quadratic nets",
    source="Fig. 2A",
    setting=setting,
    full=dict(
        net=WIDTHS, units=sorted({h for widths in WIDTHS.values() for h in widths}), seed=range(40), samples=(8192,)
    ),
    quick=dict(net=WIDTHS, units=(3, 5, 100), seed=range(1), samples=(1024,)),
    where=" or ".join(
        f"(net == '{net}' and units in {widths} and seed < {SEEDS[net]})" for net, widths in WIDTHS.items()
    ),
    predict=predict,
    draw=draw,
    drawn="Loss by the number of units H, the first seed of each width thick, the others thin. Dashed: levels "
    "of Lemma 6. Crosses: drops predicted from the first seed's draw. Theory of this kind exists for "
    "the linear net alone.",
    claims=(
        Claim(
            "More units have little effect on the curve of a linear net.",
            "S28 · Fig. 2A",
            little,
            LINEAR,
            note="The bound of a third lies in the interval. Over a factor of 333 in width it is small beside the "
            "change in attention over one of 20.",
        ),
        Claim(
            "The drops of a linear net come ln(H) / (4 lr s) earlier.",
            "ours",
            shift("typical_drop_step_all_units"),
            LINEAR,
            note="True of the first two. In a net of few units the third mode finds most directions taken.",
        ),
        Claim(
            "Drop k comes earlier as if of H - k + 1 units: earlier modes have taken the others.",
            "ours",
            shift("typical_drop_step"),
            LINEAR,
        ),
        Claim("More heads shorten the plateaus of attention.", "S28 · Fig. 2A", much, ATTENTION),
        Claim("More units shorten the plateaus of a quadratic net.", "S57 · App. I", much, {"net": "quadratic"}),
        Claim(
            "More heads speed up learning: the last drop comes sooner, by a third or more.",
            "S73 · Section 6",
            speeds_up,
            ATTENTION,
        ),
        Claim(
            "More width does not speed up a linear net: the last drop comes sooner by less than a third.",
            "S73 · Section 6",
            not_faster,
            LINEAR,
        ),
    ),
)
