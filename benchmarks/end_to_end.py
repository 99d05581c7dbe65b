"""One run from the command to its folder, against a plain PyTorch loop: CPU time, all timed in alternation.

    python benchmarks/end_to_end.py [--rounds 7] [--only a b c] [--torch-epochs 200] [--json FILE]

`saddlescope train NAME --rank R --json` is run for 20 and for 220 epochs. The difference is what 200 epochs cost with
everything around them: observables, stages, checkpoint, results, figure and page. PyTorch trains 200 epochs and does no
more. What is left of the shorter command is its fixed cost: imports, the kernel from its cache on disk, figure, page.
The speed of a machine drifts, so the ratio of each round is what counts; median and quartiles are reported.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import torch_loop
from timing import alternate, cpu_seconds, keep, quartiles, ratios

from saddlescope.papers.valleys._protocol import Name

FEW, MANY = 20, 220  # epochs of the two commands
FIXED = 3.0  # seconds that a command may take beside its epochs

# name: (run, rank, how many times cheaper than PyTorch its epochs must be)
CASES = {"a": ("f3_N768_bs8_L3", 10, 22), "b": ("f1_N256_bs1_L2", 5, 120), "c": ("f5_N1280_bs16_L6", 5, 17)}


def command_seconds(text, rank, epochs, *options):
    """CPU time of one command and of the processes that it starts."""
    with tempfile.TemporaryDirectory() as out:
        words = [text, "--rank", rank, "--epochs", epochs, "--json", "--out", out, *options]
        command = [sys.executable, "-m", "saddlescope", "train", *map(str, words)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(text, rank, rounds, torch_epochs):
    torch = torch_loop.TorchLoop(Name.parse(text).setting(rank=rank))
    torch.run(1)
    command = partial(command_seconds, text, rank)
    command(FEW)  # compiles the kernel where this machine has not done so yet
    scale = (MANY - FEW) / torch_epochs
    turns = {
        "few": partial(command, FEW),
        "torch": lambda: scale * cpu_seconds(lambda: torch.run(torch_epochs)),
        "many": partial(command, MANY),
        "no figure": partial(command, FEW, "--no-figure"),
    }
    spent = alternate(turns, rounds)
    ours = [many - few for many, few in zip(spent["many"], spent["few"], strict=True)]
    beside = {name: [a - b * FEW / (MANY - FEW) for a, b in zip(spent[name], ours, strict=True)] for name in turns}
    return {
        "run": text,
        "rank": rank,
        "torch_s": quartiles(spent["torch"]),
        "ours_s": quartiles(ours),
        "torch_over_ours": ratios(spent["torch"], ours),
        "fixed_s": quartiles(beside["few"]),
        "fixed_without_figure_s": quartiles(beside["no figure"]),
    }


def show(name, case):
    text, rank, least = CASES[name]
    print(f"{name}: {text}, rank {rank}; asked: {least} ×, and less than {FIXED:g} s beside the epochs")
    for word, key, unit in (
        ("200 epochs of PyTorch", "torch_s", "s"),
        ("200 epochs more of the command", "ours_s", "s"),
        ("times cheaper", "torch_over_ours", "×"),
        ("command without its epochs", "fixed_s", "s"),
        ("the same with --no-figure", "fixed_without_figure_s", "s"),
    ):
        low, middle, high = case[key]
        print(f"  {word:<32}{middle:>8.2f} {unit} ({low:.2f} to {high:.2f})", flush=True)


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", nargs="*", default=list(CASES))
    parser.add_argument("--torch-epochs", type=int, default=MANY - FEW, help="Epochs that PyTorch really trains.")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    cases = {}
    for name in options.only:
        text, rank, _ = CASES[name]
        cases[name] = compare(text, rank, options.rounds, options.torch_epochs)
        show(name, cases[name])
    keep(
        options.json,
        {"cases": cases, "epochs": MANY - FEW, "rounds": options.rounds, "torch": torch_loop.torch.__version__},
    )


if __name__ == "__main__":
    main()
