"""The sweep command as a user meets it: estimates, exit statuses, Ctrl-C, progress."""

import json
import os
import pty
import signal
import subprocess
import sys
import time

import pytest

from saddlescope.sweeps import Folder
from saddlescope.sweeps.progress import ProgressReporter, duration

SMALL = """
protocol = "valleys"
observe = ["TestError"]
[axes]
factor = 1
N = 16
bs = 4
L = 1
rank = 3
width = 32
epochs = 30
seed = "0..3"
"""
LONG = """
[setting]
task = {class = "cosine_sum", factor = 1, samples = 16}
net = {class = "low_rank", rank = 3, depth = 1, width = 32}
optimiser = {class = "GradientDescent", lr = 0.01}
batch = 4
epochs = 1000000
[axes]
seed = "0..3"
"""
ENDLESS = LONG.replace("1000000", "20000000")


@pytest.fixture
def file(tmp_path):
    def write(text=SMALL, name="small.toml"):
        (tmp_path / name).write_text(text)
        return name

    return write


def test_dry_run_estimates_and_does_nothing(saddlescope, file, tmp_path):
    status, out, _ = saddlescope("sweep", file(), "--dry-run", "--workers", "2")
    assert status == 0
    assert "4 runs" in out
    assert "0 done already, 0 failed before, 4 to do" in out
    assert "CPU time: at most" in out
    assert "on 2 workers" in out
    assert not (tmp_path / "saddlescope-results").exists()


def test_a_sweep_from_file_to_table(saddlescope, file, tmp_path):
    status, out, err = saddlescope("sweep", file(), "--workers", "2")
    assert status == 0, err
    assert "4 of 4 runs done" in out
    folder = Folder(tmp_path / "saddlescope-results" / "small.sweep")
    assert len(folder.names()) == 4
    status, out, _ = saddlescope("sweep", file(), "--axis", "seed=0..5", "--where", "seed != 4", "--workers", "1")
    assert "5 of 5 runs done, 4 were there before" in out
    assert "4 done already, 0 failed before, 1 to do" in saddlescope(
        "sweep", file(), "--axis", "seed=1..5", "--dry-run")[1]  # fmt: skip
    assert "5 runs are intact" in saddlescope("verify", folder.root)[1]


FAILS = SMALL.replace("L = 1", 'L = "2,1"').replace('"TestError"', '{class = "ChannelPartials", blocks = [2]}')


def test_failures_give_status_1_and_say_how_to_go_on(saddlescope, file, tmp_path):
    """A net of depth 1 has no block 2; the first point, of depth 2, has."""
    status, out, err = saddlescope("sweep", file(FAILS), "--workers", "1", "--out", "o", "--where", "seed < 2")
    assert status == 1
    assert "2 of 4 runs done, 2 failed" in out
    assert out.count("failed at factor = 1") == 2
    assert "saddlescope sweep small.toml --where 'seed < 2' --workers 1 --out o --failed" in out
    assert err.count("The run at factor = 1") == 2
    assert "2 done, 2 failed, 0 missing" in saddlescope("ls", "o")[1]
    again = "--failed", "--max-failures", "1"
    status, out, err = saddlescope("sweep", file(FAILS), "--workers", "1", "--out", "o", *again)
    assert status == 1
    assert "as many as `--max-failures` allows" in err
    status, out, err = saddlescope("sweep", file(FAILS.replace('"2,1"', "1")), "--out", "p")
    assert status == 2
    assert "cannot be read off the first run" in err, "what fails everywhere is found out before the first run"


def test_short_runs_are_estimated_too(saddlescope, file):
    status, out, _ = saddlescope("sweep", file(SMALL.replace("epochs = 30", "epochs = 3")), "--dry-run")
    assert status == 0
    assert "CPU time: at most" in out


def test_the_engine_can_be_swept_and_collected(saddlescope, file, tmp_path):
    text = SMALL.replace('seed = "0..3"', 'engine = ["fused", "jax"]')
    assert saddlescope("sweep", file(text), "--out", "e", "--workers", "1")[0] == 0
    status, _, err = saddlescope("collect", "e", "-o", "e.nc", "--table", "e.csv")
    assert status == 0, err
    from saddlescope import load_results

    assert load_results(tmp_path / "e.nc").measured["engine"].values.tolist() == ["fused", "jax"]


@pytest.mark.parametrize("key", ["simplicity.prop5", "valleys.halving"])
def test_experiments_are_swept_and_tabulated(saddlescope, key):
    words = "--quick", "--axis", "seed=0", "--workers", "1", "--out", "o"
    assert saddlescope("sweep", key, *words)[0] == 0
    assert saddlescope("collect", "o", "-o", "o.nc", "--table", "o.csv")[0] == 0


