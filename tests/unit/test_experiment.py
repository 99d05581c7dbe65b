"""What an experiment may say of its runs: which points, what is kept, when it is read, tables; and judging anew."""

import csv
import json
import os

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sweep_jobs import Tells

from saddlescope.checks import holds_in_share, in_most_runs
from saddlescope.claims import CheckResult, Claim, judge
from saddlescope.errors import InvalidInput
from saddlescope.experiment import Experiment
from saddlescope.figures import weights_movie
from saddlescope.nets import linear_units
from saddlescope.observables import FullLoss, Parameters
from saddlescope.optimisers import GradientDescent
from saddlescope.setting import Setting
from saddlescope.storage import result_folder as store
from saddlescope.tables import Table
from saddlescope.tasks import LinearTeacher
from saddlescope.theory import LinearLevels
from saddlescope.training import every
from saddlescope.workflows import judge as folders
from saddlescope.workflows.find import choose_scale
from saddlescope.workflows.run_experiment import run_experiment


def setting(steps, lr, seed=0):
    task = LinearTeacher(((1, 0), (0, 1)), covariance=((1, 0), (0, 2)))
    return Setting(task, linear_units(units=4, scale=0.1), GradientDescent(lr), steps=steps, seed=seed)


def digest(run, made):
    return {"fall": float(run.loss[0] - run.loss[-1]), "rate": made.optimiser.lr, "path": (("point",), run.loss.values)}


def draw(results):
    figure, ax = plt.subplots()
    ax.plot(results.measured.fall)
    ax.set(xlabel="run", ylabel="fall")
    return figure


def tables(results):
    return (Table("falls", "Falls", ("rate", "fall"), list(zip(*(results.measured[n].values.tolist()
                  for n in ("rate", "fall")), strict=True))),)  # fmt: skip


def made(**more):
    axes = dict(steps=(5, 10), lr=(0.01, 1e6))
    options = dict(
        title="T", source="W", full=axes, quick=axes, draw=draw, setting=setting, observe=(FullLoss(),),
        claims=(Claim("falls", "ours", in_most_runs(lambda m: m.fall > 0, lambda r: "said")),), analyse=digest,
        tables=tables,
    )  # fmt: skip
    return Experiment(**options | more)


def test_a_digest_is_kept_instead_of_the_curves():
    experiment = made()
    results = experiment.run(experiment.full, quiet=True)
    assert "loss" not in results.measured
    assert {"fall", "rate", "setting", "status", "cpu_seconds"} <= set(results.measured)
    assert results.measured.finite.values.tolist() == [True, False, True, False]  # at 1e6 it diverges
    lengths = [m.sizes["point"] for m in results.runs()]
    assert lengths[0] == 6
    assert lengths[2] == 11


