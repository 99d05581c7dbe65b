"""One run from the command to its folder, against a plain PyTorch loop: CPU time, all timed in alternation.

    python benchmarks/end_to_end.py [--rounds 5] [--only a b c] [--torch-epochs 200] [--json FILE]

`saddlescope train NAME --rank R --json` is run for 20 and for 220 epochs. The difference is what 200 epochs cost with
everything around them: observables, stages, checkpoint, results, figure and page. PyTorch trains 200 epochs and does no
more. What is left of the shorter command is its fixed cost: imports, the kernel from its cache on disk, figure, page.
The speed of a machine drifts, so the ratio of each round is what counts; median and quartiles are reported.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles

from torch_loop import torch_epoch

from saddlescope.numerics import provenance
from saddlescope.papers.valleys._protocol import Name

FEW, MANY = 20, 220  # epochs of the two commands
FIXED = 3.0  # seconds that a command may take beside its epochs

# name: (run, rank, how many times cheaper than PyTorch its epochs must be)
CASES = {"a": ("f3_N768_bs8_L3", 10, 22), "b": ("f1_N256_bs1_L2", 5, 120), "c": ("f5_N1280_bs16_L6", 5, 17)}


def command_seconds(text, rank, epochs, *options):
    """CPU time of one command and of the processes that it starts."""
    with tempfile.TemporaryDirectory() as out:
        words = [text, "--rank", rank, "--epochs", epochs, "--json", "--out", out, *options]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-m", "saddlescope", "train", *map(str, words)], check=True, stdout=subprocess.DEVNULL
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def torch_seconds(epoch, epochs):
    """CPU time of as many epochs as lie between the two commands, from that of some of them."""
    start = time.process_time()
    for _ in range(epochs):
        epoch()
    return (time.process_time() - start) * (MANY - FEW) / epochs


def one_round(text, rank, epoch, epochs):
    few = command_seconds(text, rank, FEW)
    torch = torch_seconds(epoch, epochs)
    many = command_seconds(text, rank, MANY)
    each = (many - few) / (MANY - FEW)
    plain = command_seconds(text, rank, FEW, "--no-figure")
    return {
        "torch_s": torch,
        "ours_s": many - few,
        "torch_over_ours": torch / (many - few),
        "fixed_s": few - FEW * each,
        "fixed_without_figure_s": plain - FEW * each,
    }


def compare(text, rank, rounds, epochs):
    epoch = torch_epoch(Name.parse(text).setting(rank=rank))
    epoch()
    command_seconds(text, rank, FEW)  # compiles the kernel where this machine has not yet done so
    found = [one_round(text, rank, epoch, epochs) for _ in range(rounds)]
    medians = {name: median(r[name] for r in found) for name in found[0]}
    ratios = [r["torch_over_ours"] for r in found]
    return {"run": text, "rank": rank, **medians, "quartiles": quantiles(ratios, n=4) if rounds > 1 else ratios * 3}


def short(x):
    return [short(v) for v in x] if isinstance(x, list) else float(f"{x:.4g}") if isinstance(x, float) else x


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=list(CASES))
    parser.add_argument("--torch-epochs", type=int, default=MANY - FEW, help="Epochs that PyTorch really trains.")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    print(f"{'case':<6}{'run':<18}{'rank':>4}{'torch s':>9}{'ours s':>8}{'torch/ours':>12}{'quartiles':>16}"
          f"{'fixed s':>9}{'no figure':>11}")  # fmt: skip
    cases = {}
    for name in options.only:
        text, rank, least = CASES[name]
        r = cases[name] = compare(text, rank, options.rounds, options.torch_epochs)
        low, _, high = r["quartiles"]
        print(f"{name:<6}{text:<18}{rank:>4}{r['torch_s']:>9.1f}{r['ours_s']:>8.3f}{r['torch_over_ours']:>12.1f}"
              f"{f'{low:.1f} to {high:.1f}':>16}{r['fixed_s']:>9.2f}{r['fixed_without_figure_s']:>11.2f}"
              f"  asked: {least}, {FIXED:g} s", flush=True)  # fmt: skip
    if options.json:
        rounded = {k: {n: short(v) for n, v in r.items()} for k, r in cases.items()}
        result = {"cases": rounded, "epochs": MANY - FEW, "rounds": options.rounds}
        options.json.write_text(json.dumps(result | provenance(), indent=1) + "\n")


if __name__ == "__main__":
    main()
