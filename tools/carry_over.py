"""Carry the stored records over to the hashes of today; prove it on runs that are trained again.

    python tools/carry_over.py prove --old CLONE [KEY …]
    python tools/carry_over.py write --old CLONE [KEY …]

CLONE is a clone of this repository at a commit from before the change. `prove` takes the cheapest
seed of up to six settings of every record. It trains each run twice: by the code of CLONE and by
the code of today, both as on AVX2, where most records were made. It compares the bits of all
arrays and loss curves, then the numbers in `results/KEY/runs.csv`, and writes
`results/carried_over.csv`. Runs are kept in `--work`; the same command resumes.

`write` puts today's hash into every row of a record whose sampled runs all have the same bits and
the recorded numbers. CLONE must give each of its rows the recorded hash. The other records stay as
they are; it lists those that need to be run again.
"""

import argparse
import csv
import json
import os
import random
import subprocess
import sys
from pathlib import Path

from same_runs import COLUMNS, compare, plain
from train_points import name_of, read_lines

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "results" / "carried_over.csv"
ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
AVX2 = {
    "XLA_FLAGS": f"--xla_cpu_max_isa=AVX2 {ONE_THREAD}",  # XLA's own flags come first
    "OPENBLAS_CORETYPE": "Zen",
    "NUMBA_CPU_NAME": "znver3",
    "NUMBA_CPU_FEATURES": "",
    "JAX_ENABLE_X64": "1",
}
SECONDS, SETTINGS = 15.0, 6  # CPU time and settings of the sample of one record
SHORTER = {"valleys.fig5": 0.01, "valleys.symmetry": 0.01}  # share of the epochs: runs of 10–30 min


# ---- The sample ----


def read_record(key: str) -> list[dict]:
    """The rows of a record."""
    with (ROOT / "results" / key / "runs.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def points_of(experiment, rows: list[dict]) -> list[dict | None]:
    """The point of today's full grid that each row is of."""
    points = experiment.plan(experiment.full).points
    axes = [axis for axis in points[0] if axis in rows[0]]
    known = {tuple(plain(point[axis]) for axis in axes): point for point in points}
    return [known.get(tuple(plain(row[axis]) for axis in axes)) for row in rows]


def choose(costs: list[float], points: list[dict]) -> list[int]:
    """The rows to train, within a budget: the cheapest seed of a few settings, drawn at random.

    Where there is one setting, two seeds; where nothing is cheap enough, the cheapest row.
    """
    in_order = sorted(range(len(costs)), key=costs.__getitem__)
    cheapest: dict = {}
    for i in in_order:
        cheapest.setdefault(tuple(v for axis, v in points[i].items() if axis != "seed"), i)
    drawn = random.Random(0).sample(list(cheapest.values()), len(cheapest))
    chosen: list[int] = []
    for i in [*drawn, *(i for i in in_order if i not in drawn)]:
        few = len(chosen) < (SETTINGS if i in drawn else 2)
        if few and sum(costs[j] for j in chosen) + costs[i] <= SECONDS:
            chosen.append(i)
    return chosen or in_order[:1]


def sample(keys) -> list[dict]:
    """What is to be trained of every record, cheap runs first."""
    from saddlescope.workflows.find import find_experiment

    found = []
    for key in keys:
        share, rows = SHORTER.get(key, 1.0), read_record(key)
        both = zip(rows, points_of(find_experiment(key), rows), strict=True)
        there = [(row, point) for row, point in both if point is not None]
        costs = [share * float(row["cpu_seconds"]) for row, _ in there]
        for i in choose(costs, [point for _, point in there]):
            row, point = there[i]
            shorter = {} if share == 1.0 else {"epochs": round(share * point["epochs"])}
            found.append({"key": key, "point": point | shorter, "row": row, "cost": costs[i]})
    return sorted(found, key=lambda one: one["cost"])


# ---- The two commands ----


def ask(what: str, source: Path, asked: list[dict], done: Path) -> dict[str, dict]:
    """The answers of one version of the code, by the names of the points."""
    done.parent.mkdir(parents=True, exist_ok=True)
    file = done.with_suffix(".asked")
    lines = [json.dumps({"key": a["key"], "point": a["point"]}) for a in asked]
    file.write_text("\n".join(lines), encoding="utf-8")
    environment = os.environ | AVX2 | {"PYTHONPATH": os.fspath((source / "src").resolve())}
    script = Path(__file__).with_name("train_points.py")
    subprocess.run([sys.executable, script, what, file, done], env=environment, check=True)
    return {name_of(one): one for one in read_lines(done)}


def prove(clone: Path, work: Path, keys):
    """Train the sample by both versions, and write the table."""
    asked = sample(keys)
    old = ask("runs", clone, asked, work / "old.jsonl")
    new = ask("runs", ROOT, asked, work / "new.jsonl")
    rows = [compare(a, old[name_of(a)], new[name_of(a)], a["key"] in SHORTER) for a in asked]
    write_proofs(rows)


def write_proofs(rows: list[dict]):
    """The table of proofs, with the proofs that it has of other records."""
    keys = {row["experiment"] for row in rows}
    rows = rows + [row for row in read_proofs() if row["experiment"] not in keys]
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows, key=lambda row: (row["experiment"], row["point"])))


