"""Tiles that cover the rows of a panel: how many rows and registers are worked on at a time.

tile(S, R) makes the work on S rows and R registers of each, from row s and register `at` on; a cover runs it over all.
"""

from numba import njit

from saddlescope.engines.fused.tile import PANEL, WIDE

# Not `fastmath=True`, which promises that no NaN occurs: a run that diverges must say so.
OPTIONS = dict(fastmath={"contract", "reassoc", "nsz", "arcp"}, error_model="numpy", nogil=True)
# Passing arrays is costly, so every helper is inlined and needs no wrapper of its own.
inline = njit(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **OPTIONS)


def in_pairs(tile):
    """Two rows at a time over a whole panel, then the last one alone."""
    pair, single = tile(2, PANEL), tile(1, PANEL)

    @inline
    def run(n, *args):
        for s in range(0, n - 1, 2):
            pair(s, 0, *args)
        if n & 1:
            single(n - 1, 0, *args)

    return run


def _in_fours(tile):
    """Four rows at a time over half a panel, then what is left over a whole one."""
    four, pair, single = tile(4, PANEL // 2), tile(2, PANEL), tile(1, PANEL)

    @inline
    def run(n, *args):
        if n >= 4:
            for at in range(0, PANEL, PANEL // 2):
                for s in range(0, n - 3, 4):
                    four(s, at, *args)
        if n & 2:
            pair(n & -4, 0, *args)
        if n & 1:
            single(n - 1, 0, *args)

    return run


def _in_fives(tile):
    """Up to five rows at a time over half a panel, in tiles as equal as can be."""
    tile5, tile4, tile3, tile2, tile1 = (tile(I, PANEL // 2) for I in (5, 4, 3, 2, 1))

    @inline
    def rows(n, at, *args):
        i = 0
        for left in range((n + 4) // 5, 0, -1):
            size = (n - i + left - 1) // left
            if size == 5:
                tile5(i, at, *args)
            elif size == 4:
                tile4(i, at, *args)
            elif size == 3:
                tile3(i, at, *args)
            elif size == 2:
                tile2(i, at, *args)
            else:
                tile1(i, at, *args)
            i += size

    @inline
    def run(n, *args):
        for at in range(0, PANEL, PANEL // 2):
            rows(n, at, *args)

    return run


# Samples of features, and outputs of gradients: as many rows as the registers hold.
over_samples, over_outputs = (_in_fours, _in_fives) if WIDE else (in_pairs, in_pairs)
