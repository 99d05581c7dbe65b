"""Our own prediction: modes are learned in the order of the singular values of Σ_yx, not of what
they explain.

Diagonal teacher and covariance: mode k has variance λ_k and weight w_k, so that s_k = λ_k w_k and
it explains λ_k w_k². Random pairs for which the two orders disagree; which mode is half learned
first?
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import NullLocator

from saddlescope.checks import holds_in_share, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, BLUE, ORANGE, WIDTH, plain_ticks, shared_legend
from saddlescope.nets import linear_units
from saddlescope.observables import LearnedModes
from saddlescope.optimisers import GradientDescent
from saddlescope.setting import Setting
from saddlescope.tasks import LinearTeacher
from saddlescope.theory import DropSchedule
from saddlescope.training import every

STEPS = 3000


def pair(seed):
    """Variances and weights of two modes, the first with the larger s, the second explaining more; both by a fifth."""
    rng = np.random.default_rng(seed)
    while True:
        variance, weight = rng.uniform(0.3, 4, 2), rng.uniform(0.2, 2, 2)
        s, gain = variance * weight, variance * weight**2
        if s[0] > 1.2 * s[1] and gain[1] > 1.2 * gain[0]:
            return variance, weight


def setting(seed):
    variance, weight = pair(seed)
    rate = 0.02 / (variance * weight).max()
    task = LinearTeacher(np.diag(weight), np.diag(variance))
    return Setting(task, linear_units(50, 1e-6), GradientDescent(rate), steps=STEPS, seed=seed)


def analyse(run, made, seed):
    """When each mode is half learned, by s; the ratios of s and of what the modes explain."""
    (variance, weight), share, at = pair(seed), run.learned_mode.values, run.saved_step.values
    half = [float(np.interp(0.5, share[:, k], at)) for k in range(2)]
    s, gain = variance * weight, variance * weight**2
    return {
        "half_strength_step": (("mode",), np.array(half)),
        "s_ratio": s[0] / s[1],
        "gain_ratio": gain[0] / gain[1],
    }


def by_s(results):
    m = results.measured
    first, second = m.half_strength_step.values.T
    good = int(np.sum(first < second))
    text = f"{share_text(good, m.sizes['run'])} learn the mode of the larger s first, though it explains less"
    text += f" ({float(m.gain_ratio.min()):.2f} to {float(m.gain_ratio.max()):.2f} times)"
    return holds_in_share(good, m.sizes["run"], text)


def later(dataset):
    """The time of the second mode over that of the first."""
    return dataset.half_strength_step.values[:, 1] / dataset.half_strength_step.values[:, 0]


def draw(results):
    figure, ax = plt.subplots(figsize=(0.75 * WIDTH, 3.0))
    ratios, said = (later(d) for d in (results.measured, results.predicted))
    s, gain = results.measured.s_ratio, results.measured.gain_ratio
    ax.loglog(s, ratios, "o", color=BLUE, mfc="none", label="by ratio of s")
    ax.loglog(s, said, "x", color=BLACK, ms=4, label="by ratio of s, predicted from the draw")
    ax.loglog(gain, ratios, "^", color=ORANGE, mfc="none", label="by ratio of what it explains")
    ax.axhline(1, color="0.5", lw=0.8)
    ax.axvline(1, color="0.5", lw=0.8)
    ax.set(xlabel="first mode over second", ylabel="time of the second over the first")
    plain_ticks(ax.yaxis)
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticks((0.3, 0.5, 1, 2), ("0.3", "0.5", "1", "2"))
    shared_legend(figure, ncols=1)
    return figure


experiment = Experiment(
    title="Modes are learned by singular value, not by explained variance",
    source="our own prediction, on Lemma 6",
    setting=setting,
    full=dict(seed=range(50)),
    quick=dict(seed=range(3)),
    save_at=every(10, STEPS),
    observe=(LearnedModes(),),
    analyse=analyse,
    predict=(DropSchedule(),),
    draw=draw,
    drawn="One mark per pair of modes: how much later the second is half learned than the first, over the "
    "ratio of their singular values (circles; crosses predicted from the draw), and over the ratio of "
    "what they explain (triangles). Above the horizontal line the first mode is learned first.",
    claims=(Claim("Modes are learned in the order of s_k(Σ_yx), not of explained variance.", "ours", by_s),),
)
