"""Code of the user's own: found by file or module, refused in one sentence, never run because a result names it."""

import json
import subprocess
import sys

import pytest

from saddlescope.errors import InvalidInput
from saddlescope.serialization import own_code
from saddlescope.storage import result_folder as store
from saddlescope.workflows.find import find_again, find_experiment, matching_keys
from saddlescope.workflows.sweep_file import read_sweep

EXPERIMENT = '''
"""A measurement of my own."""
import matplotlib.pyplot as plt
from saddlescope import Claim, Experiment
from saddlescope.claims import CheckResult

def measure(seed):
    return {"square": seed**2}

def draw(results):
    return plt.figure()

def check(results):
    squares = results.measured.square.values.tolist()
    return CheckResult(squares == [s**2 for s in results.values("seed")], f"squares {squares}")

experiment = Experiment(title="Squares", source="mine", measure=measure, full=dict(seed=range(4)),
                        quick=dict(seed=range(2)), draw=draw, claims=(Claim("Squares are squares.", "mine", check),))
'''
PARTS = """
import equinox as eqx
import jax.numpy as jnp
from saddlescope.nets import Net

class Mine(Net):
    size: int = eqx.field(static=True)

    def init(self, rng, inputs, outputs):
        return {"w": rng.standard_normal((outputs, inputs)) / self.size}

    def __call__(self, params, x):
        return x @ params["w"].T

def wave(x):
    return 0 * x + 1

def mine_of(half):
    return Mine(2 * half)
"""
SWEEP = """
[setting]
task = {class = "FunctionTask", function = {function = "wave"}, samples = 8}
net = {class = "NAME", size = 3}
optimiser = {class = "GradientDescent", lr = 0.01}
batch = 4
epochs = 2
"""


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    """What a test imports is not there for the next, which may have a file of the same name elsewhere."""
    modules, path = set(sys.modules), list(sys.path)
    monkeypatch.setattr(own_code, "_imported", {})
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if getattr(sys.modules[name], "__file__", None) and "pytest" in str(sys.modules[name].__file__):
            del sys.modules[name]


def test_a_file_or_a_module_is_run_listed_and_judged(saddlescope, tmp_path):
    (tmp_path / "squares.py").write_text(EXPERIMENT)
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "__init__.py").touch()
    (tmp_path / "lab" / "ladder.py").write_text(EXPERIMENT)
    for words, key in ((("./squares.py",), "squares"), (("lab.ladder",), "lab.ladder"), (("squares",), "squares")):
        status, out, err = saddlescope("run", *words, "--quick")
        assert status == 0, err
        assert f"{key} (quick): Squares" in out
        result = tmp_path / "saddlescope-results" / f"{key}.quick"
        status, out, err = saddlescope("judge", result)
        assert status == 0, err
        assert "squares [0, 1]" in out
    assert "squares.py" in saddlescope("list", ".")[1]
    assert "ladder.py" in saddlescope("list", "lab")[1]
    assert "squares.quick" in saddlescope("list", "saddlescope-results")[1]
    assert "A measurement of my own." in saddlescope("show", "lab.ladder")[1]


