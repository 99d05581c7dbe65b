"""Mean-field paper, beyond it: the limit solved in three ways, and finite nets beside it. Nothing is trained.

The paper solves nothing. Here the memory form (exact in width), quadrature over the mixing law and random particles
follow the same limits to T = 8 on two weighted points, for erf: rank 1 and 2, two and three blocks, with and without
mixing bias. Means and slopes of the start are drawn per seed. The order of the memory form is a slope over fixed steps;
its stated error is held against a run with a tolerance a hundred times smaller. To T = 40 a step has a fifth of the
tolerance asked, 1e-8, since errors add up; such a run takes less than 0.1 s of CPU time (`benchmarks/meanfield.py`).
Nets of 64 to 1,024 neurons are set beside the limit at T = 4, four per width and seed.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import NullFormatter

from saddlescope.checks import always, holds_in_share, share_text
from saddlescope.claims import ALWAYS, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, GREEN, ORANGE, WIDTH, letters
from saddlescope.meanfield import GaussianMixing, Measure, StartLaw, meanfield
from saddlescope.meanfield.memory import MemorySolver
from saddlescope.nets import Erf
from saddlescope.statistics import mean_of
from saddlescope.theory.meanfield.pairs import ERF

CASES = {  # rank, bottlenecks, deviation of mixing biases
    "rank 1": (1, 1, 0.0),
    "rank 2": (2, 1, 0.0),
    "rank 2, bias": (2, 1, 0.5),
    "rank 2, three blocks": (2, 2, 0.0),
}
T, T_NETS, FINE = 8.0, 4.0, 0.01
T_LONG, DIGITS = 40.0, 1e-8
STEPS, FINEST = (8, 16, 32), 128
WIDTHS, NETS = (64, 256, 1024), 4
ORDER = 4.5  # a method of order 5 has an error of h⁵ at most, as h → 0
TELLS = 0.5  # of the targets' size: a stated error that is larger says nothing
NORMAL = 0.95  # three standard errors hold 99.7 % of normal numbers; a gap is the largest of ten


def measure(case, seed):
    limit = limit_of(case, seed)
    memory, tighter = (limit.flow(T, times=5, rtol=rtol) for rtol in (1e-9, 1e-9 * FINE))
    long, longer = (limit.flow(T_LONG, times=5, rtol=rtol) for rtol in (DIGITS / 5, DIGITS * FINE))
    rule = limit.flow(T, times=5, solver="quadrature", nodes=20)
    particles = limit.flow(T, times=5, solver="particles", count=2048, seed=seed)
    distance = limit.distance(WIDTHS, range(seed * NETS, (seed + 1) * NETS), T_NETS, times=5)
    return {
        "memory_error": memory.error,
        "memory_gap": apart(memory, tighter),
        "long_gap": apart(long, longer),
        "long_steps": int(long.data.attrs["steps"]),
        "quadrature_error": rule.error,
        "quadrature_gap": apart(memory, rule),
        "particles_error": particles.error,
        "particles_gap": apart(memory, particles),
        "order_errors": (("fixed",), errors_of_fixed_steps(limit)),
        "net_distance": (("width",), np.sqrt((distance.rms.values**2).mean(axis=1))),
        "net_slope": distance.attrs["slope_rms"],
    }


def limit_of(case, seed):
    rank, depth, bias = CASES[case]
    rng = np.random.default_rng([seed, 7])
    starts = [StartLaw(rng.uniform(0.2, 0.8), tuple(rng.uniform(0.4, 1.0, k))) for k in (*(rank,) * depth, 1)]
    data = Measure([-0.5, 0.5], [1.0, -1.0], [0.4, 0.6])
    return meanfield(data, rank, depth, Erf(), mixing=GaussianMixing(1.0, bias), start=starts)


def apart(a, b):
    return float(np.abs(a.data.output.values - b.data.output.values).max())


def errors_of_fixed_steps(limit):
    """Largest error of the outputs at time 4 with so many steps, against the finest."""
    ends = [_with_fixed_steps(limit, steps) for steps in (*STEPS, FINEST)]
    return np.array([np.abs(end - ends[-1]).max() for end in ends[:-1]])


def _with_fixed_steps(limit, steps, end=4.0):
    solver = MemorySolver(limit.problem, ERF, 0.0, 1e9, 0.0)
    solver.length.next = end  # cut short at every time
    for time in np.linspace(0, end, steps + 1)[1:]:
        solver.advance(time)
    return solver.saved().stage.channels[-1]


# ---- Checks ----


def within_stated(name, errors, share=ALWAYS):
    """The gap is at most the sum of the stated errors, which is small enough to say something."""

    def check(results):
        data = results.measured
        allowed = np.sum([data[e].values for e in errors], axis=0)
        gap = data[f"{name}_gap"].values
        good = int(np.sum((gap <= allowed) & (allowed <= TELLS)))
        text = f"gaps up to {gap.max():.1e}, median {np.median(gap):.1e}; stated up to {allowed.max():.1e}"
        return holds_in_share(good, len(gap), f"{share_text(good, len(gap))}; {text}", share)

    return check


def eight_digits(results):
    gap, steps = results.measured.long_gap.values, results.measured.long_steps.values
    good = int(np.sum(gap <= DIGITS))
    text = f"errors up to {gap.max():.1e} after {steps.min()} to {steps.max()} steps, allowed {DIGITS:g}"
    return always(good, len(gap), f"{share_text(good, len(gap))}; {text}")


def slopes_of(results):
    errors = results.measured.order_errors.values
    return -np.polyfit(np.log(STEPS), np.log(errors).T, 1)[0]


def order_is_five(results):
    slopes = slopes_of(results)
    good = int(np.sum(slopes >= ORDER))
    text = f"slopes {slopes.min():.2f} to {slopes.max():.2f}, asked {ORDER:g} or more"
    return holds_in_share(good, len(slopes), f"{share_text(good, len(slopes))}; {text}")


def nets_approach(results):
    """The distance falls between the smallest and the largest width, in every case."""
    distance, slopes = results.measured.net_distance.values, results.measured.net_slope.values
    good = int(np.sum(distance[:, -1] < distance[:, 0]))
    mean, half = mean_of(slopes)
    text = f"mean slope {mean:.2f} ± {half:.2f} (95 %), theory −0.5"
    return always(good, len(slopes), f"{good} of {len(slopes)}; {text}")


def draw(results):
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(WIDTH, 2.5))
    data = results.measured
    for name, colour in (("memory", BLUE), ("quadrature", GREEN), ("particles", ORANGE)):
        left.plot(data[f"{name}_error"], data[f"{name}_gap"], "o", color=colour, ms=4, mfc="none", label=name)
    ends = np.array([1e-11, 1.0])
    left.plot(ends, ends, color="0.6", lw=0.8, label="gap = stated error")
    left.set(xscale="log", yscale="log", xlabel="stated error", ylabel="gap to the memory form")
    left.set_title("three solvers")
    middle.loglog(4.0 / np.array(STEPS), data.order_errors.values.T, "o-", color=BLUE, lw=0.8, ms=3)
    middle.set(xlabel="step", ylabel="error of the outputs")
    middle.set_xticks([4.0 / n for n in STEPS], [f"{4.0 / n:g}" for n in STEPS])
    middle.set_xticks([], minor=True)
    middle.set_title("memory form, fixed steps")
    right.loglog(WIDTHS, data.net_distance.values.T, "o-", color=ORANGE, lw=0.8, ms=3)
    right.set(xlabel="width n", ylabel="root mean square gap of weights")
    right.set_title("nets beside the limit")
    right.yaxis.set_minor_formatter(NullFormatter())
    letters((left, middle, right))
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


experiment = Experiment(
    title="The mean-field limit solved exactly, by quadrature and by particles, with nets beside it",
    source="Section 2.2, 2.3",
    measure=measure,
    full=dict(case=tuple(CASES), seed=range(6)),
    quick=dict(case=("rank 1",), seed=range(4)),
    draw=draw,
    drawn="A: one mark per limit and solver; below the line the stated error holds. B: one line per limit. C: "
    "one line per limit, each point the root mean square over four nets.",
    claims=(
        Claim("The memory form is as exact as it says.", "ours", within_stated("memory", ["memory_error"])),
        Claim(
            "Memory form and quadrature agree within their stated errors.",
            "ours",
            within_stated("quadrature", ["memory_error", "quadrature_error"]),
        ),
        Claim(
            "Particles agree with the memory form within three standard errors.",
            "ours",
            within_stated("particles", ["memory_error", "particles_error"], NORMAL),
        ),
        Claim(
            "To time 40 the memory form is right to 1e-8, with a fifth of that as tolerance of a step.",
            "ours",
            eight_digits,
        ),
        Claim("The error of the memory form falls as h⁵ or faster.", "ours", order_is_five),
        Claim("Nets approach the limit as they grow wider.", "M26 · Section 2.1", nets_approach),
    ),
)
