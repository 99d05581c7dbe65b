"""Files of every kind we read, and what thousands of damaged copies of them do: an error sentence or the same numbers.

A target is a file as it should be and a way to read it. A damaged copy must either be refused or give exactly what the
whole file gives; where a file carries no checksum (other people's curves, sweep files), it must be refused or read, but
never crash. NetCDF files are converted by one worker process that lives on: what the child process does, but faster.
"""

import random
import re
import shutil
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np
import xarray as xr
from cases import linear_setting, minibatch_setting

from saddlescope.claims import Verdict
from saddlescope.errors import InvalidInput
from saddlescope.observables import FullLoss
from saddlescope.results import Results, collect
from saddlescope.stages import read_curves
from saddlescope.storage import result_folder as store
from saddlescope.storage.files import DIGITS, read_checked
from saddlescope.storage.netcdf import as_datasets, checked, from_child
from saddlescope.storage.netcdf_reader_process import convert
from saddlescope.sweeps import Folder, Workers, grid, sweep
from saddlescope.sweeps.plan import read_plan
from saddlescope.training import every, train
from saddlescope.training.checkpoint import read_checkpoint, write_checkpoint
from saddlescope.training.running import RunUnderWay
from saddlescope.workflows.sweep_file import read_sweep

SWEEP_FILE = """
protocol = "valleys"
where = "bs <= N and seed != 3"
observe = ["TestError"]
[axes]
factor = 1
N = "8,16"
bs = [4, 8]
L = 1
seed = "0..9"
[save]
every = 100
"""
PATIENCE = 20  # seconds that reading one small file may take


@dataclass
class Target:
    name: str
    path: Path
    read: Any  # of the path: something comparable
    guarded: bool = True  # a file of ours: a damaged copy must not give other numbers
    share: float = 1.0


