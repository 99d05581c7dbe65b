"""CPU time of the limit's solvers, in one interleaved run: memory form, quadrature, and particles.

    python benchmarks/meanfield.py [--json FILE]

Two points, rank 1 and 2, erf, 40 units of time, 5 saved times, one thread; every solver has compiled before. Times are
medians over rounds that alternate. The reference of each error is the memory form at a tolerance of 1e-12. Times on a
shared machine are worth little: the ratios to the memory form of the same round are what to read.
"""

import argparse
import os
import statistics
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from timing import keep

from saddlescope.meanfield import Measure, StartLaw, meanfield
from saddlescope.nets import Erf
from saddlescope.numerics import start_jax_with_one_thread

T, ROUNDS, FINEST = 40.0, 7, 1e-12
SOLVERS = {
    "memory": dict(solver="memory", rtol=1e-8),
    "quadrature, 24 nodes": dict(solver="quadrature", nodes=24, rtol=1e-8),
    "quadrature, 48 nodes": dict(solver="quadrature", nodes=48, rtol=1e-8),
    "particles, 4,096": dict(solver="particles", count=4096, rtol=1e-6),
}


def limit_of(rank):
    return meanfield(Measure([-0.5, 0.5], [1.0, -1.0]), rank, 1, Erf(), start=StartLaw(0.5, 0.7))


def timed(limit, options):
    begin = time.process_time()
    flow = limit.flow(T, times=5, **options)
    return time.process_time() - begin, flow


def compared(rank):
    """Median seconds, ratio to the memory form of the same round, true and stated error of every solver."""
    limit = limit_of(rank)
    exact = limit.flow(T, times=5, solver="memory", rtol=FINEST).data.output.values
    flows = {name: timed(limit, options)[1] for name, options in SOLVERS.items()}
    rounds = [{name: timed(limit, options)[0] for name, options in SOLVERS.items()} for _ in range(ROUNDS)]
    return {
        name: {
            "seconds": statistics.median(r[name] for r in rounds),
            "over_memory": statistics.median(r[name] / r["memory"] for r in rounds),
            "error": float(np.abs(flow.data.output.values - exact).max()),
            "stated": flow.error,
        }
        for name, flow in flows.items()
    }


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path)
    file = parser.parse_args().json
    start_jax_with_one_thread()
    found = {f"rank {rank}": compared(rank) for rank in (1, 2)}
    for case, solvers in found.items():
        for name, c in solvers.items():
            ratio, error = f"{c['over_memory']:.1f} × memory", f"error {c['error']:.1e} (stated {c['stated']:.1e})"
            print(f"{case}  {name:22} {1e3 * c['seconds']:8.1f} ms  {ratio:16} {error}")
    keep(file, found)


if __name__ == "__main__":
    main()
