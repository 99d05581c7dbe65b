"""Judge the stored records again by the rule of today; nothing is trained.

    python tools/rejudge.py [--runs FOLDER] [--made-on PROCESSOR] [--write]

The numbers stay and the words follow. A claim is judged, in this order, from

1. results in FOLDER of the same experiment and scale, run again; all their counts must agree with the record's;
2. results/KEY/runs.csv, where its check needs no more than one number per run;
3. the counts in the stored evidence ("17 of 20 runs").

Where there is none of these the word stays. Prints a table of the words that change; `--write` writes the records too
(then run `python tools/record.py --sum-up`).
"""

import argparse
import csv
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import xarray as xr

from saddlescope.checks import holds_in_share
from saddlescope.claims import ALWAYS, HOLDS, MOST, PARTLY, UNCLEAR, Claim, Count, Verdict, judge, word_of
from saddlescope.experiment import Experiment
from saddlescope.results import Results
from saddlescope.storage.result_folder import folder_of, load_results
from saddlescope.workflows.find import experiment_keys, find_experiment

ROOT = Path(__file__).parents[1]
RENAMED = {
    "Under the uniform draw deep nets (L ≥ 5) fail and shallow ones work.":
        "Under the uniform draw nets of L = 2 to 4 work, and deeper ones do not.",
    "Under the Gaussian draw deep nets work.": "Under the Gaussian draw deep nets (L ≥ 5) work.",
}  # fmt: skip
BY_TABLE = {  # what a table of results/ says of a claim whose check asks for more than it did
    "The last hidden layer oscillates more in a deeper net.":
        "holds for L = 2 to 4; cannot tell for L = 4 to 6, L = 6 to 8",
}  # fmt: skip
ALL = (  # what claims that ask for all cases begin with
    "In two pieces where v turns", "There are (D over r) maps", "Each unit grows", "The singular values are",
    "At each learning-rate cut", "The loss on all data is lower",
)  # fmt: skip


def record_file(key, scale) -> Path:
    paper, _, name = key.partition(".")
    return ROOT / "src" / "saddlescope" / "papers" / paper / "verdicts" / f"{name}.{scale}.json"


# ---- 1 and 2: by the check itself ----


def from_table(key: str) -> Results | None:
    """The single numbers of every recorded run."""
    path, axes = ROOT / "results" / key / "runs.csv", set(find_experiment(key).full)
    if not path.is_file():
        return None
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    columns = {name: ("run", as_numbers([row[name] for row in rows])) for name in rows[0]}
    values = {name: column for name, column in columns.items() if name not in axes}
    coords = {name: column for name, column in columns.items() if name in axes}
    return Results(xr.Dataset(values, coords), xr.Dataset(coords=coords))


def as_numbers(words: list[str]) -> np.ndarray:
    if set(words) <= {"True", "False"}:
        return np.array([word == "True" for word in words])
    for kind in (int, float):
        try:
            return np.array([kind(word) for word in words])
        except ValueError:
            continue
    return np.array(words)


def judged(claim: Claim, results: Results | None) -> Verdict | None:
    """None where the check needs curves that are not there."""
    if results is None:
        return None
    try:
        return next(iter(judge((claim,), results)), None)
    except (LookupError, AttributeError, ValueError, TypeError, StopIteration):
        return None


def agrees(found: Verdict | None, stored: Verdict) -> bool:
    """Whether it says the same of the same runs: as many, with the same count or the same evidence."""
    if found is None or found.runs != stored.runs:
        return False
    said, listed = first_count(stored.evidence), stored.evidence.partition(": ")[2]
    if stored.evidence in found.evidence or (listed and listed in found.evidence):
        return True
    return bool(found.counts) and said == (found.counts[0].good, found.counts[0].n)


# ---- 3: by the stored evidence ----


def first_count(evidence: str) -> tuple[int, int] | None:
    found = re.search(r"\b(\d+) of (\d+)\b", evidence)
    return (int(found[1]), int(found[2])) if found else None


def from_evidence(claim: Claim, stored: Verdict) -> Verdict:
    """By the counts in words. What could not be told stays so: it was not the number that was missing."""
    count, undecided = first_count(stored.evidence), dict(holds=False, partly=False, unclear=True)
    if stored.counts:  # a record of today: nothing to read
        word = UNCLEAR if stored.unclear else word_of(stored.counts)
        return replace(stored, holds=word == HOLDS, partly=word == PARTLY, unclear=word == UNCLEAR)
    if overlap := BY_TABLE.get(stored.sentence):
        return replace(stored, evidence=f"{stored.evidence.removesuffix(f'; {overlap}')}; {overlap}", **undecided)
    if stored.unclear or count is None:
        return stored
    asked = ALWAYS if claim.sentence.startswith(ALL) else MOST
    found = holds_in_share(*count, stored.evidence, asked, groups_in(claim.sentence, stored.evidence, count))
    flags = dict(holds=found.holds, partly=found.partly, unclear=found.unclear, counts=found.counts)
    return replace(stored, evidence=found.evidence, **flags)


