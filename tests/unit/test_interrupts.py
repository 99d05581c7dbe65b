"""Ctrl-C stops a command at any moment, with one sentence; a user's program has Python's own."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest
from interrupting import COMMANDS, interrupt

from saddlescope.cli import entry
from saddlescope.progress import LOOPING, STOP, Progress, looping

pytestmark = pytest.mark.usefixtures("hears_ctrl_c")
SENTENCE = f"saddlescope: {entry.SENTENCE}\n"


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("latest", [0.0, 3.0, 8.0])
def test_every_command_stops_whenever_it_is_interrupted(name, latest, tmp_path):
    after = random.uniform(0, latest)  # truly random; it is in the message of a failure
    ended = interrupt(COMMANDS[name], tmp_path, after)
    if ended is None:
        pytest.skip("this machine finished the command before it could be interrupted")
    assert not ended.faults, f"after {after} s"


@pytest.mark.parametrize("how", ["kill", "kill -INT"])
def test_a_signal_to_the_conducting_process_alone_ends_its_workers_too(how, tmp_path):
    ended = interrupt(COMMANDS["sweep"], tmp_path, 5.0, how)
    assert ended is None or not ended.faults


HEAD = """
import gc, sys, time
from saddlescope.cli.entry import stoppable
def say(): print("now", flush=True)
"""
LOST_IN_A_CALLBACK = """
def callback(phase, info):  # as XLA has one: an exception in it is lost
    end = time.monotonic() + 0.5
    say()
    while time.monotonic() < end: pass
def work():
    gc.callbacks.append(callback)
    gc.collect()
    gc.callbacks.clear()
    while True: time.sleep(0.01)
"""
CAUGHT_BY_OTHERS = """
def work():
    while True:
        try:
            say()
            time.sleep(60)
        except BaseException: pass
"""
TURNED_INTO_ANOTHER = """
def work():
    try:
        say()
        time.sleep(60)
    except BaseException: raise ImportError("what has become of it")
"""
AT_THE_END = """
def work():
    import atexit
    atexit.register(lambda: (say(), time.sleep(60)))
"""
DURING_AN_IMPORT = """
def work():
    import importlib, tempfile
    sys.path.insert(0, folder := tempfile.mkdtemp())
    text = "import __main__, os, time\\ntry:\\n    __main__.say(); time.sleep(60)\\nexcept BaseException: os.abort()"
    open(folder + "/aborts.py", "w").write(text)
    importlib.import_module("aborts")
"""
SWALLOWED = [LOST_IN_A_CALLBACK, CAUGHT_BY_OTHERS, TURNED_INTO_ANOTHER, AT_THE_END, DURING_AN_IMPORT]
TAIL = """
with stoppable() as stop: stop.guard(work)
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("work", SWALLOWED)
def test_a_stop_that_was_swallowed_is_seen_nevertheless(work, how):
    process = subprocess.Popen(
        [sys.executable, "-c", HEAD + work + TAIL],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    began = time.monotonic()
    process.send_signal(how)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, SENTENCE)
    assert time.monotonic() - began < 5


def test_a_loop_is_asked_and_not_broken_and_a_late_stop_is_seen_at_its_end():
    def loop():
        with looping():
            with looping():
                assert LOOPING.is_set()
            assert LOOPING.is_set(), "an inner loop must not end the outer one"
            STOP.set()

    try:
        with pytest.raises(KeyboardInterrupt):
            loop()
        assert not LOOPING.is_set()
        with pytest.raises(KeyboardInterrupt):
            Progress("step", 3, quiet=True)(1)
    finally:
        STOP.clear()
        LOOPING.clear()


LIBRARY = """
import os, signal, sys, threading, time
sys.path.insert(0, sys.argv[1])
from cases import random_feature_setting
from saddlescope.progress import STOP
from saddlescope.training import train
def press():
    while True:
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)
before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
threading.Thread(target=press, daemon=True).start()
try:
    train(random_feature_setting(epochs=10_000_000, stop=(), schedule=None), quiet=True)
except KeyboardInterrupt:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    print("stopped", STOP.is_set(), before[1] is signal.getsignal(signal.SIGTERM))
"""


def test_in_a_program_of_ones_own_python_handles_ctrl_c():
    tests = os.path.dirname(os.path.dirname(__file__))
    done = subprocess.run(
        [sys.executable, "-c", LIBRARY, tests],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout == "stopped False True\n"