def test_a_run_that_diverges_is_a_result(saddlescope):
    words = "valleys.halving", "--quick", "--axis", "lr=50", "--workers", "1", "--out", "o"
    status, out, _ = saddlescope("sweep", *words)
    assert status == 0
    assert "2 of 2 runs done, 2 diverged" in out


BAD = {
    "the same run twice": (("sweep", "small.toml", "--axis", "lr=1,1.0"), "are the same run"),
    "no file": (("sweep", "nothing.toml"), "There is no sweep file nothing.toml"),
    "no key": (("sweep", "valleys.halvin"), "Did you mean 'valleys.halving'?"),
    "a paper": (("sweep", "simplicity"), "takes one experiment"),
    "no axis": (("sweep", "valleys.halving", "--axis", "sede=1"), "Did you mean 'seed'?"),
    "no workers": (("sweep", "small.toml", "--workers", "0"), "positive"),
    "both": (("sweep", "small.toml", "--workers", "1", "--cluster", "tcp://127.0.0.1:1"), "not both"),
    "quick file": (("sweep", "small.toml", "--quick"), "is for experiments"),
    "out is a file": (("sweep", "small.toml", "--out", "small.toml"), "lies at or below a file"),
    "bad filter": (("sweep", "small.toml", "--where", "sed == 1"), "Did you mean 'seed'?"),
    "bad point": (("sweep", "small.toml", "--axis", "bs=99"), "between 1 and the task's 16 samples"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_sentence(saddlescope, file, name):
    file()
    words, sentence = BAD[name]
    status, out, err = saddlescope(*words)
    assert status == 2, out
    assert sentence in err
    assert err.count("\n") == 1
    assert not out


@pytest.mark.usefixtures("hears_ctrl_c")
def test_ctrl_c_keeps_what_is_done_and_the_same_command_goes_on(file, tmp_path):
    words = [sys.executable, "-m", "saddlescope", "sweep", file(ENDLESS), "--workers", "2", "--out", "out", "--quiet"]
    sweep = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True)
    partial, end = tmp_path / "out" / "partial", time.monotonic() + 120
    while not list(partial.glob("[!.]*.npz")) and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(0.5)
    before = {path: path.stat().st_mtime_ns for path in partial.glob("[!.]*.npz")}
    os.killpg(sweep.pid, signal.SIGINT)  # as a terminal sends it, to everyone
    _, err = sweep.communicate(timeout=60)
    assert sweep.returncode == 130
    assert "the same command resumes" in err
    assert "Traceback" not in err
    assert before
    assert all(path.stat().st_mtime_ns > t for path, t in before.items()), "runs under way write where they are"
    listed = subprocess.run(
        [sys.executable, "-m", "saddlescope", "ls", "out"], cwd=tmp_path, capture_output=True, text=True
    )
    assert "resumes from its checkpoint" in listed.stdout
    (status,) = (tmp_path / "out" / "status").glob("*.json")
    assert json.loads(status.read_text())["state"] == "stopped"


def test_progress_on_a_terminal_and_off_it(capsys, tmp_path, monkeypatch):
    board = ProgressReporter("demo", tmp_path, total=4, work=10.0)
    assert board.left is None
    board.started -= 30
    board.finished(5.0)
    assert 29 < board.left < 31, "the time left goes by work, not by count"
    board.finished(2.5, failed=True)
    assert 9 < board.left < 11
    board.updated, board.said = board.updated - 2, board.said - 61
    board.update()
    said = capsys.readouterr().err
    assert "demo: 2 of 4 runs" in said
    assert "1 failed" in said
    assert "runs/s" in said
    board.updated -= 2
    board.update()
    assert not capsys.readouterr().err, "a line a minute, no more"
    facts = json.loads(board.file.read_text())
    assert facts["work_done"] == 0.75
    board.close("finished")
    assert [duration(s) for s in (0.5, 59, 61, 7200, 10**6)] == ["0.5 s", "59 s", "0:01:01", "2:00:00", "11 days 13 h"]


def test_the_bar_on_a_terminal(file, tmp_path):
    master, slave = pty.openpty()
    words = [sys.executable, "-m", "saddlescope", "sweep", file(LONG.replace("1000000", "50000")), "--workers", "2"]
    sweep = subprocess.Popen(words, cwd=tmp_path, stderr=slave, stdout=subprocess.DEVNULL,
                             env=os.environ | {"TERM": "xterm", "COLUMNS": "120"})  # fmt: skip
    os.close(slave)
    said = b""
    while True:
        try:
            said += os.read(master, 65536)
        except OSError:
            break
    assert sweep.wait(60) == 0
    os.close(master)
    text = said.decode(errors="replace")
    assert "of 4 runs" in text
    assert "left" in text
    assert "━" in text
