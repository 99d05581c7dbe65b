"""Valleys paper, protocol of App. A.2 at f3_N768_bs4_L3, rank 10: how a run goes, over seeds and
initialisations.

The paper names the μ-parameterisation; its numbers fit weights uniform on ±1/√fan-in. Run here are
those, and Gaussian ones. What counts as "near 1e-3 after several hundred epochs" was fixed before
the runs: a geometric mean within a factor of three, and a length between 200 and 1000 epochs. The
interval of the mean decides, and the number of runs that work after so many epochs. (In the first
form the mean itself and the median length did, whether runs had worked or not.)
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import holds_in_share, in_most_runs
from saddlescope.claims import CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE, WIDTH, letters
from saddlescope.nets import Gaussian, UniformFanIn
from saddlescope.observables import FullLoss, TestError
from saddlescope.papers.valleys._outcomes import WORKED
from saddlescope.papers.valleys._protocol import INIT_WORDS, Name
from saddlescope.papers.valleys._runs import first_below
from saddlescope.statistics import mean_of
from saddlescope.training import on_cut

error = TestError()
INITS = {"uniform": UniformFanIn(), "gaussian": Gaussian()}
NAME = Name.parse("f3_N768_bs4_L3")
NEAR, HUNDREDS = (1e-3 / 3, 3e-3), (200, 1000)


def setting(init, seed):
    return NAME.setting(rank=10, seed=seed, parameterisation=INITS[init])


def errors(results):
    return np.array([m[error.name].values[-1] if m.finite else np.inf for m in results.runs()])


def ends_near(results):
    low, high, text = geometric(errors(results))
    within, beyond = NEAR[0] < low and high < NEAR[1], high <= NEAR[0] or low >= NEAR[1]
    return CheckResult(bool(within), text, unclear=not (within or beyond))


def geometric(found):
    """The interval of the geometric mean of the test errors, and the sentence about it."""
    if not np.isfinite(found).all():
        return np.inf, np.inf, "a run diverged"
    mean, half = mean_of(np.log10(found))
    low, high = 10 ** (mean - half), 10 ** (mean + half)
    spread = f" (95 % interval {low:.1e} to {high:.1e}), from {min(found):.1e} to {max(found):.1e}"
    return low, high, f"geometric mean {10**mean:.2e}{spread if len(found) > 1 else ''}"


def works_after_hundreds(run):
    """A test error below 0.01, after several hundred epochs."""
    return run[error.name].values[-1] < WORKED and HUNDREDS[0] <= run.sizes["epoch"] <= HUNDREDS[1]


def say_length(results):
    length, half = mean_of(results.measured.length.values)
    n, n_half = mean_of([len(m.cuts) for m in results.runs()])
    return f"{length:.0f} ± {half:.0f} epochs, {n:.1f} ± {n_half:.1f} cuts".replace(" ± nan", "")


def works(results):
    found = errors(results)
    good = int(np.sum(found < WORKED))
    return holds_in_share(good, len(found), f"{good} of {len(found)} below 0.01; {geometric(found)[2]}")


def shorter_plateau(results):
    """Seed by seed."""
    times = [{int(m.seed): first_below(m) for m in results.select(init=init).runs()} for init in INITS]
    both = sorted(set(times[0]) & set(times[1]))
    if not both:
        return None
    uniform, gaussian = (np.array([found[seed] for seed in both]) for found in times)
    good = int(np.sum(gaussian < uniform / 2))
    text = f"median epochs to a loss of 1.4: gaussian {np.median(gaussian):.0f}, uniform {np.median(uniform):.0f}"
    return holds_in_share(good, len(both), f"{good} of {len(both)} seeds; {text}")


def draw(results):
    figure, axes = plt.subplots(1, 2, figsize=(WIDTH, 2.6), sharex=True, sharey=True)
    for ax, init in zip(axes, INITS, strict=True):
        for measured in results.select(init=init).runs():
            ax.loglog(np.arange(1, measured.sizes["epoch"] + 1), measured.loss.values, color=BLUE, lw=0.7)
            at = measured.cuts
            ax.loglog(at, measured.loss.values[at - 1], ".", color=ORANGE, ms=3)
        ax.set(xlabel="epoch", title=f"{INIT_WORDS[init]} draw")
    axes[0].set_ylabel("epoch loss")
    letters(axes)
    return figure


experiment = Experiment(
    title="f3_N768_bs4_L3 at rank 10: test error, epochs and cuts over seeds",
    source="App. A.2, C.4",
    setting=setting,
    full=dict(init=tuple(INITS), seed=range(12)),
    quick=dict(init=tuple(INITS), seed=range(1)),
    save_at=on_cut(after=10),
    observe=(error, FullLoss()),
    draw=draw,
    drawn="One line per seed; a dot is a cut of the learning rate.",
    claims=(
        Claim("With the uniform initialisation the test error ends near 1e-3.", "ours", ends_near,
              only={"init": "uniform"}),
        Claim("A uniform run works after several hundred epochs.", "ours",
              in_most_runs(works_after_hundreds, say_length), only={"init": "uniform"}),
        Claim("With the Gaussian initialisation the run works as well.", "ours", works, only={"init": "gaussian"}),
        Claim("A Gaussian run works after several hundred epochs.", "ours",
              in_most_runs(works_after_hundreds, say_length), only={"init": "gaussian"}),
        Claim("Under the Gaussian initialisation the first plateau is less than half as long.", "ours",
              shorter_plateau),
    ),
)  # fmt: skip