def test_a_claim_of_ones_own_that_fails_is_judged_and_compared_with_no_record(saddlescope, tmp_path):
    (tmp_path / "squares.py").write_text(EXPERIMENT.replace("CheckResult(squares ==", "CheckResult(squares !="))
    status, out, err = saddlescope("run", "squares.py", "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert found["as_recorded"] is None
    assert found["verdicts"][0]["holds"] is False


BAD = {
    "no file": ("missing.py", None, "There is no file missing.py"),
    "another ending": ("./mine.txt", "x = 1", "is not a Python file"),
    "not a name": ("my-file.py", "x = 1", "rename it to letters, digits"),
    "a name that is taken": ("json.py", "x = 1", "another module has that name"),
    "no experiment": ("nothing.py", "x = 1", "has no experiment: it needs a line `experiment ="),
    "another experiment": ("wrong.py", "experiment = 3", "has no experiment"),
    "raises": ("raises.py", "\n\nx = 1 / 0", "raises.py cannot be imported (line 3): ZeroDivisionError"),
    "does not parse": ("parses.py", "x = 1\ndef", "cannot be imported (line 2): SyntaxError"),
    "ends the program": ("ends.py", "import sys; sys.exit(3)", "cannot be imported (line 1): SystemExit"),
    "imports nothing": ("imports.py", "import no_such_thing", "ModuleNotFoundError: No module named 'no_such_thing'"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_one_sentence_and_status_2(saddlescope, tmp_path, name):
    file, text, said = BAD[name]
    if text is not None:
        (tmp_path / file).write_text(text)
    status, out, err = saddlescope("run", file, "--quick")
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_a_result_whose_file_is_gone_says_how_to_judge_it(saddlescope, tmp_path):
    (tmp_path / "squares.py").write_text(EXPERIMENT)
    saddlescope("run", "squares.py", "--quick")
    (tmp_path / "squares.py").rename(tmp_path / "moved_squares.py")
    for name in ("squares", "moved_squares"):
        sys.modules.pop(name, None)
    status, _, err = saddlescope("judge", "saddlescope-results/squares.quick")
    assert status == 2
    assert "`saddlescope judge saddlescope-results/squares.quick --experiment FILE`" in err
    words = "judge", "saddlescope-results/squares.quick", "--experiment", "moved_squares.py"
    status, out, err = saddlescope(*words)
    assert status == 0, err
    assert "moved_squares (quick): Squares" in out
    (tmp_path / "other.py").write_text(EXPERIMENT.replace("seed", "start"))
    status, _, err = saddlescope(*words[:3], "other.py")
    assert status == 2
    assert "other has no axis 'seed'" in err


def test_a_file_that_came_with_the_results_is_not_run_unasked(tmp_path):
    (tmp_path / "came.py").write_text("raise SystemError")
    for file in ("came.py", str(tmp_path / "came.py")):
        with pytest.raises(InvalidInput, match="--experiment FILE"):
            find_again(tmp_path, {"key": "came", "file": file})
    assert "came" not in sys.modules


def test_a_sweep_file_names_own_parts_only_after_their_import(tmp_path):
    (tmp_path / "parts.py").write_text(PARTS)
    (tmp_path / "a.toml").write_text(SWEEP.replace("NAME", "Mine"))
    with pytest.raises(InvalidInput, match=r"No imported function is called 'wave'.*--import FILE"):
        read_sweep(tmp_path / "a.toml").names_and_costs  # noqa: B018
    assert "parts" not in sys.modules
    module = own_code.import_own(str(tmp_path / "parts.py"))
    job = read_sweep(tmp_path / "a.toml").job({})
    assert job.setting.net == module.Mine(3)
    assert job.setting.task.function is module.wave
    (tmp_path / "b.toml").write_text(SWEEP.replace("NAME", "mine_of").replace("size", "half"))
    assert read_sweep(tmp_path / "b.toml").job({}).setting.net == module.Mine(6)


def test_own_parts_with_names_that_are_taken_are_refused(tmp_path):
    (tmp_path / "a.toml").write_text(SWEEP.replace("NAME", "MLP"))
    (tmp_path / "ours.py").write_text(PARTS.replace("Mine", "MLP"))
    own_code.import_own(str(tmp_path / "ours.py"))
    with pytest.raises(InvalidInput, match=r"ours\.MLP has the name of one of our parts"):
        read_sweep(tmp_path / "a.toml").job({})
    own_code._imported.clear()
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(PARTS)
        own_code.import_own(str(tmp_path / f"{name}.py"))
    with pytest.raises(InvalidInput, match="Two of the imported modules define"):
        read_sweep(tmp_path / "a.toml").job({})


def test_import_is_refused_in_a_sentence(saddlescope, tmp_path):
    (tmp_path / "a.toml").write_text(SWEEP)
    for name, said in (("no_such_module", "There is no module 'no_such_module'"), ("x.py", "There is no file x.py")):
        status, _, err = saddlescope("sweep", "a.toml", "--import", name)
        assert status == 2
        assert said in err


def test_an_experiment_of_ones_own_is_named_in_a_sweep_file_after_its_import(saddlescope, tmp_path):
    (tmp_path / "squares.py").write_text(EXPERIMENT)
    (tmp_path / "s.toml").write_text('experiment = "squares"\n[axes]\nseed = "5,6"\n')
    assert "--import FILE" in saddlescope("sweep", "s.toml", "--workers", "1")[2]
    status, out, err = saddlescope("sweep", "s.toml", "--import", "squares.py", "--workers", "1")
    assert status == 0, err
    assert "2 of 2 runs done" in out


def test_keys_of_papers_come_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "simplicity.py").write_text(EXPERIMENT)
    assert len(matching_keys("simplicity")) > 20
    assert matching_keys("simplicity.py") == ["simplicity"]
    assert find_experiment("simplicity").title == "Squares"
    assert store.folder_of(tmp_path, "simplicity", "full").name == "simplicity"


HELD = """
from saddlescope.serialization.own_code import code_identity
import held
print(code_identity(held.analyse))
"""


def test_functions_inside_values_enter_without_their_place_in_memory(tmp_path):
    """Each process has them elsewhere, and a worker would not know the job of its sweep."""
    (tmp_path / "held.py").write_text(
        "def f(x):\n    return x\n\nBY = {'f': f}\n\ndef analyse(run):\n    return BY['f'](run)\n"
    )
    moved = "junk = [bytearray(n) for n in range(1, 9000)]\n" + HELD
    said = [
        subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        for code in (HELD, moved)
    ]
    assert said[0] == said[1] != ""
