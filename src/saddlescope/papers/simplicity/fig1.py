"""Simplicity paper, Fig. 1 B–G: six architectures learn a solution of one unit, wait, and learn one
of two.

Loss, and first-layer weights on the plateau and at the end (of heads the first two entries of the
key). B, C and G are trained on the population, where the paper draws P = 8192 samples, which D and
E do not need; F on such a draw. Levels: the best net of one unit, on what the net is trained on.
`--movie` makes the paper's video: loss and weights over time.
"""

from saddlescope.checks import drops, plateau_levels, widths
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import weights_movie
from saddlescope.observables import EffectiveWidth, Parameters
from saddlescope.papers.simplicity._panels import NAMES, RULES, STEPS, losses_and_weights, panel_setting
from saddlescope.theory import LinearLevels, NarrowLevels, OrthogonalPoints
from saddlescope.training import every

width = EffectiveWidth(RULES["B"])  # of the same name, whatever the rule
# Searches for a minimum: all starts of C and F find the least one, 3 of 20 starts of E do.
TRIES = {"C": 5, "E": 40, "F": 6, "G": 12}
SHORT = ("F", "G")  # plateaus of a few dozen steps in thousands: read often


def setting(panel, seed):
    return panel_setting(panel, seed)


def observe(panel, seed):
    return EffectiveWidth(RULES[panel]), Parameters()


def save_at(panel, seed):
    return every(STEPS[panel] // (1000 if panel in SHORT else 100), STEPS[panel])


def predict(panel, seed):
    if panel[0] == "B":
        return (LinearLevels(),)
    return (OrthogonalPoints(),) if panel == "D" else (NarrowLevels(2, tries=TRIES[panel]),)


def draw(results):
    return losses_and_weights(results, NAMES)


# Levels: B (I) relaxes for 600 steps; diag and C have finite separation of their modes, and C's
# plateau lies on a ridge between two equal minima; E is a shoulder at this scale; F and G are left before they are
# reached, since a plateau ends at a random time there.
LEVELS = {"B": 1e-5, "B diag": 0.01, "C": 0.02, "D": 1e-3, "E": 0.01, "F": 0.1, "G": 0.01}
WIDTHS = {"G": ((1, 2), (1, 3))}  # a third unit may help to fit
TIE = "In one run t_∞ of two units is 303 and 308 steps, a closer call than in any other: they grow together."
HEADS = (
    "The loss says two heads, their norms more: on short plateaus the next head is above a tenth of the first already, "
    "and at the end two heads may share a direction, or a small one be left over."
)
experiment = Experiment(
    title="Six architectures first learn a solution of one unit, then one of two",
    source="Fig. 1 B–G",
    setting=setting,
    full=dict(panel=NAMES, seed=range(20)),
    quick=dict(panel=("B", "C", "D", "G"), seed=range(1)),
    save_at=save_at,
    observe=observe,
    predict=predict,
    draw=draw,
    drawn="Above, the loss of every run, the first seed thick, until it is learned. Dashed: levels of the "
    "best nets of no, one and two units, on the first seed's data. Below, the first seed's first-layer "
    "weights, one dot per unit, on the middle plateau and at the end; of heads two entries of the key.",
    movie=lambda results: weights_movie(results, "panel", NAMES),
    claims=(
        *(Claim(f"{p} ({name}): the loss drops exactly twice.", "S12 · Fig. 1", drops(2), {"panel": p},
                note=TIE if p == "G" else "") for p, name in NAMES.items()),
        *(Claim(f"{p} ({name}): the plateau is the best solution of one unit, to {within:g}.", "S13 · Fig. 1",
                plateau_levels(within), {"panel": p})
          for (p, name), within in zip(NAMES.items(), LEVELS.values(), strict=True)),
        *(Claim(f"{p} ({name}): one effective unit on the plateau, two{' or three' * (p in WIDTHS)} at the end.",
                "S14 · Fig. 1", widths(width, *WIDTHS.get(p, ((1, 2),))), {"panel": p},
                note=HEADS if p == "F" else "") for p, name in NAMES.items()),
    ),
)  # fmt: skip
