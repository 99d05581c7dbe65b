"""The fused kernel beside what a user would pick instead: CPU time per step on one core, all timed in alternation.

    python benchmarks/engine.py [--rounds 9] [--json FILE] [--only a b c]

Every peer (its file says how it is written) trains the same net on the same batches in float32 on one thread. That is
checked first: after an epoch all have the same weights. Then they take turns on this machine, whose speed drifts. The
ratio within a round is what counts; its median and quartiles are reported. The peak is that of multiply-adds in
registers, measured in the same rounds. Compilation is left out. PyTorch is not installed with Saddlescope:
`pip install torch==2.13.0`; `torch.compile` needs a C++ compiler.
"""

import argparse
import statistics
import threading
import time
from pathlib import Path

import torch_loop
from fused_peak import peak_flops
from jax_scan import JaxScan
from our_engines import OurEngine
from peer import check_weights, flops, turn_of
from timing import alternate, keep, quartiles, ratios
from torch_by_hand import TorchByHand
from torch_compiled import TorchCompiled

from saddlescope.engines import Jax
from saddlescope.numerics import reproducible
from saddlescope.papers.valleys._protocol import Name

# name: (run, rank, what fused over eager PyTorch must reach, what share of the peak)
CASES = {
    "a": ("f3_N768_bs8_L3", 10, 22, 0.7), "b": ("f1_N256_bs1_L2", 5, 140, None), "c": ("f5_N1280_bs16_L6", 5, 17, 0.7),
    "a, batch 2": ("f3_N768_bs2_L3", 10, None, None), "a, batch 4": ("f3_N768_bs4_L3", 10, None, None),
    "a, batch 32": ("f3_N768_bs32_L3", 10, None, None), "a, batch 64": ("f3_N768_bs64_L3", 10, None, None),
    "a, batch 256": ("f3_N768_bs256_L3", 10, None, None),
}  # fmt: skip
PEERS = {
    "PyTorch": torch_loop.TorchLoop,
    "PyTorch, compiled step": TorchCompiled,
    "PyTorch by hand": TorchByHand,
    "JAX scan": JaxScan,
    "JAX engine": lambda setting: OurEngine(setting.replace(engine=Jax())),
    "fused": lambda setting: OurEngine(setting.replace(engine="fused")),
}
FEW = ("PyTorch", "JAX engine", "fused")  # at other batch sizes


@reproducible()
def compare(text, rank, rounds, names):
    setting = Name.parse(text).setting(rank=rank)
    peers = {name: PEERS[name](setting) for name in names}
    check_weights(peers)
    turns = {name: turn_of(peer) for name, peer in peers.items()}
    spent = alternate(turns | {"peak": lambda: 1 / peak_flops()}, rounds)
    return {"run": text, "rank": rank, "flops": flops(setting)} | {
        "peers": {name: row(spent, name, flops(setting)) for name in names},
        "peak_gflops": statistics.median(1e-9 / p for p in spent["peak"]),
    }


def row(spent, name, operations):
    """Microseconds per step; quartiles of how many times as fast as eager PyTorch; the share of the peak."""
    share = statistics.median(operations * p / t for t, p in zip(spent[name], spent["peak"], strict=True))
    times = ratios(spent["PyTorch"], spent[name])
    return {"us": statistics.median(spent[name]) * 1e6, "over_pytorch": times, "share_of_peak": share}


def two_cores(rounds):
    """Runs finished in a second of wall time by two threads, over one: quartiles, since neighbours take wall time."""
    setting = Name.parse(CASES["a"][0]).setting(rank=10, engine="fused")
    peers = [OurEngine(setting) for _ in range(2)]

    def wall(chosen):
        threads = [threading.Thread(target=peer.run, args=(50,)) for peer in chosen]
        start = time.perf_counter()
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        return time.perf_counter() - start

    return quartiles([2 * wall(peers[:1]) / wall(peers) for _ in range(rounds)])


def show(name, case):
    text, rank, ratio, share = CASES[name]
    wanted = f"  asked of fused: {ratio} ×" + (f", {share:.0%} of peak" if share else "") if ratio else ""
    print(f"{name}: {text}, rank {rank}{wanted}")
    for peer, r in case["peers"].items():
        low, times, high = r["over_pytorch"]
        spread, share = f"({low:.1f} to {high:.1f})", f"{r['share_of_peak']:.0%} of peak"
        print(f"  {peer:<23}{r['us']:>9.1f} µs{times:>8.1f} × {spread:<17}{share}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", nargs="*", default=list(CASES))
    options = parser.parse_args()
    cases = {}
    for name in options.only:
        text, rank, ratio, _ = CASES[name]
        cases[name] = compare(text, rank, options.rounds, PEERS if ratio else FEW)
        show(name, cases[name])
    low, both, high = two_cores(4 * options.rounds)
    print(f"two runs on two cores over one: {both:.2f}, quartiles {low:.2f} to {high:.2f} (asked: 1.8)")
    peak = statistics.median(case["peak_gflops"] for case in cases.values())
    result = {"cases": cases, "two_cores": [low, both, high], "peak_gflops": peak, "rounds": options.rounds}
    keep(options.json, result | {"torch": torch_loop.torch.__version__})


if __name__ == "__main__":
    main()
