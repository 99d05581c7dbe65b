"""The passes over a net's panels, each a loop of tiles that stay in registers. For the axes see `kernel`."""

from numba import njit

from saddlescope.engines.fused.tile import (
    PANEL,
    add_scaled,
    column_times_row,
    decay_add,
    dot_panels,
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

# Not `fastmath=True`, which promises that no NaN occurs: a run that diverges must say so.
OPTIONS = dict(fastmath={"contract", "reassoc", "nsz", "arcp"}, error_model="numpy", nogil=True)
# Passing arrays is costly, so every helper is inlined and needs no wrapper of its own.
inline = njit(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **OPTIONS)


GRAM = 8  # the largest batch whose features are multiplied with one another


@inline
def by_gram(bs, out):
    """Whether |dC|² comes from the products z_s · z_t of features: then dC is formed only when C is updated."""
    return bs <= GRAM and bs * bs <= 4 * out


def _in_pairs(tile):
    """Run over n rows two at a time, then the last one alone."""
    pair, single = tile(2), tile(1)

    @inline
    def run(n, *args):
        for s in range(0, n - 1, 2):
            pair(s, *args)
        if n & 1:
            single(n - 1, *args)

    return run


@_in_pairs
def features(S):
    """Z = σ(A h + b)."""

    @inline
    def tile(s, j, p, n, A, b, H, Z, slope):
        z = repeat(load(b, (j, p, 0), 1, PANEL), S)
        for k in range(n):
            z = column_times_row(H, (j, s, k), A, (j, p, k, 0), z)
        if slope == 0:
            store(Z, (j, p, s, 0), relu(z))
        else:
            store(Z, (j, p, s, 0), leaky_gate(z, z, slope))

    return tile


@_in_pairs
def deltas(S):
    """D = σ'(A h + b) Cᵀ g."""

    @inline
    def tile(s, j, p, n, C, G, Z, D, at, slope):
        d = zeros(C, S, PANEL)
        for i in range(n):
            d = column_times_row(G, (j + 1, s, i), C, (j, p, i, 0), d)
        if slope == 0:
            store(D, (0, at, s, 0), gate(d, load(Z, (j, p, s, 0), S, PANEL)))
        else:
            store(D, (0, at, s, 0), leaky_gate(d, load(Z, (j, p, s, 0), S, PANEL), slope))

    return tile


def outer(I):
    """The rows i … of dC = Σ_s g z."""

    @inline
    def run(i, j, p, bs, T, Z):
        d = zeros(Z, I, PANEL)
        for s in range(bs):
            d = column_times_row(T, (j + 1, i, s), Z, (j, p, s, 0), d)
        return d

    return run


@_in_pairs
def gradients(I):
    """dC, and its squares lane by lane."""
    form = outer(I)

    @inline
    def tile(i, j, p, bs, dC, T, Z, square):
        d = form(i, j, p, bs, T, Z)
        store(dC, (j, p, i, 0), d)
        store(square, (0, 0), squares(d, load(square, (0, 0), 1, PANEL)))

    return tile


@_in_pairs
def updates(I):
    """v ← momentum v + scale d, then C ← C - lr v."""
    form = outer(I)

    @inline
    def apply(i, j, p, d, C, vC, scale, lr, momentum):
        if momentum > 0:
            v = decay_add(vC, (j, p, i, 0), momentum, scale, d)
            add_scaled(C, (j, p, i, 0), -lr, v)
        else:
            add_scaled(C, (j, p, i, 0), -lr * scale, d)

    @inline
    def tile(i, j, p, bs, small, C, dC, vC, T, Z, scale, lr, momentum):
        if small:
            apply(i, j, p, form(i, j, p, bs, T, Z), C, vC, scale, lr, momentum)
        else:
            apply(i, j, p, load(dC, (j, p, i, 0), I, PANEL), C, vC, scale, lr, momentum)

    return tile


def _dot_tile(S, I):
    @inline
    def run(s, i, first, past, jx, shift, X, jy, Y, sums, row):
        acc = load(sums, (row + s, i * lanes(sums)), S, I)
        for p in range(first, past):
            acc = dot_panels(X, (jx, p - shift, s, 0), Y, (jy, p, i, 0), acc)
        store(sums, (row + s, i * lanes(sums)), acc)

    return run


def _dot_rows(S):
    """sums[s, i] += X[s] · Y[i] over some panels, lane by lane, for i from `i` (or s, if larger) up to n."""
    tile6, tile5, tile4, tile3, tile2, tile1 = (_dot_tile(S, I) for I in (6, 5, 4, 3, 2, 1))

    @inline
    def run(s, upper, n, *args):
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


dots_of = _in_pairs(_dot_rows)


@njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **OPTIONS)
def dots(bs, upper, n, first, past, jx, shift, X, jy, Y, sums, row):
    dots_of(bs, upper, n, first, past, jx, shift, X, jy, Y, sums, row)
