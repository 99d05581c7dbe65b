"""Simplicity paper, Corollary 2 and F.4: units embedded in several layers at once, and which points
lie on manifolds.

A net of two layers of two units, at a fixed point of data made for it; then both layers widened to
four units, each in one of the four ways. Copies and silent units (tanh), rays (ReLU), spans
(linear). F.4: with the factors it names, an embedded fixed point lies on the invariant manifold of
its kind; with others it does not. Section 3: in a deep linear net the best net of one unit per layer, embedded in
three, is a saddle: moved a little and relaxed, the loss ends lower.
"""

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, ORANGE, RED, WIDTH, shared_legend
from saddlescope.losses import squared_error
from saddlescope.nets import DeepUnits, Identity, Neuron, ReLU, Tanh
from saddlescope.tasks import Samples
from saddlescope.theory import Equal, Rays, Silent, Span, data_with_fixed_point, embed, manifold_residual, relax
from saddlescope.theory.relax import curvature

WAYS = {"copy": (Tanh(), Equal), "silent": (Tanh(), Silent), "ray": (ReLU(), Rays), "span": (Identity(), Span)}
EXACT = 1e-11
MOVE, FIXED = 1e-2, 1e-8


def on_manifold(kind, rng):
    """A construction with the factors of F.4, and one with others."""
    g = rng.uniform(0.3, 1.5)
    pair = rng.uniform(0.3, 1.5, 2)
    return {
        "copy": (Equal(0.5), Equal(0.8)), "silent": (Silent(), Silent()),
        "ray": (Rays(g, g / (1 + g**2)), Rays(g, 2.0)),
        "span": (Span(tuple(pair), tuple(pair / (1 + pair @ pair))), Span(tuple(pair), tuple(pair[::-1]))),
    }[kind]  # fmt: skip


def measure(kind, seed):
    rng = np.random.default_rng(seed)
    activation, _ = WAYS[kind]
    net = DeepUnits(2, Neuron(activation), (2,), 1.0, activation)
    narrow = {name: jnp.asarray(w) for name, w in net.init(rng, 3, 2).items()}
    data = data_with_fixed_point(net, narrow, rng.standard_normal((60, 3)), rng)
    right, other = on_manifold(kind, rng)
    wide = narrow
    for layer in (1, 2):
        wide = net.with_layer(wide, layer, embed(net.layer(wide, layer), 4, other))
    slope = jax.grad(lambda w: squared_error(net, w, data))(wide)
    two = net.layer(narrow, 2)
    return {
        "gradient": max(float(jnp.abs(g).max()) for g in slope.values()),
        "map_gap": float(jnp.abs(net(wide, data.x) - net(narrow, data.x)).max()),
        "on": manifold_residual(embed(two, 3, right), right, 2),
        "off": manifold_residual(embed(two, 3, other), other, 2),
    } | deep_linear(right, rng)  # fmt: skip


def deep_linear(way, rng):
    """The best linear net of one unit per layer, on a target of rank two, embedded in three units per layer."""
    x, net = rng.standard_normal((60, 3)), DeepUnits(1, Neuron(Identity()), (1,), 0.7)
    data = net.statistics(Samples(x, x @ rng.standard_normal((3, 2))))
    narrow, level, _ = min((relax(net, net.init(rng, 3, 2), data) for _ in range(4)), key=lambda found: found[1])
    way = type(way)() if isinstance(way, Span) else way  # of one unit there is one factor
    wide = narrow
    for layer in (1, 2):
        wide = net.with_layer(wide, layer, embed(net.layer(wide, layer), 3, way))
    moved = {n: w + MOVE * rng.standard_normal(np.shape(w)) for n, w in wide.items()}
    return {
        "deep_gradient": float(np.abs(curvature(net, {n: jnp.asarray(w) for n, w in wide.items()}, data)[1]).max()),
        "deep_level": level / float(data.power),
        "deep_below": relax(net, moved, data)[1] / float(data.power),
    }


def exact(results):
    worst = np.maximum(results.measured.gradient.values, results.measured.map_gap.values)
    good = int(np.sum(worst < EXACT))
    return always(good, len(worst), f"{share_text(good, len(worst))}; largest gradient or change {worst.max():.1e}")


def named_factors(results):
    on, off = results.measured["on"].values, results.measured["off"].values
    silent = results.measured.kind.values.astype(str) == "silent"  # it has no factors
    good = (on < 1e-7) & (silent | (off > 1e-3))
    least = off[~silent].min(initial=np.inf)
    text = f"with the named factors at most {on.max():.1e} off, with others at least {least:.1e}"
    return always(good.sum(), good.size, text)


def saddles(results):
    """No gradient, and a lower loss once moved: by a tenth of the level."""
    m = results.measured
    good = (m.deep_gradient.values < FIXED) & (m.deep_below.values < 0.9 * m.deep_level.values)
    text = (
        f"{share_text(int(good.sum()), good.size)}; largest gradient {m.deep_gradient.values.max():.1e}; loss of the "
    )
    text += (
        f"embedded point {m.deep_level.values.min():.2g} to {m.deep_level.values.max():.2g} of the first, once moved "
    )
    return always(good.sum(), good.size, f"{text}at most {m.deep_below.values.max():.1e}")


def draw(results):
    figure, ax = plt.subplots(figsize=(WIDTH, 2.9))
    for k, kind in enumerate(WAYS):
        m = results.select(kind=kind).measured
        if m.sizes["run"]:
            worst = np.maximum(np.maximum(m.gradient, m.map_gap), 1e-18)
            ax.semilogy(np.full(m.sizes["run"], k) - 0.1, worst, "o", color=BLUE, mfc="none", ms=4)
            ax.semilogy(
                np.full(m.sizes["run"], k) + 0.1, np.maximum(m["on"], 1e-18), "^", color=ORANGE, mfc="none", ms=4
            )
            ax.semilogy(np.full(m.sizes["run"], k) + 0.2, np.maximum(m["off"], 1e-18), "s", color=RED, mfc="none", ms=4)
    ax.plot([], [], "s", color=RED, mfc="none", label="control: other factors")
    ax.plot([], [], "o", color=BLUE, mfc="none", label="gradient or change of the map, both layers widened")
    ax.plot([], [], "^", color=ORANGE, mfc="none", label="off the manifold, factors of F.4")
    ax.set(xticks=range(len(WAYS)), ylabel="gradient, change or distance", ylim=(1e-19, 1e1))
    ax.set_xticklabels(WAYS)
    shared_legend(figure, ncols=2)
    return figure


experiment = Experiment(
    title="Widening several layers at once keeps a fixed point",
    source="Corollary 2, F.4",
    measure=measure,
    full=dict(kind=WAYS, seed=range(10)),
    quick=dict(kind=WAYS, seed=range(1)),
    draw=draw,
    drawn="One mark per draw. Circles: the gradient, or the change of the map, of a net whose two layers were "
    "widened. Triangles: its distance from the invariant manifold with the factors of F.4. Squares: the "
    "same with other factors. Exact zeros are drawn at the lower edge.",
    claims=(
        Claim("Widened in every layer, the net has the same map and is at a fixed point.", "S53 · Corollary 2", exact),
        Claim(
            "With the factors of F.4 an embedded fixed point lies on the manifold of its kind.",
            "S10 · F.4",
            named_factors,
        ),
        Claim(
            "In a deep linear net the embedded best net of one unit per layer is a saddle.", "S72 · Section 3", saddles
        ),
    ),
)
