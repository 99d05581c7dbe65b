"""Meanfield paper, Eq. 4, 5, 9, 10 and 14–16: the first layer is a superposition of kernels.

Small nets of two blocks (width 24) are followed in all their weights by scipy's method of order 8,
with n times JAX's gradient and nothing of the theory. Three to five points have random places,
targets and weights π. Channels elsewhere are then set beside Σ K Γ, with π_p in Γ (Eq. 15) and
without (Section 3.2). The exact limit's own Γ stands beside the integral of its π d B.
"""

import equinox as eqx
import jax
import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp

from saddlescope.checks import all_below, always, share_text
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, BLUE, RED, letters
from saddlescope.figures import WIDTH as PAGE
from saddlescope.meanfield import Measure, meanfield
from saddlescope.nets.activation import Erf, Sigmoid, Tanh
from saddlescope.theory.meanfield.superposition import (
    accumulate_gamma,
    channel_velocity,
    split_velocity,
    superpose,
)

ACTIVATIONS = {"tanh": Tanh(), "sigmoid": Sigmoid(), "erf": Erf()}
WIDTH, RANK, T = 24, 3, 4.0
TIMES = np.linspace(0, T, 401)
PLACES = np.linspace(-1.5, 1.5, 41)
SPLINE = 1e-7  # a spline through 401 times leaves less of Γ; that of the limit has 201
RATES = 1e-6  # Simpson's rule over two saved steps
ROUNDING = 1e-10


def measure(activation, points, seed):
    rng = np.random.default_rng([points, seed])
    phi = ACTIVATIONS[activation]
    data = np.sort(rng.uniform(-1, 1, points)), rng.standard_normal(points), rng.dirichlet(np.ones(points) * 3)
    net = meanfield(Measure(*data), RANK, 1, phi).net(WIDTH, seed)
    w1, w2 = followed(net, data)
    here, there = net.features(data[0][:, None]), net.features(PLACES[:, None])
    d, B, f_data = read_off(net, data, w1, w2)
    f = np.einsum("xc,tck->txk", there, w1) / WIDTH
    kernel, own = there @ here.T / WIDTH, here @ here.T / WIDTH
    with_pi, without = (superpose(f[0], kernel, accumulate_gamma(TIMES, d, B, p)) for p in (data[2], np.ones(points)))
    moved = np.abs(f - f[0]).max()
    local, cross = split_velocity(own, data[2], d, B)
    return {
        "gap": float(np.abs(with_pi - f).max() / moved),
        "printed_gap": float(np.abs(without - f).max() / moved),
        "rate_gap": rate_gap(f, channel_velocity(kernel, data[2], d, B)),
        "split_gap": rate_gap(f_data, local + cross),
        "printed_split": rate_gap(f_data, local / data[2][:, None] + cross),
        "by_channel": float(np.ptp(cross, axis=2).max() / np.abs(cross).max()),
        "outside_span": outside_span(w1[-1] - w1[0], here),
        "limit_gap": limit_gap(data, phi),
        "f": (("place",), f[-1, :, 0]),
        "right": (("place",), with_pi[-1, :, 0]),
        "printed": (("place",), without[-1, :, 0]),
    }


def followed(net, data):
    """w₁ and w₂ over time, by n times JAX's gradient of the loss."""
    x, y, weights = data
    given = net.features(x[:, None]), net.frozen[1][:, :-1], y, weights
    start = np.concatenate([w.ravel() for w in net.start])

    def velocity(_, flat):
        return -WIDTH * np.asarray(_gradient(flat, *given, net.limit.activation))

    flat = solve_ivp(velocity, (0, T), start, "DOP853", TIMES, rtol=1e-11, atol=1e-12).y.T
    return flat[:, :-WIDTH].reshape(-1, WIDTH, RANK), flat[:, -WIDTH:].reshape(-1, WIDTH, 1)


@eqx.filter_jit
@jax.grad
def _gradient(flat, features, mixing, y, weights, phi):
    w1, w2 = flat[:-WIDTH].reshape(WIDTH, RANK), flat[-WIDTH:]
    outputs = phi(features @ w1 / WIDTH @ mixing.T) @ w2 / WIDTH
    return weights @ (outputs - y) ** 2 / 2


def read_off(net, data, w1, w2):
    """d, B and f at the data by their definitions."""
    x, y, _ = data
    features, mixing, phi = net.features(x[:, None]), net.frozen[1][:, :-1], net.limit.activation
    f = np.einsum("pc,tck->tpk", features, w1) / WIDTH
    values, slopes = jax.jvp(phi, (f @ mixing.T,), (np.ones((*f.shape[:2], WIDTH)),))
    outputs = np.einsum("tpc,tc->tp", values, w2[:, :, 0]) / WIDTH
    signals = np.einsum("tpc,tc,ck->tpk", slopes, w2[:, :, 0], mixing) / WIDTH
    return outputs - y, signals, f


