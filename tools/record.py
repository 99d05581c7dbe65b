"""Run every experiment, quick and full, and keep what a release stands by: the record that `run` compares with.

    python tools/record.py [KEY …] [--scale quick|full] [--workers N] [--judge] [--missing]
    python tools/record.py --sum-up

Verdicts go beside each paper's experiments. A full run's figure, caption, tables and runs.csv go to results/KEY, and
judged.nc: what its checks read, so that every verdict can be computed again. `--judge` takes the results that are there
and judges them again. A run that is stopped resumes. What it writes is committed. A record names its commit, so that
this refuses to start from a tree with changes.

The full record takes many hours. `--missing` leaves out what this version has recorded from a clean commit already, and
takes the rest in the order of what it cost before. Work in a second checkout meanwhile (`git worktree add`): `--into`
names the one that keeps the record.

papers/recorded.json sums all records up for `saddlescope list`. It is written with them; `--sum-up` writes it alone.
"""

import argparse
import json
import shutil
from pathlib import Path

from saddlescope.numerics import VERSION, provenance
from saddlescope.report.record import summed_up
from saddlescope.storage.result_folder import folder_of, load_with_facts, save_results
from saddlescope.workflows.evidence import JUDGED, sufficient
from saddlescope.workflows.find import choose_scale, experiment_keys, find_experiment, matching_keys
from saddlescope.workflows.judge import judge_folder
from saddlescope.workflows.run_experiment import run_experiment
from saddlescope.workflows.train_run import find_run, train_to_folder

ROOT = Path(__file__).resolve().parents[1]
PAPERS = Path("src", "saddlescope", "papers")


def record(key, scale, out, workers, stored, root):
    if stored:
        folder = folder_of(out, key, scale)
        *_, verdicts = judge_folder(folder)
    else:
        done = run_experiment(key, (made := find_experiment(key)), choose_scale(made, scale), out, workers=workers)
        folder, verdicts = done.folder, done.verdicts
    keep(key, scale, folder, root)
    print(f"{key} ({scale})", *(f"  {v}" for v in verdicts), sep="\n", flush=True)


def verdicts_file(key, scale, root=ROOT) -> Path:
    """Where the record of an experiment is kept."""
    paper, _, name = key.partition(".")
    return root / PAPERS / paper / "verdicts" / f"{name}.{scale}.json"


def facts(key, scale, root) -> dict:
    """What is said about a record; nothing where there is none."""
    file = verdicts_file(key, scale, root)
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def missing(keys, scale, root) -> list[str]:
    """What this version has not recorded from a clean commit; what cost least comes first."""
    about = {key: facts(key, scale, root) for key in keys}
    left = [k for k, a in about.items() if not (a.get("clean") and a["versions"]["numerics"] == VERSION)]
    return sorted(left, key=lambda key: about[key].get("cpu_seconds", 0.0))


def keep(key, scale, folder, root):
    """The verdicts come last: a record that was stopped before is missing, and made again."""
    if scale == "full":
        results = root / "results" / key
        shutil.rmtree(results, ignore_errors=True)
        results.mkdir(parents=True)
        for file in ("figure.png", "caption.txt", "runs.csv", *(f.name for f in folder.glob("table_*.md"))):
            shutil.copy(folder / file, results / file)
        made, _ = load_with_facts(folder)
        save_results(results / JUDGED, sufficient(find_experiment(key).claims, made), key=key, scale=scale)
    target = verdicts_file(key, scale, root)
    target.parent.mkdir(exist_ok=True)
    shutil.copy(folder / "verdicts.json", target)
    if root == ROOT:
        sum_up()


def sum_up():
    (ROOT / PAPERS / "recorded.json").write_text(summed_up(experiment_keys()), encoding="utf-8")


def record_train(out, root):
    """The README's figure of one run."""
    folder, _, _ = train_to_folder(find_run("f3_N768_bs8_L2", {}), out)
    shutil.copy(folder / "figure.png", root / "docs" / "train.png")


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("keys", nargs="*", default=["all"])
    parser.add_argument("--scale", choices=("quick", "full"))
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--judge", action="store_true")
    parser.add_argument("--sum-up", action="store_true")
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--into", type=Path, default=ROOT)
    parser.add_argument("--out", type=Path, default=ROOT / "saddlescope-results")
    options = parser.parse_args()
    if options.sum_up:
        return sum_up()
    if not provenance()["clean"]:  # read once: what is written below does not count as a change
        parser.error("A record comes from a clean commit: commit or remove your changes first.")
    keys = [k for given in options.keys for k in matching_keys(given)]
    for scale in (options.scale,) if options.scale else ("quick", "full"):
        for key in missing(keys, scale, options.into) if options.missing else keys:
            record(key, scale, options.out, options.workers, options.judge, options.into.resolve())
    if options.keys == ["all"]:
        record_train(options.out, options.into)


if __name__ == "__main__":
    main()
