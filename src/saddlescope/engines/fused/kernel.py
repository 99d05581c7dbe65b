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

from saddlescope.engines.fused.covers import OPTIONS, inline
from saddlescope.engines.fused.order import draw_order
from saddlescope.engines.fused.passes import (
    CHUNK,
    GRAM,
    by_gram,
    deltas,
    dots,
    features,
    gradients,
    square_of_row,
    updates,
)
from saddlescope.engines.fused.tile import PANEL, REGISTER, WIDE, lanes, load, store, total, zeros
from saddlescope.engines.fused.view import read, view, write

MICRO = 64  # samples worked on together: the features of more would not stay in the cache
NEARLY = 1 - 1e-12  # a call ends where a rule may speak: the driver asks the rule itself, to the last bit


@inline
def _clear(sums, first, rows, registers):
    for s in range(first, first + rows):
        for i in range(registers):
            store(sums, (s, i * lanes(sums)), zeros(sums, 1, 1))


@inline
def _sum_at(sums, s, i):
    return total(load(sums, (s, i * lanes(sums)), 1, 1))


@inline
def _forward(bs, before, plain, j, panels, slope, m, dims, A, b, C, c, dC, H, T, Z, sums, gram, *step):
    """The `step` that the batch before, of so many samples, has left over; then H[j + 1] from H[j]."""
    n, out = dims[j], dims[j + 1]
    products = by_gram(bs, out)
    _clear(sums, 0, bs, out)
    if products:
        _clear(gram, j * GRAM, bs, GRAM)
    for first in range(0, panels, CHUNK):
        past = min(panels, first + CHUNK)
        for p in range(first, past):
            if before > 0:
                updates(out, j, p, before, by_gram(before, out), plain, dC, T, Z, C, *step)
            features(bs, j, p, n, out, A, b, C, H, Z, slope, sums)
        if bs > 0:
            if not WIDE:
                dots(bs, False, out, first, past, j, 0, Z, j, C, sums, 0)
            if products and bs > 1:
                dots(bs, True, bs, first, past, j, 0, Z, j, Z, gram, j * GRAM)
            elif products:
                square_of_row(first, past, j, Z, gram, j * GRAM)
    for s in range(bs):
        for i in range(out):
            write(H, (j + 1, s, i), read(c, (j, i)) + m * _sum_at(sums, s, i))


@inline
def _backward(bs, add, j, panels, slope, m, dims, A, C, dC, dc, G, T, Z, D, sums, gram, square):
    """Gradients dC[j], dc[j] and G[j] from G[j + 1], or what these samples `add` to them; |dC[j]|² + |dc[j]|²."""
    n, out = dims[j], dims[j + 1]
    small = by_gram(bs, out)
    _clear(sums, 0, bs, n)
    _clear(square, 0, 1, PANEL)
    chunks = (panels + CHUNK - 1) // CHUNK
    for chunk in range(chunks):
        # With AVX-512 the last first: the forward pass has just read it. AVX2 loses by that, whatever the reason.
        first = CHUNK * (chunks - 1 - chunk if WIDE else chunk)
        past = min(panels, first + CHUNK)
        for p in range(first, past):
            if not small:
                gradients(out, j, p, bs, add, dC, T, Z, square)
            if j > 0:
                deltas(bs, j, p, n, out, A, C, G, Z, D, p - first, slope, sums)
        if j > 0 and not WIDE:
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
        if add:
            d += read(dc, (j, i))
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
                square_of = total(load(gram, (j * GRAM, 0), 1, PANEL)) if bs == 1 else _sum_at(gram, j * GRAM + s, t)
                norm += (1 if s == t else 2) * product * square_of
    return norm


@inline
def _shrink(bs, J, dims, T, factor):
    """Put the step's factor into the gradients T that C is updated from."""
    for j in range(J):
        if by_gram(bs, dims[j + 1]):
            for i in range(dims[j + 1]):
                for s in range(bs):
                    write(T, (j + 1, i, s), factor * read(T, (j + 1, i, s)))


@inline
def _move_biases(j, n, c, dc, vc, sc, scale, lr, momentum, adam, b2, root, eps):
    """One step of c[j], as `updates` makes it of C."""
    for i in range(n):
        g, v = scale * read(dc, (j, i)), read(vc, (j, i))
        if adam:
            v = momentum * v + (1 - momentum) * g
            s = b2 * read(sc, (j, i)) + (1 - b2) * g * g
            write(sc, (j, i), s)
            write(c, (j, i), read(c, (j, i)) - lr * v / (root * math.sqrt(s) + eps))
        else:
            v = momentum * v + g
            write(c, (j, i), read(c, (j, i)) - lr * v)
        write(vc, (j, i), v)


@inline
def _mean(values, first, past):
    found = 0.0
    for i in range(first, past):
        found += values[i]
    return found / (past - first)


@inline
def _rule_may_speak(means, known, epochs, after, window, level):
    """Whether a rule may change the rate or end the run at the end of this epoch, the last of so many in this call.

    means[:known] are the losses of epochs. With a loss that is not a number the answer is yes.
    """
    loss = means[known - 1]
    if not loss * NEARLY >= level or not math.isfinite(loss):
        return True
    if window == 0 or epochs < after or known < 2 * window:
        return False
    now, before = _mean(means, known - window, known), _mean(means, known - 2 * window, known - window)
    return not now < before * NEARLY


