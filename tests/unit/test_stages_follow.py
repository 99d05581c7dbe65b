"""`saddlescope stages` as a process: standard input, a growing log, Ctrl-C."""

import json
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from staircases import staircase

STEPS = np.arange(600)
LOSS = staircase(STEPS, [150, 400], [3, 2, 1], 5)


def written(path, n=600):
    rows = "".join(f"{s},{v:.6f}\n" for s, v in zip(STEPS[:n], LOSS[:n], strict=True))
    path.write_text(f"step,loss\n{rows}")
    return path


def shell(*words, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "saddlescope", "stages", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def test_standard_input(tmp_path):
    child = shell("-", "--json", stdin=subprocess.PIPE)
    out, err = child.communicate(written(tmp_path / "a.csv").read_text(), timeout=60)
    assert (child.returncode, err) == (0, "")
    assert (json.loads(out)["log"], json.loads(out)["n_drops"]) == ("standard input", 2)


@pytest.mark.usefixtures("hears_ctrl_c")
def test_it_follows_a_growing_log_and_prints_only_what_is_new(tmp_path):
    path = written(tmp_path / "grows.csv", 300)
    child = shell(path, "--follow")
    watchdog = threading.Timer(60, child.kill)  # `readline` waits for ever
    watchdog.start()
    try:
        first = [child.stdout.readline() for _ in range(6)]
        assert "1 drop" in "".join(first)
        more = zip(STEPS[300:], LOSS[300:], strict=True)
        with path.open("a") as file:
            file.write("".join(f"{s},{v:.6f}\n" for s, v in more))
        news = [child.stdout.readline() for _ in range(3)]
        assert news[0] == "step 599: 2 drops\n"
        assert news[1].startswith("  drop 3")
        assert news[2].startswith("  plateau 4")
        time.sleep(0.1)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=30)
    finally:
        watchdog.cancel()
        child.kill()
    assert (child.returncode, out) == (130, "")
    assert err == f"saddlescope: stopped following {path}.\n"


@pytest.mark.usefixtures("hears_ctrl_c")
def test_it_waits_for_a_log_that_is_not_there_or_has_no_number(tmp_path):
    path = tmp_path / "later.csv"
    child = shell(path, "--follow", "--json")
    watchdog = threading.Timer(60, child.kill)
    watchdog.start()
    try:
        assert child.stderr.readline() == f"waiting: {path} is not there yet; Ctrl-C ends this.\n"
        path.write_text("step,loss\n")
        said = f"waiting: {path} holds no number yet; Ctrl-C ends this.\n"
        assert child.stderr.readline() == said
        written(path)
        assert child.stdout.readline() == "{\n"
        child.send_signal(signal.SIGINT)
        err = child.communicate(timeout=30)[1]
    finally:
        watchdog.cancel()
        child.kill()
    assert (child.returncode, err) == (130, f"saddlescope: stopped following {path}.\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["a.csv", "--column", "los"], "has no column 'los'"),
        (["none.csv", "--min-fall", "7"], "`min_fall` is a share"),
    ],
)
def test_following_does_not_wait_for_what_will_never_be(saddlescope, tmp_path, words, sentence):
    written(tmp_path / "a.csv")
    status, out, err = saddlescope("stages", "--follow", *words)
    assert (status, out) == (2, "")
    assert sentence in err


@pytest.mark.usefixtures("hears_ctrl_c")
def test_ctrl_c_while_it_waits_for_standard_input():
    child = shell("-", stdin=subprocess.PIPE)
    child.stdin.write("0\n" * 200_000)  # more than a pipe holds: it is reading when this returns
    child.stdin.flush()
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=30)
    assert (child.returncode, out, err) == (130, "", "saddlescope: stopped before the end.\n")
