"""The fused kernel against a plain PyTorch loop and the JAX loop: CPU time per step, all timed in alternation.

    python benchmarks/engine.py [--rounds 7] [--json FILE] [--only a b c]

The three take turns on this machine, whose speed drifts; the ratio of each turn is what counts, and its median is
reported. PyTorch (`pip install torch==2.13.0`) runs eagerly on one thread, as a researcher would write it. The peak is
that of multiply-adds in registers, measured here in the same turns. Compilation is left out.
"""

import argparse
import json
import statistics
import threading
import time
from pathlib import Path

from fused_peak import peak_flops
from torch_loop import torch_epoch

from saddlescope.engines import Jax
from saddlescope.numerics import provenance
from saddlescope.papers.valleys._protocol import Name

# name: (run, rank, what fused over PyTorch must reach, what share of the peak)
CASES = {
    "a": ("f3_N768_bs8_L3", 10, 22, 0.7), "b": ("f1_N256_bs1_L2", 5, 140, None), "c": ("f5_N1280_bs16_L6", 5, 17, 0.7),
    "a, batch 2": ("f3_N768_bs2_L3", 10, None, None), "a, batch 4": ("f3_N768_bs4_L3", 10, None, None),
    "a, batch 32": ("f3_N768_bs32_L3", 10, None, None), "a, batch 64": ("f3_N768_bs64_L3", 10, None, None),
    "a, batch 256": ("f3_N768_bs256_L3", 10, None, None),
}  # fmt: skip


def flops(setting):
    """Operations of one step.

    Two per weight and sample for each map forward, dC, and back through C and A; norm and update.
    """
    dims = setting.net.dims(1, 1)
    total = 0
    for j, width in enumerate(setting.net.widths):
        n, out = dims[j], dims[j + 1]
        total += 2 * width * (setting.batch * (n + 2 * out + (n + out) * (j > 0)) + 2 * out)
    return total


def engine_turn(setting, epochs):
    engine = (lambda s: s.engine.begin(s))(setting)
    state = engine.start()
    engine.advance(state, 0, 1, setting.optimiser.lr)  # compiles
    steps = epochs * -(-setting.samples // setting.batch)

    def turn():
        start = time.process_time()
        engine.advance(state, 0, epochs, setting.optimiser.lr)
        return (time.process_time() - start) / steps

    return turn


def torch_turn(setting):
    epoch, steps = torch_epoch(setting), -(-setting.samples // setting.batch)
    epoch()

    def turn():
        start = time.process_time()
        epoch()
        return (time.process_time() - start) / steps

    return turn


def compare(text, rank, rounds):
    setting = Name.parse(text).setting(rank=rank)
    steps = -(-setting.samples // (setting.batch or 1))
    epochs = max(1, int(0.1 / (flops(setting) / 5e10 * steps)))  # about a tenth of a second a turn
    turns = {
        "torch": torch_turn(setting),
        "jax": engine_turn(Name.parse(text).setting(rank=rank, engine=Jax()), 1),
        "fused": engine_turn(Name.parse(text).setting(rank=rank, engine="fused"), min(epochs, 200)),
        "peak": lambda: 1 / peak_flops(),
    }
    found = [{name: turn() for name, turn in turns.items()} for _ in range(rounds)]

    def median(value):
        return statistics.median(map(value, found))

    return {
        "run": text, "rank": rank, **{f"{k}_us": median(lambda r, k=k: r[k]) * 1e6 for k in ("torch", "jax", "fused")},
        "torch_over_fused": median(lambda r: r["torch"] / r["fused"]),
        "jax_over_fused": median(lambda r: r["jax"] / r["fused"]),
        "peak_gflops": median(lambda r: 1e-9 / r["peak"]),
        "share_of_peak": median(lambda r: flops(setting) / r["fused"] * r["peak"]),
    }  # fmt: skip


def two_cores(rounds):
    """Runs finished in a second of wall time by two threads, over one: quartiles, since neighbours take wall time."""
    setting = Name.parse(CASES["a"][0]).setting(rank=10)
    engines = [(lambda s: s.engine.begin(s))(setting) for _ in range(2)]

    def work(engine):
        engine.advance(engine.start(), 0, 100, 0.01)

    def wall(chosen):
        threads = [threading.Thread(target=work, args=(e,)) for e in chosen]
        start = time.perf_counter()
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        return time.perf_counter() - start

    return statistics.quantiles([2 * wall(engines[:1]) / wall(engines) for _ in range(rounds)], n=4)


def short(x):
    return float(f"{x:.4g}") if isinstance(x, float) else x


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", nargs="*", default=list(CASES))
    options = parser.parse_args()
    print(f"{'case':<13}{'run':<18}{'rank':>4}{'torch µs':>10}{'jax µs':>9}{'fused µs':>10}{'torch/fused':>13}"
          f"{'jax/fused':>11}{'of peak':>9}")  # fmt: skip
    cases = {}
    for name in options.only:
        text, rank, ratio, share = CASES[name]
        r = cases[name] = compare(text, rank, options.rounds)
        wanted = f"  asked: {ratio}" + (f", {share:.0%} of peak" if share else "") if ratio else ""
        print(f"{name:<13}{text:<18}{rank:>4}{r['torch_us']:>10.0f}{r['jax_us']:>9.0f}{r['fused_us']:>10.2f}"
              f"{r['torch_over_fused']:>13.1f}{r['jax_over_fused']:>11.1f}{r['share_of_peak']:>9.0%}{wanted}",
              flush=True)  # fmt: skip
    low, both, high = two_cores(4 * options.rounds)
    print(f"two runs on two cores over one: {both:.2f}, quartiles {low:.2f} to {high:.2f} (asked: 1.8)")
    if options.json:
        rounded = {k: {n: short(v) for n, v in r.items()} for k, r in cases.items()}
        peak = statistics.median(r["peak_gflops"] for r in cases.values())
        result = {
            "cases": rounded,
            "two_cores": [short(v) for v in (low, both, high)],
            "peak_gflops": short(peak),
            "rounds": options.rounds,
        }
        options.json.write_text(json.dumps(result | provenance(), indent=1) + "\n")


if __name__ == "__main__":
    main()
