"""Simplicity paper, Proposition 5: in a quadratic net one unit grows without bound while the others
stay small.

Random eigenvalues of Σ_yZ of both signs, as the proposition assumes, or of one sign, or all equal,
as those of Fig. 1G are: a unit with -v > |a| then never explodes. Ten units of size ε, in the
coordinates of Eq. 48, a = u / √2. The time t_∞ of each unit from the integral (sign flips included)
against the equations solved by another's solver; what is conserved; and how large the other units
are when the first reaches one, over ε: a slope of 1, between ε = 1e-6 and 1e-8, since units that
explode nearly together come apart only there.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp

from saddlescope.checks import always, holds_in_share, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE, WIDTH, letters, plain_ticks
from saddlescope.theory import explosion_time

SCALES = (1e-2, 1e-4, 1e-6, 1e-8)
UNITS = 10
NEVER = -1.0
LONG = 3000  # over the unit's size: what has not grown by then stays small


def eigenvalues(rng, dimension, signs):
    s = np.sort(rng.standard_normal(dimension))
    s[0], s[-1] = -abs(s[0]) - 0.2, abs(s[-1]) + 0.2
    return {"both": s, "one": np.abs(s), "tied": np.ones(dimension)}[signs]


def measure(dimension, signs, seed):
    rng = np.random.default_rng([dimension, seed])
    s = eigenvalues(rng, dimension, signs)
    v, u = rng.standard_normal(UNITS), rng.standard_normal((UNITS, dimension))
    a, size = u / np.sqrt(2), v**2 + (u**2).sum(1)
    theory = np.array([explosion_time(*unit, s) for unit in zip(v, a, strict=True)])
    ends = [to_the_end(*unit, s) for unit in zip(v, a, strict=True)]
    solved, flips, drift = (np.array(column) for column in zip(*ends, strict=True))
    others = np.array([eps * second_when_first_is(1 / eps, v, a, s, theory) for eps in SCALES])
    return {
        "theory": (("unit",), stored(theory)), "solved": (("unit",), stored(solved)), "flips": (("unit",), flips),
        "conserved": float(drift.max()), "others": (("eps",), others),
        "exponent": float(np.log(others[-1] / others[-2]) / np.log(SCALES[-1] / SCALES[-2])),
        "place": int(np.sum(size >= size[np.argmin(theory)])),
        "gap_to_second": float(np.sort(theory)[1] / theory.min() - 1),
    }  # fmt: skip


def stored(times):
    """With NEVER for what stays small: a run with numbers that are not finite counts as diverged."""
    return np.where(np.isinf(times), NEVER, times)


def motion(s):
    return lambda t, z: np.append(s @ z[1:] ** 2, s * z[0] * z[1:])


def to_the_end(v, a, s):
    """Eq. 48 followed to 1e7 times the start and extrapolated, infinite where it stays small; whether v turns; how far
    v² - Σ a² drifts, relative."""
    size = np.sqrt(v**2 + a @ a)

    def far(t, z):
        return np.abs(z[0]) - 1e7 * size

    far.terminal = True
    run = solve_ivp(motion(s), (0, LONG / size), np.append(v, a), rtol=1e-11, atol=1e-14 * size, events=far,
                    method="DOP853")  # fmt: skip
    kept = run.y[0] ** 2 - (run.y[1:] ** 2).sum(0)
    early = np.abs(run.y[0]) < 100 * size  # later both are so large that their difference is rounding
    drift = np.abs(kept[early] - kept[0]).max() / size**2
    if not len(run.t_events[0]):
        return np.inf, False, drift
    grown = s[np.argmax(np.abs(run.y[1:, -1]))]
    return run.t[-1] + 1 / (grown * run.y[0, -1]), bool(np.sign(run.y[0, -1]) != np.sign(v)), drift


def second_when_first_is(size, v, a, s, times):
    """The largest of the other units when the first to explode has grown to this size. The equations have no scale of
    their own: from weights ε times as large the same is reached at size 1, with all units ε times as large."""
    order = np.argsort(times)
    first, rest = order[0], order[1:]

    def there(t, z):
        return np.log(z @ z) - 2 * np.log(size)

    there.terminal = True
    run = solve_ivp(motion(s), (0, 2 * times[first]), np.append(v[first], a[first]), rtol=1e-10, atol=1e-14,
                    events=there, method="DOP853")  # fmt: skip
    t = run.t[-1]
    sizes = [np.linalg.norm(solve_ivp(motion(s), (0, t), np.append(v[i], a[i]), rtol=1e-10, atol=1e-14,
                                      method="DOP853").y[:, -1]) for i in rest]  # fmt: skip
    return max(sizes)


def times_agree(results):
    theory, solved = (np.concatenate([m[n].values for m in results.runs()]) for n in ("theory", "solved"))
    flips = np.concatenate([m.flips.values for m in results.runs()]).astype(bool)
    gap, never = np.abs(theory / solved - 1), theory == NEVER
    good = int(np.sum(gap <= 1e-5))
    text = f"{good} of {len(gap)} units, {int(flips.sum())} of which turn and {never.sum()} never explode"
    worst = f"largest gap {gap.max():.1e}, of those that turn {gap[flips].max(initial=0):.1e}, allowed 1e-5"
    return always(good, len(gap), f"{text}; {worst}")


def as_printed(results):
    """Eq. 55 and 56 integrate over v, which must not turn on the way: or the root in Eq. 56 is of a negative number."""
    theory, solved, flips = (
        np.concatenate([m[n].values for m in results.runs()]) for n in ("theory", "solved", "flips")
    )
    turns = flips.astype(bool)
    good = int(np.sum((np.abs(theory / solved - 1) <= 1e-5) & ~turns))
    groups = {"units whose v keeps its sign": (good, np.sum(~turns)), "units whose v turns": (0, turns.sum())}
    return always(good, len(theory), f"{good} of {len(theory)} units to 1e-5", groups)


def is_conserved(results):
    drift = results.measured.conserved.values
    good = int(np.sum(drift < 1e-8))
    return always(good, len(drift), f"{share_text(good, len(drift))}; largest drift {drift.max():.1e}")


def others_small(results):
    """The others' size is proportional to ε: slope 1."""
    slope = results.measured.exponent.values
    good = int(np.sum(np.abs(slope - 1) < 0.05))
    last = np.array([m.others.values[-1] for m in results.runs()]) / SCALES[-1]
    text = f"{share_text(good, len(slope))}; slopes {slope.min():.3f} to {slope.max():.3f}; at ε = {SCALES[-1]:g}"
    return always(good, len(slope), f"{text} the others are {np.median(last):.3g} ε, at most {last.max():.3g} ε")


