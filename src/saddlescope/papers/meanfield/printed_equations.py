"""Mean-field paper, Section 2.2 and 2.3: equations as printed, and right ones, against automatic differentiation.

Nets of 2 to 5 blocks (the paper's L − 1) with 24 neurons, three channels and tanh are drawn. Rates are compared with
−n times the gradient of the explicit loss in all weights; nothing is trained. As printed w_i has no channel index
for i ≥ 2: Eq. 2 and 3 are held to the gradient of that very net, layer by layer. The right ones are those of
`meanfield/nodes.py`, for nets with an index, weighted points, two outputs, with and without mixing biases.
"""

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, GREEN, ORANGE, RED
from saddlescope.figures import WIDTH as PAGE
from saddlescope.meanfield import GaussianMixing, Measure, meanfield
from saddlescope.nets import Tanh
from saddlescope.theory.meanfield.printed import PrintedNet, printed_rates, printed_signals

WIDTH, RANK, POINTS, INPUTS = 24, 3, 6, 2
ROUNDING = 1e-12  # relative; sums of some thousand products of numbers of size one
NONE = -1.0  # in the place of a gap: nets of two blocks have no block between the first and the last


def measure(blocks, bias, seed):
    rng = np.random.default_rng([blocks, seed, bias > 0])
    x, y = rng.standard_normal((POINTS, INPUTS)), rng.standard_normal(POINTS)
    net = drawn_as_printed(rng, blocks)
    fields, channels, _ = net.forward(x)
    true = [-WIDTH * np.asarray(g) for g in jax.grad(loss_as_printed)(net.weights, net.frozen, x, y)]
    text, eq3 = (printed_rates(net, x, y, as_in_text) for as_in_text in (True, False))
    through = np.asarray(jax.grad(outputs_of_first)(channels[0], net.frozen[1:], net.weights[1:]))
    between = [max(apart(p[i], true[i]) for i in range(1, blocks - 1)) if blocks > 2 else NONE for p in (text, eq3)]
    return {
        "first": apart(text[0], true[0]),
        "between_text": between[0],
        "between_eq3": between[1],
        "last_text": apart(text[-1], true[-1]),
        "last_eq3": apart(eq3[-1], true[-1]),
        "signal": apart(printed_signals(net, fields), through),
        "rank_printed": second_value(channels[-1]) if blocks > 2 else NONE,
        **of_right_equations(rng, x, blocks, bias, seed),
    }


# ---- As printed ----


def drawn_as_printed(rng, blocks):
    frozen = [rng.standard_normal((WIDTH, INPUTS if i == 0 else RANK)) for i in range(blocks)]
    weights = [1 + rng.standard_normal((WIDTH, RANK) if i == 0 else WIDTH) for i in range(blocks)]
    return PrintedNet(tuple(frozen), tuple(weights))


def outputs_of_first(f, frozen, weights):
    """Σ_p ŷ_p as a function of the first block's channels."""
    for L, w in zip(frozen, weights, strict=True):
        f = jnp.repeat((jnp.tanh(f @ L.T) @ w / len(L))[:, None], RANK, axis=1)
    return f[:, 0].sum()


def loss_as_printed(weights, frozen, x, y):
    f = jnp.tanh(x @ frozen[0].T) @ weights[0] / WIDTH
    for L, w in zip(frozen[1:], weights[1:], strict=True):
        f = jnp.repeat((jnp.tanh(f @ L.T) @ w / len(L))[:, None], RANK, axis=1)
    return ((f[:, 0] - y) ** 2).mean() / 2


# ---- Right ----


def of_right_equations(rng, x, blocks, bias, seed):
    weights = rng.dirichlet(np.ones(POINTS))
    measure = Measure(x, rng.standard_normal((POINTS, 2)), weights)
    limit = meanfield(measure, RANK, blocks - 1, Tanh(), mixing=GaussianMixing(1.0, bias))
    net = limit.net(WIDTH, seed)
    system, state = net.system()
    gamma, rates = system.velocity(0.0, state)
    found = [-net.features(x).T @ np.asarray(gamma), *map(np.asarray, rates)]
    true = jax.grad(explicit_loss)(tuple(map(jnp.asarray, net.start)), net.frozen, measure)
    channels = [np.asarray(c) for c in system.channels(state)]
    forward = explicit_channels(net.start, net.frozen, x)
    return {
        "right": max(apart(f, -WIDTH * np.asarray(g)) for f, g in zip(found, true, strict=True)),
        "forward": max(apart(a, np.asarray(b)) for a, b in zip(channels, forward, strict=True)),
        "rank_right": second_value(channels[-2]),
    }


def explicit_channels(weights, frozen, x):
    """Eq. 1 with c = 0, sum by sum."""
    f, found = x, []
    for w, L in zip(weights, frozen, strict=True):
        f = jnp.tanh(f @ L[:, :-1].T + L[:, -1]) @ w / len(L)
        found.append(f)
    return found


def explicit_loss(weights, frozen, measure):
    output = explicit_channels(weights, frozen, measure.x)[-1]
    return measure.weights @ ((output - measure.y) ** 2).sum(axis=1) / 2


