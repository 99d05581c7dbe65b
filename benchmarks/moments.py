"""Moments against samples: CPU time per step of the two-layer linear net of Fig. 1B, timed in alternation.

    python benchmarks/moments.py [--rounds 7] [--json FILE]

The two forms take turns on this machine, whose speed drifts; the ratio of each pair is what counts, and its median is
reported. Compilation is left out: each form is run once before.
"""

import argparse
import json
import statistics
import time
from pathlib import Path

from saddlescope.nets import linear_units
from saddlescope.numerics import provenance
from saddlescope.optimisers import GradientDescent
from saddlescope.setting import Setting
from saddlescope.tasks import LinearTeacher

STEPS = {True: 1024, False: 64}  # steps of one turn, moments and samples


def prepare(samples, reduce):
    setting = Setting(
        task=LinearTeacher(((1, 0), (0, 1)), covariance=((1, 1), (1, 4)), samples=samples),
        net=linear_units(units=50, scale=1e-6), optimiser=GradientDescent(0.01), steps=2000, train_on_moments=reduce,
    )  # fmt: skip
    engine = (lambda s: s.engine.begin(s))(setting)
    engine.advance(engine.start(), 0, 2, 0.01)  # compiles

    def turn():
        state, steps = engine.start(), STEPS[reduce]
        start = time.process_time()
        engine.advance(state, 0, steps, 0.01)
        return (time.process_time() - start) / steps

    return turn


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    turns = {(p, r): prepare(p, r) for p, r in ((1_000, True), (8_192, True), (100_000, True), (8_192, False))}
    rounds = [{key: turn() for key, turn in turns.items()} for _ in range(options.rounds)]

    def ratio(a, b):
        return statistics.median(r[a] / r[b] for r in rounds)

    def cost(key):
        return 1e6 * statistics.median(r[key] for r in rounds)

    result = {
        "microseconds_a_step": {f"P={p}, {'moments' if r else 'samples'}": round(cost((p, r)), 2) for p, r in turns},
        "samples_over_moments_at_8192": round(ratio((8_192, False), (8_192, True)), 1),
        "moments_at_1e5_over_1e3": round(ratio((100_000, True), (1_000, True)), 3),
        "rounds": options.rounds,
    }
    for name, value in result.items():
        print(f"{name}: {value}")
    if options.json:
        options.json.write_text(json.dumps(result | provenance(), indent=1) + "\n")


if __name__ == "__main__":
    main()
