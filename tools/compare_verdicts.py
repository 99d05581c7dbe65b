"""Run quick forms with the stage finder of another commit and of this one, and list what differs.

    python tools/compare_verdicts.py COMMIT [KEY …] [--folder FOLDER]

Everything but `src/saddlescope/stages` is of today on both sides, so that a difference is one of
the finder. COMMIT may be any name that git knows; without KEYs all experiments are run.

Both sides are copies of the source in FOLDER, named after their content. An interrupted comparison
resumes, and one after a change of the source starts again. Progress is written to standard error,
the table to standard output: each verdict whose word or whose numbers differ.
"""

import argparse
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from saddlescope.claims import Verdict
from saddlescope.storage.result_folder import folder_of
from saddlescope.workflows.find import experiment_keys

ROOT = Path(__file__).parents[1]
FINDER = Path("src", "saddlescope", "stages")
FOLDER = ROOT / "saddlescope-results" / "compare"
HEAD = ("experiment", "claim", "was", "is", "evidence before", "evidence now")
JUDGED = (0, 1)  # statuses of `run`: as recorded, or not


# ---- the two sides ----


def make_source(folder: Path, commit: str | None = None) -> Path:
    """A copy of the source of today, with the stage finder of a commit, in a folder of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        source = Path(scratch) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        if commit:
            put_finder(Path(scratch), commit)
        home = folder / digest_of(source)
        if not home.is_dir():
            home.mkdir()
            source.rename(home / "src")
    return home


def put_finder(root: Path, commit: str) -> None:
    """The stage finder of a commit in place of that of today.

    Files that only today's finder has stay: other packages may import them.
    """
    shutil.rmtree(root / FINDER / "logs", ignore_errors=True)
    words = ["git", "-C", str(ROOT), "archive", "--format=tar", commit, FINDER.as_posix()]
    packed = subprocess.run(words, capture_output=True, check=False)
    if packed.returncode:
        sys.exit(f"git has no stage finder at {commit!r}: {packed.stderr.decode().strip()}")
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(root, filter="data")


def digest_of(source: Path) -> str:
    """A name for the content of a source."""
    total = hashlib.sha256()
    for file in sorted(source.rglob("*")):
        if file.is_file():
            total.update(file.relative_to(source).as_posix().encode() + b"\0" + file.read_bytes())
    return total.hexdigest()[:12]


def verdicts_by(home: Path, key: str) -> list[Verdict] | str:
    """The verdicts on a quick form by the source in a folder, or why there are none."""
    found = folder_of(home / "results", key, "quick") / "verdicts.json"
    if not found.is_file():
        words = ["run", key, "--quick", "--quiet", "--out", str(home / "results")]
        environment = os.environ | {"PYTHONPATH": str(home / "src")}
        command = [sys.executable, "-m", "saddlescope", *words]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=home)
        if done.returncode not in JUDGED or not found.is_file():
            said = done.stderr.strip().splitlines() or ["no sentence"]
            return f"status {done.returncode}: {said[-1]}"
    return [Verdict.from_json(v) for v in json.loads(found.read_text())["claims"]]


# ---- what differs ----


def differences(old: list[Verdict] | str, new: list[Verdict] | str) -> Iterator[tuple[str, ...]]:
    """(claim, word before, word now, evidence before, evidence now) where any of these differ."""
    if isinstance(old, str) or isinstance(new, str):
        was, now = ("did not run" if isinstance(side, str) else "ran" for side in (old, new))
        reasons = (side if isinstance(side, str) else "" for side in (old, new))
        yield ("(all)", was, now, *reasons)
        return
    before, now = ({v.sentence: v for v in side} for side in (old, new))
    for sentence in dict.fromkeys([*before, *now]):
        pair = before.get(sentence), now.get(sentence)
        words = [v.word if v else "not judged" for v in pair]
        evidence = [v.evidence if v else "" for v in pair]
        if words[0] != words[1] or evidence[0] != evidence[1]:
            yield (sentence, *words, *evidence)


def compare(key: str, old: Path, new: Path, place: str) -> list[tuple[str, ...]]:
    """The differences of one experiment, with progress."""
    start = time.monotonic()
    found = list(differences(verdicts_by(old, key), verdicts_by(new, key)))
    took = f"{time.monotonic() - start:.0f} s"
    print(f"[{place}] {key}: {len(found)} verdicts differ, {took}", file=sys.stderr, flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("commit")
    parser.add_argument("keys", nargs="*", metavar="KEY")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    options = parser.parse_args()
    keys = options.keys or experiment_keys()
    if unknown := [key for key in keys if key not in experiment_keys()]:
        sys.exit(f"There is no experiment {unknown[0]!r}: `saddlescope list` names them.")
    old, new = (make_source(options.folder, commit) for commit in (options.commit, None))
    print(f"before: {old}\nnow: {new}", file=sys.stderr)
    print(f"| {' | '.join(HEAD)} |", f"|{'---|' * len(HEAD)}", sep="\n", flush=True)
    for i, key in enumerate(keys, 1):
        for row in compare(key, old, new, f"{i}/{len(keys)}"):
            cells = [f"`{key}`", *(cell.replace("|", "\\|") for cell in row)]
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
