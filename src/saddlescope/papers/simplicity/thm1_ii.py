"""Simplicity paper, Theorem 1 (ii): a silent unit keeps a fixed point a fixed point. Nothing is trained.

A random net of two units, and targets it cannot fit, chosen so that it is at a fixed point of its loss; then a unit of
zero weights is added. The sigmoid, whose zero unit is not silent, is the control that must fail.
"""

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np

from saddlescope.claims import Claim, Finding, counted
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, RED
from saddlescope.nets import Identity, ReLU, Sigmoid, Square, Tanh, Units
from saddlescope.theory import add_zero_unit, data_with_fixed_point

UNITS = {"linear": Identity(), "relu": ReLU(), "square": Square(), "tanh": Tanh(), "sigmoid": Sigmoid()}
NEARLY_CONSTANT = (
    "the fixed point is broken in every draw, but two sigmoid units nearly span the constants (`constants_spanned` in "
    "the results), so that a residual free of their gradients has little mean left to push the new unit."
)
SILENT = tuple(u for u in UNITS if u != "sigmoid")


def measure(unit, seed):
    rng = np.random.default_rng(seed)
    net = Units(units=2, activation=UNITS[unit], scale=1.0)
    narrow = net.init(rng, 3, 2)
    data = data_with_fixed_point(net, narrow, rng.standard_normal((20, 3)), rng)
    wide = add_zero_unit(narrow)

    def size(params):
        return max(float(jnp.abs(g).max()) for g in jax.tree.leaves(jax.grad(net.loss)(params, data)))

    return {
        "narrow_gradient": size(narrow),
        "wide_gradient": size(wide),
        "map_gap": float(jnp.abs(net(wide, data.x) - net(narrow, data.x)).max()),
        "loss": float(net.loss(narrow, data)),
        "constants_spanned": spanned(net, narrow, data.x),
    }


def spanned(net, params, x):
    """The share of a constant output that lies in the span of the units: 1 if units can make any constant."""
    h = np.asarray(net.activation(x @ params["u"].T))
    fitted = h @ np.linalg.lstsq(h, np.ones(len(h)), rcond=None)[0]
    return float(np.mean(fitted**2))


def all_runs(name, good, worst, limit):
    """good(value, limit) in every run; the evidence names the worst value: the `largest` or the `smallest`."""

    def check(results):
        values = results.measured[name].values
        passed = int(np.sum(good(values, limit)))
        extreme = {"largest": values.max, "smallest": values.min}[worst]()
        return Finding(passed == len(values), f"{counted(passed, len(values))}; {worst} {extreme:.1e}, limit {limit:g}")

    return check


def at_most(name, limit):
    return all_runs(name, np.less_equal, "largest", limit)


def at_least(name, limit):
    return all_runs(name, np.greater_equal, "smallest", limit)


def draw(results):
    figure, ax = plt.subplots(figsize=(6, 3.5))
    for name, colour, label in (("narrow_gradient", BLUE, "two units"), ("wide_gradient", RED, "one zero unit more")):
        at = [list(UNITS).index(str(u)) + (0.12 if colour == RED else -0.12) for u in results.measured.unit.values]
        values = np.maximum(results.measured[name].values, 1e-18)
        ax.semilogy(at, values, "o", color=colour, mfc="none", label=label)
    ax.axhline(1e-12, color="0.5", ls=":", lw=0.8)
    ax.text(
        0.99, 1.3e-12, "allowed", ha="right", va="bottom", fontsize=7, color="0.4", transform=ax.get_yaxis_transform()
    )
    ax.set(xticks=range(len(UNITS)), xticklabels=UNITS, ylabel="largest gradient", title="Theorem 1 (ii): a zero unit")
    ax.legend(loc="upper left", fontsize=8)
    return figure


experiment = Experiment(
    title="A silent unit keeps the fixed point",
    where="Theorem 1 (ii)",
    measure=measure,
    full=dict(unit=UNITS, seed=range(20)),
    quick=dict(unit=UNITS, seed=range(2)),
    draw=draw,
    claims=(
        # Rounding of sums of 20 terms of order one.
        Claim("A zero unit leaves the map as it is.", "Theorem 1 (ii)", at_most("map_gap", 1e-12), {"unit": SILENT}),
        Claim("The wider net is at a fixed point too.", "Theorem 1 (ii)", at_most("wide_gradient", 1e-12),
              {"unit": SILENT}),
        Claim("Control: a zero sigmoid unit, which is not silent, leaves a gradient above 1e-2.", "Theorem 1 (ii)",
              at_least("wide_gradient", 1e-2), {"unit": "sigmoid"}, note=NEARLY_CONSTANT),
    ),
)  # fmt: skip
