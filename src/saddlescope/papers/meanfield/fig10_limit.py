"""Mean-field paper, Fig. 10, in the limit: the exact density of trained weights over those of finite nets.

Depth 1, rank 2, ReLU, cos(πx) on 17 points of [-1, 1], Gaussian features and mixing, weights that
start as w⁰ = 1 + Σ_j L_j + noise, since a zero-mean start is a stationary point of the limit.
Gradient flow to time 20. The density of w₁ and w₂ in the limit is that of w⁰ + u(t, L), exact in
the noise. A net of width n has n weights per channel, whose Kolmogorov distance to the limit's law
is compared with that of n independent draws, about 0.87/√n in the mean: the limit is right if nets
come as near as a sample can. The skewness of the limit's density says whether it is symmetric.
"""

from functools import cache
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import decided_by, holds_in_share
from saddlescope.claims import CheckResult, Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE, WIDTH, letters
from saddlescope.meanfield import Measure, meanfield
from saddlescope.meanfield.laws import StartLaw
from saddlescope.nets import ReLU
from saddlescope.papers.meanfield._numbers import lies_within
from saddlescope.statistics import exponents

T, POINTS, PLACES, SHOWN = 20.0, 17, 401, 60
LAYERS = {"w1": 0, "w2": 1}
SAMPLE = 0.8687  # the mean of √n D for n independent draws: √(π/2) ln 2
ROOT = (-0.6, -0.4)  # −1/2, a tenth to both sides; from a law that is off the distance levels off
UNEVEN = 0.01  # sup |F(m + x) + F(m − x) − 1| that counts as symmetric; the start, a Gaussian, has below 0.001


@cache
def the_limit():
    x = np.linspace(-1, 1, POINTS)
    measure = Measure(x[:, None], np.cos(np.pi * x)[:, None], np.full(POINTS, 1 / POINTS))
    return meanfield(measure, rank=2, depth=1, activation=ReLU(), start=StartLaw(mean=1.0, slope=1.0, std=1.0))


def weights_of(flow, block):
    """All weights of a net's first channel at the start and at the end."""
    neurons = flow.solution.neurons(block, 0)
    return neurons.start[:, 0] + flow.weights_at(block, neurons.frozen)[[0, -1], :, 0]


def distance(weights, places, density):
    """Kolmogorov distance of a sample to a law that is given by its density."""
    law = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(places))])
    at = np.interp(np.sort(weights), places, law / law[-1])
    n = len(weights)
    return float(max(np.max(np.arange(1, n + 1) / n - at), np.max(at - np.arange(n) / n)))


@cache
def exact_flow():
    """The same for all nets of one process."""
    return the_limit().flow(T, times=2)


@cache
def exact_densities(block):
    """Places, and the limit's densities there at the start and at the end."""
    wide = exact_flow().density(block).w.values
    places = np.linspace(min(wide[0], -6), max(wide[-1], 8), PLACES)
    return places, [exact_flow().density(block, time=time, at=places).values for time in (0.0, T)]


def measure(width, seed):
    exact, net = exact_flow(), the_limit().net(width, seed).flow(T, times=2)
    found: dict[str, Any] = {
        "loss_limit": float(exact.loss[-1]),
        "loss_net": float(net.loss[-1]),
        "loss_first": float(exact.loss[0]),
    }
    for name, block in LAYERS.items():
        places, densities = exact_densities(block)
        for word, density, own in zip(("first", "last"), densities, weights_of(net, block), strict=True):
            counted = np.histogram(own, np.linspace(places[0], places[-1], SHOWN + 1), density=True)[0]
            found |= {f"{name}_{word}_distance": distance(own, places, density)}
            found |= {f"{name}_{word}": (("place",), density), f"{name}_{word}_net": (("bin",), counted)}
            found[f"{name}_{word}_skewness"] = skewness(places, density)
        found[f"{name}_places"] = (("place",), places)
    return found


def unevenness(places, density):
    """sup_x |F(m + x) + F(m − x) − 1|, m the mean: 0 for a density that is symmetric about its mean."""
    law = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(places))])
    law, mean = law / law[-1], np.sum(density * places) / density.sum()
    away = places - places[0]
    both = np.interp(mean + away, places, law, right=1.0) + np.interp(mean - away, places, law, left=0.0)
    return float(np.abs(both - 1).max())


