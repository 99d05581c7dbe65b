"""Our own question: do deep nets fail because they cannot learn, or because the schedule freezes
them first?

The rule cuts when ten epochs are no better than the ten before, which on a flat noisy plateau
happens about every 20 epochs: a run that has not left it in some 280 epochs is frozen as a
constant. The control keeps the rate at 0.01 for 4,000 epochs. Factor 3, N = 768, batch 4, rank 5, L
= 5 and 6.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import decided_by, groups_by, holds_in_share, in_most_runs
from saddlescope.claims import UNCLEAR, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE, WIDTH, letters
from saddlescope.observables import TestError
from saddlescope.optimisers import Constant, HalveOnStagnation
from saddlescope.papers.valleys._protocol import Name
from saddlescope.papers.valleys._runs import ESCAPED, ending, first_below
from saddlescope.statistics import wilson
from saddlescope.theory import FrozenAt

RULES = {"halving": (HalveOnStagnation(), 10_000), "fixed": (Constant(), 4000)}
SHOWN = 400


def setting(rule, L, seed, width):
    schedule, epochs = RULES[rule]
    return Name(3, 768, 4, L).setting(rank=5, seed=seed, width=width, schedule=schedule, epochs=epochs)


def analyse(run, setting):
    loss, plateau = run.loss.values, first_below(run)
    at = np.unique(np.geomspace(1, len(loss), SHOWN).astype(int)) - 1
    return ending(run) | {
        "plateau": plateau, "cuts_on_plateau": int(np.sum(run.cuts < min(plateau, len(loss)))),
        "curve": (("instant",), loss[at]), "epoch_at": (("instant",), at),
    }  # fmt: skip


def words(results, name="outcome"):
    return results.measured[name].values.astype(str)


def frozen(results):
    """Runs under the schedule that never leave the plateau, though the same draw leaves it at a fixed rate."""
    halving, fixed = results.select(rule="halving"), results.select(rule="fixed")
    if not (halving.measured.sizes["run"] and fixed.measured.sizes["run"]):
        return None
    stuck, leaves = np.isinf(halving.measured.plateau.values), np.isfinite(fixed.measured.plateau.values)
    n = int(stuck.sum())
    good = int(np.sum(stuck & leaves))
    cuts = halving.measured.cuts_on_plateau.values[stuck]
    text = f"{n} of {stuck.size} runs stay on the plateau under the schedule"
    if n:
        text += f" ({np.median(cuts):.0f} cuts there, median); at a fixed rate {good} of these leave it, after "
        text += f"{np.median(fixed.measured.plateau.values[stuck & leaves]):.0f} epochs" if good else "—"
    groups = groups_by(halving.where(stuck), "L", leaves[stuck])
    return holds_in_share(good, n, text, groups=groups)


def say(results):
    part = results.select(rule="fixed")
    found = [f"L = {L}: {', '.join('never' if np.isinf(p) else f'{p:.0f}' for p in at.measured.plateau.values)}"
             for L in sorted(part.values("L")) for at in [part.select(L=L)]]  # fmt: skip
    return f"epochs on the plateau at a fixed rate, {'; '.join(found)}"


def fewer_fail(results):
    """Not failed: a test error below 0.5. At a fixed rate the last iterate stands on its noise, so that no more is
    asked. Of the failures under the schedule half or more must be gone at a fixed rate, those that come in their place
    taken off; the interval of that share decides, for each depth."""
    found, said = {}, []
    for L in sorted(results.values("L")):
        halving, fixed = (words(results.select(rule=rule, L=L)) == "failed" for rule in RULES)
        if not halving.any() or len(halving) != len(fixed):
            return None
        n, gone = int(halving.sum()), max(0, int(halving.sum()) - int(fixed.sum()))
        low, high = wilson(gone, n)
        found[f"L = {L}"] = UNCLEAR if n < 2 or low < 0.5 < high else low >= 0.5
        said.append(f"L = {L}: {n} of {len(halving)} under the schedule, {int(fixed.sum())} at a fixed rate")
    return decided_by(found, f"failed runs, {'; '.join(said)}")


def draw(results):
    shown = sorted(results.values("L"))
    figure, axes = plt.subplots(1, len(shown), figsize=(WIDTH, 2.9), sharey=True, squeeze=False)
    for ax, L in zip(axes[0], shown, strict=True):
        for rule, colour, order in (("halving", BLUE, 3), ("fixed", ORANGE, 2)):
            for i, m in enumerate(results.select(rule=rule, L=L).runs()):
                label = {"halving": "halving on stagnation", "fixed": "fixed rate 0.01"}[rule] if i == 0 else None
                ax.loglog(m.epoch_at + 1, m.curve, color=colour, lw=0.8, label=label, zorder=order)
        ax.axhline(ESCAPED, color="0.6", ls=":", lw=0.8)
        said = results.select(rule="halving", L=L).predicted
        if said.sizes["run"]:
            ax.axvline(said.epochs[0], color=BLUE, ls=":", lw=0.8, label="frozen at the earliest")
        ax.set(xlabel="epoch", title=f"L = {L}")
    axes[0, 0].set_ylabel("epoch loss")
    letters(axes[0])
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


LONGER = "all do at L = 5; at L = 6 the plateau lasts longer than 4,000 epochs for most"
experiment = Experiment(
    title="Deep nets under the halving schedule and at a fixed learning rate",
    source="our own question, on App. C.5",
    setting=setting,
    full=dict(rule=RULES, L=(5, 6), seed=range(12), width=(1024,)),
    quick=dict(rule=RULES, L=(5,), seed=range(1), width=(32,)),
    observe=(TestError(),),
    predict=lambda rule, **_: (FrozenAt(),) if rule == "halving" else (),
    analyse=analyse,
    draw=draw,
    drawn="One line per seed: three cosines, N = 768, batch 4, rank 5. Below the dotted level a run has left the "
    "plateau.",
    claims=(
        Claim("A deep run that the schedule freezes on the plateau leaves it at a fixed rate.", "ours", frozen,
              note=LONGER),
        Claim("At a fixed rate deep nets (L ≥ 5) leave the plateau within 4,000 epochs.", "ours",
              in_most_runs(lambda m: np.isfinite(float(m.plateau)), say, by="L"), only={"rule": "fixed"}, note=LONGER),
        Claim("At a fixed rate half as many deep runs fail, or fewer.", "ours", fewer_fail, note=LONGER),
    ),
)  # fmt: skip
