"""Store every quick experiment's measured and predicted arrays, and compare two such folders bit for bit.

    python tools/quick_arrays.py save DIR [KEY ...]
    python tools/quick_arrays.py compare BEFORE AFTER

A refactoring must not move a number: save before the first change, save after the last one, compare.
"""

import sys
from pathlib import Path

import numpy as np

SKIPPED = {"cpu_seconds", "wall_seconds", "setting", "hash", "engine"}  # timings and identities


def save(folder, keys):
    from saddlescope.workflows.find import experiment_keys as all_keys
    from saddlescope.workflows.find import find_experiment

    Path(folder).mkdir(parents=True, exist_ok=True)
    for key in keys or all_keys():
        path = Path(folder) / f"{key}.npz"
        if path.exists():
            continue
        experiment = find_experiment(key)
        results = experiment.run(experiment.quick, quiet=True)
        np.savez_compressed(path, **arrays_of(results))  # type: ignore[arg-type]
        print(key, flush=True)


def arrays_of(results):
    parts = {"measured": results.measured, "predicted": results.predicted}
    return {
        f"{part}/{name}": np.asarray(v.values.astype(str) if v.dtype == object else v.values)
        for part, dataset in parts.items()
        for name, v in dataset.variables.items()
        if name not in SKIPPED
    }


def compare(before, after):
    different = 0
    for path in sorted(Path(before).glob("*.npz")):
        other = Path(after) / path.name
        if not other.exists():
            print(f"{path.stem}: missing after")
            different += 1
            continue
        old, new = np.load(path), np.load(other)
        lines = [line for name in old.files if (line := difference(name, old, new))]
        lines += [f"  only after: {name} {new[name].shape}" for name in new.files if name not in old.files]
        different += any(not line.startswith("  only after") for line in lines)
        print(
            f"{path.stem}: {'same bits' if not lines else 'see below'} ({len(old.files)} variables)", *lines, sep="\n"
        )
    print(f"{different} experiments differ")
    return different


def difference(name, old, new):
    if name not in new.files:
        return f"  only before: {name} {old[name].shape}"
    a, b = old[name], new[name]
    if a.shape != b.shape or a.dtype != b.dtype:
        return f"  {name}: {a.shape} {a.dtype} before, {b.shape} {b.dtype} after"
    if a.tobytes() == b.tobytes():
        return ""
    if a.dtype.kind != "f":
        return f"  {name}: {int((a != b).sum())} of {a.size} values differ"
    gap = np.abs(a - b)
    return f"  {name}: {int((gap > 0).sum())} of {a.size} values differ, by at most {np.nanmax(gap):.3g}"


if __name__ == "__main__":
    command, *rest = sys.argv[1:] or [""]
    if command == "save" and rest:
        save(rest[0], rest[1:])
    elif command == "compare" and len(rest) == 2:
        sys.exit(1 if compare(*rest) else 0)
    else:
        sys.exit(__doc__)
