"""The parts of tools/compare_verdicts.py that train nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from compare_verdicts import FINDER, ROOT, differences, make_source, put_finder, verdicts_by

from saddlescope.claims import Verdict

COUNTS = {"runs": 5, "not_finite": 0}
VERDICT = {"sentence": "It drops.", "where": "Fig. 1", "holds": True, "evidence": "5 of 5", **COUNTS}


def verdict(**other):
    return Verdict(**(VERDICT | other))


def test_words_and_numbers_that_differ_are_listed():
    same = verdict(sentence="It ends.")
    assert not list(differences([verdict(), same], [same, verdict()]))
    assert list(differences([verdict(), same], [verdict(evidence="4 of 5"), same])) == [
        ("It drops.", "holds", "holds", "5 of 5", "4 of 5")
    ]
    assert list(differences([verdict()], [verdict(holds=False)])) == [
        ("It drops.", "holds", "does not hold", "5 of 5", "5 of 5")
    ]
    assert list(differences([], [verdict()])) == [("It drops.", "not judged", "holds", "", "5 of 5")]
    failed = "(all)", "ran", "did not run", "", "status 3: oh"
    assert list(differences([], "status 3: oh")) == [failed]


def test_the_source_of_today_is_copied_once(tmp_path):
    home = make_source(tmp_path)
    assert (home / FINDER / "find.py").read_bytes() == (ROOT / FINDER / "find.py").read_bytes()
    (home / "kept").touch()
    assert make_source(tmp_path) == home
    assert (home / "kept").is_file()
    assert [p.name for p in tmp_path.iterdir()] == [home.name]


def test_what_is_there_is_not_run_again(tmp_path):
    folder = tmp_path / "results" / "simplicity.fig1d.quick"
    folder.mkdir(parents=True)
    (folder / "verdicts.json").write_text(json.dumps({"claims": [VERDICT]}))
    assert verdicts_by(tmp_path, "simplicity.fig1d") == [verdict()]


def test_a_run_that_fails_says_why(tmp_path):
    (package := tmp_path / "src" / "saddlescope").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text("import sys; sys.exit('no finder')")
    assert verdicts_by(tmp_path, "simplicity.fig1d") == "status 1: no finder"


def test_the_finder_of_a_commit_replaces_that_of_today(tmp_path, monkeypatch):
    monkeypatch.setattr("compare_verdicts.ROOT", repository := tmp_path / "repository")
    old, new = repository / FINDER, tmp_path / FINDER
    for folder in (old, new / "logs"):
        folder.mkdir(parents=True)
    (old / "find.py").write_text("old")
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", "-C", repository, *who, *words], check=True)
    for name in ("find.py", "only_today.py", "logs/clock.py"):
        (new / name).write_text("new")
    put_finder(tmp_path, "HEAD")
    texts = {p.relative_to(new).as_posix(): p.read_text() for p in new.rglob("*.py")}
    assert texts == {"find.py": "old", "only_today.py": "new"}
    with pytest.raises(SystemExit, match="git has no stage finder at 'nothing'"):
        put_finder(tmp_path, "nothing")
