"""The passes over a net's panels, each a loop of tiles that stay in registers. For the axes see `kernel`.

With AVX-512 a tile of features is multiplied with the rows of C, and one of their gradients with those of A, while it
is in registers. AVX2 has too few: there `dots` does it, once some panels are done.
"""

from numba import njit

from saddlescope.engines.fused.covers import OPTIONS, in_pairs, inline, over_outputs, over_samples
from saddlescope.engines.fused.moves import adam_step, add_scaled, decay_add
from saddlescope.engines.fused.tile import (
    PANEL,
    WIDE,
    column_times_row,
    dot_panels,
    dot_rows_with,
    gate,
    lanes,
    leaky_gate,
    load,
    relu,
    repeat,
    squares,
    store,
    zeros,
)

GRAM = 8  # the largest batch whose features are multiplied with one another
CHUNK = 8 if WIDE else 4  # panels worked on together: what one pass writes is still near when the next reads it


@inline
def by_gram(bs, out):
    """Whether |dC|² comes from the products z_s · z_t of features: then dC is formed only when C is updated."""
    return bs <= GRAM and bs * bs <= 4 * out


# ---- Forward and backward ----


@inline
def _multiplied(n, s, j, p, at, Y, tile, sums):
    for i in range(n):
        dot_rows_with(sums, (s, i * lanes(sums)), Y, (j, p, i, at), tile)


@inline
def _left_to_dots(n, s, j, p, at, Y, tile, sums):
    pass


_products = _multiplied if WIDE else _left_to_dots


@over_samples
def features(S, R):
    """Z = σ(A h + b), and its products with the rows of C."""

    @inline
    def tile(s, register, j, p, n, out, A, b, C, H, Z, slope, sums):
        at = register * lanes(A)
        z = repeat(load(b, (j, p, at), 1, R), S)
        for k in range(n):
            z = column_times_row(H, (j, s, k), A, (j, p, k, at), z)
        z = relu(z) if slope == 0 else leaky_gate(z, z, slope)
        store(Z, (j, p, s, at), z)
        _products(out, s, j, p, at, C, z, sums)

    return tile


@over_samples
def deltas(S, R):
    """D = σ'(A h + b) Cᵀ g, and its products with the rows of A."""

    @inline
    def tile(s, register, j, p, n, out, A, C, G, Z, D, row, slope, sums):
        at = register * lanes(A)
        d = zeros(C, S, R)
        for i in range(out):
            d = column_times_row(G, (j + 1, s, i), C, (j, p, i, at), d)
        d = gate(d, Z, (j, p, s, at)) if slope == 0 else leaky_gate(d, load(Z, (j, p, s, at), S, R), slope)
        _kept(D, (0, row, s, at), d)
        _products(n, s, j, p, at, A, d, sums)

    return tile


@inline
def _not_kept(D, at, d):
    pass


_kept = _not_kept if WIDE else store


def _outer(I, R):
    """The rows i … of Σ_s g z, added to d."""

    @inline
    def run(i, at, j, p, bs, T, Z, d):
        for s in range(bs):
            d = column_times_row(T, (j + 1, i, s), Z, (j, p, s, at), d)
        return d

    return run


@over_outputs
def gradients(I, R):
    """dC, or what these samples `add` to it; and its squares lane by lane."""
    form = _outer(I, R)

    @inline
    def tile(i, register, j, p, bs, add, dC, T, Z, square):
        at = register * lanes(dC)
        d = form(i, at, j, p, bs, T, Z, load(dC, (j, p, i, at), I, R) if add else zeros(Z, I, R))
        store(dC, (j, p, i, at), d)
        store(square, (0, at), squares(d, load(square, (0, at), 1, R)))

    return tile


@in_pairs
def updates(I, R):
    """One step of C from the gradient d: v ← momentum v + scale d, then C ← C - lr v; or Adam's, if `adam`.

    Without either, a gradient that is formed here (`small`) is added as it forms: the kernel has put -lr scale into T.
    """
    form = _outer(I, R)

    @inline
    def apply(i, j, p, d, C, vC, sC, scale, lr, momentum, adam, b2, root, eps):
        if adam:
            adam_step(C, vC, sC, (j, p, i, 0), d, scale, momentum, b2, lr, root, eps)
        elif momentum > 0:
            add_scaled(C, (j, p, i, 0), -lr, decay_add(vC, (j, p, i, 0), momentum, scale, d))
        else:
            add_scaled(C, (j, p, i, 0), -lr * scale, d)

    @inline
    def tile(i, register, j, p, bs, small, plain, dC, T, Z, C, *rest):
        if small and plain:
            store(C, (j, p, i, 0), form(i, 0, j, p, bs, T, Z, load(C, (j, p, i, 0), I, R)))
        elif small:
            apply(i, j, p, form(i, 0, j, p, bs, T, Z, zeros(Z, I, R)), C, *rest)
        else:
            apply(i, j, p, load(dC, (j, p, i, 0), I, R), C, *rest)

    return tile


# ---- Products of rows over all panels ----


@inline
def square_of_row(first, past, j, Z, sums, row):
    """sums[row] += z · z of the one sample of a batch, over some panels: register by register, so that none waits."""
    found = load(sums, (row, 0), 1, PANEL)
    for p in range(first, past):
        found = squares(load(Z, (j, p, 0, 0), 1, PANEL), found)
    store(sums, (row, 0), found)


def _dot_tile(S, I):
    @inline
    def run(s, i, first, past, jx, shift, X, jy, Y, sums, row):
        acc = load(sums, (row + s, i * lanes(sums)), S, I)
        for p in range(first, past):
            acc = dot_panels(X, (jx, p - shift, s, 0), Y, (jy, p, i, 0), acc)
        store(sums, (row + s, i * lanes(sums)), acc)

    return run


def _dot_rows(S, R):
    """sums[s, i] += X[s] · Y[i] over some panels, lane by lane, for i from `i` (or s, if larger) up to n."""
    tile6, tile5, tile4, tile3, tile2, tile1 = (_dot_tile(S, I) for I in (6, 5, 4, 3, 2, 1))

    @inline
    def run(s, register, upper, n, *args):
        i = s if upper else 0
        for left in range((n - i + 5) // 6, 0, -1):  # in tiles as equal as can be
            size = (n - i + left - 1) // left
            if size == 6:
                tile6(s, i, *args)
            elif size == 5:
                tile5(s, i, *args)
            elif size == 4:
                tile4(s, i, *args)
            elif size == 3:
                tile3(s, i, *args)
            elif size == 2:
                tile2(s, i, *args)
            else:
                tile1(s, i, *args)
            i += size

    return run


dots_of = in_pairs(_dot_rows)


@njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **OPTIONS)
def dots(bs, upper, n, first, past, jx, shift, X, jy, Y, sums, row):
    dots_of(bs, upper, n, first, past, jx, shift, X, jy, Y, sums, row)
