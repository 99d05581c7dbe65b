"""Escape paper, Section 2.2: when the outputs reach a size r, as printed and corrected.

The flow of Proposition 2.2 starts on a one-neuron escape direction of random data and is followed
by an independent solver; r is the size ‖Y‖_F of its outputs at the end, so that t₁(r) is the time
of the end. The data are scaled: as printed the bound leaves out ‖X‖_F, and it is not a lower bound
for large data. Random draws test the corrected bound with an upper bound on s*, which makes it one
for every start. They are followed by small explicit steps, since adaptive solvers stall on kinks.
Draws whose outputs never reach r are left out and counted.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, RED, letters
from saddlescope.papers.escape._flows import (
    data_with_direction,
    drawn_weights,
    outputs_of,
    solved_flow,
    stepped_time,
)
from saddlescope.theory.escape.growth import first_time, printed_first_time
from saddlescope.theory.escape.one_neuron import one_neuron_weights

START = 0.1


def _norm(matrix) -> float:
    return float(np.linalg.norm(matrix))


def measure(depth, size, grown, seed):
    rng = np.random.default_rng([depth, seed])
    X, G, u, y, speed = data_with_direction(rng)
    X, speed = size * X, size * speed
    rho = one_neuron_weights(u, y, depth, (3,) * (depth - 1))
    R0 = START * np.sqrt(depth)
    flow = solved_flow([START * w for w in rho], X, G, lambda t, norm: norm >= grown * R0)
    t1, r = flow.times[-1], _norm(outputs_of(flow.of(flow.times[-1]), X))
    exact = first_time(r, R0, speed, _norm(outputs_of(rho, X)), depth)
    start, first, at_least = from_a_draw(X, G, depth, rng)
    size_of_X, spectral = np.linalg.norm(X), np.prod([np.linalg.norm(w, 2) for w in start])
    outputs = np.linalg.norm(outputs_of(start, X))
    return {
        "t1": t1,
        "exact_over": exact / t1 - 1,
        "bound_over": first_time(r, R0, speed, _norm(X), depth) / t1 - 1,
        "printed_over": printed_first_time(r, R0, speed, depth) / t1 - 1,
        "draw_over": at_least / first - 1 if np.isfinite(first) else 0.0,
        "draw_escapes": bool(np.isfinite(first)),
        "norms_over": max(outputs / (spectral * size_of_X), spectral * depth ** (depth / 2)) - 1,  # ‖θ‖ = 1
    }


def from_a_draw(X, G, depth, rng):
    """A draw of norm one, when its outputs have grown as large as a net of norm four can make them,
    and the bound."""
    start = drawn_weights(rng, X, len(G), depth, 6)
    level = (4 / np.sqrt(depth)) ** depth * np.linalg.norm(X)
    fastest = float(np.linalg.norm(X, 2) * np.linalg.norm(G))
    first = stepped_time(start, X, G, level)
    return start, first, first_time(level, 1.0, fastest, _norm(X), depth)


def one_per_draw(results):
    """One run per draw: a draw of weights has the same ratios for every size of the data and every growth."""
    return results.select(size=results.values("size")[0], grown=results.values("grown")[0])


def is_exact(results):
    gap = np.abs(results.measured.exact_over.values)
    good = int(np.sum(gap <= 1e-8))  # the solver is followed to 1e-10 per step
    return always(
        good,
        len(gap),
        f"{share_text(good, len(gap))}; largest relative gap {gap.max():.1e}, allowed 1e-8",
    )


def below(name, word):
    """A lower bound: at most t₁ itself."""

    def check(results):
        results = one_per_draw(results) if name == "draw" else results
        part = results.where(results.measured.draw_escapes.values.astype(bool)) if name == "draw" else results
        if not part.measured.sizes["run"]:
            return None
        over, size = part.measured[f"{name}_over"].values, part.measured["size"].values
        left, ratio = results.measured.sizes["run"] - len(over), 1 + over
        good, worst = int(np.sum(over <= 1e-6)), int(np.argmax(over))
        text = f"{share_text(good, len(ratio))}; {word} over t₁: median {np.median(ratio):.3g}, largest "
        without = f"; {left} draws that never escape left out" if left else ""
        return always(good, len(ratio), f"{text}{ratio[worst]:.3g} (data of size {size[worst]:g}){without}")

    return check


def norms_bound_outputs(results):
    over = one_per_draw(results).measured.norms_over.values
    good = int(np.sum(over <= 1e-12))
    text = f"the smaller over the larger of two neighbours is {1 + over.max():.3g} at most"
    return always(good, len(over), f"{share_text(good, len(over))}; {text}")


def draw(results):
    depths = results.values("depth")
    rows = -(-len(depths) // 2)
    size = (6.5, 0.6 + 2.2 * rows)
    figure, axes = plt.subplots(rows, min(2, len(depths)), figsize=size, sharex=True, sharey=True, squeeze=False)
    for ax, depth in zip(axes.flat, depths, strict=False):
        part = results.select(depth=depth).measured
        grown, place = np.unique(part.grown.values, return_inverse=True)
        x = part["size"].values * 1.2 ** (place - (len(grown) - 1) / 2)
        ax.semilogx(x, 1 + part.exact_over, "o", color=BLUE, ms=3, label="with $‖Y_ρ‖$: exact")
        ax.semilogx(x, 1 + part.bound_over, "v", color=BLUE, mfc="none", ms=4, label="with ‖X‖: lower bound")
        ax.semilogx(x, 1 + part.printed_over, "x", color=RED, ms=4, label="printed")
        ax.axhline(1, color="0.5", lw=0.8)
        ax.set(xlabel="size of the data", ylabel="bound over $t_1$", title=f"depth {depth}")
        ax.set_yscale("symlog", linthresh=1)
        ax.label_outer()
    for ax in axes.flat[len(depths) :]:
        ax.set_visible(False)
    handles = axes[0, 0].get_legend_handles_labels()
    figure.legend(*handles, ncols=3, loc="outside lower center")
    letters(axes.flat[: len(depths)])
    return figure


NOTE = "It leaves out ‖X‖_F, and its rate is L^(L/2) times too large. Where ‖Y_ρ‖_F > 1 and r is near, it exceeds t₁."
experiment = Experiment(
    title="Time until the outputs reach a size: printed bound, corrected bound, exact",
    source="Section 2.2",
    measure=measure,
    full=dict(depth=(2, 3, 4, 5), size=(0.3, 1.0, 10.0), grown=(1.002, 1.5, 20.0), seed=range(5)),
    quick=dict(depth=(2, 3, 4, 5), size=(1.0, 10.0), grown=(1.002, 20.0), seed=range(1)),
    draw=draw,
    drawn="Bounds on the time until the outputs reach a size, over that time, by the size of the data: one mark per "
    "draw and growth of the norm, growths side by side. Above the line a bound is none.",
    claims=(
        Claim("‖Y‖_F ≤ Π‖W_ℓ‖_op ‖X‖_F ≤ (‖θ‖/√L)^L ‖X‖_F.", "E31 · Section 2.2", norms_bound_outputs),
        Claim(
            "The printed bound lies below t₁(r), L ≠ 2.",
            "E32 · Section 2.2",
            below("printed", "printed bound"),
            {"depth": (3, 4, 5)},
            note=NOTE,
        ),
        Claim(
            "The printed bound lies below t₁(r), L = 2.",
            "E33 · Section 2.2",
            below("printed", "printed bound"),
            {"depth": 2},
            note="It leaves out ‖X‖_F, and its rate is 2s in place of s.",
        ),
        Claim(
            "With ‖X‖_F and the right rate it lies below t₁(r).",
            "ours",
            below("bound", "corrected bound"),
        ),
        Claim("With ‖Y_ρ‖_F in the place of ‖X‖_F it is t₁(r).", "ours", is_exact),
        Claim(
            "With ‖X‖_op ‖G‖_F for s it lies below t₁(r) from every random start that escapes.",
            "ours",
            below("draw", "bound"),
        ),
    ),
)
