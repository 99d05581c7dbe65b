"""Damage thousands of files and read them: python tools/fuzz.py [--mutations 10000] [--seed N]

Each must give an error sentence or, where it carries a checksum, exactly the right numbers (see tests/fuzzing.py).
"""

import argparse
import secrets
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))


def main():
    from fuzzing import fuzz  # type: ignore[import-not-found]

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutations", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**9))
    given = parser.parse_args()
    print(f"seed {given.seed}")
    with tempfile.TemporaryDirectory() as scratch:
        counts = fuzz(Path(scratch), given.mutations, given.seed, lambda line: print(line, flush=True))
    for (name, what), count in sorted(counts.items()):
        print(f"{name:12} {what:9} {count}")
    print(f"{sum(counts.values())} damaged files, no crash, no wrong number")


if __name__ == "__main__":
    main()