def frozen(value):
    """Something that can be compared bit by bit."""
    if isinstance(value, xr.Dataset):
        return {str(k): frozen(v.values) for k, v in value.variables.items()}, frozen(value.attrs)
    if isinstance(value, dict):
        return {str(k): frozen(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [frozen(v) for v in value]
    if isinstance(value, np.ndarray | jax.Array | np.generic):
        value = np.asarray(value)
        return str(value.dtype), value.shape, value.tolist() if value.dtype.kind in "UO" else value.tobytes()
    return repr(value)


class Files:
    """One file of each kind in a folder, and the worker that opens NetCDF."""

    def __init__(self, root: Path):
        self.root, self.worker = root, Workers(1)
        sweep(lambda seed: linear_setting(seed=seed, steps=20), grid(seed=range(2)), FullLoss(), every(5, 20),
              folder=root / "sweep", quiet=True)  # fmt: skip
        folder = Folder(root / "sweep")
        name = sorted(folder.names())[0]
        run = RunUnderWay(minibatch_setting(epochs=20), (FullLoss(),), every(5, 20))
        run.take(*run.stepper.advance(*run.next_call()))
        write_checkpoint(root / "checkpoint.npz", run)
        measured = train(linear_setting(steps=50), (FullLoss(),), every(5, 50), quiet=True)
        results = Results(*(collect([d], [{"seed": 0}]) for d in (measured, xr.Dataset())))
        sealed = root / "sealed"
        store.save_results(sealed / store.RESULTS, results, key="a.b", title="t")
        store.save_verdicts(
            sealed / store.VERDICTS, (Verdict("It drops.", "Fig. 1", True, "2 of 2", "", 2, 0),), key="a.b"
        )
        store.seal(sealed)
        shutil.copy(sealed / store.RESULTS, root / "results.nc")
        xr.Dataset({"loss": ("step", np.geomspace(1, 1e-3, 50))}).to_netcdf(root / "foreign.nc", engine="h5netcdf")
        np.savez_compressed(root / "curve.npz", loss=np.geomspace(1, 1e-3, 50), step=np.arange(50))
        (root / "curve.csv").write_text("step,loss\n" + "".join(f"{i},{1 / (i + 1)}\n" for i in range(50)))
        (root / "sweep.toml").write_text(SWEEP_FILE)
        (plan,) = (root / "sweep" / "plans").glob("*.json")
        self.targets = [
            Target("shard", folder.run_file(name), lambda p: folder.read_arrays(name)),
            Target("checkpoint", root / "checkpoint.npz", lambda p: self.checkpoint(p, run)),
            Target("results.nc", root / "results.nc", self.netcdf, share=0.5),
            Target("plan", plan, read_plan),
            Target("verdicts", sealed / store.VERDICTS, store.load_verdicts),
            Target("manifest", sealed / store.MANIFEST, lambda p: store.load_verdicts(sealed / store.VERDICTS)),
            Target("foreign.nc", root / "foreign.nc", self.netcdf, guarded=False, share=0.5),
            Target("curve.npz", root / "curve.npz", lambda p: vars(read_curves(p)), guarded=False),
            Target("curve.csv", root / "curve.csv", lambda p: vars(read_curves(p)), guarded=False),
            Target("sweep.toml", root / "sweep.toml", lambda p: read_sweep(p).points, guarded=False, share=0.3),
        ]

    def checkpoint(self, path, run):
        state, history = read_checkpoint(path, run) or (None, None)
        return [jax.tree.leaves(state), vars(history) if history else None]

    def netcdf(self, path):
        target = self.root / "converted.npz"
        try:
            self.worker.submit(convert, str(path), str(target)).result(timeout=PATIENCE)
        except TimeoutError:  # HDF5 can loop for ever; the command kills its child after a minute
            self.worker.stop()
            self.worker = Workers(1)
            raise InvalidInput("took too long") from None
        except Exception as error:
            raise InvalidInput(f"{type(error).__name__}: {error}") from None
        return as_datasets(checked(from_child(read_checked(target), path), path), path)

    def close(self):
        self.worker.stop()


def damaged(data: bytes, draw: random.Random) -> bytes:
    """The bytes with something wrong with them."""
    data, n = bytearray(data), len(data)
    i, j = sorted((draw.randrange(n), draw.randrange(n)))
    kind = draw.choice(("flip", "flips", "byte", "cut", "zero", "drop", "repeat", "insert", "swap", "number", "reseal"))
    if kind == "flip":
        data[i] ^= 1 << draw.randrange(8)
    elif kind == "flips":
        for _ in range(draw.randint(2, 40)):
            data[draw.randrange(n)] ^= 1 << draw.randrange(8)
    elif kind == "byte":
        data[i] = draw.choice((0, 1, 0x7F, 0x80, 0xFE, 0xFF))
    elif kind == "cut":
        del data[i:]
    elif kind == "zero":
        data[i:j] = bytes(j - i)
    elif kind == "drop":
        del data[i : min(j, i + 64)]
    elif kind == "repeat":
        data[i:i] = data[i : min(j, i + 200)]
    elif kind == "insert":
        data[i:i] = draw.randbytes(draw.randint(1, 30))
    elif kind == "swap":
        block = min(16, n - j)
        data[i : i + block], data[j : j + block] = data[j : j + block], data[i : i + block]
    elif kind == "number":
        found = list(re.finditer(rb"\d+", bytes(data)))
        if found:
            spot = draw.choice(found)
            data[spot.start() : spot.end()] = draw.choice((b"-1", b"0", b"99999999999999999999", b"1e999", b"nan"))
    elif kind == "reseal":  # a forger: what he changes has a right checksum
        data[i] ^= 1 << draw.randrange(8)
        return resealed(bytes(data))
    return bytes(data)


def resealed(data):
    import hashlib

    return data[:-DIGITS] + hashlib.sha256(data[:-DIGITS]).hexdigest().encode()


def fuzz(root: Path, mutations: int, seed: int, say=lambda line: None) -> Counter:
    """Counts of what happened, by target; raises at the first file that gives another number or another error."""
    files, draw, counts = Files(root), random.Random(seed), Counter()
    try:
        whole = {t.name: (t.path.read_bytes(), frozen(t.read(t.path))) for t in files.targets}
        weights = [t.share for t in files.targets]
        for k in range(mutations):
            target = draw.choices(files.targets, weights)[0]
            data, right = whole[target.name]
            wrong = damaged(data, draw)
            target.path.write_bytes(wrong)
            forged = wrong.endswith(resealed(wrong)[-DIGITS:])
            start = time.monotonic()
            try:
                same = frozen(target.read(target.path)) == right
            except InvalidInput as error:
                lines = str(error).count("\n") + 1
                counts[target.name, "refused" if lines == 1 or target.name.endswith(".nc") else "more than a line"] += 1
            except BaseException as error:
                keep = root / f"bad.{target.name}"
                keep.write_bytes(wrong)
                raise AssertionError(f"mutation {k} of {target.name} (seed {seed}), kept in {keep}") from error
            else:
                free = not target.guarded or forged
                assert same or free, f"mutation {k} of {target.name} (seed {seed}) gave other numbers"
                counts[target.name, "the same" if same else "read"] += 1
            assert time.monotonic() - start < PATIENCE or target.name.endswith(".nc"), f"mutation {k} takes too long"
            target.path.write_bytes(data)
            if k % 1000 == 999:
                say(f"{k + 1} of {mutations}")
    finally:
        files.close()
    return counts