def rate_gap(f, velocity):
    """The change of f between saved times against the velocity's integral (Simpson's rule)."""
    change = f[2::2] - f[:-2:2]
    said = (velocity[:-2:2] + 4 * velocity[1:-1:2] + velocity[2::2]) * (TIMES[1] - TIMES[0]) / 3
    return float(np.abs(change - said).max() / np.abs(change).max())


def outside_span(change, features):
    """The part of w₁(T) − w₁(0) that is no combination of the data's features, relative."""
    basis = np.linalg.qr(features.T)[0]
    return float(np.linalg.norm(change - basis @ (basis.T @ change)) / np.linalg.norm(change))


def limit_gap(data, phi):
    """Γ of the exact limit against the integral of π d B; for erf, whose kernels have closed forms."""
    if not isinstance(phi, Erf):
        return 0.0
    times = TIMES[::2]
    flow = meanfield(Measure(*data), RANK, 1, phi).flow(T, times=times).data
    d = flow.output.values[:, :, 0] - data[1]
    said = accumulate_gamma(times, d, flow.B.values[:, :, 0], data[2])
    return float(np.abs(said - flow.Gamma.values).max() / np.abs(flow.Gamma.values).max())


def rates_of_kernel(results):
    """At other places by Eq. 10, and at the data as the sum of a local term, with π, and the rest."""
    there, here = results.measured.rate_gap.values, results.measured.split_gap.values
    good = int(np.sum(np.maximum(there, here) <= RATES))
    text = f"largest gap {there.max():.2g} at other places, {here.max():.2g} at the data, allowed {RATES:g}"
    return always(good, len(there), f"{share_text(good, len(there))}; {text}")


def depends_on_channel(results):
    spread = results.measured.by_channel.values
    good = int(np.sum(spread <= ROUNDING))
    text = f"spread of E over channels {spread.min():.2g} to {spread.max():.2g} of its size"
    return always(good, len(spread), f"{share_text(good, len(spread))}; {text}")


def draw(results):
    figure, (left, right) = plt.subplots(1, 2, figsize=(PAGE, 2.6))
    run = next(iter(results.runs()))
    left.plot(PLACES, run.f, color=BLACK, lw=2, label="net, all weights")
    left.plot(PLACES, run.right, "--", color=BLUE, label="Σ K Γ with π")
    left.plot(PLACES, run.printed, ":", color=RED, label="Σ K Γ without π")
    left.set(xlabel="x", ylabel=f"channel 1 at time {T:g}", title="one net")
    left.legend()
    part = results.measured
    for name, color, label in (("gap", BLUE, "with π"), ("printed_gap", RED, "without π")):
        right.semilogy(np.sort(part[name].values), ".", color=color, ms=3, label=label)
    right.set(xlabel="net, sorted", ylabel="gap over change", title="all nets")
    right.legend(loc="center right")
    letters((left, right))
    return figure


experiment = Experiment(
    title="Channels are a superposition of kernels, with the data's weights",
    source="Eq. 4, 5, 9, 10, 14–16",
    measure=measure,
    full=dict(activation=tuple(ACTIVATIONS), points=(2, 3, 5), seed=range(20)),
    quick=dict(activation=("tanh", "erf"), points=(3,), seed=range(4)),
    draw=draw,
    drawn="A: one channel of a net that is followed in all its weights, and the sum of kernels with and without "
    "the weights π of the data. B: one dot per net, sorted: the largest gap over the largest change.",
    claims=(
        Claim("f = f(0) − Σ K Γ with π_p in Γ.", "M50, M118 · Eq. 15, 16", all_below("gap", SPLINE, "gap")),
        Claim(
            "f = f(0) − Σ K Γ with Γ of Section 3.2, without π_p.",
            "M50 · Section 3.2, Eq. 4, as printed",
            all_below("printed_gap", SPLINE, "gap"),
            note="Γ in Section 3.2 lacks the factor π_p; Eq. 15 has it.",
        ),
        Claim(
            "∂_t f_k = −ξ E[d B_k K(x, X)]: the frozen first layer is a kernel.",
            "M22, M48, M56, M118 · Eq. 10, and Eq. 5 with π",
            rates_of_kernel,
        ),
        Claim(
            "∂_t f_k at the data is a local term without π_p, and the rest E.",
            "M56 · Eq. 5, as printed",
            all_below("printed_split", RATES, "gap"),
            note="The local term lacks the factor π_p.",
        ),
        Claim(
            "The rest E_p is the same for all channels.",
            "M56, M123 · Eq. 5, H.3, as printed",
            depends_on_channel,
            note="E_p contains B_k of the other points, which depends on k.",
        ),
        Claim(
            "w₁(t) − w₁(0) is a combination of the data's features.",
            "M51 · Section 3.2, Eq. 14",
            all_below("outside_span", 1e-11, "part outside"),
        ),
        Claim(
            "Γ of the exact limit is the integral of its π d B.",
            "M118 · Eq. 15; ours",
            all_below("limit_gap", SPLINE, "gap"),
            only=dict(activation="erf"),
        ),
    ),
)
