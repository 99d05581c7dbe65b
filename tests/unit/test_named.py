"""Names of runs, how runs end, and `saddlescope train` as a user meets it."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from saddlescope.errors import InvalidInput
from saddlescope.nets import Gaussian, UniformFanIn
from saddlescope.optimisers import HalveOnStagnation, StepDownOnStagnation
from saddlescope.papers.valleys._outcomes import failure, outcome
from saddlescope.papers.valleys._protocol import Name
from saddlescope.report.page import page
from saddlescope.report.page_data import read_page_data
from saddlescope.storage import result_folder as store

WORDS = ["f1_N32_bs4_L1", "--rank", "3", "--width", "24", "--epochs", "30"]
FILES = {"results.nc", "figure.png", "summary.json", "manifest.json", "index.html", "runs.csv"}
KEYS = {"name", "rank", "seed", "init", "engine", "test_mse", "train_loss", "min_loss", "epochs", "cuts", "outcome",
        "failure", "cpu_seconds"}  # fmt: skip


@pytest.mark.parametrize("text", ["f3_N768_bs8_L2", "f1_N16_bs16_L2", "f5_N1280_bs4_L10"])
def test_a_name_parses_and_prints_and_comes_back_from_its_setting(text):
    name = Name.parse(text)
    assert str(name) == text
    setting = name.setting(rank=5, width=64)
    assert Name.of(setting) == name
    assert (setting.task.samples, setting.batch, len(setting.net.ranks)) == (name.samples, name.batch, name.depth)


@pytest.mark.parametrize(
    "text", ["f3", "f3_N768_bs8", "f3_N768_bs8_L2 ", "3_N768_bs8_L2", "f3_N768_bs8_L2_x", "", "fig1"]
)
def test_what_is_not_a_name_is_refused_with_an_example(text):
    with pytest.raises(InvalidInput, match="such as f3_N768_bs8_L2"):
        Name.parse(text)


def test_the_protocol_is_the_papers():
    setting = Name.parse("f3_N768_bs8_L2").setting(rank=10)
    assert setting.net.widths == (1024,) * 3
    assert setting.net.ranks == (10, 10)
    assert isinstance(setting.net.parameterisation, UniformFanIn)
    assert (setting.optimiser.lr, setting.optimiser.clip, setting.optimiser.momentum) == (0.01, 1.0, None)
    assert (setting.epochs, setting.precision, setting.engine.name) == (10_000, "float32", "fused")
    assert setting.stop[0].level == 1e-6
    again = Name.parse("f3_N768_bs8_L2").setting(
        rank=10, parameterisation=Gaussian(), schedule=StepDownOnStagnation((1, 0.1))
    )
    assert again.hash != setting.hash


def test_a_flat_loss_is_cut_fourteen_times_then_stops():
    """A rate so small that nothing moves: 20 epochs a cut, the first after 21, and 0.01 / 2¹⁴ is below 1e-6."""
    setting = Name.parse("f1_N32_bs32_L1").setting(rank=2, width=8)
    assert setting.schedule == HalveOnStagnation(window=10, patience=20)
    lr, losses, cuts = setting.optimiser.lr, [], []
    while not setting.stop[0].reached(lr, losses):
        losses.append(1.0)
        if (new := setting.schedule.after(lr, losses, cuts)) != lr:
            lr, cuts = new, [*cuts, len(losses)]
    assert cuts == list(range(21, 21 + 14 * 20, 20))


def test_outcomes():
    assert [outcome(e) for e in (1e-3, 0.00999, 0.01, 0.4999, 0.5, 3, np.inf, np.nan)] == [
        "worked", "worked", "between", "between", "failed", "failed", "failed", "failed",
    ]  # fmt: skip


def test_kinds_of_failure():
    x = np.linspace(-1, 1, 500)
    target = np.cos(2 * np.pi * x) + np.cos(4 * np.pi * x) + np.cos(6 * np.pi * x)
    mean, median = target.mean(), np.median(target)
    assert abs(mean - median) > 0.1
    assert failure(np.full(500, 9.0), target) == "constant (other)"
    one = np.cos(2 * np.pi * x)
    assert failure(np.full(500, 0.0), one) == failure(np.full(500, 0.003), one) == "constant"
    assert failure(np.full(500, mean + 0.01), target) == "constant (mean)"
    assert failure(np.full(500, median - 0.01), target) == "constant (median)"
    assert failure(0.5 * np.cos(2 * np.pi * x), target) == "partial fit"
    assert failure(np.array([np.nan]), target[:1]) == "diverged"


def test_train_writes_results_and_says_how_it_ended(saddlescope):
    status, out, err = saddlescope("train", *WORDS, "--seed", "2")
    assert status == 0, err
    assert "rank 3, uniform, seed 2" in out
    assert "30 epochs" in out
    folder = Path(out.splitlines()[-1].removeprefix("page: ")).parent
    assert {p.name for p in folder.iterdir()} >= FILES
    assert not (folder / "checkpoint.npz").exists()
    assert store.load_results(folder).measured["loss"].shape == (1, 30)
    assert saddlescope("show", folder)[0] == 0
    assert folder.name in (folder.parent / "index.html").read_text()
    assert (folder / "index.html").read_text() == page(read_page_data(folder)), "the page is that of what is stored"


QUICK = """
import sys

