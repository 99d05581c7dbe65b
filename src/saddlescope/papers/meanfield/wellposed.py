"""Mean-field paper, Theorem 2.1 and App. D, G.2: is the limit's flow unique? Nothing is trained.

The limit of two blocks and rank 1 on one point (x = ½, y = 1) starts at f(x) = ±ε, where w_2 has mean one. Both
starts are followed to T = 3, and the gap of their channels is set beside ε. For erf and tanh it grows by a factor that
does not depend on ε. The field of the leaky ReLU and of the ReLU jumps at f = 0: the two flows go apart at once,
whatever ε. Nets of 64 neurons whose f(x) is set to ±ε do the same. Picard's iteration is done on nets of width 16 with
T = 2 and 400 steps of the trapezoidal rule; its iterates are compared with each other and with the flow.
"""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
from jax.flatten_util import ravel_pytree

from saddlescope.checks import always, decided_by, groups_by
from saddlescope.claims import Claim
from saddlescope.experiment import Experiment
from saddlescope.figures import BLACK, BLUE, GREEN, ORANGE, RED, letters
from saddlescope.figures import WIDTH as PAGE
from saddlescope.meanfield import Measure, StartLaw, meanfield
from saddlescope.meanfield.by_nodes import follow_nodes
from saddlescope.meanfield.finite import FiniteNet
from saddlescope.meanfield.marching import march_systems
from saddlescope.nets import Erf, LeakyReLU, ReLU, Tanh

ACTIVATIONS = {"leaky ReLU": LeakyReLU(0.1), "ReLU": ReLU(), "erf": Erf(), "tanh": Tanh()}
SMOOTH = ("erf", "tanh")
PLACE, T, NODES = 0.5, 3.0, 48
WIDTH, PICARD_WIDTH, PICARD_T, GRID, ITERATES = 64, 16, 2.0, 401, 24
FACTOR = 20.0  # a smooth flow's gap over ε: e^{λT} with λ ≤ 1, since slopes, kernel and residual are at most 1
APART = 0.1  # of channels of size one


def measure(activation, epsilon, seed):
    phi = ACTIVATIONS[activation]
    limits = [limit_from(phi, sign * epsilon) for sign in (1, -1)]
    ends = [end_of_limit(limit) for limit in limits]
    rng = np.random.default_rng(seed)
    nets = [end_of_net(limits[0], rng.integers(1 << 30), epsilon) for _ in range(2)]
    differences, gap = picard(phi, seed)
    return {
        "apart": abs(ends[0] - ends[1]),
        "nets_apart": float(np.min(nets)),
        "nets_apart_most": float(np.max(nets)),
        "picard": (("iterate",), differences),
        "picard_gap": gap,
    }


# ---- Two starts ----


def limit_from(phi, value):
    """The limit whose f at the point starts at this value."""
    point = Measure([PLACE], [1.0])
    plain = meanfield(point, 1, 1, phi)
    height = value / float(plain.first_kernel(point.x, point.x)[0, 0])
    first = StartLaw(mean=0.0, slope=0.0, atoms=(((PLACE,), height),))
    return meanfield(point, 1, 1, phi, start=(first, StartLaw(mean=1.0, slope=0.0)))


def end_of_limit(limit):
    if not isinstance(limit.activation, Tanh):
        return float(limit.flow(T, times=2).data.channels.values[-1, 0, 0, 0])
    return float(follow_nodes(limit, np.array([0.0, T]), NODES)[0][-1, 0, 0])


def end_of_net(limit, seed, epsilon):
    """|f₊ − f₋| at the end, of two copies of a net that differ in f(x) = ±ε alone."""
    net = limit.net(WIDTH, int(seed))
    features = net.features(limit.measure.x)[0]
    systems = []
    for sign in (1, -1):
        shift = (sign * epsilon - features @ net.start[0] / WIDTH) * WIDTH / (features @ features)
        start = (net.start[0] + features[:, None] * shift, net.start[1])
        systems.append(FiniteNet(limit, net.frozen, start).system())
    gamma, _ = march_systems(systems, np.array([0.0, T]), 1e-9, T * 1e-4 * limit.kinked).states
    kernel = features @ features / WIDTH
    return float(abs(2 * epsilon - kernel * (gamma[0, -1, 0, 0] - gamma[1, -1, 0, 0])))


# ---- Picard's iteration ----


def picard(phi, seed):
    """sup over time of the change of every iterate, and the last iterate's distance to the flow."""
    data = Measure([-PLACE, PLACE], [1.0, -0.5])
    net = meanfield(data, 2, 1, phi).net(PICARD_WIDTH, seed)
    system, state = net.system()
    times = np.linspace(0, PICARD_T, GRID)
    start, unravel = ravel_pytree(state)
    path, changes = jnp.tile(start, (GRID, 1)), []
    for _ in range(ITERATES):
        new = _iterate(system, unravel, start, path, times[1])
        changes.append(float(jnp.abs(new - path).max()))
        path = new
    gamma, weights = march_systems([(system, state)], times[[0, -1]], 1e-9, PICARD_T * 1e-4 * net.limit.kinked).states
    flow = np.concatenate([gamma[0, -1].ravel(), weights[0][0, -1].ravel()])
    return np.array(changes), float(np.abs(np.asarray(path[-1]) - flow).max())