def test_points_are_left_out_and_save_times_may_depend_on_them():
    experiment = made(
        where="steps > 5 and lr < 1", analyse=None, draw=lambda r: None, tables=None,
        save_at=lambda steps, lr: every(steps // 5, steps),
    )  # fmt: skip
    results = experiment.run(experiment.full, quiet=True)
    assert results.measured.sizes["run"] == 1
    assert results.measured.saved_step.values[0].tolist() == [0, 2, 4, 6, 8, 10]
    with pytest.raises(InvalidInput, match="nothing to run"):
        experiment.plan(experiment.full, "lr > 1")


def test_theory_goes_to_the_workers_too_and_to_the_same_numbers(tmp_path):
    experiment = made(analyse=None, predict=lambda steps, lr: (LinearLevels(), Tells(str(tmp_path / "diary"))))
    here, there = (experiment.run(experiment.full, workers=n, quiet=True).predicted for n in (1, 2))
    assert set(here.process.values) == {os.getpid()}
    assert os.getpid() not in there.process.values
    np.testing.assert_array_equal(here.plateau_level, there.plateau_level)
    assert there.twice.values.tolist() == [10, 10, 20, 20]
    assert there.steps.values.tolist() == [5, 5, 10, 10]


def test_what_theory_has_said_is_not_asked_again_after_a_stop(tmp_path):
    diary = tmp_path / "diary"
    broken, mended = (
        made(predict=lambda steps, lr, stop=stop: (Tells(str(diary), stop * (lr > 1)),)) for stop in (1e6, 0.0)
    )
    with pytest.raises(InvalidInput, match="stopped here"):
        broken.run(broken.full, quiet=True, folder=tmp_path / "runs")
    assert diary.read_text().split() == ["5", "0.01", "10", "0.01"]
    mended.run(mended.full, quiet=True, folder=tmp_path / "runs")
    assert diary.read_text().splitlines()[2:] == ["5 1000000.0", "10 1000000.0"]


def test_theory_needs_a_setting():
    with pytest.raises(InvalidInput, match="need `setting=…`"):
        made(setting=None, analyse=None, measure=lambda steps, lr: {}, predict=(LinearLevels(),))


WORDS = [(20, "holds"), (16, "holds"), (15, "cannot tell"), (10, "cannot tell"), (9, "does not hold")]


@pytest.mark.parametrize(("good", "word"), WORDS)
def test_four_fifths_hold_and_less_than_half_does_not(good, word):
    experiment = made(claims=(Claim("s", "w", lambda _: holds_in_share(good, 20, "e"), note="why"),))
    (verdict,) = judge(experiment.claims, experiment.run(experiment.full, quiet=True))
    assert verdict.word == word
    assert str(verdict).startswith(word if word == "holds" else word.upper())
    assert ("why" in str(verdict)) == (word != "holds")


def test_a_check_may_say_that_it_cannot_tell_or_was_not_made():
    claims = (
        Claim("a", "w", lambda _: CheckResult(False, "e", unclear=True)),
        Claim("b", "w", lambda _: None),
    )
    experiment = made(claims=claims)
    (verdict,) = judge(claims, experiment.run(experiment.full, quiet=True))
    assert (verdict.sentence, verdict.word) == ("a", "cannot tell")


def test_a_run_that_is_not_finite_counts_against_mostly():
    experiment = made()
    (verdict,) = judge(experiment.claims, experiment.run(experiment.full, quiet=True))
    assert (verdict.word, verdict.not_finite) == ("cannot tell", 2)
    assert "2 of 4 runs" in verdict.evidence
    assert "said" in verdict.evidence


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """An experiment of ours under a key, run into a folder."""
    experiment = made()
    monkeypatch.setattr(folders, "find_experiment", lambda key: experiment)
    monkeypatch.setattr(folders, "find_again", lambda folder, about, given: about["key"])
    return run_experiment("t.x", experiment, choose_scale(experiment, "full"), tmp_path, quiet=True).folder


def test_tables_and_a_row_a_run_are_written(stored):
    rows = list(csv.DictReader((stored / "runs.csv").read_text().splitlines()))
    found = [(row["steps"], row["finite"]) for row in rows]
    assert found == [("5", "True"), ("5", "False"), ("10", "True"), ("10", "False")]
    assert {f.suffix for f in stored.glob("table_falls.*")} == {".txt", ".md", ".tex", ".csv"}
    assert "Falls" in (stored / "index.html").read_text()
    assert "table_falls.tex" in json.loads((stored / "manifest.json").read_text())


def test_stored_results_are_judged_anew_without_training(stored, monkeypatch):
    before = store.load_results(stored)
    other = made(claims=(Claim("now partly", "ours", lambda r: CheckResult(False, "e", True)),))
    monkeypatch.setattr(folders, "find_experiment", lambda key: other)
    monkeypatch.setattr(Experiment, "run", None)  # nothing may be trained
    (stored / "table_old.md").write_text("of an older version")
    key, scale, (verdict,) = folders.judge_folder(stored)
    assert (key, scale.name, scale.is_whole) == ("t.x", "full", True)
    assert not (stored / "table_old.md").exists()
    assert verdict.word == "partly"
    assert store.load_verdicts(stored / store.VERDICTS)[0] == (verdict,)
    assert store.is_sealed(stored)
    assert "◐ partly" in (stored / "index.html").read_text()
    after = store.load_results(stored)
    np.testing.assert_array_equal(before.measured.fall, after.measured.fall)


def test_a_judgement_keeps_what_made_the_runs_and_names_itself(stored, monkeypatch):
    """Runs take hours: the commit that is named for them is theirs, not that of a later check."""
    monkeypatch.setattr(store, "provenance", lambda: {"git_commit": "later", "versions": {"numerics": 99}})
    monkeypatch.setattr(folders, "git_commit", lambda: "later")
    made_by = store.load_verdicts(stored / store.VERDICTS)[1]
    for _ in range(2):
        folders.judge_folder(stored)
        about = store.load_verdicts(stored / store.VERDICTS)[1]
        assert about["judged_by"] == "later"
        kept = ("git_commit", "versions", "clean", "processor", "date")
        assert {name: about[name] for name in kept} == {name: made_by[name] for name in kept}


def test_what_is_no_result_cannot_be_judged(saddlescope, tmp_path):
    status, _, err = saddlescope("judge", tmp_path)
    assert status == 2
    assert "holds no results.nc" in err
    status, _, err = saddlescope("judge", tmp_path / "nowhere")
    assert (status, "holds no results.nc" in err) == (2, True)
    (tmp_path / "empty.csv").touch()
    status, _, err = saddlescope("judge", tmp_path / "empty.csv")
    assert (status, "empty.csv holds no results.nc" in err) == (2, True)


def test_a_judgement_that_was_stopped_can_be_made_again(stored, monkeypatch):
    def stopped(figure, folder):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("saddlescope.figures.save_figure", stopped)
        with pytest.raises(KeyboardInterrupt):
            folders.judge_folder(stored)
    assert not store.is_sealed(stored)
    folders.judge_folder(stored)
    assert store.is_sealed(stored)


def test_a_result_is_not_lost_to_one_of_fewer_runs(stored):
    before, part = (stored / store.RESULTS).read_bytes(), choose_scale(made(), "full", {"lr": (0.01,)})
    with pytest.raises(InvalidInput, match="finished result of 4 runs, and this would be one of 2"):
        run_experiment("t.x", made(), part, stored.parent, quiet=True)
    assert (stored / store.RESULTS).read_bytes() == before
    run_experiment("t.x", made(), part, stored.parent, quiet=True, replace=True)
    assert store.load_results(stored).measured.sizes["run"] == 2


def test_the_page_says_what_was_not_tested(stored, monkeypatch):
    other = made(claims=(Claim("said", "ours", lambda r: CheckResult(True, "e")), Claim("not", "ours", lambda r: None)))
    monkeypatch.setattr(folders, "find_experiment", lambda key: other)
    folders.judge_folder(stored)
    assert "Not tested here: 1 of 2 claims" in (stored / "index.html").read_text()
    folders.write_contents(stored.parent)
    index = (stored.parent / "index.html").read_text(encoding="utf-8")
    assert "✓ 1" in index
    assert "1 not tested" in index


def test_a_movie_is_part_of_the_result(tmp_path, monkeypatch):
    """It is sealed with the rest, shown on the page, kept by `judge`, and gone with the next run that has none."""
    film = lambda results: weights_movie(results, "lr", {0.01: "slow"}, frames=3)  # noqa: E731
    experiment = made(
        analyse=None,
        observe=(FullLoss(), Parameters()),
        movie=film,
        draw=lambda r: plt.figure(),
        tables=None,
        claims=(),
    )
    monkeypatch.setattr(folders, "find_experiment", lambda key: experiment)
    monkeypatch.setattr(folders, "find_again", lambda folder, about, given: about["key"])
    full = choose_scale(experiment, "full")
    folder = run_experiment("t.x", experiment, full, tmp_path, quiet=True, movie=True).folder
    (movie,) = folders.movies(folder)
    assert movie.stat().st_size > 1000
    for _ in range(2):
        assert movie.name in json.loads((folder / "manifest.json").read_text())
        assert movie.name in (folder / "index.html").read_text()
        folders.judge_folder(folder)
    run_experiment("t.x", experiment, full, tmp_path, quiet=True)
    assert folders.movies(folder) == []


def lr_again(run, setting):
    return {"lr": 1.0}


def test_an_axis_and_what_is_kept_cannot_have_one_name():
    experiment = made(analyse=lr_again)
    with pytest.raises(InvalidInput, match="both an axis and a value"):
        experiment.run(experiment.full, quiet=True)
