"""Our own question: which initialisation gives the plateaus and failures that the paper reports?

The paper names the μ-parameterisation, which with only the width → rank maps trained is the
mean-field one. Its numbers fit weights uniform on ±1/√fan-in. f3_N768_bs4 at rank 10, depths 1 to
6, five seeds: how long the first plateau lasts and which share of runs works. A clip acts on the
gradient of C, which in the mean-field form is n times smaller: the same clip bites less there than
in the μP form, so that both forms are run, clipped and not. `valleys.init_counts` has the paper's
own counts.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import groups_by, holds_in_share
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, GREEN, ORANGE, PURPLE, WIDTH, letters
from saddlescope.observables import TestError
from saddlescope.papers.valleys._protocol import INIT_WORDS, INITS, valleys
from saddlescope.papers.valleys._runs import CLIPS, SLOW, ending, first_below
from saddlescope.tables import Table


def setting(init, clip, L, seed, width):
    return valleys(3, 768, 4, L, seed=seed, init=init, clip=CLIPS[clip], width=width)


def analyse(run, setting):
    return ending(run) | {"plateau": first_below(run)}


def worked(results):
    return np.mean(results.measured.outcome.values.astype(str) == "worked") if results.measured.sizes["run"] else np.nan


def plateau(results):
    """Median epochs before the loss is below 1.4; infinite where half the runs never leave."""
    return float(np.median(results.measured.plateau.values)) if results.measured.sizes["run"] else np.nan


def depths(results):
    return sorted(results.values("L"))


def by_depth(results, what):
    return [what(results.select(L=L)) for L in depths(results)]


def shown(values):
    return ", ".join("never" if np.isinf(v) else f"{v:.2g}" if v < 1 else f"{v:.0f}" for v in values)


def uniform_has_plateau(results):
    """Clipped, as in the paper: seed by seed longer than twice the Gaussian's, at depths above 1; decided for each
    depth as well. A seed at which neither leaves says nothing."""
    clipped = results.select(clip="clipped")
    found = {init: by_depth(clipped.select(init=init), plateau) for init in INITS}
    both = [clipped.select(init=init).where(clipped.select(init=init).measured.L.values > 1)
            for init in ("uniform", "gaussian")]  # fmt: skip
    uniform, gaussian = (part.measured.sortby(["L", "seed"]) for part in both)
    if not uniform.sizes["run"] or uniform.sizes["run"] != gaussian.sizes["run"]:
        return None
    left = np.isfinite(uniform.plateau.values) | np.isfinite(gaussian.plateau.values)
    longer, L = uniform.plateau.values > 2 * gaussian.plateau.values, uniform.L.values
    groups = {f"L = {d}": (int(np.sum(longer & left & (d == L))), int(np.sum(left & (d == L)))) for d in sorted(set(L))}
    good, n = int(np.sum(longer & left)), int(left.sum())
    text = "; ".join(f"{init}: {shown(values)}" for init, values in found.items() if values)
    return holds_in_share(good, n, f"{good} of {n} pairs; median epochs by depth, {text}", groups=groups)


SHALLOW, DEEP = (2, 3, 4), (5, 6)


def works_at(init, working, failing=()):
    """Clipped, runs of some depths work and those of others do not; decided for each depth as well."""

    def check(results):
        clipped = results.select(init=init, clip="clipped")
        part = clipped.select(L=(*working, *failing))
        if not {*working, *failing} <= set(depths(part)):
            return None
        works = part.measured.outcome.values.astype(str) == "worked"
        good = works == np.isin(part.measured.L.values, working)
        text = f"{good.sum()} of {good.size} runs; worked by depth: {shown(by_depth(clipped, worked))}"
        return holds_in_share(good.sum(), good.size, text, groups=groups_by(part, "L", good))

    return check


def tables(results):
    rows = []
    for init in INITS:
        for clip in CLIPS:
            part = results.select(init=init, clip=clip)
            for L in depths(part):
                at = part.select(L=L)
                n = at.measured.sizes["run"]
                errors = at.measured.test_error.values
                rows.append((init, clip, L, n, plateau(at), f"{worked(at) * n:.0f} of {n}", float(np.median(errors))))
    columns = ("initialisation", "clipping", "L", "seeds", "median plateau, epochs", "worked", "median test error")
    return (Table("by_depth", "f3_N768_bs4: plateau and worked runs by initialisation and depth", columns, rows),)


def draw(results):
    figure, axes = plt.subplots(2, 2, figsize=(WIDTH, 4.4), sharex=True, sharey="row")
    for column, clip in enumerate(CLIPS):
        for init, colour, mark in zip(INITS, (BLUE, ORANGE, GREEN, PURPLE), "os^D", strict=True):
            part = results.select(init=init, clip=clip)
            if not part.measured.sizes["run"]:
                continue
            lengths = part.measured.plateau.values
            left = np.isfinite(lengths)
            axes[0, column].semilogy(part.measured.L.values[left], lengths[left], mark, color=colour, ms=4,
                                     mfc="none")  # fmt: skip
            axes[0, column].semilogy(depths(part), by_depth(part, plateau), color=colour)
            axes[1, column].plot(depths(part), by_depth(part, worked), color=colour, marker=mark, ms=4,
                                 label=INIT_WORDS[init])  # fmt: skip
        axes[0, column].set_title({"clipped": "clipped to norm 1", "free": "not clipped"}[clip])
        axes[1, column].set(xlabel="depth L", xticks=depths(results))
    axes[0, 0].set_ylabel("epochs on the first plateau")
    axes[1, 0].set_ylabel("share of runs that worked")
    letters(axes.flat)
    figure.legend(*axes[1, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


experiment = Experiment(
    title="Length of the first plateau and share of working runs, by initialisation",
    source="App. A.1, C.1; our own question",
    setting=setting,
    full=dict(init=INITS, clip=CLIPS, L=range(1, 7), seed=range(5), width=(1024,)),
    quick=dict(init=("uniform", "gaussian"), clip=("clipped",), L=(1, 3), seed=range(1), width=(64,)),
    observe=(TestError(),),
    analyse=analyse,
    draw=draw,
    drawn="Marks of the upper row are runs that leave the plateau, lines their medians; those of the lower row are "
    "shares of the runs. Where no line is, half of the runs or more never leave it.",
    tables=tables,
    claims=(
        Claim("The uniform draw has a first plateau more than twice as long as the Gaussian.", "ours",
              uniform_has_plateau),
        Claim("Under the uniform draw nets of L = 2 to 4 work, and deeper ones do not.", "ours",
              works_at("uniform", SHALLOW, DEEP)),
        Claim("Under the Gaussian draw deep nets (L ≥ 5) work.", "ours", works_at("gaussian", DEEP)),
        Claim("Under the mean-field draw deep nets work.", "ours", works_at("mean-field", DEEP), note=SLOW),
        Claim("Under the μP draw deep nets work.", "ours", works_at("mup", DEEP), note=SLOW),
    ),
)  # fmt: skip
