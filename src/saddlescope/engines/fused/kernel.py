"""Training of low-rank random-feature nets: one compiled function for every width, rank, depth and batch size.

Block j maps h to c + m · C σ(A h + b), with σ (leaky) ReLU and m a fixed number. A and b are frozen; C and c are
trained by descent with momentum and clipping. Axes: j block, p panel of the width, s sample, k input and i output:

    A[j, p, k, :]  b[j, p, :]  C[j, p, i, :]  c[j, i]     features Z[j, p, s, :]
    signals H[j, s, k]   their gradients G[j, s, k], times m, and the transposed T[j, k, s]

The width is padded with zeros, which is exact: a unit with A = b = C = 0 has feature, gradient and update 0.
"""

import hashlib
import math
from pathlib import Path

from numba import njit

from saddlescope.engines.fused.passes import GRAM, OPTIONS, by_gram, deltas, dots, features, gradients, inline, updates
from saddlescope.engines.fused.tile import PANEL, REGISTER, lanes, load, store, total, zeros
from saddlescope.engines.fused.view import read, view, write

CHUNK = 4  # panels worked on together, so that what one pass writes is still near when the next reads it


@inline
def _clear(sums, first, rows, registers):
    for s in range(first, first + rows):
        for i in range(registers):
            store(sums, (s, i * lanes(sums)), zeros(sums, 1, 1))


@inline
def _sum_at(sums, s, i):
    return total(load(sums, (s, i * lanes(sums)), 1, 1))


@inline
def _forward(bs, before, j, panels, slope, m, dims, A, b, C, c, dC, vC, H, T, Z, sums, gram, scale, lr, momentum):
    """The update that the step before has left over, from its batch of size `before`; then H[j + 1] from H[j]."""
    n, out = dims[j], dims[j + 1]
    small = by_gram(bs, out)
    _clear(sums, 0, bs, out)
    if small:
        _clear(gram, j * GRAM, bs, bs)
    for first in range(0, panels, CHUNK):
        past = min(panels, first + CHUNK)
        for p in range(first, past):
            if before > 0:
                updates(out, j, p, before, by_gram(before, out), C, dC, vC, T, Z, scale, lr, momentum)
            features(bs, j, p, n, A, b, H, Z, slope)
        if bs > 0:
            dots(bs, False, out, first, past, j, 0, Z, j, C, sums, 0)
            if small:
                dots(bs, True, bs, first, past, j, 0, Z, j, Z, gram, j * GRAM)
    for s in range(bs):
        for i in range(out):
            write(H, (j + 1, s, i), read(c, (j, i)) + m * _sum_at(sums, s, i))


@inline
def _backward(bs, j, panels, slope, m, dims, A, C, dC, dc, G, T, Z, D, sums, gram, square):
    """Gradients dC[j], dc[j] and G[j] from G[j + 1]; returns |dC[j]|² + |dc[j]|²."""
    n, out = dims[j], dims[j + 1]
    small = by_gram(bs, out)
    _clear(sums, 0, bs, n)
    _clear(square, 0, 1, PANEL)
    for first in range(0, panels, CHUNK):
        past = min(panels, first + CHUNK)
        for p in range(first, past):
            if not small:
                gradients(out, j, p, bs, dC, T, Z, square)
            if j > 0:
                deltas(bs, j, p, out, C, G, Z, D, p - first, slope)
        if j > 0:
            dots(bs, False, n, first, past, 0, first, D, j, A, sums, 0)
    if j > 0:
        for s in range(bs):
            for k in range(n):
                g = m * _sum_at(sums, s, k)
                write(G, (j, s, k), g)
                write(T, (j, k, s), g)
    norm = m * 0
    for i in range(out):
        d = m * 0
        for s in range(bs):
            d += read(T, (j + 1, i, s))
        d /= m
        write(dc, (j, i), d)
        norm += d * d
    if not small:
        for v in range(PANEL):
            norm += _sum_at(square, 0, v)
    else:
        for s in range(bs):
            for t in range(s, bs):
                product = m * 0
                for i in range(out):
                    product += read(G, (j + 1, s, i)) * read(G, (j + 1, t, i))
                norm += (1 if s == t else 2) * product * _sum_at(gram, j * GRAM + s, t)
    return norm


def fingerprint():
    """Of all that is compiled into the kernel: numba's cache on disk looks at the file of the outer function alone, and
    at the processor's name and features as numba, not `register_bytes`, sees them."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(f.read_bytes() for f in files) + bytes([REGISTER])).hexdigest()


def compiled_with(source):
    """The kernel; `source` is part of its key in the cache on disk, being a variable of its closure."""

    @njit(cache=True, **OPTIONS)
    def train_steps(
        x, y, order, first, losses, lr, rate, momentum, clip, slope, m, dims, A, b, C, c, dC, dc, vC, vc, H, G, T, Z, D,
        sums,
        gram, square,
    ):  # fmt: skip
        """One step per entry of `losses`, from step `first` of the first row of `order` on: batches of len(sums), the
        last of an epoch short. losses[k] is the mean squared error before that step. `rate` multiplies the learning
        rate of C. C is updated when the next step reads it, so there is one turn more than steps, which updates."""
        source  # noqa: B018
        J, size, panels = len(A), len(sums), b.shape[1]
        A, b, C, c, dC, dc, vC, vc = view(A), view(b), view(C), view(c), view(dC), view(dc), view(vC), view(vc)
        H, G, T, Z, D = view(H), view(G), view(T), view(Z), view(D)
        sums, gram, square = view(sums), view(gram), view(square)
        steps, before, scale = (order.shape[1] + size - 1) // size, 0, m
        for turn in range(len(losses) + 1):
            epoch, start = (first + turn) // steps, (first + turn) % steps * size
            bs = min(size, order.shape[1] - start) if turn < len(losses) else 0
            for s in range(bs):
                for k in range(dims[0]):
                    write(H, (0, s, k), x[order[epoch, start + s], k])
            for j in range(J):
                _forward(
                    bs, before, j, panels, slope, m, dims, A, b, C, c, dC, vC, H, T, Z, sums, gram, scale, lr * rate,
                    momentum,
                )  # fmt: skip
            if bs == 0:
                break
            loss = 0.0
            for s in range(bs):
                for i in range(dims[J]):
                    error = read(H, (J, s, i)) - y[order[epoch, start + s], i]
                    loss += error * error
                    g = 2 * m * error / bs
                    write(G, (J, s, i), g)
                    write(T, (J, i, s), g)
            losses[turn] = loss / bs
            norm = m * 0
            for j in range(J - 1, -1, -1):
                norm += _backward(bs, j, panels, slope, m, dims, A, C, dC, dc, G, T, Z, D, sums, gram, square)
            norm = m * 0 if norm < 0 else math.sqrt(norm)  # products that cancel may leave less than nothing
            scale = m * 0 + 1 if norm < clip or clip == math.inf else clip / norm
            for j in range(J):
                for i in range(dims[j + 1]):
                    v = momentum * read(vc, (j, i)) + scale * read(dc, (j, i))
                    write(vc, (j, i), v)
                    write(c, (j, i), read(c, (j, i)) - lr * v)
            before = bs

    return train_steps


train_steps = compiled_with(fingerprint())