from saddlescope.cli import main

try:
    main()
except SystemExit as end:
    assert not end.code, end.code
slow = [m for m in ("matplotlib", "optax", "diffrax", "scipy.optimize") if m in sys.modules]
assert not slow, f"imported, and not used: {slow}"
"""


def test_train_without_a_figure_draws_none_and_imports_little(saddlescope, tmp_path):
    saddlescope("train", *WORDS, "--pdf", "--out", tmp_path)
    drawn, pdf = next(tmp_path.glob("*/figure.png")), next(tmp_path.glob("*/figure.pdf"))
    assert pdf.read_bytes().startswith(b"%PDF")
    words = ["train", *WORDS, "--no-figure", "--json", "--out", str(tmp_path)]
    made = subprocess.run([sys.executable, "-c", QUICK, *words], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    assert not drawn.exists(), "an older figure is not of these results"
    assert not pdf.exists()
    assert {p.name for p in drawn.parent.iterdir()} >= FILES - {"figure.png"}
    assert "<img" not in (drawn.parent / "index.html").read_text()


def test_train_prints_one_json_object_with_the_promised_keys(saddlescope):
    status, out, _ = saddlescope("train", *WORDS, "--json", "--init", "gaussian", "--engine", "jax")
    found = json.loads(out)
    assert status == 0
    assert set(found) >= KEYS
    assert (found["name"], found["rank"], found["init"], found["engine"]) == ("f1_N32_bs4_L1", 3, "gaussian", "jax")
    assert found["epochs"] == 30


def test_a_run_that_blows_up_is_a_result(saddlescope):
    status, out, _ = saddlescope("train", *WORDS, "--lr", "1e6", "--clip", "0", "--json")
    found = json.loads(out)
    assert status == 0
    assert (found["outcome"], found["failure"], found["test_mse"]) == ("failed", "diverged", None)
    assert found["status"].startswith("diverged")
    curve = store.load_results(found["folder"]).measured["loss"].values
    assert curve.size == found["epochs"] > 0


BAD = {
    "rank above width": (["f1_N32_bs4_L1", "--rank", "30", "--width", "20"], "rank 30 and width 20"),
    "batch above samples": (["f1_N32_bs64_L1"], "between 1 and the task's 32 samples, got 64"),
    "no name": (["f1_N32_bs4"], "such as f3_N768_bs8_L2"),
    "unknown option": (["f1_N32_bs4_L1", "--rnk", "3"], "has no axis 'rnk'. Its axes are rank, seed"),
    "option first": (["--rank", "3", "f1_N32_bs4_L1"], "Give what to train first"),
    "a stray word": (["f1_N32_bs4_L1", "3"], "'3' belongs to no option"),
    "several seeds": (["f1_N32_bs4_L1", "--axis", "seed=0..4"], "`train` takes one run"),
    "several points": (["simplicity.fig1b", "--seed", "3"], "--axis target=identity --axis data=population`"),
    "a paper": (["simplicity"], "takes one experiment"),
    "nothing trained": (["simplicity.prop5"], "`saddlescope run simplicity.prop5` measures it"),
    "no axis of an experiment": (["simplicity.fig1d", "--seeds", "3"], "Did you mean 'seed'?"),
    "no file": (["setting.toml"], "There is no sweep file setting.toml"),
    "aliasing": (["f9_N32_bs4_L1"], "Nyquist limit of a grid of 32 samples"),
    "no width": (["f1_N32_bs4_L1", "--width", "0", "--rank", "1"], "must be positive whole numbers; got 0"),
    "rate zero": (["f1_N32_bs4_L1", "--lr", "0"], "must be positive and finite; got 0"),
    "rate below zero": (["f1_N32_bs4_L1", "--lr", "-1"], "must be positive and finite; got -1"),
    "unknown init": (["f1_N32_bs4_L1", "--init", "unifrom"], "Did you mean 'uniform'?"),
    "unknown engine": (["f1_N32_bs4_L1", "--engine", "torch"], "such as Jax(), not 'torch'"),
    "unknown precision": (["f1_N32_bs4_L1", "--precision", "float16"], "'float32' or 'float64'"),
    "no epochs": (["f1_N32_bs4_L1", "--epochs", "0"], "positive whole number"),
    "negative clip": (["f1_N32_bs4_L1", "--clip", "-1"], "must be positive or None"),
    "negative seed": (["f1_N32_bs4_L1", "--seed", "-1"], "`seed` must be a non-negative whole number"),
    "huge seed": (["f1_N32_bs4_L1", "--seed", "9" * 26], "below 2⁶³"),
    "huge budget": (["f1_N32_bs4_L1", "--epochs", "9" * 23], "at most 1,000,000,000"),
    "huge factor": (["f200000000_N64_bs8_L1"], "at most 10,000"),
    "huge depth": (["f1_N32_bs4_L900000000"], "at most 10,000"),
    "huge width": (["f1_N32_bs4_L1", "--width", "9" * 15], "but this machine has"),
    "rate beyond float32": (["f1_N32_bs4_L1", "--lr", "1e39"], "must be finite in float32"),
    "out is a file": (["f1_N32_bs4_L1", "--out", __file__], "lies at or below a file"),
    "a figure and none": (["f1_N32_bs4_L1", "--pdf", "--no-figure"], "give one of them"),
    "no depth": (["f1_N32_bs4_L0"], "`depth` must be a positive whole number"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_sentence_and_status_2(saddlescope, name):
    words, said = BAD[name]
    status, out, err = saddlescope("train", *words)
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
    assert "Traceback" not in err


SETTING = """
title = "Two directions"
observe = ["GradientNorm"]
[setting]
task = {class = "LinearTeacher", matrix = [[1, 0], [0, 1]], covariance = [[1, 0], [0, 4]]}
net = {class = "linear_units", units = 8, scale = 1e-3}
optimiser = {class = "GradientDescent", lr = 0.05}
steps = 200
"""


def test_train_takes_a_setting_file(saddlescope, tmp_path):
    (tmp_path / "mine.toml").write_text(SETTING)
    status, out, err = saddlescope("train", "mine.toml", "--seed", "3", "--net.units=5", "--json")
    assert status == 0, err
    found = json.loads(out)
    assert (found["drops"], found["steps"], found["engine"]) == (2, 200, "jax")
    assert Path(found["folder"]).name.startswith("mine_seed-3_net.units-5_")
    assert {p.name for p in Path(found["folder"]).iterdir()} >= FILES
    run = next(iter(store.load_results(found["folder"]).runs()))
    assert (run.setting.init_seed, run.setting.net.units, run.setting.hash) == (3, 5, found["hash"])
    assert run.sizes["saved"] > 20, "what is observed without a time for it is read at log-spaced times"


def test_a_setting_file_with_a_grid_is_refused_with_the_command_that_runs_it(saddlescope, tmp_path):
    (tmp_path / "mine.toml").write_text(SETTING + '[axes]\nseed = "0..2"\n')
    status, _, err = saddlescope("train", "mine.toml", "--axis", "net.units=2,3")
    assert status == 2
    assert "mine.toml has 6 here" in err
    assert "`saddlescope train mine.toml --axis seed=0 --axis net.units=2`" in err
    assert "`saddlescope sweep mine.toml --axis net.units=2,3`" in err


def test_train_takes_one_point_of_an_experiment_with_its_observables_and_theory(saddlescope):
    words = ["simplicity.fig1b", "--target", "identity", "--axis", "data=population", "--seed", "1"]
    status, out, err = saddlescope("train", *words)
    assert status == 0, err
    assert "2 drops" in out
    run = next(iter(store.load_results(Path(out.splitlines()[-1].removeprefix("page: ")).parent).runs()))
    assert {"param_u", "learned_mode", "effective_width"} <= set(run.data_vars)
    assert run.predicted["plateau_level"].shape == (3,)
    assert (str(run["target"].values), int(run["seed"])) == ("identity", 1)


def test_aliasing_is_allowed_where_asked_for_and_marked(saddlescope):
    _, out, _ = saddlescope(
        "train", "f9_N32_bs4_L1", "--rank", "3", "--width", "24", "--epochs", "3", "--allow-aliasing"
    )
    assert "aliased" in out


CURVE = """
[setting]
task = {class = "cosine_sum", factor = 5, samples = 16%s}
net = {class = "MLP", widths = [8]}
optimiser = {class = "GradientDescent", lr = 0.02}
steps = 5
"""


def test_a_setting_file_allows_aliasing_where_the_error_says_so(saddlescope, tmp_path):
    (tmp_path / "mine.toml").write_text(CURVE % "")
    status, _, err = saddlescope("train", "mine.toml")
    assert status == 2
    assert "give the task `allow_aliasing=True`" in err
    (tmp_path / "mine.toml").write_text(CURVE % ", allow_aliasing = true")
    status, _, err = saddlescope("train", "mine.toml")
    assert status == 0, err


@pytest.mark.usefixtures("hears_ctrl_c")
def test_a_run_stopped_by_ctrl_c_goes_on_to_the_same_numbers(saddlescope, tmp_path):
    """A run of some ten seconds is interrupted as a user does it, then the same command is given again."""
    words = ["train", "f3_N768_bs1_L3", "--rank", "10", "--json", "--quiet"]
    started = subprocess.Popen(
        [sys.executable, "-m", "saddlescope", *words, "--out", "cut"], cwd=tmp_path, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while started.poll() is None and not list(tmp_path.glob("cut/*/checkpoint.npz")):
        time.sleep(0.05)
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=60)
    if started.returncode == 0:
        pytest.skip("this machine finished the run before it could be interrupted")
    assert started.returncode == 130
    assert "the same command resumes" in err
    assert "Traceback" not in err
    assert out == ""
    (checkpoint,) = tmp_path.glob("cut/*/checkpoint.npz")
    with np.load(checkpoint) as file:
        assert len(file["history.losses"]) > 0, "there must be something to go on from"
    resumed = json.loads(saddlescope(*words, "--out", "cut")[1])
    whole = json.loads(saddlescope(*words, "--out", "whole")[1])
    for key in ("test_mse", "train_loss", "min_loss", "epochs", "cuts"):
        assert resumed[key] == whole[key]
    a, b = (store.load_results(r["folder"]).measured for r in (resumed, whole))
    np.testing.assert_array_equal(a["loss"].values, b["loss"].values)
    np.testing.assert_array_equal(a["fit"].values, b["fit"].values)