def read_proofs() -> list[dict]:
    """The rows of the table of proofs."""
    if not TABLE.exists():
        return []
    with TABLE.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(clone: Path, work: Path, keys):
    """Rewrite the hashes of what is proven; print what became of each record, and its cost."""
    from saddlescope.workflows.find import find_experiment

    proofs = read_proofs()
    records = {key: read_record(key) for key in keys}
    named = [key for key, rows in records.items() if "hash" in rows[0]]
    points = {key: points_of(find_experiment(key), records[key]) for key in named}
    asked = [{"key": key, "point": point} for key in named for point in points[key]]
    old = ask("hashes", clone, asked, work / "old.hashes")
    new = ask("hashes", ROOT, asked, work / "new.hashes")
    print("| record | runs | sampled | outcome | CPU seconds |", "|---|---|---|---|---|", sep="\n")
    for key, rows in records.items():
        own = [proof for proof in proofs if proof["experiment"] == key]
        names = [name_of(a) for a in asked if a["key"] == key]
        before, after = ([found[name].get("hash", "") for name in names] for found in (old, new))
        outcome = decide([row["hash"] for row in rows if "hash" in row], before, after, own)
        if outcome == CARRIED:
            write_hashes(ROOT / "results" / key / "runs.csv", rows, after)
        cost = sum(float(row["cpu_seconds"]) for row in rows)
        print(f"| `{key}` | {len(rows)} | {len(own)} | {outcome} | {cost:.0f} |")


CARRIED, NO_HASH = "same: carried over", "same: the record has no hash"


def decide(recorded: list[str], old: list[str], new: list[str], proofs: list[dict]) -> str:
    """Whether a record may have today's hashes, or why not."""
    different = sum(p["same_bits"] != "yes" or p["same_as_record"] == "no" for p in proofs)
    if not proofs:
        return "no run was sampled: run it again"
    if different:
        return f"{different} of {len(proofs)} runs differ: run it again"
    if not recorded:
        return NO_HASH
    unknown = sum(r not in (o, n) for r, o, n in zip(recorded, old, new, strict=True))
    if unknown or not all(new):
        return f"{unknown} recorded hashes are not those of the older code: run it again"
    return CARRIED


def write_hashes(path: Path, rows: list[dict], hashes: list[str]):
    """The same table with other hashes."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(row | {"hash": new} for row, new in zip(rows, hashes, strict=True))


def main():
    from saddlescope.workflows.find import experiment_keys

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("command", choices=("prove", "write"))
    parser.add_argument("keys", nargs="*")
    parser.add_argument("--old", type=Path, required=True)
    parser.add_argument("--work", type=Path, default=ROOT / "saddlescope-results" / "carry_over")
    options = parser.parse_args()
    {"prove": prove, "write": write}[options.command](options.old, options.work, options.keys or experiment_keys())


if __name__ == "__main__":
    main()
