"""Every kind of unit that the paper names, with inputs and outputs it can read and give; and a
figure over all.
"""

from collections import defaultdict
from functools import cache

import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always, share_text
from saddlescope.figures import BLUE, RED, WIDTH, letters, shared_legend
from saddlescope.losses import CustomLoss, SquaredError
from saddlescope.nets import (
    ConvUnit,
    Cube,
    CustomUnit,
    Identity,
    LinearHead,
    Neuron,
    OneMinusCos,
    ReLU,
    Sigmoid,
    Sin,
    SoftmaxHead,
    Square,
    Tanh,
    TanhTimes,
)  # fmt: skip
from saddlescope.theory import properties


def swish(x, u):
    """A user's own unit: z · sigmoid(z)."""
    z = u @ x
    return z / (1 + jnp.exp(-z))


def log_cosh(outputs, targets):
    """Σ ln cosh(f - y): near zero half the square, far off the distance."""
    gap = outputs - targets
    return jnp.sum(gap + jnp.logaddexp(0.0, -2 * gap) - jnp.log(2.0))


def logistic(outputs, targets):
    """Σ ln(1 + e^f) - y f, of outputs as log-odds."""
    return jnp.sum(jnp.logaddexp(0.0, outputs) - targets * outputs)


LOSSES = {"squared": SquaredError(), "log cosh": CustomLoss(log_cosh), "logistic": CustomLoss(logistic)}
OTHERS = tuple(LOSSES)[1:]
UNITS = {
    "linear": Neuron(Identity()), "conv_linear": ConvUnit(2, Identity()), "relu": Neuron(ReLU()),
    "conv_relu": ConvUnit(2, ReLU()), "quadratic": Neuron(Square()), "cubic": Neuron(Cube()),
    "attention": LinearHead(2), "softmax": SoftmaxHead(2), "sigmoid": Neuron(Sigmoid()), "sin": Neuron(Sin()),
    "tanh": Neuron(Tanh()), "one_minus_cos": Neuron(OneMinusCos()), "z_tanh": Neuron(TanhTimes(1)),
    "z2_tanh": Neuron(TanhTimes(2)), "own": CustomUnit(swish),
}  # fmt: skip
NAMES = {
    "linear": "linear", "conv_linear": "linear convolution", "relu": "ReLU", "conv_relu": "ReLU convolution",
    "quadratic": "z²", "cubic": "z³", "attention": "linear attention", "softmax": "softmax attention",
    "sigmoid": "sigmoid", "sin": "sin z", "tanh": "tanh z", "one_minus_cos": "1 - cos z", "z_tanh": "z tanh z",
    "z2_tanh": "z² tanh z", "own": "z sigmoid(z)",
}  # fmt: skip
SIZES = {"conv_linear": (6, 1), "conv_relu": (6, 1), "attention": (15, 1), "softmax": (15, 1)}


def sizes(unit):
    """Inputs and outputs of a test of this kind."""
    return SIZES.get(unit, (3, 2))


@cache
def measured(unit):
    """What this kind is like."""
    return properties(UNITS[unit], *sizes(unit))


def controls_fail(value, limit):
    """Where a theorem does not speak, what it says is lost: for each unit and way, in the median draw.

    Of one draw the loss may be small though nothing is true: where the unit that is changed hardly speaks, or where a
    residual is by chance nearly orthogonal to what the new unit could add."""

    def check(results):
        part = results.where(~results.measured.fits.values.astype(bool)).measured
        if not part.sizes["run"]:
            return None
        draws = defaultdict(list)
        for unit, kind, lost in zip(part.unit.values, part.kind.values, value(part), strict=True):
            draws[f"{unit}, {kind}"].append(lost)
        medians = {name: float(np.median(values)) for name, values in draws.items()}
        good, least = sum(m > limit for m in medians.values()), min(medians, key=medians.__getitem__)
        text = f"{good} of {len(medians)} controls by more than {limit:g}; least median {medians[least]:.1e} ({least})"
        single = int(np.sum(value(part) > limit))
        return always(good, len(medians), f"{text}; draw by draw {share_text(single, part.sizes['run'])}")

    return check


def kinds_figure(results, titles, value, limits, label):
    """One panel per kind of relation: `value` of every run by the kind of unit, controls apart, with both limits."""
    kinds = [kind for kind in titles if results.select(kind=kind).measured.sizes["run"]]
    figure, axes = plt.subplots(1, len(kinds), figsize=(WIDTH, 3.6), sharey=True, squeeze=False)
    for ax, kind in zip(axes[0], kinds, strict=True):
        part = results.select(kind=kind).measured
        for fits, colour, mark, word in ((True, BLUE, "o", "theorem applies"), (False, RED, "^", "control")):
            rows = part.isel(run=np.flatnonzero(part.fits.values.astype(bool) == fits))
            at = [list(UNITS).index(str(u)) for u in rows.unit.values]
            ax.semilogx(np.maximum(value(rows), 1e-18), at, mark, color=colour, mfc="none", ms=3, mew=0.6, label=word)
        for limit in limits:
            ax.axvline(limit, color="0.6", ls=":", lw=0.8)
        ax.set(title=titles[kind], yticks=range(len(UNITS)), xticks=(1e-16, 1e-8, 1), xlim=(1e-19, 1e2))
        ax.set_ylim(len(UNITS) - 0.4, -0.6)
    axes[0, 0].set_yticklabels(NAMES[u] for u in UNITS)
    axes[0, len(kinds) // 2].set_xlabel(label)
    letters(axes[0])
    shared_legend(figure)
    return figure
