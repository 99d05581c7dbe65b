"""Every file of examples/ does what it says, in a folder far from the repository."""

import csv
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return Path(shutil.copytree(EXAMPLES, tmp_path_factory.mktemp("far") / "lab"))


@pytest.fixture
def call(folder):
    def run(*words):
        done = subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="module")
def ran(folder):
    """The example experiment, in worker processes that import it again by its name."""
    words = ["-m", "saddlescope", "run", "own_experiment.py", "--quick", "--workers", "2"]
    done = subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_experiment_runs_in_workers_and_its_claims_hold(ran, folder):
    assert "own_experiment (quick): A diagonal net learns one coordinate after the other" in ran
    where = folder / "saddlescope-results" / "own_experiment.quick"
    claims = json.loads((where / "verdicts.json").read_text())["claims"]
    assert "3 drops in 3 of 3 runs" in claims[0]["evidence"]
    assert claims[1]["evidence"].startswith("3 of 3 runs")
    assert (where / "index.html").is_file()


@pytest.mark.usefixtures("ran")
def test_it_is_listed_shown_judged_and_found_again(call, folder):
    listed = call("-m", "saddlescope", "list", ".")
    assert "own_experiment.py" in listed
    assert "(yours, quick, 3 runs)" in listed
    assert "own_net.py" not in listed
    shown = call("-m", "saddlescope", "show", "own_experiment.py")
    assert "full: scale = 0.001, 0.0001; seed = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9" in shown
    assert "own_experiment.quick/figure.png" in shown
    result = str(folder / "saddlescope-results" / "own_experiment.quick")
    elsewhere = subprocess.run(
        [sys.executable, "-m", "saddlescope", "judge", result], cwd="/", capture_output=True, text=True
    )
    assert elsewhere.returncode == 0, elsewhere.stderr
    assert "3 of 3 runs" in elsewhere.stdout


def test_one_point_of_it_is_trained(call):
    out = call("-m", "saddlescope", "train", "own_experiment.py", "--scale", "1e-4", "--seed", "3")
    assert "3 drops" in out


def test_the_net_is_swept_by_name_after_its_import(call, folder):
    out = call("-m", "saddlescope", "sweep", "own_sweep.toml", "--import", "own_net.py", "--workers", "2")
    assert "6 of 6 runs done" in out
    call("-m", "saddlescope", "collect", "saddlescope-results/own_sweep.sweep", "--table", "runs.csv")
    rows = list(csv.DictReader((folder / "runs.csv").read_text().splitlines()))
    assert {float(row["net.scale"]) for row in rows} == {1e-2, 1e-3, 1e-4}


def test_the_setting_is_trained(call):
    assert "2 drops" in call("-m", "saddlescope", "train", "setting.toml")


def test_the_loss_curve_has_two_drops(call):
    out = call("own_loss_curve.py")
    assert "2 drops" in out
    assert out.count("fastest at step") == 2


def test_no_example_is_left_out():
    """The two sweeps of the valleys paper are read in test_docs."""
    here = Path(__file__).read_text()
    tested = {"escape.toml", "valleys_rank5.toml"}
    files = {path.name for path in EXAMPLES.iterdir() if path.is_file()}
    assert not {name for name in files - tested if name not in here}