def groups_in(sentence, evidence, count):
    """The counts of each setting, where the evidence has them in other words."""
    good, n = count
    if sentence.startswith("Each unit grows"):
        return {"units whose v keeps its sign": (good, good), "units whose v turns": (0, n - good)}
    if sentence.startswith("Control: E to H"):
        rows = re.findall(r"\b([EFGH]) ([\d.e+, -]+)", evidence.partition("of one unit ")[2])
        values = {panel: [float(v) for v in row.split(",")] for panel, row in rows}
        return {panel: (sum(v < 0.1 for v in row), len(row)) for panel, row in values.items()}
    if sentence.startswith("The singular values are"):
        said = [re.findall(r"\d+\.\d+", part) for part in sentence.split(" and ")]
        ours = re.findall(r": ([\d.]+) and ([\d.]+)", evidence)
        pairs = {f"the {word} value": list(zip(said[k], (o[k] for o in ours), strict=False))
                 for k, word in enumerate(("first", "second"))}  # fmt: skip
        return {name: (sum(float(a) == float(b) for a, b in both), len(both)) for name, both in pairs.items()}
    return None


# ---- Records ----


def judged_again(key, scale, runs: Path | None) -> Iterator[tuple[Verdict, Verdict, str]]:
    """(stored, judged again, by what) of every claim of a record."""
    stored = [Verdict.from_json(v) for v in json.loads(record_file(key, scale).read_text())["claims"]]
    again = folder_of(runs, key, scale) if runs else None
    trained = load_results(again) if again and again.is_dir() else None
    table = from_table(key) if scale == "full" else None
    claims = {c.sentence: c for c in find_experiment(key).claims}
    for old in stored:
        sentence = RENAMED.get(old.sentence, old.sentence)
        yield old, *one(replace(old, sentence=sentence), claims[sentence], find_experiment(key), scale, trained, table)


def one(stored: Verdict, claim: Claim, experiment: Experiment, scale, trained, table) -> tuple[Verdict, str]:
    note = claim.note if scale == "full" else ""  # notes speak of the full runs
    for name, results in (("runs", trained), ("table", table)):
        found = judged(claim, results)
        if found and (agrees(found, stored) or (name == "runs" and near(found, stored))):
            return replace(found, note=note), name
    seeds = {p.get("seed") for p in experiment.plan(getattr(experiment, scale)).points if chosen(p, claim.only)}
    return replace(from_evidence(claim, stored), seeds=len(seeds - {None}), note=note), "evidence"


def near(found: Verdict, stored: Verdict) -> bool:
    """Runs trained again on another processor: the same within chance."""
    said = first_count(stored.evidence)
    if found.counts and said:
        return not found.counts[0].differs_from(Count(*said))
    return True


def chosen(point, only) -> bool:
    return all(point.get(a) in (v if isinstance(v, tuple) else (v,)) for a, v in only.items())


def write(key, scale, verdicts, runs, made_on):
    """The record as it is, or as it was run again, with other words."""
    path = record_file(key, scale)
    about = json.loads(path.read_text())
    if runs and (again := folder_of(runs, key, scale) / "verdicts.json").is_file():
        about = json.loads(again.read_text()) | {"processor": made_on}
    about |= {"clean": bool(about["git_commit"]) and not about["git_commit"].endswith("-dirty")}
    about |= {"claims": [asdict(v) for v in verdicts]}
    path.write_text(json.dumps(about, indent=1, ensure_ascii=False))


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=Path)
    parser.add_argument("--made-on", default="not recorded")
    parser.add_argument("--scale", choices=("quick", "full"), default="full")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    print("| experiment | claim | was | is | counts | judged from |", "|---|---|---|---|---|---|", sep="\n")
    for key in experiment_keys():
        rows = list(judged_again(key, options.scale, options.runs))
        for old, new, source in rows:
            if old.word != new.word or old.sentence != new.sentence:
                counts = ", ".join(f"{c.group} ({c})" if c.group else f"{c}" for c in new.counts) or "–"
                print(f"| `{key}` | {new.sentence} | {old.word} | {new.word} | {counts} | {source} |")
        if options.write:
            write(key, options.scale, [new for _, new, _ in rows], options.runs, options.made_on)


if __name__ == "__main__":
    main()