def apart(a, b):
    """The largest difference over the largest value."""
    return float(np.abs(a - b).max() / np.abs(b).max())


def second_value(channels):
    """s₂/s₁ of channels over points: 0 where all channels are one."""
    values = np.linalg.svd(channels, compute_uv=False)
    return float(values[1] / values[0])


# ---- Checks ----


def is_gradient(*names):
    """In every net and by the number of blocks, for the best of these readings. Others have no such block."""

    def check(results):
        gap = np.min([results.measured[name].values for name in names], axis=0)
        blocks = results.measured.blocks.values
        there = gap != NONE
        if not there.any():
            return None
        good = gap <= ROUNDING
        groups = {
            f"{b} blocks": (good[there & (blocks == b)].sum(), (there & (blocks == b)).sum()) for b in set(blocks)
        }
        groups = {name: group for name, group in sorted(groups.items()) if group[1]}
        text = f"{good[there].sum():,} of {there.sum():,} nets; relative gap up to {gap[there].max():.1e}"
        return always(good[there].sum(), there.sum(), f"{text}, limit {ROUNDING:g}", groups)

    return check


def channels_differ(results):
    data = results.measured
    deep = data.rank_printed.values != NONE
    if not deep.any():
        return None
    printed, right = data.rank_printed.values[deep], data.rank_right.values[deep]
    good = int(np.sum(printed > ROUNDING))
    text = (
        f"s₂/s₁ of the last channels: as printed at most {printed.max():.1e}, with an index at least {right.min():.1e}"
    )
    return always(good, len(printed), text)


def index_is_needed(results):
    data = results.measured
    deep = data.rank_printed.values != NONE
    if not deep.any():
        return None
    good = (data.rank_printed.values[deep] <= ROUNDING) & (data.rank_right.values[deep] > ROUNDING)
    return always(int(good.sum()), int(deep.sum()), f"{good.sum()} of {deep.sum()} nets of three blocks or more")


LINES = (
    ("right", "right equations", GREEN, "o"),
    ("first", "Eq. 2, first block", BLUE, "s"),
    ("between_eq3", "Eq. 2 and 3, blocks between", ORANGE, "v"),
    ("last_eq3", "Eq. 3, last block", RED, "^"),
)


def draw(results):
    figure, ax = plt.subplots(figsize=(PAGE, 2.8))
    data = results.measured
    for k, (name, label, colour, mark) in enumerate(LINES):
        gap, blocks = data[name].values, data.blocks.values
        there = gap != NONE
        ax.plot(blocks[there] + 0.08 * (k - 1.5), np.maximum(gap[there], 1e-17), mark, color=colour, ms=4, label=label)
    ax.axhline(ROUNDING, color="0.6", ls="--", lw=0.8, label="limit of rounding")
    ax.set(yscale="log", xlabel="blocks (the paper's L − 1)", ylabel="gap to n × gradient, relative")
    ax.set(xticks=sorted(set(data.blocks.values)))
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


INDEX = "Without a channel index in w_i all channels above the first block are the same."
FIRST = "It lacks what the blocks above the second pass back: it is right for two blocks alone."
LAST = "Eq. 3 contradicts the text, which has D = d: it counts w φ' of the block's own weights once too often."
BETWEEN = "The factor w φ' of block i belongs to block i − 1; with the D of the text that of the last is lost."

experiment = Experiment(
    title="Mean-field equations against automatic differentiation, as printed and corrected",
    source="Section 2.2, 2.3, Eq. 1–3",
    measure=measure,
    full=dict(blocks=(2, 3, 4, 5), bias=(0.0, 0.7), seed=range(20)),
    quick=dict(blocks=(2, 3, 4, 5), bias=(0.0, 0.7), seed=range(2)),
    draw=draw,
    drawn="One mark per net: the relative gap between an equation and n times the gradient. Below the dashed "
    "line it is rounding.",
    claims=(
        Claim("Corrected, rates are n times the gradient at every depth.", "ours · Eq. 2, 3", is_gradient("right")),
        Claim("The forward pass is Eq. 1 with c = 0.", "M23 · Eq. 1", is_gradient("forward"), built=True),
        Claim("As printed, channels above the first block differ.", "M27 · Section 2.2", channels_differ, note=INDEX),
        Claim("With a channel index in w_i they do; without it they have rank one.", "ours · M27", index_is_needed),
        Claim("As printed, Eq. 2 is the gradient in w_1.", "M28 · Eq. 2", is_gradient("first"), note=FIRST),
        Claim("With D = d, as in the text, Eq. 2 is that in the last w.", "M29 · Eq. 2", is_gradient("last_text")),
        Claim("With the D of Eq. 3 it is that in the last w.", "M29 · Eq. 3", is_gradient("last_eq3"), note=LAST),
        Claim(
            "With either D, Eq. 2 and 3 are the gradient in the blocks between.",
            "M29 · Eq. 2, 3",
            is_gradient("between_text", "between_eq3"),
            note=BETWEEN,
        ),
        Claim("B_k is the output's derivative by channel k.", "M30 · Section 2.3", is_gradient("signal"), note=FIRST),
    ),
)
