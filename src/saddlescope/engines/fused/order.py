"""The order of the samples in an epoch, drawn inside the kernel: numpy's own, number by number.

`draw_order` gives what `np.random.default_rng([seed, …, epoch]).permutation(n)` gives, in a thirtieth of the time for
few samples: SeedSequence (O'Neill's seed_seq with a pool of four), PCG64 (XSL RR 128/64), and a shuffle from the end,
whose numbers are masked to the bits they need and thrown away where they are too large. numpy promises the stream of
PCG64, but not of its shuffle: a test compares the orders.
"""

import numpy as np
from numba import njit, uint64

LOW = np.uint64(0xFFFFFFFF)
MULTIPLIER = np.uint64(0x2360ED051FC65DA4), np.uint64(0x4385DF649FCCF645)
inline = njit(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def seed_words(*numbers: int) -> np.ndarray:
    """Whole numbers as SeedSequence reads them: 32 bits at a time, the lowest first, at least one word each."""
    found = []
    for n in map(int, numbers):
        found += [n >> 32 * i & 0xFFFFFFFF for i in range(max(1, -(-n.bit_length() // 32)))]
    return np.array(found, np.uint64)


@inline
def _hashed(value, mixer, factor):
    """A word and the next mixer."""
    value, mixer = value ^ mixer, mixer * factor & LOW
    value = value * mixer & LOW
    return value ^ value >> uint64(16), mixer


@inline
def _mixed(x, y):
    found = (uint64(0xCA01F9DD) * x - uint64(0x4973F715) * y) & LOW
    return found ^ found >> uint64(16)


@inline
def _fill_pool(pool, words, epoch):
    """SeedSequence's pool of four words, from the words of a seed and the number of an epoch."""
    given, mixer = len(words) + 1, uint64(0x43B0D7E5)
    factor = uint64(0x931E8875)
    for i in range(4):
        word = words[i] if i < given - 1 else uint64(epoch) if i == given - 1 else uint64(0)
        pool[i], mixer = _hashed(word, mixer, factor)
    for source in range(4):
        for i in range(4):
            if i != source:
                word, mixer = _hashed(pool[source], mixer, factor)
                pool[i] = _mixed(pool[i], word)
    for source in range(4, given):
        for i in range(4):
            word, mixer = _hashed(words[source] if source < given - 1 else uint64(epoch), mixer, factor)
            pool[i] = _mixed(pool[i], word)


@inline
def _high(a, b):
    """The upper 64 bits of a · b."""
    shift = uint64(32)
    a0, a1, b0, b1 = a & LOW, a >> shift, b & LOW, b >> shift
    middle = a1 * b0 + (a0 * b0 >> shift)
    return a1 * b1 + (middle >> shift) + ((a0 * b1 + (middle & LOW)) >> shift)


@inline
def _stepped(high, low, step_high, step_low):
    """state · multiplier + increment, modulo 2^128."""
    found = low * MULTIPLIER[1]
    upper = _high(low, MULTIPLIER[1]) + high * MULTIPLIER[1] + low * MULTIPLIER[0]
    total = found + step_low
    return upper + step_high + uint64(total < found), total


@njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, nogil=True)
def draw_order(order, words, epoch):
    """Put the order of epoch `epoch` into `order`; `words` are those of the numbers before it."""
    pool, seeds = np.empty(4, np.uint64), np.empty(8, np.uint64)
    _fill_pool(pool, words, epoch)
    mixer = uint64(0x8B51F9DD)
    for i in range(8):
        seeds[i], mixer = _hashed(pool[i % 4], mixer, uint64(0x58F38DED))
    shift, one = uint64(32), uint64(1)
    start_high, start_low = seeds[1] << shift | seeds[0], seeds[3] << shift | seeds[2]
    step_high, step_low = seeds[5] << shift | seeds[4], seeds[7] << shift | seeds[6]
    step_high, step_low = step_high << one | step_low >> uint64(63), step_low << one | one
    low = step_low + start_low
    high = step_high + start_high + uint64(low < step_low)
    high, low = _stepped(high, low, step_high, step_low)
    spare, kept = uint64(0), False
    for i in range(len(order)):
        order[i] = i
    mask = LOW
    for i in range(len(order) - 1, 0, -1):
        while mask >> one >= uint64(i):  # the bits of i
            mask >>= one
        while True:  # numbers beyond i are thrown away
            if kept:
                j, kept = spare & mask, False
            else:
                high, low = _stepped(high, low, step_high, step_low)
                turn, mixed = high >> uint64(58), high ^ low
                mixed = mixed >> turn | mixed << (uint64(64) - turn & uint64(63))
                j, spare, kept = mixed & mask, mixed >> shift, True
            if j <= uint64(i):
                break
        order[i], order[j] = order[j], order[i]
