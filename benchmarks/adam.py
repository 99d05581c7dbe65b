"""Adam on random-feature nets: the fused kernel against the JAX engine, CPU time per step, timed in alternation.

    python benchmarks/adam.py [--rounds 9] [--json FILE]

Width 1024, rank 10, float32, one thread: the nets of the valleys paper's Figs. 9 and 10, and a batch of 100. Where the
kernel refuses a setting the table says "not fused", and why. The bound is what a step's products would take at the
core's peak.
"""

import argparse
import statistics
from pathlib import Path

from fused_peak import peak_flops
from our_engines import OurEngine
from peer import check_weights, flops, turn_of
from timing import alternate, keep, ratios

from saddlescope.engines import Fused, Jax
from saddlescope.numerics import reproducible
from saddlescope.papers.valleys._adam import adam_run

CASES = {"depth 4, batch 512": (4, 512, 512), "depth 4, batch 100": (4, 100, 1000), "depth 1, batch 512": (1, 512, 512)}


@reproducible()
def compare(depth, batch, samples, rounds):
    setting = adam_run(2, samples, batch, depth, "float32", 0, 1e-4, 1024, 1000)
    refused = Fused().why_not(setting)
    engines = {"JAX engine": Jax()} | ({} if refused else {"fused": Fused()})
    peers = {name: OurEngine(setting.replace(engine=engine)) for name, engine in engines.items()}
    check_weights(peers)
    turns = {name: turn_of(peer) for name, peer in peers.items()}
    spent = alternate(turns | {"peak": lambda: 1 / peak_flops()}, rounds)
    found = {name: statistics.median(spent[name]) * 1e6 for name in peers}
    least = flops(setting) * statistics.median(spent["peak"]) * 1e6
    faster = None if refused else ratios(spent["JAX engine"], spent["fused"])
    return {"us": found, "least_us": least, "fused_over_jax": faster, "not_fused": refused}


def show(name, case):
    times = ", ".join(f"{engine} {us:.0f} µs" for engine, us in case["us"].items())
    if case["not_fused"]:
        end = f"not fused: {case['not_fused']}"
    else:
        low, ratio, high = case["fused_over_jax"]
        end = f"fused {ratio:.2f} × as fast ({low:.2f} to {high:.2f})"
    print(f"{name}: {times}, at the peak {case['least_us']:.0f} µs; {end}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    cases = {}
    for name, sizes in CASES.items():
        cases[name] = compare(*sizes, options.rounds)
        show(name, cases[name])
    keep(options.json, {"cases": cases, "rounds": options.rounds})


if __name__ == "__main__":
    main()