def fingerprint():
    """Of all that is compiled into the kernel: numba's cache on disk looks at the file of the outer function alone, and
    at the processor's name and features as numba, not `register_bytes`, sees them."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(f.read_bytes() for f in files) + bytes([REGISTER])).hexdigest()


def compiled_with(source):
    """The kernel; `source` is part of its key in the cache on disk, being a variable of its closure."""

    @njit(cache=True, **OPTIONS)
    def train_steps(
        x, y, words, epoch, first, losses, means, known, after, window, level, outputs, done, size, lr, rate, momentum,
        adam, b2, eps, clip, slope, m, dims, order, A, b, C, c, dC, dc, vC, vc, sC, sc, H, G, T, Z, D, sums,
        gram, square,
    ):  # fmt: skip
        """One step per entry of `losses`, from step `first` of an epoch on; returns how many were done.

        Batches have `size` samples, the last of an epoch fewer; `words` and the epoch's number determine the order.
        losses[k] is the mean squared error before that step. Where `means` has room, means[:known] are the losses of
        the last epochs: those that end here are added, and the call ends early where a rule may speak
        (`_rule_may_speak`); `first` is 0 then. `done` steps were done before this call: Adam's correction depends on
        it. `rate` multiplies the learning rate of C. C is updated when the next step reads it, so there is one turn
        more than steps, which updates.

        With rows in `outputs`, nothing is trained: they become the outputs of all blocks at the rows of x.
        """
        source  # noqa: B018
        J, panels, only_look, number = len(A), b.shape[1], len(outputs) > 0, x.dtype.type
        A, b, C, c, dC, dc = view(A), view(b), view(C), view(c), view(dC), view(dc)
        vC, vc, sC, sc = view(vC), view(vc), view(sC), view(sc)
        H, G, T, Z, D = view(H), view(G), view(T), view(Z), view(D)
        sums, gram, square = view(sums), view(gram), view(square)
        samples = len(outputs) if only_look else len(order)
        steps, before, scale, root, length = (samples + size - 1) // size, 0, m, m, lr
        most, epochs, plain = steps if only_look else len(losses), 0, not adam and momentum == 0
        for turn in range(most + 1):
            start = (first + turn) % steps * size
            bs = min(size, samples - start) if turn < most else 0
            if bs > 0 and not only_look and (turn == 0 or start == 0):
                draw_order(order, words, epoch + (first + turn) // steps)
            parts = max(1, (bs + MICRO - 1) // MICRO)
            piece, loss, norm = (bs + parts - 1) // parts, 0.0, m * 0
            for part in range(parts):
                begin, few = start + part * piece, min(piece, bs - part * piece)
                for s in range(few):
                    row = begin + s if only_look else order[begin + s]
                    for k in range(dims[0]):
                        write(H, (0, s, k), x[row, k])
                for j in range(J):
                    _forward(
                        few, before if part == 0 else 0, plain, j, panels, slope, m, dims, A, b, C, c, dC, H, T, Z,
                        sums, gram, vC, sC, scale, length * rate, momentum, adam, b2, root, eps,
                    )  # fmt: skip
                if only_look:
                    for s in range(few):
                        at = 0
                        for j in range(1, J + 1):
                            for i in range(dims[j]):
                                outputs[begin + s, at + i] = read(H, (j, s, i))
                            at += dims[j]
                if only_look or bs == 0:
                    continue
                for s in range(few):
                    for i in range(dims[J]):
                        error = read(H, (J, s, i)) - y[order[begin + s], i]
                        loss += error * error
                        g = 2 * m * error / bs
                        write(G, (J, s, i), g)
                        write(T, (J, i, s), g)
                norm = m * 0
                for j in range(J - 1, -1, -1):
                    norm += _backward(
                        few, part > 0, j, panels, slope, m, dims, A, C, dC, dc, G, T, Z, D, sums, gram, square
                    )
            if bs == 0:
                break
            if only_look:
                continue
            losses[turn] = loss / bs
            norm = m * 0 if norm < 0 else math.sqrt(norm)  # products that cancel may leave less than nothing
            scale = m * 0 + 1 if norm < clip or clip == math.inf else clip / norm
            if adam:
                count = float(done + turn + 1)
                length = number(lr / (1 - math.pow(float(momentum), count)))
                root = number(1 / math.sqrt(1 - math.pow(float(b2), count)))
            if plain:
                _shrink(bs, J, dims, T, -lr * rate * scale)
            for j in range(J):
                _move_biases(j, dims[j + 1], c, dc, vc, sc, scale, length, momentum, adam, b2, root, eps)
            before = bs
            if len(means) > 0 and start + size >= samples:
                means[known] = _mean(losses, turn + 1 - steps, turn + 1)
                epochs, known = epochs + 1, known + 1
                if _rule_may_speak(means, known, epochs, after, window, level):
                    most = turn + 1
        return most

    return train_steps


train_steps = compiled_with(fingerprint())