def largest_first(results):
    """The unit that explodes first is the one with the largest initial weights."""
    place = results.measured.place.values
    good = int(np.sum(place == 1))
    text = f"{share_text(good, len(place))}; the first is number {np.median(place):g} by size in the median, at most "
    return holds_in_share(good, len(place), text + f"number {place.max()} of {UNITS}")


def draw(results):
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 2.9))
    for m in results.runs():
        turned = m.flips.values.astype(bool)
        left.loglog(m.solved[~turned], m.theory[~turned], "o", color=BLUE, ms=3, mfc="none")
        left.loglog(m.solved[turned], m.theory[turned], "^", color=ORANGE, ms=4, mfc="none")
        right.loglog(SCALES, m.others, "o-", color=BLUE, ms=2, lw=0.3)
    left.plot([], [], "o", color=BLUE, mfc="none", label="v keeps its sign")
    left.plot([], [], "^", color=ORANGE, mfc="none", label="v turns")
    ends = np.array(left.get_xlim())
    left.plot(ends, ends, color="0.5", ls="--", lw=0.8, label="equal")
    right.plot(SCALES, SCALES, color="0.5", ls="--", lw=0.8, label="slope 1, theory")
    left.set(xlabel="$t_\\infty$ of the equations", ylabel="$t_\\infty$ of the integral", title="time to explode")
    plain_ticks(left.xaxis, left.yaxis)
    letters((left, right))
    right.set(xlabel="initial scale ε", ylabel="largest other unit", title="when the first unit is one")
    left.legend()
    right.legend()
    return figure


BOTH = {"signs": "both"}
experiment = Experiment(
    title="Quadratic units: one unit blows up while the others stay small",
    source="Proposition 5",
    measure=measure,
    full=dict(dimension=(2, 3, 5), signs=("both", "one", "tied"), seed=range(10)),
    quick=dict(dimension=(2, 3), signs=("both",), seed=range(1)),
    draw=draw,
    drawn="A: one mark per unit, its time to explode by the integral and by a solver of the equations; the "
    "dashed line is equality. B: one line per run, the largest other unit when the first is one, over "
    "the initial scale.",
    claims=(
        Claim("Each unit grows without bound at t_∞, as printed.", "S21 · Eq. 56", as_printed, BOTH,
              note="Where v changes its sign on the way the integral as printed does not apply; two pieces do."),
        Claim("In two pieces where v turns, the integral holds for all.", "ours", times_agree),
        Claim("v² - Σ a² is conserved.", "S20 · Eq. 50", is_conserved),
        Claim("When one unit is of order one the others are of order ε.", "S19 · Proposition 5", others_small, BOTH),
        Claim("Without the assumption (eigenvalues of one sign, or all equal) the others "
              "are of order ε as well.", "ours", others_small,
              {"signs": ("one", "tied")}),
        Claim("The unit with the largest initial weights grows first.", "S61 · Section 5.2", largest_first, BOTH,
              note="Where u points and the sign of v count as much as size does."),
    ),
)  # fmt: skip
