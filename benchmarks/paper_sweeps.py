"""What the valleys paper's sweeps cost: CPU seconds of a random part of each, run to their own end.

    python benchmarks/paper_sweeps.py [--runs 40] [--json benchmarks/paper_sweeps.json]

The 750 settings of App. C.5 (examples/valleys_rank5.toml) at ranks 5, 10 and 20, one process, kernels compiled before.
"""

import argparse
import json
import random
from pathlib import Path

import numpy as np

from saddlescope.training import train
from saddlescope.workflows.sweep_file import read_sweep

FILE = Path(__file__).parents[1] / "examples" / "valleys_rank5.toml"


def costs(rank, runs):
    plan = read_sweep(FILE, {"rank": (rank,)})
    chosen = random.Random(rank).sample(list(plan.points), runs)
    train(plan.job(chosen[0]).setting.replace(budget=1), quiet=True)  # compiles
    found = []
    for point in chosen:
        job = plan.job(point)
        run = train(job.setting, job.observe, job.save_at, quiet=True)
        found.append((float(run["cpu_seconds"]), run.sizes["epoch"]))
    return len(plan.points), np.array(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    stored = {}
    for rank in (5, 10, 20):
        total, found = costs(rank, given.runs)
        seconds = found[:, 0]
        stored[rank] = {
            "settings": total, "measured": len(seconds), "mean_seconds": seconds.mean(),
            "standard_error": seconds.std(ddof=1) / np.sqrt(len(seconds)), "largest": seconds.max(),
            "mean_epochs": found[:, 1].mean(),
        }  # fmt: skip
        mean, error = stored[rank]["mean_seconds"], stored[rank]["standard_error"]
        print(f"rank {rank}: {mean:.2f} ± {error:.2f} s of CPU per run, the largest {seconds.max():.1f} s", flush=True)
    if given.json:
        given.json.write_text(json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    main()
