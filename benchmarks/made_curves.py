"""Loss curves whose drops are known: what a finder of stages is measured with.

Two sets, of other shapes, other noise and other seeds each. `first` may be looked at while a method is built. `second`
was fixed before the method was changed, and only its score is read.

A drop counts where it can be seen at all. Without noise the curve must fall five times faster in it than somewhere on
each side, before the next drop. And its fall must be `SEEN` deviations of what the noise, its correlation included,
leaves in the means over half of each neighbouring plateau. Other drops are neither asked for nor held against anybody.
"""

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from made_noise import FIRST_NOISE, SECOND_NOISE

SEEN = 8.0  # deviations
FASTER = 5.0


@dataclass(frozen=True)
class Made:
    """One made curve.

    **Arguments:**

    - `family`, `noise`: its shape and its noise, by name.
    - `time`, `loss`: the curve.
    - `clean`: the loss without noise.
    - `drops`: (start, centre, end) of every drop: 10, 50 and 90 % of its fall are done.
    - `visible`: whether each drop can be seen in this noise.
    - `log_time`: whether it is to be read in log time.
    """

    family: str
    noise: str
    time: np.ndarray
    loss: np.ndarray
    clean: np.ndarray
    drops: list[tuple[float, float, float]] = field(default_factory=list)
    visible: list[bool] = field(default_factory=list)
    log_time: bool = False


# ---- Shapes on 0 … 1: a function, and where its drops are ----


def _steps(x, centres, levels, form):
    """Falls from each level to the next; `form(x, centre)` goes from 0 to 1."""
    loss = np.full(len(x), float(levels[0]))
    for c, before, after in zip(centres, levels, levels[1:], strict=False):
        loss -= (before - after) * form(x, c)
    return loss


def _logistic(width):
    return lambda x, c: 1 / (1 + np.exp(-np.clip((x - c) / width, -700, 700)))


def _relaxing(width):
    """Sudden, then exponential: what a cut of the learning rate does."""
    return lambda x, c: np.where(x < c, 0.0, -np.expm1(-np.clip((x - c) / width, 0, 700)))


def _gompertz(width):
    """A slow start and a quick end, turned round: an escape from a saddle."""
    return lambda x, c: 1 - np.exp(-np.exp(np.clip((x - c) / width, -700, 6.5)))


def _centres(rng, k, apart):
    """k places in 0.1 … 0.9, none nearer to the next than `apart`."""
    while True:
        found = np.sort(rng.uniform(0.1, 0.9, k))
        if k < 2 or np.diff(found).min() > apart:
            return found


def _levels(rng, k, ratios):
    return 3 * np.cumprod([1, *rng.uniform(*ratios, k)])


def _staircase(form, ratios, widths, apart=0.12, drift=0.0, most=4):
    def make(rng, x):
        k = int(rng.integers(1, most + 1))
        centres, levels = _centres(rng, k, apart), _levels(rng, k, ratios)
        width = float(np.exp(rng.uniform(*np.log(widths))))
        return _steps(x, centres, levels, form(width)) * (1 - drift * x), centres

    return make


def _geometric(ratios, widths):
    """Steps of the log loss, over decades."""

    def make(rng, x):
        k = int(rng.integers(2, 5))
        centres, levels = _centres(rng, k, 0.14), _levels(rng, k, ratios)
        width = float(np.exp(rng.uniform(*np.log(widths))))
        return np.exp(_steps(x, centres, np.log(levels), _logistic(width))), centres

    return make


def _modes(rng, x):
    """A deep linear net: each mode s(t)² grows by itself; the loss is Σ (s* − s)²."""
    k = int(rng.integers(2, 4))
    strengths = 3 * np.cumprod([1, *rng.uniform(0.45, 0.7, k - 1)])
    centres = np.cumsum([rng.uniform(0.08, 0.15), *rng.uniform(0.22, 0.3, k - 1)])
    loss = np.full(len(x), 0.02)
    for s, c in zip(strengths, centres, strict=True):
        grown = 1 / (1 + np.exp(-np.clip((x - c) * 100 * s, -700, 700)))
        loss += s**2 * (1 - grown) ** 2
    return loss, centres


def _none(function):
    return lambda rng, x: (function(rng, x), np.array([]))


def _bump(rng, x):
    """A power law with one sudden step, as of an induction head."""
    c, a = rng.uniform(0.2, 0.7), rng.uniform(0.3, 0.6)
    return 2 * (1 + 300 * x) ** -a + 1.2 - 0.35 / (1 + np.exp(-np.clip((x - c) * 80, -700, 700))), np.array([c])


