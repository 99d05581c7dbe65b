"""What one version of the code says of points of experiments: their hashes, or their runs.

    PYTHONPATH=CLONE/src python tools/train_points.py hashes|runs ASKED DONE

ASKED and DONE are files with a JSON object per line. ASKED has the key and the point. DONE repeats
them and adds the hash, or the run: the SHA-256 of every array and of the elements of small ones,
all single numbers, and the sizes. Points that DONE has already are left alone.

`carry_over.py` calls it for the code of today and for that of an older commit, so that it uses
only names that both have.
"""

import hashlib
import importlib
import json
import sys
from pathlib import Path

from quick_arrays import arrays_of

SMALL = 16


def main(what, asked: Path, done: Path):
    seen = {name_of(one) for one in read_lines(done)} if done.exists() else set()
    missing = [one for one in read_lines(asked) if name_of(one) not in seen]
    with done.open("a", encoding="utf-8") as file:
        for one in missing:
            try:
                found = (_hash if what == "hashes" else _run)(_experiment(one["key"]), one["point"])
            except Exception as error:  # a point that one version does not have is a result
                found = {"error": f"{type(error).__name__}: {error}"}
            file.write(json.dumps(one | found) + "\n")
            file.flush()


def read_lines(path: Path) -> list[dict]:
    """The objects of such a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def name_of(one: dict) -> str:
    """What tells one point of all experiments from the others."""
    return json.dumps([one["key"], one["point"]])


def _experiment(key):
    return importlib.import_module(f"saddlescope.papers.{key}").experiment


def _hash(experiment, point) -> dict:
    """The hash that a run stores; none where nothing is trained, or several runs are."""
    job = experiment.job(point)
    if hasattr(job, "setting"):
        return {"hash": job.setting.hash}
    runs = dict(getattr(job, "runs", ()))
    return {"hash": runs[""].setting.hash if list(runs) == [""] else ""}


def _run(experiment, point) -> dict:
    import saddlescope.sweeps.job as jobs

    curves: list = []
    plain = jobs.train  # both versions train through this name
    jobs.train = _listening(plain, curves)
    try:
        results = experiment.run({axis: (value,) for axis, value in point.items()}, quiet=True)
    finally:
        jobs.train = plain
    arrays = arrays_of(results) | {f"curve/{k}": curve for k, curve in enumerate(curves)}
    parts = _parts(arrays)
    return {
        "arrays": {name: _sha(array) for name, array in arrays.items()},
        "elements": {name: _sha(array) for name, array in parts.items()},
        "numbers": {name: str(a.item()) for name, a in (arrays | parts).items() if a.size == 1},
        "sizes": dict(results.measured.sizes),
        "hash": str(results.measured["hash"].values[0]) if "hash" in results.measured else "",
    }


def _listening(train, curves):
    """`train`, with the loss curves of its runs kept: an analysis may throw them away."""

    def train_and_listen(*args, **kwargs):
        run = train(*args, **kwargs)
        curves.append(run["loss"].values)
        return run

    return train_and_listen


def _parts(arrays) -> dict:
    """The elements of small vectors: what was a number of its own may be one of them today."""
    small = {name: a.reshape(-1) for name, a in arrays.items() if 1 < a.size <= SMALL}
    return {f"{name}[{k}]": a[k : k + 1] for name, a in small.items() for k in range(a.size)}


def _sha(array) -> str:
    return hashlib.sha256(f"{array.dtype.kind}{array.shape}".encode() + array.tobytes()).hexdigest()


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("hashes", "runs"):
        sys.exit(__doc__)
    main(sys.argv[1], *map(Path, sys.argv[2:]))
