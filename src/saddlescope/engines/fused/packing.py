"""The kernel's arrays: parameters cut into panels, padded with zeros, at addresses that no register straddles."""

import math
from functools import cached_property

import numpy as np

from saddlescope.engines.fused.kernel import MICRO
from saddlescope.engines.fused.passes import CHUNK, GRAM
from saddlescope.engines.fused.tile import PANEL, REGISTER

LOOK = 16  # samples at which a net is evaluated together, or as many as in a batch


def _aligned(dtype, *shape):
    """Zeros at an address divisible by 64, a cache line."""
    size = math.prod(shape) * dtype.itemsize
    raw = np.zeros(size + 64, np.uint8)
    return raw[-raw.ctypes.data % 64 :][:size].view(dtype).reshape(shape)


class Packed:
    """Room for a net of the given ranks and widths, to be trained in batches. See `kernel` for the axes.

    Besides C and c it holds what an optimiser remembers of them: under `v` the velocity (Adam: the mean gradient),
    under `s` Adam's mean square.

    **Arguments:**

    - `dims`: inputs, ranks and outputs.
    - `widths`: of each block.
    - `batch`: samples per step.
    - `samples`: samples per epoch.
    - `dtype`: the precision of the run.
    """

    def __init__(self, dims, widths, batch, samples, dtype):
        self.dims, self.widths, self.dtype, self.batch = np.asarray(dims), widths, np.dtype(dtype), batch
        self.lanes = REGISTER // self.dtype.itemsize
        row = PANEL * self.lanes
        J, R, P = self.shape = len(widths), max(dims), -(-max(widths) // row)
        self.order = np.zeros(samples, np.int64)
        self.A, self.C, self.dC, self.vC, self.sC = (_aligned(self.dtype, J, P, R, row) for _ in range(5))
        self.b = _aligned(self.dtype, J, P, row)
        self.c, self.dc, self.vc, self.sc = (_aligned(self.dtype, J, R) for _ in range(4))
        self.trained = {"": (self.C, self.c), "v": (self.vC, self.vc), "s": (self.sC, self.sc)}
        self.training = self.scratch(min(batch, MICRO))

    @cached_property
    def looking(self):
        """Room for outputs alone: a net that is trained on one sample at a time is evaluated at several."""
        return self.training if self.batch >= LOOK else self.scratch(LOOK)

    def scratch(self, samples):
        """Room for what the kernel computes at so many samples: H, G, T, Z, D, sums, gram, square."""
        (J, R, P), row = self.shape, PANEL * self.lanes
        shapes = (J + 1, samples, R), (J + 1, samples, R), (J + 1, R, samples), (J, P, samples, row)
        shapes += (1, CHUNK, samples, row), (samples, R * self.lanes), (J * GRAM, GRAM * self.lanes), (1, row)
        return tuple(_aligned(self.dtype, *shape) for shape in shapes)

    def arrays(self, look=False):
        """In the order of the kernel's last arguments."""
        return (
            self.dims, self.order, self.A, self.b, self.C, self.c, self.dC, self.dc, self.vC, self.vc, self.sC, self.sc,
            *(self.looking if look else self.training),
        )  # fmt: skip

    def freeze(self, params):
        """Take over A and b."""
        for j, width in enumerate(self.widths):
            self.set_rows(self.A, j, params[f"A{j}"].T)
            self.b[j].reshape(-1)[:width] = params[f"b{j}"]

    def set(self, trained, memory):
        """Take over C and c, and what is remembered of them. What a run that diverged left behind goes."""
        for kind, (C, c) in self.trained.items():
            params = memory.get(kind) if kind else trained
            C[...], c[...] = 0, 0
            for j in range(len(self.widths) if params else 0):
                self.set_rows(C, j, params[f"C{j}"])
                c[j, : self.dims[j + 1]] = params[f"c{j}"]

    def get(self, kind=""):
        """C and c, or what is remembered of them under `kind`, as copies in their usual shapes."""
        (C, c), blocks = self.trained[kind], range(len(self.widths))
        return {f"C{j}": self.rows(C, j) for j in blocks} | {f"c{j}": c[j, : self.dims[j + 1]].copy() for j in blocks}

    def rows(self, packed, j):
        n, width = self.dims[j + 1], self.widths[j]
        return packed[j, :, :n].transpose(1, 0, 2).reshape(n, -1)[:, :width].copy()

    def set_rows(self, packed, j, matrix):
        """Cut the columns of a matrix into panels. The padding stays zero, unless a run diverges."""
        n, row = len(matrix), packed.shape[3]
        panels, rest = divmod(matrix.shape[1], row)
        packed[j, :panels, :n] = matrix[:, : panels * row].reshape(n, panels, row).transpose(1, 0, 2)
        if rest:
            packed[j, panels, :n, :rest] = matrix[:, panels * row :]
