"""Simplicity paper, Fig. 1 B–G: six architectures learn a solution of one unit, wait, and learn one
of two.

Loss, and first-layer weights on the plateau and at the end (of heads the first two entries of the
key). B, C, F and G are trained on a draw of P = 8192 samples, as in the paper; D and E on given points. Our own
control trains C and G on the population too; for B `simplicity.fig1b` does. Levels: the best net of one unit, on what
the net is trained on. The paper says less: a solution that one unit can express.
`--movie` makes the paper's video: loss and weights over time.
"""

from saddlescope.checks import drops, plateau_levels, widths
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import weights_movie
from saddlescope.observables import EffectiveWidth, Parameters
from saddlescope.papers.simplicity._panels import NAMES, RULES, SAMPLES, STEPS, losses_and_weights, panel_setting
from saddlescope.theory import LinearLevels, NarrowLevels, OrthogonalPoints
from saddlescope.training import every

width = EffectiveWidth(RULES["B"])  # of the same name, whatever the rule
# Searches for a minimum: all starts of C and F find the least one, 3 of 20 starts of E do.
TRIES = {"C": 5, "E": 40, "F": 6, "G": 12}
SHORT = ("F", "G")  # plateaus of a few dozen steps in thousands: read often

DRAWN, OURS = ("draw", "points"), ("C", "G")  # what the paper trained on; panels that have the population beside it
DATA = {p: ("points",) if p in "DE" else ("draw", "population") if p in OURS else ("draw",) for p in NAMES}


def setting(panel, data, seed):
    return panel_setting(panel, seed, samples=SAMPLES if data == "draw" else None)


def observe(panel, **_):
    return EffectiveWidth(RULES[panel]), Parameters()


def save_at(panel, **_):
    return every(STEPS[panel] // (1000 if panel in SHORT else 100), STEPS[panel])


def predict(panel, **_):
    if panel[0] == "B":
        return (LinearLevels(),)
    return (OrthogonalPoints(),) if panel == "D" else (NarrowLevels(2, tries=TRIES[panel]),)


def shown(results):
    """The runs on the paper's data, or all where there are none."""
    part = results.select(data=DRAWN)
    return part if part.measured.sizes["run"] else results


def draw(results):
    return losses_and_weights(shown(results), NAMES)


# Levels: B (I) relaxes for 600 steps; diag and C have finite separation of their modes, and C's
# plateau lies on a ridge between two equal minima; E is a shoulder at this scale; F and G are left before they are
# reached, since a plateau ends at a random time there. A draw has the tolerance that the population had first.
LEVELS = {"B": 1e-5, "B diag": 0.01, "C": 0.02, "D": 1e-3, "E": 0.01, "F": 0.1, "G": 0.01}
WIDTHS = {"G": ((1, 2), (1, 3))}  # a third unit may help to fit
TIE = "In one run t_∞ of two units is 303 and 308 steps, a closer call than in any other: they grow together."
HEADS = (
    "The loss says two heads, their norms more: on short plateaus the next head is above a tenth of the first already, "
    "and at the end two heads may share a direction, or a small one be left over."
)
VALLEY = (
    "A draw is not quite round: one direction is best, and the plateau lies in a valley of nearly equal solutions that "
    "leads to it. On the population all directions are equal."
)
RIDGE = (
    "On a draw the two mirrored minima have unlike losses, up to 5 % apart. The plateau lies near the ridge between "
    "them, above the better one."
)


def claims_of(panel, only, place="", where=None):
    """Drops, level and widths of a panel; of one on other data than the paper's, ours."""
    name, within = f"{panel} ({NAMES[panel]}){place}", LEVELS[panel]
    more = " or three" * (panel in WIDTHS)
    why = {"C": RIDGE, "G": VALLEY}.get(panel, "") if not place else ""
    return (
        Claim(f"{name}: the loss drops exactly twice.", where or "S12 · Fig. 1", drops(2), only,
              note=TIE if panel == "G" and place else ""),
        Claim(f"{name}: the plateau is the best solution of one unit, to {within:g}.", where or "S13 · Fig. 1",
              plateau_levels(within), only, note=why),
        Claim(f"{name}: one effective unit on the plateau, two{more} at the end.", where or "S14 · Fig. 1",
              widths(width, *WIDTHS.get(panel, ((1, 2),))), only, note=HEADS if panel == "F" else ""),
    )  # fmt: skip


experiment = Experiment(
    title="Six architectures first learn a solution of one unit, then one of two",
    source="Fig. 1 B–G",
    setting=setting,
    full=dict(panel=NAMES, data=(*DRAWN, "population"), seed=range(20)),
    quick=dict(panel=("B", "C", "D", "G"), data=(*DRAWN, "population"), seed=range(1)),
    where=" or ".join(f"(panel == '{p}' and data in {of})" for p, of in DATA.items()),
    save_at=save_at,
    observe=observe,
    predict=predict,
    draw=draw,
    drawn="Above, the loss of every run, the first seed thick, until it is learned. Dashed: levels of the "
    "best nets of no, one and two units, on the first seed's data. Below, the first seed's first-layer "
    "weights, one dot per unit, on the middle plateau and at the end; of heads two entries of the key. Data as in the "
    "paper: a draw, or given points.",
    movie=lambda results: weights_movie(shown(results), "panel", NAMES),
    claims=(
        *(claim for p in NAMES for claim in claims_of(p, {"panel": p, "data": DRAWN})),
        *(claim for p in OURS
          for claim in claims_of(p, {"panel": p, "data": "population"}, ", on the population", "ours")),
    ),
)  # fmt: skip
