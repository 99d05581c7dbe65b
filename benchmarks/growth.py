"""How the cost of a step grows with width, rank, depth, batch and samples, and that of a run with its saves.

    python benchmarks/growth.py [--rounds 5] [--json FILE] [--only width …]

Sizes take turns. In every round a power law is fitted to the upper half of the sizes (small ones pay a fixed cost per
step, which hides the growth); the median exponent of the rounds and its quartiles are shown. Each has a bound, with its
reason: what the arithmetic grows with, plus `ROOM`, since a larger net leaves the caches.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from timing import alternate, cpu_seconds, keep, quartiles, repeats

from saddlescope.engines import Fused, Jax
from saddlescope.nets import linear_units, low_rank
from saddlescope.numerics import reproducible
from saddlescope.observables import ByRank, EffectiveWidth
from saddlescope.optimisers import GradientDescent
from saddlescope.setting import Setting
from saddlescope.tasks import LinearTeacher, cosine_sum
from saddlescope.training import every, train

ROOM = 0.15
LINEAR, CONSTANT = 1 + ROOM, ROOM
STEPS = 8000  # of a run with saves


def random_features(engine, width=1024, rank=10, depth=3, batch=8, samples=1024):
    return Setting(
        task=cosine_sum(3, samples),
        net=low_rank(rank, depth, width),
        optimiser=GradientDescent(0.01, clip=1.0),
        batch=batch,
        epochs=10_000,
        precision="float32",
        engine=engine,
    )


def linear_net(samples=1000, moments=True, steps=STEPS):
    return Setting(
        task=LinearTeacher(((1, 0), (0, 1)), covariance=((1, 1), (1, 4)), samples=samples),
        net=linear_units(units=50, scale=1e-6),
        optimiser=GradientDescent(0.01),
        steps=steps,
        train_on_moments=moments,
    )


def step_turn(setting):
    """CPU seconds per step of its engine."""
    stepper = setting.engine.begin(setting)
    state, lr, most = stepper.start(), setting.optimiser.lr, stepper.max_steps

    def work(n):
        return stepper.advance(state, 0, n, lr)

    n = repeats(work, most)
    return lambda: cpu_seconds(lambda: work(n)) / n


def run_turn(saves):
    """CPU seconds of a whole run with so many saves."""
    setting, at = linear_net(), every(STEPS // saves, STEPS)
    work = partial(train, setting, (EffectiveWidth(ByRank()),), at, quiet=True)
    work()
    return lambda: cpu_seconds(work)


@dataclass(frozen=True)
class Growth:
    """One thing that grows.

    **Arguments:**

    - `sizes`: in rising order.
    - `turn`: from a size to a function that measures its cost.
    - `most`: the largest exponent allowed.
    - `why`: the reason of the bound.
    """

    sizes: tuple[int, ...]
    turn: Callable[[int], Callable[[], float]]
    most: float
    why: str

    def measure(self, rounds):
        spent = alternate({str(size): self.turn(size) for size in self.sizes}, rounds)
        costs = np.array(list(spent.values())).T  # one row per round
        upper = slice(len(self.sizes) // 2, None)
        logs = np.log(self.sizes[upper])
        slopes = [float(np.polyfit(logs, np.log(row[upper]), 1)[0]) for row in costs]
        cost = dict(zip(spent, np.median(costs, axis=0).tolist(), strict=True))
        low, middle, high = quartiles(slopes)
        bound = {"most": self.most, "why": self.why, "met": middle <= self.most}
        fitted = [self.sizes[upper][0], self.sizes[-1]]
        return {"exponent": middle, "quartiles": [low, high], "fitted": fitted, "seconds": cost} | bound


def of_net(engine, axis):
    return lambda size: step_turn(random_features(engine, **{axis: size}))


WIDTHS, RANKS, DEPTHS, BATCHES = (256, 512, 1024, 2048, 4096), (3, 5, 10, 20, 40), (1, 2, 4, 8, 16), (4, 16, 64, 256)
SAMPLES = (512, 1024, 2048, 4096, 8192)
ENGINES = {"JAX": Jax(), "fused": Fused()}
GROWTHS = {
    **{f"width, {name}": Growth(WIDTHS, of_net(e, "width"), LINEAR, "every product is linear in the width")
       for name, e in ENGINES.items()},
    **{f"rank, {name}": Growth(RANKS, of_net(e, "rank"), LINEAR, "every product is linear in the rank")
       for name, e in ENGINES.items()},
    **{f"depth, {name}": Growth(DEPTHS, of_net(e, "depth"), LINEAR, "every block costs the same")
       for name, e in ENGINES.items()},
    **{f"batch, {name}": Growth(BATCHES, of_net(e, "batch"), LINEAR, "every sample costs the same")
       for name, e in ENGINES.items()},
    **{f"samples, {name}, minibatch": Growth(SAMPLES, of_net(e, "samples"), CONSTANT, "a step sees its batch alone")
       for name, e in ENGINES.items()},
    "samples, JAX, full batch": Growth(
        SAMPLES, lambda n: step_turn(linear_net(n, moments=False)), LINEAR, "a step sees every sample"),
    "samples, JAX, moments": Growth(
        SAMPLES, lambda n: step_turn(linear_net(n)), CONSTANT, "a step sees the moments alone"),
    "saves of a run, JAX": Growth((250, 500, 1000, 2000, 4000, 8000), run_turn, LINEAR, "every save costs the same"),
}  # fmt: skip


@reproducible()
def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", nargs="*", default=[""], help="Growths whose names begin so.")
    options = parser.parse_args()
    found = {}
    for name, growth in GROWTHS.items():
        if name.startswith(tuple(options.only)):
            r = found[name] = growth.measure(options.rounds)
            (low, high), word = r["quartiles"], "met" if r["met"] else "NOT MET"
            found_text = f"{r['exponent']:>6.2f} ({low:.2f} to {high:.2f})"
            print(f"{name:<28}{found_text}, allowed {r['most']:.2f}, {word}: {r['why']}", flush=True)
    keep(options.json, {"growth": found, "rounds": options.rounds})


if __name__ == "__main__":
    main()
