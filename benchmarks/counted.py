"""What is counted, part by part: `counts.py` runs this program under valgrind.

A part is done in two sizes, and the difference is taken: what is paid once per call cancels.
"""

import re
import sys
from functools import partial
from pathlib import Path

import numpy as np
import xarray as xr
from callgrind import count
from numba.core.codegen import JITCodeLibrary

from saddlescope.papers.valleys._protocol import Name, valleys
from saddlescope.stages import find_stages
from saddlescope.sweeps import Plan, TrainJob, grid
from saddlescope.sweeps.folder import Folder

KERNELS = {"a": ("f3_N768_bs8_L3", 10), "b": ("f1_N256_bs1_L2", 5), "c": ("f5_N1280_bs16_L6", 5)}
CLEAN, NOISY = 0.0, 0.1  # noise of a loss curve, in logarithms
# What is counted, and its two sizes; 0 where one call is counted whole, since its cost is not linear in the size.
SIZES = {
    **{f"fused kernel, per step of {name}": (4, 8) for name in KERNELS},
    "find_stages, per point of a curve without noise": (1000, 11_000),
    "find_stages, per point of 1,000 noisy ones": (0, 1000),
    "planning a sweep, per run": (4, 24),
    "writing a run file": (2, 12),
}


def known_moves(code):
    """Machine code that valgrind knows: it lacks `vmovq` between registers in its short form, which LLVM uses rarely.
    The move of the whole register has as many bytes. Losses show that nothing depends on the half that it adds."""
    return re.sub(rb"\xc5\x79\xd6([\xc0-\xff])", lambda found: b"\xc5\x78\x29" + found[1], code)


def replace_moves_in_kernels():
    read = JITCodeLibrary._object_getbuffer_hook.__func__  # type: ignore[attr-defined]

    def read_and_replace(cls, module):
        code = read(cls, module)
        return None if code is None else known_moves(code)

    JITCodeLibrary._object_getbuffer_hook = classmethod(read_and_replace)  # type: ignore[method-assign]


def steps(text, rank):
    setting = Name.parse(text).setting(rank=rank, engine="fused")
    stepper = setting.engine.begin(setting)
    state, _ = stepper.advance(stepper.start(), 0, 1, 0.01)
    return lambda n: stepper.advance(state, 0, n, 0.01)


def stages(noise):
    def work(n):
        x, rng = np.linspace(0, 1, n), np.random.default_rng(0)
        levels = 1.0 + sum(1 / (1 + np.exp(-(c - x) * 200)) for c in (0.2, 0.5, 0.8))
        return find_stages(levels * np.exp(noise * rng.standard_normal(n)), np.arange(n))

    return work


def plan(n):
    made = Plan("counted", grid(seed=range(n)), lambda p: TrainJob(valleys(1, 16, 4, 1, rank=3, width=32, **p)))
    return made.names_and_costs


def write(place):
    folder, rng = Folder(place), np.random.default_rng(0)
    columns = {name: ("epoch", np.cumsum(rng.standard_normal(100))) for name in ("loss", "learning_rate", "test_error")}
    run = xr.Dataset(columns | {"status": ((), "finished"), "setting": ((), "x" * 900)}, {"epoch": np.arange(100)})

    def work(n):
        for i in range(n):
            folder.write(f"{i:020x}-0-v1", run, {"seed": i})

    return work


def works(place):
    kernels = [lambda case=case: steps(*case) for case in KERNELS.values()]
    return (*kernels, lambda: stages(CLEAN), lambda: stages(NOISY), lambda: plan, lambda: write(place))


def main(place):
    replace_moves_in_kernels()
    for (name, sizes), begin in zip(SIZES.items(), works(place), strict=True):
        work = begin()
        work(sizes[0] or sizes[1])  # what is cached at the first call
        for n in filter(None, sizes):
            count(f"{n} {name}", partial(work, n))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
