"""Mean-field paper, Section 2.1: the same net in the mean-field and in the standard parameterisation, by width.

Nets of two blocks and rank 2 learn cos πx on 16 points by full-batch descent. *mean-field* has 1/n
before every sum and rates that grow as n; its weights start correlated with the frozen ones, so that
its limit moves. *mean zero* is the same with the usual independent start. *standard* draws weights
uniform on ±1/√fan-in and has one learning rate; *standard, rate ∝ 1/n* divides that rate by n. The
half-time is the first step at which the loss is half of what the output 0 has. The scatter is the
distance of a run's half-time from the mean over seeds: it vanishes if the dynamics have a limit.
"""

from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import decided_by
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import WIDTH, letters
from saddlescope.initials import given_weights
from saddlescope.nets import MeanField, Parameterisation, Tanh, UniformFanIn, low_rank
from saddlescope.optimisers import GradientDescent
from saddlescope.papers.meanfield._coupling import word_in_band
from saddlescope.setting import Setting
from saddlescope.statistics import exponents
from saddlescope.tasks import Points

STEPS, RANK = 4000, 2
X = np.linspace(-1, 1, 16)
NONE, HALF, ONE = (-0.1, 0.1), (-0.65, -0.35), (-1.2, -0.8)  # exponents of n, asked of four widths
FLAT = (-0.25, 0.25)  # of the scatter, which has a wide interval: it leaves out −1/2


class Form(NamedTuple):
    """A parameterisation, its learning rate by width, and whether weights start correlated."""

    parameterisation: Parameterisation
    rate: float
    power: int = 0
    correlated: bool = False


FORMS = {
    "mean-field": Form(MeanField(), 0.05, correlated=True),
    "mean zero": Form(MeanField(), 0.05),
    "standard": Form(UniformFanIn(), 0.001),
    "standard, rate ∝ 1/n": Form(UniformFanIn(), 0.256, -1),
}


def setting(form, n, seed):
    f = FORMS[form]
    made = Setting(
        task=Points(x=tuple((v,) for v in X), y=tuple((v,) for v in np.cos(np.pi * X))),
        net=low_rank(RANK, 1, width=n, activation=Tanh(), parameterisation=f.parameterisation),
        optimiser=GradientDescent(lr=f.rate * n**f.power),
        steps=STEPS,
        seed=seed,
    )
    return made.replace(initial=given_weights(correlated(made))) if f.correlated else made


def correlated(made):
    """The net's own draw, with the sum of its neuron's frozen weights added to every trained one."""
    params = {k: np.asarray(v) for k, v in made.initial_params().items()}
    own = {j: params[f"A{j}"].sum(axis=1) + params[f"b{j}"] for j in (0, 1)}
    return params | {f"C{j}": params[f"C{j}"] + own[j] for j in (0, 1)}


def analyse(run, made):
    return {"half_step": half_step(run.loss.values)}


def half_step(loss):
    """When half of the target is learned, on a line between steps; NaN for a run that never gets there."""
    half = np.mean(np.cos(np.pi * X) ** 2) / 2
    below = np.flatnonzero(loss <= half)
    if not below.size:
        return np.nan
    i = max(int(below[0]), 1)
    return float(i - (half - loss[i]) / (loss[i - 1] - loss[i]))


def half_times(form, band):
    """The exponent of the half-time in n."""

    def check(results):
        runs = list(results.select(form=form).runs())
        if not runs:
            return None
        steps, widths = np.array([float(r.half_step) for r in runs]), np.array([r.n.item() for r in runs])
        there = np.isfinite(steps)  # a run that never gets there takes longer than its steps
        slope, half = (v[0] for v in exponents(widths[:, None], np.where(there, steps, STEPS), ~there))
        text = f"half-time ∝ n^{slope:.2f} ± {half:.2f}, {there.sum()} of {there.size} runs halve their loss"
        return decided_by({form: word_in_band((slope, half), band)}, f"{text}; band {band[0]:g} to {band[1]:g}")

    return check


def scatter(results, form):
    """Widths, and |half-time − its mean over seeds| over that mean, for each run."""
    found = []
    for n in results.values("n"):
        steps = results.select(form=form, n=n).measured.half_step.values
        steps = steps[np.isfinite(steps)]
        found += [(n, gap) for gap in np.abs(steps / steps.mean() - 1)] if len(steps) > 1 else []
    return np.array(found).reshape(-1, 2).T


def scatters(form, band):
    """The exponent of the scatter over seeds in n."""

    def check(results):
        widths, gaps = scatter(results, form)
        if not len(gaps):
            return None
        slope, half = (v[0] for v in exponents(widths[:, None], gaps))
        means = ", ".join(f"{gaps[widths == n].mean():.3f} at n = {n:g}" for n in np.unique(widths))
        text = f"scatter ∝ n^{slope:.2f} ± {half:.2f}: {means}; band {band[0]:g} to {band[1]:g}"
        return decided_by({form: word_in_band((slope, half), band)}, text)

    return check


def draw(results):
    forms, widths = results.values("form"), results.values("n")
    figure, axes = plt.subplots(1, len(forms), figsize=(WIDTH, 2.5), sharey=True, squeeze=False)
    shades = plt.get_cmap("viridis")(np.linspace(0.05, 0.9, len(widths)))
    for ax, form in zip(axes[0], forms, strict=True):
        for n, colour in zip(widths, shades, strict=True):
            for i, run in enumerate(results.select(form=form, n=n).runs()):
                label = None if i else f"n = {n}"
                ax.loglog(np.arange(1, len(run.loss)), run.loss.values[1:], color=colour, lw=0.7, label=label)
        ax.set(xlabel="step", ylim=(1e-3, 3))
        ax.set_title(form.replace(", ", ",\n"))
    axes[0, 0].set_ylabel("loss")
    letters(axes[0])
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


experiment = Experiment(
    title="Loss by width: mean-field nets have a limit, standard ones have none",
    source="Section 2.1",
    setting=setting,
    analyse=analyse,
    keep=("loss",),
    full=dict(form=tuple(FORMS), n=(64, 256, 1024, 4096), seed=range(40)),
    quick=dict(form=("mean-field", "standard", "standard, rate ∝ 1/n"), n=(64, 1024), seed=range(6)),
    draw=draw,
    drawn="One line per run: the loss over steps of full-batch descent, in a parameterisation that the title names.",
    claims=(
        Claim(
            "Mean-field nets of all widths take the same time.",
            "M23, M26 · Section 2.1",
            half_times("mean-field", NONE),
        ),
        Claim(
            "Their scatter over seeds falls as n^(−1/2): the evolution becomes deterministic.",
            "M26 · Section 2.1",
            scatters("mean-field", HALF),
        ),
        Claim(
            "Standard nets learn faster in proportion to n: their dynamics have no limit.",
            "ours",
            half_times("standard", ONE),
        ),
        Claim("At a rate ∝ 1/n standard nets take the same time, …", "ours", half_times("standard, rate ∝ 1/n", NONE)),
        Claim("… but their scatter over seeds does not fall with n.", "ours", scatters("standard, rate ∝ 1/n", FLAT)),
    ),
)
