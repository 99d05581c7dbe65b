"""Simplicity paper, Fig. 4A: softmax attention on in-context regression, scaled down.

The task and heads of Fig. 1F with a softmax over the tokens; 8 heads, 16 pairs, 512 samples. φ(X;
0) is the mean token, of order zero, but it does not correlate with the target: what grows first is
of second order in u, as in linear attention. From the paper's N(0, 1e-12) that takes some 1e7
steps; here ε = 0.02.
"""

from saddlescope.checks import holds_in_share, share_text
from saddlescope.claims import CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import loss_and_weights, panels, shared_legend
from saddlescope.nets import SoftmaxHead, Units
from saddlescope.observables import ByNorm, EffectiveWidth, Parameters
from saddlescope.optimisers import GradientDescent
from saddlescope.setting import Setting
from saddlescope.tasks import InContextRegression
from saddlescope.theory import UnitOrder
from saddlescope.training import every


def setting(seed, samples, steps):
    return Setting(
        task=InContextRegression((1, 1), 16, samples), net=Units(8, SoftmaxHead(2), 0.02),
        optimiser=GradientDescent(0.02), steps=steps, seed=seed,
    )  # fmt: skip


def order(results):
    found = int(results.predicted.order.values[0])
    return CheckResult(found == 0, f"measured order {found}", exact=True)


def drops_from_a_plateau(results):
    counts = [m.stages.n_drops if m.finite else -1 for m in results.runs()]
    good = sum(c >= 1 for c in counts)
    ends = ", ".join(f"{float(m.loss[-1]):.2g}" for m in results.runs())
    text = f"{share_text(good, len(counts))}; drops {', '.join(map(str, counts))}; last losses {ends}"
    return holds_in_share(good, len(counts), text)


def draw(results):
    figure, cells = panels(1, 1, width=3.2, height=3.2)
    loss_and_weights(figure, cells[0], results, "A  softmax attention")
    shared_legend(figure, ncols=2)
    return figure


experiment = Experiment(
    title="Softmax attention waits on a plateau and then drops (scaled down)",
    source="Fig. 4A",
    setting=setting,
    full=dict(seed=range(5), samples=(512,), steps=(20_000,)),
    quick=dict(seed=range(1), samples=(64,), steps=(1500,)),
    save_at=lambda seed, samples, steps: every(steps // 100, steps),
    observe=(EffectiveWidth(ByNorm()), Parameters()),
    predict=(UnitOrder(),),
    draw=draw,
    drawn="Above, the loss of every run, the first seed thick. Below, two entries of the first seed's keys, "
    "one dot per head, on the middle plateau and at the end.",
    claims=(
        Claim("The first term of φ is of order zero.", "S27 · Fig. 4A", order, built=True),
        # Ours: not the paper's heads, samples and initial scale.
        Claim("Scaled down, softmax attention stays on a plateau and drops.", "ours", drops_from_a_plateau),
    ),
)