@eqx.filter_jit
def _iterate(system, unravel, start, path, step):
    """W ↦ W⁰ + ∫ F(W) by the trapezoidal rule."""

    def rate(y):
        return ravel_pytree(system.velocity(0.0, unravel(y)))[0]

    rates = jax.vmap(rate)(path)
    sums = jnp.cumsum((rates[1:] + rates[:-1]) * step / 2, axis=0)
    return start + jnp.concatenate([jnp.zeros((1, len(start))), sums])


# ---- Checks ----


def ratios(results, of, among):
    """The gap over that of the starts, by activation."""
    names = [n for n in among if n in results.values("activation")]
    parts = {n: results.select(activation=[n]).measured for n in names}
    return {n: m[of].values / (2 * m.epsilon.values) for n, m in parts.items()}


def worst_of(found):
    worst = ", ".join(f"{n} {ratio.max():.1e}" for n, ratio in found.items())
    return f"largest gap over that of the starts: {worst}; allowed {FACTOR:g}"


def limit_stays_together(among=tuple(ACTIVATIONS)):
    """The gap is at most FACTOR times that of the starts, at every ε; the limit has no seeds."""

    def check(results):
        found = ratios(results, "apart", among)
        if not found:
            return None
        said = decided_by({n: bool((ratio <= FACTOR).all()) for n, ratio in found.items()}, worst_of(found))
        return replace(said, exact=True)

    return check


def nets_stay_together(results):
    found = ratios(results, "nets_apart_most", tuple(ACTIVATIONS))
    good = {n: (int(np.sum(ratio <= FACTOR)), len(ratio)) for n, ratio in found.items()}
    total, n = (sum(c) for c in zip(*good.values(), strict=True))
    return always(total, n, f"{total} of {n}; {worst_of(found)}", good)


def kinks_separate(results):
    data = results.select(activation=[n for n in ACTIVATIONS if n not in SMOOTH]).measured
    if not data.sizes["run"]:
        return None
    good = (data["apart"].values > APART) & (data.nets_apart.values > APART)
    least = f"{data['apart'].values.min():.2f} in the limit, {data.nets_apart.values.min():.2f} in nets"
    return always(int(good.sum()), good.size, f"{good.sum()} of {good.size}; gaps at least {least}, asked {APART:g}")


def picard_converges(results):
    """Iterates stop to change, and end at the flow to one step of the grid: at a kink its rule is of first order."""
    results = results.select(epsilon=results.values("epsilon")[0])  # they do not depend on it
    last, gap = results.measured.picard.values[:, -1], results.measured.picard_gap.values
    good = (last < 1e-8) & (gap < PICARD_T / (GRID - 1))
    ends = f"last change up to {last.max():.1e}, distance to the flow up to {gap.max():.1e}"
    groups = groups_by(results, "activation", good)
    return always(int(good.sum()), good.size, f"{good.sum()} of {good.size}; {ends}", groups)


COLOURS = dict(zip(ACTIVATIONS, (RED, ORANGE, BLUE, GREEN), strict=True))


def draw(results):
    figure, (left, right) = plt.subplots(1, 2, figsize=(PAGE, 2.7))
    for name in results.values("activation"):
        data = results.select(activation=[name]).measured
        left.plot(data.epsilon, data["apart"], "o", color=COLOURS[name], ms=5, mfc="none", label=name)
        right.plot(range(1, ITERATES + 1), data.picard.values.T, color=COLOURS[name], lw=1)
    ends = np.array(sorted(set(results.measured.epsilon.values)))
    left.plot(ends, 2 * ends, color=BLACK, lw=0.8, ls="--", label="gap of the starts, 2ε")
    left.set(xscale="log", yscale="log", xlabel="ε", ylabel=f"gap of f at time {T:g}")
    left.set_title("two starts f = ±ε of the limit")
    left.legend()
    right.set(yscale="log", xlabel="iterate", ylabel="change of an iterate")
    right.set_title(f"Picard iterates, nets of width {PICARD_WIDTH}")
    letters((left, right))
    return figure


NOTE = "At f = 0 a kink makes the field jump: B is not continuous in W there, as the proof of Lemma D.4 assumes."

experiment = Experiment(
    title="Uniqueness of the mean-field flow: starts that differ by ε, and Picard's iteration",
    source="Theorem 2.1, App. D, G.2",
    measure=measure,
    full=dict(activation=tuple(ACTIVATIONS), epsilon=(1e-12, 1e-9, 1e-6), seed=range(12)),
    quick=dict(activation=("leaky ReLU", "erf"), epsilon=(1e-12, 1e-9), seed=range(2)),
    draw=draw,
    drawn="A: how far two flows that start ε apart are from each other at time 3. B: change from one iterate to "
    "the next, one line per net, in the same colours.",
    claims=(
        Claim("The limit depends continuously on its start.", "M34 · Theorem 2.1", limit_stays_together(), note=NOTE),
        Claim("With a smooth activation it does.", "ours · Theorem 2.1", limit_stays_together(SMOOTH)),
        Claim("With a kink two starts ±ε separate at once, in the limit and in nets.", "ours", kinks_separate),
        Claim("Nets depend continuously on their start.", "M113 · App. G.2", nets_stay_together, note=NOTE),
        Claim("Picard's iterates converge to the flow.", "M34 · App. D.6", picard_converges, note=NOTE),
    ),
)