FIRST = {
    "even steps": _staircase(_logistic, (0.4, 0.75), (0.002, 0.02)),
    "steps over decades": _geometric((1e-3, 0.2), (0.002, 0.012)),
    "small steps": _staircase(_logistic, (0.78, 0.9), (0.002, 0.01), apart=0.18, most=3),
    "sharp steps": _staircase(_logistic, (0.4, 0.8), (1e-5, 1e-4)),
    "steps with drift": _staircase(_logistic, (0.4, 0.7), (0.002, 0.01), drift=0.15),
    "power law": _none(lambda rng, x: 3 * (1 + rng.uniform(50, 2000) * x) ** -rng.uniform(0.2, 0.8)),
    "power law and floor": _none(lambda rng, x: 3 * (1 + 500 * x) ** -rng.uniform(0.3, 0.8) + rng.uniform(0.2, 2)),
    "straight line": _none(lambda rng, x: 3 - rng.uniform(0.5, 2.5) * x),
    "flat": _none(lambda rng, x: 0 * x + 2.3),
}
SECOND = {
    "sudden falls that relax": _staircase(_relaxing, (0.4, 0.7), (0.003, 0.015), apart=0.16),
    "escapes": _staircase(_gompertz, (0.35, 0.7), (0.004, 0.015), apart=0.16),
    "modes of a linear net": _modes,
    "broad and narrow steps": _staircase(_logistic, (0.35, 0.65), (0.0005, 0.025), apart=0.2, most=3),
    "a bump on a power law": _bump,
    "stretched exponential": _none(lambda rng, x: 2 * np.exp(-((8 * x) ** rng.uniform(0.3, 0.7))) + 0.3),
    "two exponentials": _none(lambda rng, x: 2 * np.exp(-x / rng.uniform(0.02, 0.06)) + np.exp(-x / 0.4) + 0.2),
    "logarithm": _none(lambda rng, x: 3 - rng.uniform(0.2, 0.4) * np.log1p(rng.uniform(100, 3000) * x)),
    "flat": _none(lambda rng, x: 0 * x + 0.69),
}


# ---- Sets of curves ----


def _spans(clean, centres):
    """Where 10, 50 and 90 % of each fall are done, between the middles of the plateaus beside it."""
    edges = [0, *((centres[1:] + centres[:-1]) // 2), len(clean) - 1]
    found = []
    for a, b in pairwise(edges):
        part = clean[a : max(b, a + 1) + 1]
        done = (part[0] - part) / (part[0] - part[-1])
        found.append(tuple(a + int(np.argmax(done >= share)) for share in (0.1, 0.5, 0.9)))
    return found


def _stands_out(clean, pos, spans):
    """Whether the curve without noise falls faster in each drop than somewhere on both its sides."""
    rate = -np.diff(clean) / np.diff(pos)
    fastest = [rate[a : b + 1].max() for a, _, b in spans]
    ends = [0, *(b for _, _, b in spans)], [*(a for a, _, _ in spans), len(rate)]
    slowest = [rate[i:j].min() if j > i else np.inf for i, j in zip(*ends, strict=True)]
    return [top > FASTER * max(sides) for top, sides in zip(fastest, pairwise(slowest), strict=True)]


def _above_noise(clean, spans, share, long):
    """Whether each fall is `SEEN` deviations of what noise leaves in the means beside it."""
    edges, found = [0, *(m for _, m, _ in spans), len(clean)], []
    for i, (a, _, b) in enumerate(spans):
        sides = [(a - edges[i]) / 2, (edges[i + 2] - b) / 2]
        if min(sides) < 3:
            found.append(False)
            continue
        before, after = clean[int(a - sides[0])], clean[min(int(b + sides[1]), len(clean) - 1)]
        deviation = share * long * np.hypot(before / np.sqrt(sides[0]), after / np.sqrt(sides[1]))
        found.append(bool(before - after > SEEN * deviation))
    return found


def made(name: str, seed: int, family: str, noise: str, n: int, log_time: bool = False) -> Made:
    """One curve of a set."""
    shapes, noises = (FIRST, FIRST_NOISE) if name == "first" else (SECOND, SECOND_NOISE)
    rng = np.random.default_rng([seed, *map(ord, family + noise), n])
    time = np.unique(np.geomspace(1, 50.0 * n, n).round()) if log_time else np.arange(n, dtype=float)
    x = (np.log(time) / np.log(time[-1])) if log_time else (time + 0.5) / n
    clean, centres = shapes[family](rng, x)
    loss, clean, share, long = noises[noise](rng, clean)
    spans = _spans(clean, np.searchsorted(x, centres)) if len(centres) else []
    out, above = _stands_out(clean, x, spans), _above_noise(clean, spans, share, long)
    visible = [a and b for a, b in zip(out, above, strict=True)]
    return Made(family, noise, time, loss, clean, [tuple(time[list(d)]) for d in spans], visible, log_time)


def curves(name: str, each: int = 2, lengths=(300, 3000)):
    """All shapes × noises × lengths, `each` draws; then short, very long and log-time ones."""
    shapes, noises = (FIRST, FIRST_NOISE) if name == "first" else (SECOND, SECOND_NOISE)
    seed = {"first": 1, "second": 20261117}[name]
    for family in shapes:
        for noise in noises:
            for n in lengths:
                for i in range(each):
                    yield made(name, seed + i, family, noise, n)
    for family in shapes:
        yield made(name, seed, family, "none", 30)
        yield made(name, seed, family, list(noises)[2], 100_000)
        yield made(name, seed, family, "none", 200, log_time=True)
        yield made(name, seed, family, list(noises)[2], 1500, log_time=True)
    yield made(name, seed, next(iter(shapes)), list(noises)[2], 1_000_000)
