"""The command line as a user meets it: every bad input one sentence and status 2, nothing lost, no traceback."""

import json
import resource
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from saddlescope.storage import result_folder as store


def staircase(n=400):
    step = np.arange(n)
    return 2 + 2 / (1 + np.exp(0.2 * (step - 100))) - 1.9 / (1 + np.exp(-0.2 * (step - 250)))


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    from saddlescope.workflows.find import choose_scale
    from saddlescope.workflows.find import find_experiment as find
    from saddlescope.workflows.run_experiment import run_experiment

    key, out = "simplicity.fig1d", tmp_path_factory.mktemp("out")
    return run_experiment(key, find(key), choose_scale(find(key), "quick"), out).folder


def test_help_is_quick_in_cpu_time():
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-m", "saddlescope", "--help"], capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert "Examples" in done.stdout
    assert (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime) < 0.5


BAD = {
    "unknown key": (["run", "simplicty.fig1b"], "Did you mean 'simplicity.fig1b'?"),
    "unknown paper": (["run", "valley"], "Did you mean 'valleys'?"),
    "in three papers": (["run", "fig4"], "Did you mean 'escape.fig4' or 'simplicity.fig4' or 'valleys.fig4'?"),
    "misspelt axis": (
        ["run", "simplicity.fig1b", "--axis", "seeds=0..3"],
        "simplicity.fig1b has no axis 'seeds'. Its axes are target, data, seed. Did you mean 'seed'?",
    ),
    "list nothing": (["list", "simplicity", "--search", "no such words"], "No experiment matches 'no such words'"),
    "list an empty folder": (["list", "."], ". holds no experiment and no result"),
    "axis without values": (["run", "simplicity.fig1b", "--axis", "seed"], "name=values"),
    "range backwards": (["run", "simplicity.fig1b", "--axis", "seed=4..0"], "goes upwards"),
    "no seeds": (["run", "simplicity.fig1d", "--seeds", "0"], "must be a positive number"),
    "no workers": (["run", "simplicity.fig1d", "--quick", "--workers", "0"], "positive number of processes"),
    "value of an axis": (["run", "simplicity.fig1b", "--axis", "target=bogus"], "can be run at target = bogus"),
    "value twice": (["run", "simplicity.fig1d", "--axis", "seed=0,0"], "has a value twice"),
    "out is a file": (["run", "simplicity.fig1d", "--quick", "--out", "empty.csv"], "empty.csv"),
    "not a result": (["show", "text.csv"], "text.csv"),
    "not a number": (["run", "simplicity.fig1d", "--seeds", "x"], "valid integer"),
    "unknown option": (["run", "simplicity.fig1d", "--qick"], "--qick"),
    "unknown command": (["rnu"], "rnu"),
    "nothing to show": (["show", "nowhere/results.nc"], "There is no file nowhere/results.nc"),
    "show many": (["show", "simplicity"], "takes one experiment"),
    "file not there": (["stages", "missing.csv"], "missing.csv"),
    "empty file": (["stages", "empty.csv"], "empty.csv"),
    "text in it": (["stages", "text.csv"], "text.csv"),
    "unknown column": (["stages", "good.csv", "--column", "lss"], "loss"),
    "figure ending": (["stages", "good.csv", "--figure", "a.doc"], ".png, .pdf or .svg"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_sentence_and_status_2(saddlescope, tmp_path, name):
    (tmp_path / "empty.csv").touch()
    (tmp_path / "text.csv").write_text("step,loss\n0,1.0\n1,oops\n2,0.5\n")
    (tmp_path / "good.csv").write_text("loss\n" + "\n".join(map(str, staircase())))
    words, expected = BAD[name]
    status, out, err = saddlescope(*words)
    assert status == 2
    assert expected in err
    assert err.startswith("saddlescope: ")
    assert err.count("\n") == 1
    assert "Traceback" not in out + err
    assert not list(tmp_path.rglob("*.json"))


def test_run_writes_everything_and_show_reads_it(saddlescope, tmp_path):
    status, out, err = saddlescope("run", "simplicity.fig1d", "--quick", "--out", "here")
    assert status == 0, err
    folder = tmp_path / "here" / "simplicity.fig1d.quick"
    names = {
        "results.nc",
        "verdicts.json",
        "figure.png",
        "caption.txt",
        "figure.pdf",
        "index.html",
        "manifest.json",
        "runs.csv",
        "runs.txt",
    }
    assert {p.name for p in folder.iterdir() if p.is_file()} - {"journal.jsonl", "locks"} == names
    assert {"runs", "plans"} <= {p.name for p in folder.iterdir() if p.is_dir()}
    assert "CANNOT TELL: The loss drops exactly twice." in out  # two runs decide nothing
    assert "[full record: holds]" in out
    status, out, _ = saddlescope("show", folder)
    assert status == 0
    for word in ("drops over all 2 runs: 2 in 2 runs", "clean", "verdicts:", "figure.png", "index.html"):
        assert word in out
    assert '"init_seed"' not in out
    assert '"init_seed": 0' in saddlescope("show", folder, "--setting")[1]
    status, out, _ = saddlescope("list", "--out", "here")
    assert "(yours, quick, 2 runs)" in out
    assert "simplicity.thm1" in out


def test_json_and_seeds(saddlescope):
    status, out, _ = saddlescope("run", "simplicity.fig1d", "--seeds", "1", "--json")
    found = json.loads(out)
    assert status == 0
    assert found["key"] == "simplicity.fig1d"
    assert found["as_recorded"] is None
    assert {v["runs"] for v in found["verdicts"]} == {1}


def test_a_verdict_that_differs_from_the_record_is_status_1(saddlescope, monkeypatch):
    from saddlescope.papers.simplicity import fig1d
    from saddlescope.report import record

    known = record.recorded("simplicity.fig1d", "quick")[0]
    wrong = tuple(replace(v, counts=tuple(replace(c, good=0, n=1000) for c in v.counts)) for v in known)
    monkeypatch.setattr(record, "recorded", lambda key, scale: (wrong, {}))
    status, _, err = saddlescope("run", "simplicity.fig1d", "--quick")
    assert status == 1
    assert err.count("not as recorded") == len(fig1d.experiment.claims)


def test_version(saddlescope):
    assert saddlescope("--version")[:2] == (0, "saddlescope 0.1.0\n")


def test_show_a_key(saddlescope):
    status, out, _ = saddlescope("show", "simplicity.fig1b")
    assert status == 0
    assert "target = identity, diagonal; data = population, draw; seed = 0, 1, … 19 (20)" in out
    assert "recorded verdicts (full, 80 runs):" in out
    assert "LinearTeacher" not in out
    assert "tasks.linear_teacher.LinearTeacher" in saddlescope("show", "simplicity.fig1b", "--setting")[1]


def test_stages_of_a_file_and_of_a_stored_run(saddlescope, tmp_path, stored):
    (tmp_path / "good.csv").write_text("loss\n" + "\n".join(map(str, staircase())))
    status, out, _ = saddlescope("stages", "good.csv", "--figure", "f.png")
    assert status == 0
    assert out.count("drop") >= 2
    assert (tmp_path / "f.png").read_bytes()[:4] == b"\x89PNG"
    status, out, err = saddlescope("stages", stored, "--column", "loss[1]", "--figure", "f.pdf")
    assert status == 0, err
    assert (tmp_path / "f.pdf").read_bytes()[:4] == b"%PDF"


def test_a_store_file_cut_in_half_is_named_and_not_trusted(saddlescope, tmp_path, stored):
    import shutil

    copy = shutil.copytree(stored, tmp_path / "copy")
    file = copy / store.RESULTS
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    status, _, err = saddlescope("show", copy)
    assert status == 2
    assert "results.nc is damaged" in err
    assert err.count("\n") == 1
    (copy / store.MANIFEST).unlink()
    for what, sentence in ((copy, "not a finished result"), (file, "damaged or not a NetCDF")):
        status, _, err = saddlescope("show", what)
        assert status == 2
        assert sentence in err


def test_an_axis_of_ones_own_is_judged_where_it_can_be(saddlescope):
    status, out, _ = saddlescope("run", "simplicity.fig1b", "--axis", "target=diagonal", "--axis", "seed=0..1")
    assert status == 0
    assert "not tested, for want of runs: 3 of 9 claims" in out


def test_ctrl_c_is_a_sentence_too(saddlescope, monkeypatch):
    from saddlescope.workflows import run_experiment as folder

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(folder, "folder_of", stop)
    status, _, err = saddlescope("run", "simplicity.fig1d", "--quick")
    assert status == 130
    assert "stopped" in err


def test_list_filters_searches_and_prints_json(saddlescope):
    _, out, _ = saddlescope("list", "simplicity")
    assert "simplicity.fig1b" in out
    assert "valleys." not in out
    _, out, _ = saddlescope("list", "--search", "WAITS, THEN")
    assert [line.split()[0] for line in out.splitlines() if line[0] != " "] == ["simplicity.fig1b"]
    _, out, _ = saddlescope("list", "simplicity.fig1b", "--json")
    (found,) = json.loads(out)
    assert found["source"] == "Fig. 1B"
    assert found["cpu_seconds"]["full"] > 0
    assert json.loads(saddlescope("list", "--search", "no such words", "--json")[1]) == []


@pytest.mark.parametrize("columns", [40, 72, 100])
def test_list_wraps_to_the_terminal(saddlescope, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    _, out, _ = saddlescope("list")
    assert max(map(len, out.splitlines())) <= columns
    assert "claims hold" in " ".join(out.split())


def test_what_a_file_says_is_what_its_experiment_is():
    """Titles, places and axes are read from the text of a file; importing it must give the same."""
    from saddlescope.report.catalogue import entry_of_key
    from saddlescope.report.source_file import read_source
    from saddlescope.workflows.find import experiment_keys, find_experiment

    texts, axes = 0, 0
    for key in experiment_keys():
        said, experiment = read_source(entry_of_key(key).file), find_experiment(key)
        assert (said.title, said.source) == (experiment.title, experiment.source)
        assert said.trains == (experiment.setting is not None)
        for scale in ("full", "quick"):
            for axis, values in getattr(experiment, scale).items():
                found = said.axes[scale][axis]
                texts, axes = texts + isinstance(found, str), axes + 1
                assert isinstance(found, str) or found == list(values), (key, scale, axis)
    assert texts <= axes / 50, "most axes are understood, not shown as text"


@pytest.mark.parametrize("words", [("list",), ("list", "--json"), ("show", "simplicity.fig1b"), ("run", "nosuch")])
def test_it_answers_without_jax(tmp_path, words):
    code = "import sys; from saddlescope.cli import main\ntry: main()\nfinally: print('jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "False"
