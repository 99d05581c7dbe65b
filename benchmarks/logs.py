"""What reading a log takes: CPU time, the median of several rounds in alternation.

    python benchmarks/logs.py [--rounds 5] [--json FILE]

1. 100,000 scalars of a TensorBoard event file, each with its own step, value and checksum.
2. 2,000 rows of CSV, from the shell: the whole command, with the start of Python.
3. 100,000 rows of CSV, by pandas and by our own parser.
"""

import argparse
import resource
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from timing import keep

from saddlescope.stages.logs import csv_cells, csv_pandas, tensorboard
from saddlescope.stages.logs.crc32c import crc32c

SCALARS, SHELL_ROWS, ROWS = 100_000, 2_000, 100_000


def losses(n: int) -> list[float]:
    """A staircase with noise."""
    x = np.arange(n) / n
    stairs = 0.1 + 2 / (1 + np.exp((x - 0.3) / 0.005)) + 1 / (1 + np.exp((x - 0.7) / 0.005))
    noise = np.random.default_rng(0).standard_normal(n)
    return (stairs * (1 + 0.03 * noise)).tolist()


def varint(n: int) -> bytes:
    parts = []
    while n > 127:
        parts.append(n & 127 | 128)
        n >>= 7
    return bytes([*parts, n])


def event(step: int, value: float) -> bytes:
    """One event of TensorBoard: a time, a step, and a summary with one scalar."""
    scalar = b"\x0a\x0atrain/loss\x15" + struct.pack("<f", value)
    summary = b"\x0a" + varint(len(scalar)) + scalar
    when = b"\x09" + struct.pack("<d", 1.7e9 + step) + b"\x10" + varint(step)
    return when + b"\x2a" + varint(len(summary)) + summary


def write_events(path: Path) -> None:
    """An event file: each record has its length, its data, and a checksum behind each."""
    events = [event(i, v) for i, v in enumerate(losses(SCALARS))]
    parts = [part for e in events for part in (struct.pack("<Q", len(e)), e)]
    ends = np.cumsum([len(part) for part in parts])
    data = np.frombuffer(b"".join(parts), np.uint8)
    checks = crc32c(data, np.append(0, ends[:-1]), ends)
    masked = (((checks >> 15) | (checks << 17)) + np.uint32(0xA282EAD8)).astype("<u4")
    path.write_bytes(b"".join(b + c.tobytes() for b, c in zip(parts, masked, strict=True)))


def csv_text(n: int) -> str:
    return "step,loss\n" + "".join(f"{i},{v!r}\n" for i, v in enumerate(losses(n)))


# ---- the measurements, in CPU seconds ----


def own_time(call, *given) -> float:
    start = time.process_time()
    call(*given)
    return time.process_time() - start


def shell_time(path: Path) -> float:
    """All processor time of the command, of Python's start too."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = [sys.executable, "-m", "saddlescope", "stages", str(path)]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(rounds: int, folder: Path) -> dict[str, float]:
    """The median of each."""
    events, small, text = folder / "events.out.tfevents.1", folder / "small.csv", csv_text(ROWS)
    write_events(events)
    small.write_text(csv_text(SHELL_ROWS))
    assert len(tensorboard.read(events).series["train/loss"].values) == SCALARS
    table = csv_pandas.parse(text, small)  # imports pandas
    assert table is not None
    assert len(table.columns["loss"][1]) == ROWS
    measurements = {
        f"{SCALARS} tfevents scalars": lambda: own_time(tensorboard.read, events),
        f"{SHELL_ROWS} CSV rows from the shell": lambda: shell_time(small),
        f"{ROWS} CSV rows by pandas": lambda: own_time(csv_pandas.parse, text, small),
        f"{ROWS} CSV rows by our parser": lambda: own_time(csv_cells.parse, text, small),
    }
    found = [{name: call() for name, call in measurements.items()} for _ in range(rounds)]
    return {name: statistics.median(one[name] for one in found) for name in measurements}


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(options.rounds, Path(folder))
    for name, seconds in found.items():
        print(f"{name}: {seconds:.3f} s of CPU time")
    keep(options.json, {"cpu_seconds": found, "rounds": options.rounds})


if __name__ == "__main__":
    main()
