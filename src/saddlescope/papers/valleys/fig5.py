"""Valleys paper, Fig. 5: does the low-rank net keep the target's symmetry, and lose it when all
maps are trained?

Compared are only nets that fit, so not at the paper's own (144, 48), where none does
(`valleys.symmetry`), but on two slower chirps of N = 4000. On (12, 4) all three kinds of nets fit
within 400 epochs: twelve seeds. On (36, 12) the frozen net fits within 3,000 epochs and the one with
all maps trained within 1,500: eight seeds and five. Of five true MLPs one fitted there after 3,000
epochs, so that they are not among these runs. Adam clipped to norm 1, every block.
"""

import numpy as np

from saddlescope.checks import decided_by, holds_in_share, mean_odd_share
from saddlescope.claims import UNCLEAR, Claim
from saddlescope.experiment import Experiment
from saddlescope.papers.valleys import _symmetry as symmetry
from saddlescope.papers.valleys._symmetry import EVEN, WORDS, fitting
from saddlescope.statistics import apart, mean_of
from saddlescope.training import SaveAt

BLOCKS = (3, 7)
TRIAL, EASY, HARD = 3, 12, 36  # the first is for quick looks
SAMPLES = 4000
EPOCHS = {
    TRIAL: dict.fromkeys(WORDS, 25),
    EASY: dict.fromkeys(WORDS, 400),
    HARD: {"frozen": 3000, "all": 1500, "mlp": 3000},
}


def setting(net, f1, seed, width, part):
    return symmetry.chirp_run(net, f1, f1 / 3, SAMPLES, round(part * EPOCHS[f1][net]), seed, width)


def by_target(results, net):
    """The odd shares of the runs that fit, for each chirp."""
    parts = {f"({f1}, {f1 // 3})": results.select(f1=f1) for f1 in results.values("f1")}
    return {word: np.array([mean_odd_share(m) for m in fitting(part, net)]) for word, part in parts.items()}


def counted(net, test):
    """test(odd shares) is true of most runs of a kind that fit; decided for each chirp."""

    def check(results):
        shares = by_target(results, net)
        groups = {word: (int(np.sum(test(found))), len(found)) for word, found in shares.items() if len(found)}
        good, n = (sum(c) for c in zip(*groups.values(), strict=True)) if groups else (0, 0)
        if not n:
            return None
        return holds_in_share(good, n, f"{good} of {n} runs that fit; {symmetry.say(results, net)}", groups=groups)

    return check


def asymmetric(net):
    return counted(net, lambda shares: shares > EVEN)


def symmetric(net):
    return counted(net, lambda shares: shares < EVEN)


def below(net, other):
    """The odd share of one kind of net lies below that of another on each chirp that both fit; where intervals of the
    means overlap, nobody can tell."""

    def check(results):
        one, two = by_target(results, net), by_target(results, other)
        both = {word: (mean_of(one[word]), mean_of(two[word])) for word in one
                if min(len(one[word]), len(two[word])) > 1}  # fmt: skip
        if not both:
            return None
        words = {word: a[0] < b[0] if apart(a, b) else UNCLEAR for word, (a, b) in both.items()}
        text = "; ".join(
            f"{word}: {WORDS[net]} {a[0]:.3f} ± {a[1]:.3f}, {WORDS[other]} {b[0]:.3f} ± {b[1]:.3f}"
            for word, (a, b) in both.items()
        )
        return decided_by(words, text)

    return check


def more_symmetric_than_at_first(results):
    """Training makes channels more symmetric than they were drawn, in every kind of net."""
    runs = {net: fitting(results, net) for net in WORDS}
    good = {net: sum(mean_odd_share(m) < mean_odd_share(m, 0) for m in found) for net, found in runs.items()}
    every = [m for found in runs.values() for m in found]
    if not every:
        return None
    first, last = (np.mean([mean_odd_share(m, at) for m in every]) for at in (0, -1))
    groups = {WORDS[net]: (good[net], len(found)) for net, found in runs.items() if found}
    text = f"{sum(good.values())} of {len(every)} runs that fit; mean odd share {first:.3f} → {last:.3f}"
    return holds_in_share(sum(good.values()), len(every), text, groups=groups)


SCATTER = "seeds differ far more than kinds of nets do"
experiment = Experiment(
    title="Symmetry of channels: low-rank net, all maps trained, full-rank MLP",
    source="Fig. 5",
    setting=setting,
    full=dict(net=WORDS, f1=(EASY, HARD), seed=range(12), width=(1024,), part=(1,)),
    quick=dict(net=WORDS, f1=(TRIAL,), seed=range(1), width=(48,), part=(1,)),
    where="f1 < 20 or (net == 'frozen' and seed < 8) or (net == 'all' and seed < 5)",
    save_at=SaveAt((0,)),
    observe=symmetry.observe(BLOCKS),
    draw=symmetry.draw(BLOCKS),
    drawn=symmetry.DRAWN,
    tables=symmetry.tables,
    claims=(
        Claim("A full-rank MLP learns asymmetric channels of a symmetric target.", "V21 · Fig. 5", asymmetric("mlp"),
              note="the odd parts of its channels, large at first, are nearly gone when it fits"),
        Claim("The low-rank net with all maps trained learns asymmetric channels as well.",
              "V21 · Fig. 5", asymmetric("all"), note=SCATTER),
        Claim("The channels of the low-rank net remain symmetric.", "V22 · Fig. 5", symmetric("frozen"),
              note="An even output needs no even channels: the last map can cancel odd parts. No channel *remains* "
              "symmetric either, since none is drawn so: the odd share starts near 0.8 and falls."),
        Claim("The low-rank constraint preserves the symmetry.", "V23 · Sec. 5", below("frozen", "all"), note=SCATTER),
        Claim("The frozen low-rank net is more symmetric than the MLP.", "ours", below("frozen", "mlp"),
              note=SCATTER),
        Claim("The low-rank net with all maps trained is more symmetric than the MLP.", "ours", below("all", "mlp"),
              note=SCATTER),
        Claim("Training makes channels more symmetric than they were drawn.", "ours", more_symmetric_than_at_first),
    ),
)  # fmt: skip
