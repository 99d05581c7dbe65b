"""`run` and `sweep` share one folder: runs stay, more seeds run only the new ones, and both commands find them."""

import csv
import json
import shutil

import numpy as np
import pytest

from saddlescope import find_stages, load_results
from saddlescope.sweeps import Folder
from saddlescope.sweeps.folder import is_prediction
from saddlescope.workflows.find import choose_scale, find_experiment, stored_scale
from saddlescope.workflows.judge import judge_folder

KEY = "simplicity.fig1d"
PLACE = f"saddlescope-results/{KEY}"


def runs_of(folder):
    return {n: t for n, t in Folder(folder).versions().items() if not is_prediction(n)}


@pytest.fixture(scope="module")
def two_seeds(tmp_path_factory):
    from saddlescope.workflows.run_experiment import run_experiment

    out = tmp_path_factory.mktemp("out")
    run_experiment(
        KEY, find_experiment(KEY), choose_scale(find_experiment(KEY), "full", {"seed": (0, 1)}), out, quiet=True
    )
    return out / KEY


@pytest.fixture
def place(saddlescope, two_seeds, tmp_path):
    """A copy of the result of two seeds, where the command looks for it."""
    shutil.copytree(two_seeds, tmp_path / PLACE)
    return tmp_path / PLACE


def test_more_seeds_run_only_the_new_ones(saddlescope, place):
    before = runs_of(place)
    assert len(before) == 2
    status, out, err = saddlescope("run", KEY, "--seeds", "3", "--quiet")
    assert status == 0, err
    assert "1 new run; 2 were in the folder before" in out
    after = runs_of(place)
    assert len(after) == 3
    assert all(after[name] == time for name, time in before.items()), "no old run was written again"


def test_the_same_command_again_trains_nothing_and_says_so(saddlescope, place):
    before, numbers = runs_of(place), load_results(place).measured
    status, out, _ = saddlescope("run", KEY, "--seeds", "2", "--json")
    facts = json.loads(out)
    assert (status, facts["runs"], facts["new_runs"]) == (0, 2, 0)
    assert runs_of(place) == before
    np.testing.assert_array_equal(numbers.loss, load_results(place).measured.loss)
    assert "nothing was trained: all 2 runs were in the folder" in saddlescope("run", KEY, "--seeds", "2")[1]


def test_again_trains_from_scratch_to_the_same_bits(saddlescope, place):
    before, numbers = runs_of(place), load_results(place).measured
    status, out, _ = saddlescope("run", KEY, "--axis", "seed=1", "--again", "--replace", "--quiet")
    assert (status, "in the folder" in out) == (0, False)
    after = runs_of(place)
    assert sorted(after) == sorted(before)
    assert sum(after[name] != before[name] for name in before) == 1, "the other seed is not touched"
    np.testing.assert_array_equal(numbers.loss[1], load_results(place).measured.loss[0])


def test_a_part_is_called_a_part(saddlescope, place):
    label = "part of full: 2 of 20 runs"
    out = saddlescope("run", KEY, "--seeds", "2")[1]
    assert f"{KEY} ({label})" in out
    about = json.loads((place / "verdicts.json").read_text())
    assert (about["scale"], about["grid"], about["runs"]) == (label, "full", 2)
    from saddlescope.storage.result_folder import load_with_facts

    assert load_with_facts(place)[1]["scale"] == label
    assert label in (place / "index.html").read_text()
    key, scale, _ = judge_folder(place)
    assert (key, scale.label, scale.is_whole) == (KEY, label, False)


LABELS = [
    ({}, "full", True),
    ({"seed": tuple(range(20))}, "full", True),
    ({"seed": (3,)}, "part of full: 1 of 20 runs", False),
    ({"seed": tuple(range(40))}, "other axes than full: 40 runs", False),
    ({"seed": (99,)}, "other axes than full: 1 run", False),
]


@pytest.mark.parametrize(("axes", "label", "whole"), LABELS)
def test_the_label_of_a_grid(axes, label, whole):
    scale = choose_scale(find_experiment(KEY), "full", axes)
    assert (scale.label, scale.is_whole) == (label, whole)


def test_a_stored_grid_is_known_again():
    """Numbers, words and empty values come back from a file in another form."""
    experiment = find_experiment("simplicity.fig1b")
    results = experiment.run(experiment.quick, quiet=True)
    assert stored_scale(experiment, "quick", results).label == "quick"
    few, many = (choose_scale(experiment, name).runs for name in ("quick", "full"))
    assert stored_scale(experiment, "full", results).label == f"part of full: {few} of {many} runs"


def test_sweep_and_run_find_each_others_runs(saddlescope, place):
    status, out, err = saddlescope("sweep", KEY, "--axis", "seed=0..2", "--workers", "1", "--quiet")
    assert status == 0, err
    assert "3 of 3 runs done, 2 were there before" in out
    assert "nothing was trained: all 3 runs" in saddlescope("run", KEY, "--seeds", "3")[1]
    assert "3 runs and 3 predictions are intact" in saddlescope("verify", place)[1], "its result is still sealed"


def test_a_folder_of_run_is_listed_collected_and_verified(saddlescope, place, tmp_path):
    assert "2 done, 0 failed, 0 missing; 2 predictions" in saddlescope("ls", place)[1]
    assert saddlescope("verify", place)[0] == 0
    status, _, err = saddlescope("collect", place, "-o", tmp_path / "all.nc")
    assert status == 0, err
    ours, theirs = load_results(place), load_results(tmp_path / "all.nc")
    np.testing.assert_array_equal(ours.measured.loss, theirs.measured.loss)
    assert set(ours.predicted.data_vars) == set(theirs.predicted.data_vars)
    for name in ours.predicted.data_vars:
        np.testing.assert_array_equal(ours.predicted[name], theirs.predicted[name])


def test_verify_names_a_damaged_result(saddlescope, place):
    file = place / "results.nc"
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    status, out, _ = saddlescope("verify", place)
    assert (status, f"{file} is damaged" in out) == (1, True)


def test_results_without_their_runs_are_still_judged(saddlescope, place):
    """As older versions wrote them, and as they are when the runs were deleted to save space."""
    for name in ("runs", "plans", "status"):
        shutil.rmtree(place / name)
    assert saddlescope("judge", place)[0] == 0
    assert not (place / "runs").exists()
    status, _, err = saddlescope("run", KEY, "--seeds", "1")
    assert status == 2
    assert "finished result of 2 runs, and this would be one of 1" in err


def test_the_table_of_runs_has_their_stages(saddlescope, place, tmp_path):
    saddlescope("collect", place, "--table", tmp_path / "all.csv")
    files = place / "runs.csv", tmp_path / "all.csv"
    tables = [list(csv.DictReader(file.read_text().splitlines())) for file in files]
    for run, *rows in zip(load_results(place).runs(), *tables, strict=True):
        stages = find_stages(run.loss.values)
        for row in rows:
            assert int(row["n_drops"]) == stages.n_drops == 2
            drops = [d.at for d in stages.drops if d.kind == "drop"]
            assert [float(row[f"drop_{k}"]) for k in (1, 2)] == drops
            assert [float(row[f"level_{k}"]) for k in (0, 1, 2)] == [p.level for p in stages.plateaus]
