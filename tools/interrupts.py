"""Interrupt commands at random moments: python tools/interrupts.py N [--seed SEED] [--only COMMAND]

Each of the N interrupts must end its command within 5 s, with status 130 and one sentence. The same
command given again must store the same bits as one that nobody interrupted (tests/interrupting.py).
"""

import argparse
import random
import secrets
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from interrupting import COMMANDS, SIGNALS, finish, interrupt  # type: ignore[import-not-found]

ROW = "{:>3}  {:<14}  {:<9}  {:>8}  {:>7}  {:>6}  {}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n", type=int)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**9))
    parser.add_argument("--only", choices=list(COMMANDS), help="interrupt this command alone")
    given = parser.parse_args()
    # A background job ignores Ctrl-C, and so would its children.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    draw, names = random.Random(given.seed), [given.only] if given.only else list(COMMANDS)
    with tempfile.TemporaryDirectory() as scratch:
        whole = {name: _undisturbed(name, Path(scratch)) for name in names}
        print(f"seed {given.seed}")
        print(ROW.format("", "command", "signal", "after", "ended", "status", ""), flush=True)
        bad = 0
        for i in range(given.n):
            bad += _one(i, names[i % len(names)], whole, draw, Path(scratch, str(i)))
    print(f"{given.n - bad} of {given.n} interrupts ended well and resumed to the same bits")
    sys.exit(1 if bad else 0)


def _undisturbed(name, scratch):
    """The seconds of a command that nobody interrupts, its kernel compiled, and what it stores."""
    folder = scratch / name.replace(", ", "_").replace(" ", "_")
    folder.mkdir()
    finish(COMMANDS[name], folder, "first")
    began = time.monotonic()
    stored = finish(COMMANDS[name], folder)
    print(f"{name}: {time.monotonic() - began:.1f} s undisturbed, {len(stored)} arrays", flush=True)
    return time.monotonic() - began, stored


def _one(i, name, whole, draw, folder) -> bool:
    """Interrupt a command once and resume it; print a row; whether something was wrong."""
    seconds, expected = whole[name]
    how, ended = draw.choice(list(SIGNALS)), None
    while ended is None:  # over before the signal came: once more
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        after = draw.uniform(0, seconds)
        ended = interrupt(COMMANDS[name], folder, after, how)
    faults = ended.faults
    if finish(COMMANDS[name], folder) != expected:
        faults.append("other bits after the resume")
    shown = "; ".join(faults) or "good, resumed to the same bits"
    times = f"{after:.2f} s", f"{ended.seconds:.2f} s"
    print(ROW.format(i + 1, name, how, *times, str(ended.status), shown), flush=True)
    shutil.rmtree(folder)
    return bool(faults)


if __name__ == "__main__":
    main()
