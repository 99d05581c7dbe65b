"""CPU time of `escape_directions` on the escape paper's Example 1, beside a plain PyTorch loop over restarts.

    python benchmarks/escape.py [--json FILE]

Depth 3, width 16, 200 restarts, float64, one thread each. PyTorch runs a few restarts of the same starts for a few
hundred steps. Its time for all of them is extrapolated, since every step costs the same. Ours is the whole call, after
one call that compiles: search, lifted starts, polish, prune, residual and certificate. Rounds alternate; medians are
shown.

The loop is timed with our rule (2,000 steps) and with the paper's (3,000 steps of projected descent). Beside the times:
how far the best of 200 runs of the paper's rule is from the optimum 1/2, how far ours is, and the time to reach it.
"""

import argparse
import json
import os
import statistics
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from timing import keep

try:
    import torch
except ImportError:
    raise SystemExit("This compares with PyTorch, which is not installed: pip install torch.") from None

from saddlescope.numerics import start_jax_with_one_thread
from saddlescope.theory.escape.directions import escape_directions
from saddlescope.theory.escape.localized import circle
from saddlescope.theory.escape.search import PROJECTED, TANGENT, descend, random_starts

DEPTH, WIDTH, RESTARTS, ROUNDS = 3, 16, 200, 5
PAPER = "projected (the paper's), 3,000 steps"
torch.set_num_threads(1)


def torch_steps(starts, X, G, rule, restart, steps) -> float:
    """CPU seconds per step of one restart, as one writes it in PyTorch."""
    x, g = torch.tensor(X), torch.tensor(G)
    weights = [torch.tensor(w[restart], requires_grad=True) for w in starts]
    begin = time.process_time()
    for t in range(steps):
        lr = rule.lr * (1 - t / rule.steps) ** rule.power
        hidden = x
        for w in weights[:-1]:
            hidden = torch.relu(w @ hidden)
        slopes = torch.autograd.grad((g * (weights[-1] @ hidden)).sum(), weights)
        with torch.no_grad():
            if rule.normalised:
                along = sum((s * w).sum() for s, w in zip(slopes, weights, strict=True)) / len(weights)
                slopes = [s - along * w for s, w in zip(slopes, weights, strict=True)]
                lr = lr / torch.sqrt(torch.stack([(s * s).sum() for s in slopes]).sum())
            for w, s in zip(weights, slopes, strict=True):
                w.sub_(lr * s)
            norm = torch.sqrt(torch.stack([(w * w).sum() for w in weights]).sum() / len(weights))
            for w in weights:
                w.div_(norm)
    return (time.process_time() - begin) / steps


def ours(X, G, restarts=RESTARTS, seed=0) -> tuple[float, float]:
    """CPU seconds of the whole call, and how far its best speed is from 1/2."""
    begin = time.process_time()
    found = escape_directions(X, G, DEPTH, WIDTH, restarts, seed)
    return time.process_time() - begin, abs(found.speeds[0] - 0.5)


def to_optimum(X, G, loop, speeds) -> dict:
    """CPU seconds until 1/2 is reached, in the mean: time per try over the share of tries that succeed.

    Ours tries with 8 restarts and must come within 1e-8. A try of the paper's rule is one restart of the PyTorch loop;
    it never comes within 1e-5, so that 1e-4 is asked of it.
    """
    ours(X, G, 8)
    tries = [ours(X, G, 8, seed) for seed in range(20)]
    reached = np.mean([gap <= 1e-8 for _, gap in tries])
    near = np.mean(speeds >= 0.5 - 1e-4)
    return {
        "escape_directions, to 1e-8": round(float(np.mean([t for t, _ in tries]) / reached), 3),
        "projected in PyTorch, to 1e-4": round(float(loop / RESTARTS / near), 3),
        "projected runs within 1e-8": float(np.mean(speeds >= 0.5 - 1e-8)),
    }


def measured() -> dict:
    start_jax_with_one_thread()
    X, G = circle(8)
    starts = random_starts(np.random.default_rng(0), RESTARTS, [2, WIDTH, WIDTH, 1])
    ours(X, G)
    rules = {"tangent, 2,000 steps": TANGENT, PAPER: PROJECTED}
    mine, gaps, loops = [], [], {name: [] for name in rules}
    for k in range(ROUNDS):
        for name, rule in rules.items():
            loops[name].append(torch_steps(starts, X, G, rule, k, 300) * rule.steps * RESTARTS)
        seconds, gap = ours(X, G)
        mine.append(seconds)
        gaps.append(gap)
    call = statistics.median(mine)
    loop = {name: statistics.median(values) for name, values in loops.items()}
    paper = descend(starts, X, G, PROJECTED)
    return {
        "cpu_seconds_whole_call": round(call, 3),
        "cpu_seconds_torch_loop": {name: round(value, 1) for name, value in loop.items()},
        "times_faster": {name: round(value / call, 1) for name, value in loop.items()},
        "gap_to_one_half": {"escape_directions": float(max(gaps)), "projected": float(0.5 - paper.speeds.max())},
        "cpu_seconds_to_one_half": to_optimum(X, G, loop[PAPER], paper.speeds),
        "projected_share_above_rank_one": float(np.mean(paper.speeds > np.sqrt(2) - 1 + 1e-3)),
    }


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    found = measured()
    print(json.dumps(found, indent=1, ensure_ascii=False))
    keep(given.json, found)


if __name__ == "__main__":
    main()
