"""`saddlescope stages` from the shell: what it prints, draws, compares and follows."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from staircases import staircase

STEPS = np.arange(600)
LOSS = staircase(STEPS, [150, 400], [3, 2, 1], 5)


def written(path, loss=LOSS, name="loss", steps=STEPS):
    rows = "".join(f"{s},{v:.6f}\n" for s, v in zip(steps, loss, strict=True))
    path.write_text(f"step,{name}\n{rows}")
    return path


@pytest.fixture(autouse=True)
def logs(tmp_path):
    written(tmp_path / "a.csv")
    written(tmp_path / "b.csv", LOSS[300:], steps=STEPS[300:])
    written(tmp_path / "acc.csv", 1 - LOSS / 4, "accuracy")


def test_it_says_what_was_read_and_draws_when_asked(saddlescope, tmp_path):
    before = sorted(tmp_path.iterdir())
    status, out, _ = saddlescope("stages", "a.csv")
    assert status == 0
    assert out.startswith("loss of a.csv (CSV), 600 points over step\n")
    assert "2 drops" in out
    assert sorted(tmp_path.iterdir()) == before
    status, out, _ = saddlescope("stages", "a.csv", "--figure", "f.svg")
    assert status == 0
    assert out.endswith("figure: f.svg\n")
    assert "<!-- step -->" in (tmp_path / "f.svg").read_text()


def test_log_time_shifts_a_step_0_and_says_so(saddlescope):
    status, out, _ = saddlescope("stages", "a.csv", "--log-time")
    assert status == 0
    assert "Log time has no step 0: each step is shifted by one." in out
    assert "shifted" not in saddlescope("stages", "b.csv", "--log-time")[1]


def test_options_reach_the_search(saddlescope):
    found = json.loads(saddlescope("stages", "a.csv", "--json")[1])
    assert found["n_drops"] == 2
    about = [found[k] for k in ("log", "kind", "curve", "time", "points")]
    assert about == ["a.csv", "CSV", "loss", "step", 600]
    drops = [row["at"] for row in found["stages"] if row["stage"] == "drop"]
    np.testing.assert_allclose(drops, [150, 400], atol=2)
    strict = json.loads(saddlescope("stages", "a.csv", "--json", "--min-fall", "0.4")[1])
    assert strict["n_drops"] == 1
    for option in (("--min-fall", "7"), ("--prominence", "0.5"), ("--smooth", "-1")):
        status, out, err = saddlescope("stages", "a.csv", *option)
        assert (status, out) == (2, "")
        assert option[0].strip("-").replace("-", "_") in err


def test_a_curve_that_rises_has_its_levels_as_logged(saddlescope, monkeypatch):
    """In the table, in JSON, in a comparison and in the figure; falls are positive."""
    found = json.loads(saddlescope("stages", "acc.csv", "--up", "--json")[1])
    assert (found["n_drops"], found["curve"]) == (2, "accuracy")
    said = "Drops, falls and shares are those of 1 - accuracy; levels are those of accuracy."
    assert found["notes"] == [said]
    levels = [row["level"] for row in found["stages"] if row["stage"] == "plateau"]
    np.testing.assert_allclose(levels, [0.25, 0.5, 0.75], rtol=1e-2)
    assert all(row["fall"] > 0 for row in found["stages"] if row["stage"] == "drop")
    table = saddlescope("stages", "acc.csv", "--up")[1]
    plateaus = [line.split() for line in table.splitlines() if line.startswith("plateau")]
    assert [cells[4] for cells in plateaus] == ["0.25", "0.5", "0.75"]
    both = saddlescope("stages", "--compare", "acc.csv", "acc.csv", "--up")[1]
    assert both.splitlines()[-1].endswith("0.25 0.5 0.75")
    drawn = []
    monkeypatch.setattr("saddlescope.figures.curve.draw_curve", lambda *given: drawn.append(given))
    saddlescope("stages", "acc.csv", "--up", "--figure", "f.png")
    _, stages, loss, *_, name, _, _, turned = drawn[0]
    assert (name, turned) == ("accuracy", "1 - accuracy")
    np.testing.assert_allclose([p.level for p in stages.plateaus], [0.25, 0.5, 0.75], rtol=1e-2)
    np.testing.assert_allclose(loss, 1 - LOSS / 4, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "values", "options", "hint"),
    [
        ("loss", LOSS, [], ""),
        ("loss", 4 - LOSS, [], "loss ends higher than it begins: add --up if higher is better."),
        ("val_acc", LOSS, [], "val_acc sounds like a curve that should rise: add --up"),
        ("evalF1", 4 - LOSS, [], "evalF1 sounds like a curve that should rise: add --up"),
        ("rouge2", 4 - LOSS, [], "rouge2 sounds like a curve that should rise: add --up"),
        ("score_loss", LOSS, [], ""),
        ("loss", LOSS, ["--up"], "loss ends lower than it begins: leave out --up"),
        ("reward", 4 - LOSS, ["--up"], ""),
        ("loss", LOSS, ["--smooth", "2"], "With --smooth, noise is not looked for"),
        ("loss", LOSS, ["--smooth", "0"], "With --smooth, noise is not looked for"),
        ("loss", LOSS[::50], [], "Only 12 points: noise is not looked for below 16 points"),
        ("loss", LOSS[::37], [], ""),
    ],
)
def test_hints(saddlescope, tmp_path, name, values, options, hint):
    written(tmp_path / "c.csv", values, name, STEPS[: len(values)])
    out = saddlescope("stages", "c.csv", "--column", name, "--json", *options)[1]
    notes = [note for note in json.loads(out)["notes"] if not note.startswith("Drops, falls")]
    assert notes[0].startswith(hint) if hint else not notes


@pytest.mark.parametrize("wrong", ["los", "LOSS", "loss_train"])
def test_a_near_name_is_suggested(saddlescope, wrong):
    for option in ("--column", "--time"):
        status, out, err = saddlescope("stages", "a.csv", option, wrong)
        assert (status, out) == (2, "")
        hint = "It has step, loss. Did you mean 'loss'?"
        assert err == f"saddlescope: a.csv has no column {wrong!r}. {hint}\n"


def test_json_has_what_is_said_below_the_table(saddlescope, tmp_path):
    noise = np.random.default_rng(0).normal(size=600)
    written(tmp_path / "n.csv", LOSS * (1 + 0.1 * noise).clip(0.1))
    found = json.loads(saddlescope("stages", "n.csv", "--json")[1])
    assert found["noise"] == pytest.approx(0.1, rel=0.3)
    assert saddlescope("stages", "n.csv")[1].endswith("\n".join(found["said"]) + "\n")


def test_comparison(saddlescope, tmp_path):
    status, out, _ = saddlescope("stages", "--compare", "a.csv", "b.csv", "--figure", "both.png")
    assert status == 0
    table = [line.split() for line in out.splitlines()[-4:-1]]
    assert table[0] == ["log", "curve", "drops", "at", "levels"]
    assert [row[:3] for row in table[1:]] == [["a.csv", "loss", "2"], ["b.csv", "loss", "1"]]
    assert float(table[2][3]) == pytest.approx(400, abs=2)
    assert (tmp_path / "both.png").read_bytes()[:4] == b"\x89PNG"
    both = json.loads(saddlescope("stages", "--compare", "a.csv", "b.csv", "--json")[1])
    assert [found["n_drops"] for found in both] == [2, 1]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["a.csv", "b.csv"], "add --compare"),
        (["--compare", "a.csv"], "at least two logs"),
        (["--compare", "-", "-"], "only once"),
        (["--follow", "-"], "one file or folder"),
        (["--follow", "--compare", "a.csv", "b.csv"], "one file or folder"),
        (["--compare", "a.csv", "none.csv"], "There is no file none.csv"),
        ([""], "There is no file"),
        (["."], "holds 3 runs: a.csv, acc.csv, b.csv"),
    ],
)
def test_what_cannot_be_done(saddlescope, words, sentence):
    status, out, err = saddlescope("stages", *words)
    assert (status, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1


def test_2000_rows_need_little_and_no_jax(tmp_path):
    """Neither JAX nor pandas nor matplotlib is imported to read a small log."""
    code = "import sys; from saddlescope.cli import main\ntry: main()\nexcept SystemExit: "
    code += "print(sorted({'jax', 'pandas', 'matplotlib', 'xarray'} & set(sys.modules)))"
    words = [sys.executable, "-c", code, "stages", str(tmp_path / "a.csv")]
    done = subprocess.run(words, capture_output=True, text=True, env=os.environ, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout
