"""Escape paper, Proposition 3.2: a deeper net of no worse localized loss, from random nets.

Nothing is searched: random nets with L0 < 0 (the sign of the last layer is turned where it is
positive), deepened once to three times. Depth 1, which the proposition does not exclude, is
compared in closed form: s*(1) = ‖GXᵀ‖_F, and s*(2) is the best one-neuron speed, by a fine grid of
angles in two dimensions.
"""

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.checks import always, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLUE, RED, letters
from saddlescope.papers.escape._flows import drawn_weights, random_data
from saddlescope.theory.escape.collapse import deepen
from saddlescope.theory.escape.localized import layers_of, localized_loss, norm_of

MOST = 3


def measure(depth, outputs, seed):
    rng = np.random.default_rng([depth, outputs, seed])
    X, G = random_data(rng, inputs=2, outputs=outputs)
    net = [np.sqrt(depth) * w for w in drawn_weights(rng, X, outputs, depth, 6)]
    net[-1] = -np.sign(localized_loss(net, X, G)) * net[-1]
    speeds, ranks, last, hidden, norms = [-localized_loss(net, X, G)], [], [], [], []
    for k in range(1, MOST + 1):
        net = deepen(net, X, G)
        speeds.append(-localized_loss(net, X, G))
        norms.append(abs(norm_of(net) ** 2 - depth - k))
        before = layers_of(net, X).before
        new = range(depth - 1, depth + k)  # layers L … L + k, counted from 0
        ranks.append(max(np.linalg.matrix_rank(m[i]) for m in (net, before) for i in new))
        hidden.append(max(relu_changes(before[i]) for i in new[:-1]))
        last.append(relu_changes(before[-1]))
    return {
        "gain": float(np.min(np.diff(speeds) / speeds[1:])),
        "speeds": ("deeper", np.array(speeds)),
        "rank": int(max(ranks)),
        "norm_gap": float(max(norms)),
        "hidden_change": float(max(hidden)),
        "last_change": float(max(last)),
        "shallow": float(linear_speed(X, G) / neuron_speed(X, G)),
    }


def relu_changes(z):
    return np.linalg.norm(np.minimum(z, 0)) / np.linalg.norm(z)


def linear_speed(X, G):
    return np.linalg.norm(G @ X.T)


def neuron_speed(X, G):
    """max over unit u of ‖G σ(Xᵀu)‖ in two dimensions: 20,000 angles, all kinks and the best of a
    parabola aside."""
    kinks = np.arctan2(X[1], X[0]) + np.pi / 2
    angle = np.concatenate([np.linspace(0, 2 * np.pi, 20_000), kinks, kinks + np.pi])
    z = np.maximum(np.stack([np.cos(angle), np.sin(angle)]).T @ X, 0)
    return np.linalg.norm(z @ G.T, axis=1).max()


def counted(good, text):
    return always(int(np.sum(good)), len(good), f"{share_text(int(np.sum(good)), len(good))}; {text}")


def no_worse(results):
    gain, gap = results.measured.gain.values, results.measured.norm_gap.values
    least = f"least change of speed per layer {gain.min():.1e} of the speed, norm kept to {gap.max():.0e}"
    return counted((gain >= -1e-12) & (gap < 1e-10), least)


def rank_one(results):
    rank = results.measured["rank"].values
    return counted(rank == 1, f"largest rank of W and Z from layer L on {rank.max()}")


def relu_idle(name):
    def check(results):
        change = results.measured[name].values
        return counted(change <= 1e-12, f"largest ‖Zσ − Z‖ / ‖Z‖ {change.max():.2g}")

    return check


def from_depth_one(results):
    ratio = results.measured.shallow.values
    return counted(ratio <= 1 + 1e-6, f"s*(1)/s*(2) is {ratio.min():.2g} to {ratio.max():.2g}")


def draw(results):
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.5, 3))
    for run in results.runs():
        left.plot(range(MOST + 1), run.speeds / run.speeds[0], "o-", color=BLUE, ms=2, lw=0.5)
    left.set(
        xlabel="layers added",
        ylabel="speed over that of the random net",
        xticks=range(MOST + 1),
        title="random nets",
        yscale="log",
    )
    right.hist(results.measured.shallow.values, 20, color=BLUE)
    right.axvline(1, color=RED, lw=0.8, label="equal")
    right.legend(loc="upper left")
    right.set(xlabel="$s^*(1)/s^*(2)$", ylabel="data sets", title="from depth 1 to depth 2")
    letters((left, right))
    return figure


experiment = Experiment(
    title="A deeper net that escapes no slower",
    source="Proposition 3.2",
    measure=measure,
    full=dict(depth=(2, 3, 4, 5), outputs=(1, 3), seed=range(40)),
    quick=dict(depth=(2, 3, 5), outputs=(1, 3), seed=range(4)),
    draw=draw,
    drawn="(A) The speed of random nets to which layers are added as in the proof. (B) Best speed of depth 1 over "
    "that of depth 2; to the right of the line depth 1 is faster.",
    claims=(
        Claim(
            "Each added layer leaves L0 as low or lower, on ‖θ‖² = L + k.",
            "E47 · Proposition 3.2",
            no_worse,
        ),
        Claim("W and Z have rank one from layer L on.", "E49 · Proposition 3.2", rank_one, built=True),
        Claim("Z = Zσ in the added hidden layers.", "ours", relu_idle("hidden_change"), built=True),
        Claim(
            "Z = Zσ in all layers after L, the output too.",
            "E50 · Proposition 3.2",
            relu_idle("last_change"),
            note="The output may be negative; the statement holds for the hidden layers alone.",
        ),
        Claim(
            "The speed does not fall from depth 1 to depth 2 either.",
            "E48 · Proposition 3.2",
            from_depth_one,
            note="A linear map of depth 1 has no ReLU to pass: s*(1) = ‖GXᵀ‖_F. The proof needs a hidden layer.",
        ),
    ),
)