def skewness(places, density):
    p = density / density.sum()
    mean = np.sum(p * places)
    return float(np.sum(p * (places - mean) ** 3) / np.sum(p * (places - mean) ** 2) ** 1.5)


def as_near_as_a_sample(results):
    """√n D lies below 1.63, which one sample of independent draws in a hundred exceeds, for both weights, in 95 % of
    nets or more: the two weights of a net are not independent."""
    m = results.measured
    scaled = {name: m[f"{name}_last_distance"].values * np.sqrt(m.width.values) for name in LAYERS}
    largest = np.max([*scaled.values()], axis=0)
    good = int(np.sum(largest < 1.63))
    text = "; ".join(f"{name}: mean √n D {v.mean():.2f}, worst {v.max():.2f}" for name, v in scaled.items())
    text = f"{good} of {largest.size} nets below 1.63; {text}; of independent draws {SAMPLE:.2f} in the mean"
    return holds_in_share(good, largest.size, text, share=0.95)


def root_n(results):
    """The distance falls as n^(-1/2)."""
    m = results.measured
    if len(results.values("width")) < 2 or m.sizes["run"] < 4:
        return None
    words, texts = {}, []
    for name in LAYERS:
        slope, half = exponents(m.width.values[:, None], m[f"{name}_last_distance"].values)
        words[name] = lies_within(*ROOT, slope[0], half[0])
        texts.append(f"{name} {slope[0]:.2f} ± {half[0]:.2f}")
    return decided_by(words, f"exponent of the width: {', '.join(texts)}")


def symmetric(name):
    """The limit's law at the end against its mirror image; the skewness beside it, which is one number of it."""

    def check(results):
        m, words = results.measured, ("first", "last")
        places = m[f"{name}_places"].values[0]
        first, last = (unevenness(places, m[f"{name}_{word}"].values[0]) for word in words)
        skew = [float(m[f"{name}_{word}_skewness"][0]) for word in words]
        text = f"sup |F(m + x) + F(m − x) − 1| {first:.3f} at the start, {last:.3f} at time {T:g}, allowed {UNEVEN:g}; "
        return CheckResult(last < UNEVEN, f"{text}skewness {skew[0]:.3f} and {skew[1]:.3f}", exact=True)

    return check


def draw(results):
    figure, axes = plt.subplots(1, 2, figsize=(WIDTH, 2.6))
    width = max(results.values("width"))
    part = results.select(width=width).measured
    for ax, name in zip(axes, LAYERS, strict=True):
        places = part[f"{name}_places"].values[0]
        edges = np.linspace(places[0], places[-1], SHOWN + 1)
        for word, colour, label in (("first", BLUE, "time 0"), ("last", ORANGE, f"time {T:g}")):
            ax.stairs(part[f"{name}_{word}_net"].values[0], edges, color=colour, alpha=0.4, fill=True, lw=0,
                      label=f"net of width {width:,}, {label}")  # fmt: skip
            ax.plot(places, part[f"{name}_{word}"].values[0], color=colour, lw=1.3, label=f"limit, {label}")
        ax.set(xlabel=f"weight $w_{name[1]}$, first channel", ylabel="density")
    letters(axes)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


KEPT = "a start of mean zero is stationary in the limit and keeps its symmetric law; one that learns does not"
experiment = Experiment(
    title="Density of trained weights: the exact limit over finite nets",
    source="Fig. 10",
    measure=measure,
    full=dict(width=(64, 256, 1024, 4096), seed=range(20)),
    quick=dict(width=(256,), seed=range(4)),
    draw=draw,
    drawn="Lines are densities of the exact limit at time 0 and at the end; filled steps are the weights of one "
    "net of the largest width.",
    claims=(
        Claim("Weights of nets lie as near to the limit's density as independent draws of it.", "M77 · ours",
              as_near_as_a_sample),
        Claim("The distance of a net's weights to the limit's law falls as the root of the width.", "M77 · ours",
              root_n),
        Claim("In the limit, from a start of non-zero mean, the density of w₂ stays symmetric about its mean.",
              "M77 · ours", symmetric("w2"), note=KEPT),
        Claim("In the limit, from a start of non-zero mean, the density of w₁ stays symmetric about its mean.",
              "M77 · ours", symmetric("w1"), note=KEPT),
    ),
)  # fmt: skip
