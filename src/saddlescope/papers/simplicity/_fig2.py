"""The nets of Fig. 2, for tasks whose three singular values follow a power law s_n ∝ n^{-κ}, Σ s_n
= 1.

Linear: white inputs, W* = diag(s). Attention: x ~ N(0, diag(√s)), so that Σ_yZ has the positive
singular values s.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.figures import BLACK, thinned
from saddlescope.nets import LinearHead, Units, linear_units
from saddlescope.optimisers import GradientDescent
from saddlescope.setting import Setting
from saddlescope.tasks import InContextRegression, LinearTeacher

EYE = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
LINEAR_RATE, ATTENTION_RATE = 0.05, 0.02


def power_law(kappa):
    s = np.arange(1, 4.0) ** -kappa
    return s / s.sum()


def linear_run(seed, units=100, kappa=1.0, scale=1e-6, steps=3000, rank=0, spread=1.0):
    return Setting(
        task=LinearTeacher(np.diag(power_law(kappa)), EYE),
        net=linear_units(units, scale, rank=rank, spread=spread),
        optimiser=GradientDescent(LINEAR_RATE), steps=steps, seed=seed,
    )  # fmt: skip


def attention_run(seed, units=25, kappa=1.0, steps=20_000, samples=8192):
    return Setting(
        task=InContextRegression(np.sqrt(power_law(kappa)), 32, samples),
        net=Units(units, LinearHead(3), 0.005),
        optimiser=GradientDescent(ATTENTION_RATE), steps=steps, seed=seed,
    )  # fmt: skip


def all_drops(run):
    return [d.at for d in run.stages.drops]


def three_drops(run):
    """The steps of the first three drops; infinite for what the run is too short for."""
    return np.array([*all_drops(run), *[np.inf] * 3][:3])


def wait(run):
    """Steps between the first and the last drop; 0 where there is one, infinite where there is none."""
    found = all_drops(run)
    return found[-1] - found[0] if found else np.inf


def medians(results, axis, what):
    """{value: median over seeds} of what(run)."""
    return {v: float(np.median([what(m) for m in results.select(**{axis: v}).runs()])) for v in results.values(axis)}


def listed(found, word="{:g}"):
    return ", ".join(f"{word.format(k)}: {'never' if np.isinf(v) else f'{v:.0f}'}" for k, v in found.items())


def curves(ax, results, axis, values, label, relative=False, legend="upper right"):
    """Loss curves by the value of an axis, first seed thick; predicted levels and drops marked."""
    levels, drops, learned = [], [], 0
    for value, colour in zip(values, plt.get_cmap("viridis")(np.linspace(0.9, 0.1, len(values))), strict=True):
        for i, m in enumerate(results.select(**{axis: value}).runs()):
            whole = float(m.loss[0]) if relative else 1.0
            at, loss = thinned(m.loss.values / whole)
            learned = max(learned, at[np.argmax(loss - loss[-1] < 0.01 * loss[0])])
            ax.plot(at, loss, color=colour, lw=1.2 if i == 0 else 0.25, label=None if i else label(value))
            if "plateau_level" in m.predicted and not relative:
                levels = m.predicted["plateau_level"].values
            if i == 0 and "drop_step" in m.predicted:
                drops = m.predicted["drop_step"].values
                ax.plot(drops, np.interp(drops, at, loss), "x", color=colour, ms=4)
    if len(drops):
        ax.plot([], [], "x", color=BLACK, ms=5, label="theory: drops")
    for k, level in enumerate(levels):
        ax.axhline(level, color=BLACK, ls="--", lw=0.7, label=None if k else "theory: levels")
    ax.set(xlabel="step", ylabel="loss over its start" if relative else "loss", xlim=(0, 1.3 * learned + 1))
    if results.measured.sizes["run"]:
        ax.legend(loc=legend)
