"""Escape paper, Eq. 6 and Fig. 7: the speed of one neuron on Example 1, as a function of its angle. Nothing is trained.

The neuron is σ(cos φ x₁ + sin φ x₂). Its speed with the better sign is summed over the eight points and set beside
Eq. 6, at random angles and at multiples of π/4.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, BLUE, WIDTH
from saddlescope.theory.escape.localized import circle

ANGLES, ROUNDING = 1000, 1e-12
TOP = np.sqrt(2) - 1


def equation6(phi):
    xi = np.mod(phi, np.pi / 4)
    terms = np.cos(xi + np.pi / 4) - np.cos(xi) + np.cos(xi - np.pi / 4) - np.cos(xi - np.pi / 2)
    return np.abs(terms)


def one_neuron(phi):
    """Speed with the better sign, and how many points are active, at each angle."""
    X, G = circle(8)
    before = np.stack([np.cos(phi), np.sin(phi)], axis=1) @ X
    return np.abs(np.maximum(before, 0) @ G[0]), np.sum(before > 1e-12, axis=1)


def measure(seed):
    phi = np.sort(np.random.default_rng(seed).uniform(0, 2 * np.pi, ANGLES))
    speed, active = one_neuron(phi)
    shifted, _ = one_neuron(phi + np.pi / 4)
    return {
        "phi": (("angle",), phi),
        "speed": (("angle",), speed),
        "equation_gap": float(np.abs(speed - equation6(phi)).max()),
        "fastest": float(speed.max()),
        "period_gap": float(np.abs(shifted - speed).max()),
        "active": int(active.max()),
        "over_four": int(np.sum(active > 4)),
        "at_multiples": float(np.abs(one_neuron(np.pi / 4 * np.arange(8))[0] - TOP).max()),
    }


def equation_holds(results):
    gap = results.measured.equation_gap.values
    good = int(np.sum(gap <= ROUNDING))
    text = f"{good} of {gap.size} draws of {ANGLES:,} angles; largest gap {gap.max():.1e}, limit {ROUNDING:g}"
    return always(good, gap.size, text)


def four_active(results):
    most, over = results.measured.active.values, results.measured.over_four.values
    return always(int(np.sum(over == 0)), len(over), f"at most {most.max()} of 8 points, {over.sum()} angles with more")


def top_at_multiples(results):
    """√2 − 1 at multiples of π/4, nothing above it elsewhere."""
    there, elsewhere = results.measured.at_multiples.values, results.measured.fastest.values
    good = int(np.sum((there <= ROUNDING) & (elsewhere <= TOP + ROUNDING)))
    return always(good, len(there), f"gap at multiples {there.max():.1e}; largest elsewhere {elsewhere.max():.9f}")


def periodic(results):
    gap = results.measured.period_gap.values
    return always(int(np.sum(gap <= ROUNDING)), len(gap), f"largest change by a shift of π/4: {gap.max():.1e}")


def draw(results):
    figure, ax = plt.subplots(figsize=(WIDTH, 2.6))
    phi = np.linspace(0, 2 * np.pi, 2000)
    run = next(iter(results.runs()))
    ax.plot(run.phi.values, run.speed.values, ".", color=BLUE, ms=2, label="sum over the points, 1,000 angles")
    ax.plot(phi, equation6(phi), color=BLACK, lw=0.8, label="Eq. 6")
    ax.axhline(TOP, color="0.5", ls="--", lw=0.8, label="√2 − 1")
    ax.set(xlabel="angle φ of the neuron", ylabel="speed $-L_0$", ylim=(0, 0.5), xlim=(0, 2 * np.pi))
    ax.set_xticks(np.pi / 2 * np.arange(5))
    ax.set_xticklabels(["0", "π/2", "π", "3π/2", "2π"])
    ax.legend(loc="upper center", ncols=3)
    return figure


experiment = Experiment(
    title="Speed of one neuron on Example 1 by its angle",
    source="Eq. 6, Fig. 7",
    measure=measure,
    full=dict(seed=range(20)),
    quick=dict(seed=range(4)),
    draw=draw,
    drawn="The speed of one neuron on Example 1 by its angle: summed over the eight points at random angles (dots), "
    "and Eq. 6 (line). Dashed: √2 − 1.",
    claims=(
        Claim("One neuron at angle φ has the speed of Eq. 6.", "E71 · Eq. 6", equation_holds),
        Claim("At most four points are active at a time.", "E72 · Appendix D.1", four_active),
        Claim("The largest speed is √2 − 1, at multiples of π/4.", "E65, E73 · Appendix D.1", top_at_multiples),
        Claim("The speed has the period π/4.", "E73 · Fig. 7", periodic),
    ),
)
