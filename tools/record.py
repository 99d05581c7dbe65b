"""Run every experiment, quick and full, and keep its verdicts beside it: the record that `run` compares with.

    python tools/record.py [KEY] [--scale quick|full]

Also draws the README's figure. What it writes is committed.
"""

import argparse
import shutil
from pathlib import Path

from saddlescope.experiment import matching
from saddlescope.named import Name
from saddlescope.report.folder import run_to_folder
from saddlescope.report.one_run import train_to_folder

ROOT = Path(__file__).parents[1]
PAPERS = ROOT / "src" / "saddlescope" / "papers"


def record(key, scale, out):
    folder, verdicts = run_to_folder(key, scale, {}, out / scale)
    paper, _, name = key.partition(".")
    target = PAPERS / paper / "verdicts" / f"{name}.{scale}.json"
    target.parent.mkdir(exist_ok=True)
    shutil.copy(folder / "verdicts.json", target)
    print(f"{key} ({scale})", *(f"  {v}" for v in verdicts), sep="\n")
    if (key, scale) == ("simplicity.fig1b", "full"):
        shutil.copy(folder / "figure.png", ROOT / "docs" / "fig1b.png")


def record_train(out):
    """The README's figure of one run."""
    folder, _, _ = train_to_folder(Name.parse("f3_N768_bs8_L2").setting(rank=10), out)
    shutil.copy(folder / "figure.png", ROOT / "docs" / "train.png")


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("key", nargs="?", default="all")
    parser.add_argument("--scale", choices=("quick", "full"))
    parser.add_argument("--out", type=Path, default=ROOT / "saddlescope-results")
    options = parser.parse_args()
    for key in matching(options.key):
        for scale in (options.scale,) if options.scale else ("quick", "full"):
            record(key, scale, options.out)
    if options.key == "all":
        record_train(options.out)


if __name__ == "__main__":
    main()
