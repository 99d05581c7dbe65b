"""The kernel's arrays: parameters cut into panels, padded with zeros, at addresses that no register straddles."""

import math

import numpy as np

from saddlescope.engines.fused.kernel import CHUNK, GRAM
from saddlescope.engines.fused.tile import PANEL, REGISTER


def _aligned(dtype, *shape):
    """Zeros at an address divisible by 64, a cache line."""
    size = math.prod(shape) * dtype.itemsize
    raw = np.zeros(size + 64, np.uint8)
    return raw[-raw.ctypes.data % 64 :][:size].view(dtype).reshape(shape)


class Packed:
    """Room for a net of the given ranks and widths, to be trained in batches. See `kernel` for the axes."""

    def __init__(self, dims, widths, batch, dtype):
        self.dims, self.widths, self.dtype = np.asarray(dims), widths, np.dtype(dtype)
        lanes = REGISTER // self.dtype.itemsize
        row = PANEL * lanes
        J, R, P = len(widths), max(dims), -(-max(widths) // row)

        def array(*shape):
            return _aligned(self.dtype, *shape)

        self.A, self.C, self.dC, self.vC = (array(J, P, R, row) for _ in range(4))
        self.c, self.dc, self.vc = (array(J, R) for _ in range(3))
        self.H, self.G, self.T = array(J + 1, batch, R), array(J + 1, batch, R), array(J + 1, R, batch)
        self.b, self.Z, self.D = array(J, P, row), array(J, P, batch, row), array(1, CHUNK, batch, row)
        self.sums, self.square = array(batch, R * lanes), array(1, row)
        self.gram = array(J * GRAM, GRAM * lanes)

    def arrays(self):
        """In the order of the kernel's last arguments."""
        return (
            self.dims, self.A, self.b, self.C, self.c, self.dC, self.dc, self.vC, self.vc, self.H, self.G, self.T,
            self.Z, self.D, self.sums, self.gram, self.square,
        )  # fmt: skip

    def freeze(self, params):
        """Take over A and b."""
        for j, width in enumerate(self.widths):
            self.set_rows(self.A, j, params[f"A{j}"].T)
            self.b[j].reshape(-1)[:width] = params[f"b{j}"]

    def set(self, trained, velocity):
        """Take over C and c, and their velocities where there are any. What a run that diverged left behind goes."""
        for C, c, params in ((self.C, self.c, trained), (self.vC, self.vc, velocity)):
            C[...], c[...] = 0, 0
            for j in range(len(self.widths) if params else 0):
                self.set_rows(C, j, params[f"C{j}"])
                c[j, : self.dims[j + 1]] = params[f"c{j}"]

    def get(self, moving):
        """C and c, and their velocities if `moving`, as copies in their usual shapes."""
        kinds = ((self.C, self.c), (self.vC, self.vc)) if moving else ((self.C, self.c),)
        found = [
            {f"C{j}": self.rows(C, j) for j in range(len(self.widths))}
            | {f"c{j}": c[j, : self.dims[j + 1]].copy() for j in range(len(self.widths))}
            for C, c in kinds
        ]
        return (found[0], found[1] if moving else {})

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
