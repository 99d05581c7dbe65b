"""The peak of one core: multiply-adds on vector registers, twelve independent chains, no memory."""

import time

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from saddlescope.engines.fused.tile import REGISTER, add_lanes, broadcast

CHAINS, UNROLL, TURNS = 12, 4, 2_000_000
LANES = REGISTER // 4


@intrinsic
def multiply_add_chains(typing, n, x):
    def build(cx, bd, sig, args):
        count, number = args
        factor = broadcast(cx, bd, number, x, types.float32)
        name = f"llvm.fma.v{LANES}f32"
        fma = cgutils.get_or_insert_function(bd.module, ir.FunctionType(factor.type, [factor.type] * 3), name)
        before, loop, after = bd.block, bd.append_basic_block("loop"), bd.append_basic_block("after")
        bd.branch(loop)
        bd.position_at_end(loop)
        i, chains = bd.phi(count.type), [bd.phi(factor.type) for _ in range(CHAINS)]
        values = chains
        for _ in range(UNROLL):
            values = [bd.call(fma, [factor, factor, v]) for v in values]
        following = bd.add(i, count.type(1))
        i.add_incoming(count.type(0), before)
        i.add_incoming(following, loop)
        for chain, value in zip(chains, values, strict=True):
            chain.add_incoming(factor, before)
            chain.add_incoming(value, loop)
        bd.cbranch(bd.icmp_signed("<", following, count), loop, after)
        bd.position_at_end(after)
        total = values[0]
        for value in values[1:]:
            total = bd.fadd(total, value)
        return add_lanes(bd, total)

    return types.float32(types.int64, types.float32), build


@njit
def run(n, x):
    return multiply_add_chains(n, x)


def peak_flops() -> float:
    """Floating-point operations per second of CPU time, single precision."""
    run(1, np.float32(1e-3))
    start = time.process_time()
    run(TURNS, np.float32(1e-3))
    return TURNS * UNROLL * CHAINS * LANES * 2 / (time.process_time() - start)
