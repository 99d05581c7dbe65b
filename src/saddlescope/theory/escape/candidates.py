"""Stationary points near the ends of many descents: clustered by speed, pruned, polished."""

from typing import NamedTuple

import numpy as np

from saddlescope.theory.escape.collapse import deepen, on_sphere
from saddlescope.theory.escape.localized import localized_loss
from saddlescope.theory.escape.polish import polish
from saddlescope.theory.escape.prune import prune
from saddlescope.theory.escape.search import descend, random_starts

DEAD = 1e-6  # speed of a dead start, with ‖X‖_op = ‖G‖_F = 1
NEAR = 1e-3  # of the best speed: ends of one direction differ by less
SAME = 1e-7  # of the best speed: polished directions of one speed differ by less
ROUNDS = 4  # of polishing and pruning
MOST = 6  # groups of ends that are polished
EQUAL = 1e-10  # relative difference of speeds that is rounding
FEW = 32  # restarts of shallower nets, whose directions are lifted
LIFTED, NOISE = 8, 0.3  # starts from shallower nets, and what is added to them


class Candidates(NamedTuple):
    """What a search at one depth found.

    **Arguments:**

    - `weights`: nets on the sphere, pruned and polished; one for each distinct speed, the fastest first.
    - `speeds`: theirs.
    - `ends`: the speeds at which the random restarts ended.
    """

    weights: list[list[np.ndarray]]
    speeds: np.ndarray
    ends: np.ndarray


def find_candidates(X, G, depth, width, restarts, seed, lift=True) -> Candidates:
    """Search from random starts and, with `lift`, from the directions of one layer less; polish the best few."""
    found = Candidates([], np.zeros(0), np.zeros(0))
    for layers in range(2 if lift else depth, depth + 1):
        starts = restarts if layers == depth else min(restarts, FEW)
        lifted = [deepen(w, X, G) for w in found.weights]
        found = _at_depth(X, G, layers, width, starts, seed, lifted)
    return found


def _at_depth(X, G, depth, width, restarts, seed, lifted):
    rng = np.random.default_rng([seed, depth])
    widths = [len(X), *([width] * (depth - 1)), len(G)]
    starts = random_starts(rng, restarts, widths)
    if lifted:
        near = [_widened(lifted[k % len(lifted)], widths, rng) for k in range(LIFTED)]
        starts = [np.concatenate([a, b]) for a, b in zip(starts, map(np.stack, zip(*near, strict=True)), strict=True)]
    ends = descend(starts, X, G)
    chosen = [[w[k] for w in ends.weights] for k in _representatives(ends.speeds)]
    # A net that is lifted exactly stays: so the speed never falls with depth.
    found = [*(refine(w, X, G) for w in chosen), *(prune(w, X, G) for w in lifted)]
    weights, speeds = distinct(found, X, G)
    return Candidates(weights, speeds, ends.speeds[:restarts])


def shares_of(speeds, ends) -> np.ndarray:
    """The share of the ends that lie at each of these speeds, to 0.1 % of the largest."""
    if not len(speeds):
        return np.zeros(0)
    gaps = np.abs(ends[:, None] - speeds)
    nearest = np.argmin(gaps, axis=1)
    settled = gaps.min(axis=1) <= NEAR * speeds[0]
    return np.array([np.mean(settled & (nearest == k)) for k in range(len(speeds))])


def _widened(weights, widths, rng):
    """The net in layers of these widths, with noise everywhere: new neurons are off zero, where they would stay."""
    shapes = zip(widths[1:], widths[:-1], strict=True)
    wide = [NOISE * rng.standard_normal(s) / np.sqrt(np.prod(s)) for s in shapes]
    for new, old in zip(wide, weights, strict=True):
        rows, columns = (min(a, b) for a, b in zip(new.shape, old.shape, strict=True))
        new[:rows, :columns] += old[:rows, :columns]
    return on_sphere(wide)


def _representatives(speeds):
    """One end of each group of speeds: of the two fastest groups, and of the largest among the others."""
    order = [k for k in np.argsort(-speeds) if speeds[k] > DEAD]
    groups: list[list[int]] = []
    for k in order:
        if groups and speeds[groups[-1][0]] - speeds[k] <= NEAR * speeds[order[0]]:
            groups[-1].append(k)
        else:
            groups.append([k])
    others = sorted(groups[2:], key=len, reverse=True)[: MOST - 2]
    return [group[0] for group in [*groups[:2], *others]]


def refine(weights, X, G):
    """Pruned roughly, then polished and pruned in turn: fewer neurons, and to rounding where BFGS can."""
    found = prune(weights, X, G, dead=1e-2, parallel=1e-3)
    for k in range(ROUNDS):
        shapes = [w.shape for w in found]
        found = prune(polish(found, X, G), X, G)
        # A neuron that went took a little of the speed with it: polish again.
        if k and [w.shape for w in found] == shapes:
            break
    return found


def distinct(found, X, G) -> tuple[list, np.ndarray]:
    """One net per speed, the fastest first, and the speeds. A net with fewer weights stands for one of its speed."""
    rated = sorted(((-localized_loss(w, X, G), w) for w in found), key=lambda pair: -pair[0])
    kept: list[tuple[float, list[np.ndarray]]] = []
    for speed, weights in rated:
        if speed <= DEAD:
            continue
        if not kept or kept[-1][0] - speed > SAME * rated[0][0]:
            kept.append((speed, weights))
        elif kept[-1][0] - speed <= EQUAL * speed and _number(weights) < _number(kept[-1][1]):
            kept[-1] = (speed, weights)
    return [w for _, w in kept], np.array([s for s, _ in kept])


def _number(weights):
    return sum(w.size for w in weights)
