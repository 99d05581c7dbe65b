"""Instructions of the paths that must not become slower, counted by valgrind and held to stored counts.

    python benchmarks/counts.py [--check] [--json benchmarks/counts.json]

Times vary with the machine's load, counts hardly do. `--check` fails where one has risen by more than `RISE` above
benchmarks/counts.json; `--json` stores what was found. The kernel is compiled for AVX2, the widest that valgrind
knows; for AVX-512 it is other code of the same shape. Needs valgrind (`apt-get install valgrind`) on x86-64.
"""

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

from callgrind import counted_parts, counted_whole, run_natively
from counted import SIZES
from timing import keep, machine

STORED = Path(__file__).with_name("counts.json")
PROGRAM = Path(__file__).with_name("counted.py")
LIST = "saddlescope list, from start to end"
# Repeated counts differ by a thousandth, and a newer numpy or Python may move one by some percent. What made the kernel
# slower in the past (spilled registers, counted references) cost 15 % and more.
RISE = 0.10


def count_all() -> dict[str, int]:
    """Instructions per unit of each part."""
    with tempfile.TemporaryDirectory() as scratch:
        run_natively(PROGRAM, f"{scratch}/runs")
        found = counted_parts(Path(scratch), PROGRAM, f"{scratch}/runs")
        run_natively("-m", "saddlescope", "list")
        whole = counted_whole(Path(scratch), "-m", "saddlescope", "list")
    per_unit = {name: (found[f"{b} {name}"] - found.get(f"{a} {name}", 0)) / (b - a) for name, (a, b) in SIZES.items()}
    return {name: round(n) for name, n in per_unit.items()} | {LIST: whole}


def compare(found, stored) -> list[str]:
    """Print every count beside the stored one; the names of those that rose too far or were never stored."""
    failed = []
    for name, n in found.items():
        before = stored.get(name)
        change = n / before - 1 if before else None
        risen = change is None or change > RISE
        word = "not stored" if change is None else f"{change:+.1%}" + (f", allowed {RISE:+.0%}" if risen else "")
        lower = change is not None and change < -RISE
        print(f"{name:<45}{n:>15,}  {word}{'; store it with --json' if lower else ''}", flush=True)
        failed += [name] if risen else []
    return failed


def differing(stored: dict) -> str:
    """Versions that differ from those of the stored counts: they may be the reason."""
    here, there = machine()["versions"], stored["machine"]["versions"]
    words = [f"{name} {there.get(name)} → {here[name]}" for name in here if here[name] != there.get(name)]
    return f" Other versions than stored: {', '.join(words)}." if words else ""


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="Fail where a count has risen too far.")
    parser.add_argument("--json", type=Path, help="Where to store the counts.")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("Instructions cannot be counted: valgrind is not installed. Try: apt-get install valgrind.")
    stored = json.loads(STORED.read_text(encoding="utf-8")) if STORED.is_file() else {"counts": {}}
    found = count_all()
    failed = compare(found, stored["counts"])
    keep(options.json, {"counts": found, "allowed_rise": RISE})
    if options.check and failed:
        sys.exit(f"Too many instructions: {'; '.join(failed)}.{differing(stored) if stored['counts'] else ''}")


if __name__ == "__main__":
    main()
