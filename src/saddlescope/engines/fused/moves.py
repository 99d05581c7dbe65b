"""How weights move: descent, momentum and Adam on rows of a view, register by register, while a gradient is a tile.

cx is numba's context, bd LLVM's builder, as in `tile`.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from saddlescope.engines.fused.tile import broadcast, load_at, muladd, pack, registers_at, unpack
from saddlescope.engines.fused.view import I64


@intrinsic
def add_scaled(typing, given, index, x, tile):
    """view[index] += x · tile, register by register."""

    def build(cx, bd, sig, args):
        x_, values = broadcast(cx, bd, args[2], x, tile.dtype), unpack(bd, tile, args[3])
        for q in range(tile.rows):
            p = registers_at(cx, bd, given, args[0], index, args[1], q)
            for v in range(tile.registers):
                new = muladd(bd, x_, values[q * tile.registers + v], load_at(bd, p, v))
                bd.store(new, bd.gep(p, [I64(v)]), align=4)
        return cx.get_dummy_value()

    return types.none(given, index, x, tile), build


@intrinsic
def decay_add(typing, given, index, momentum, x, tile):
    """view[index] = momentum · view[index] + x · tile; returns the new rows."""

    def build(cx, bd, sig, args):
        m_, x_ = (broadcast(cx, bd, a, t, tile.dtype) for a, t in ((args[2], momentum), (args[3], x)))
        values, new = unpack(bd, tile, args[4]), []
        for q in range(tile.rows):
            p = registers_at(cx, bd, given, args[0], index, args[1], q)
            for v in range(tile.registers):
                new.append(muladd(bd, x_, values[q * tile.registers + v], bd.fmul(m_, load_at(bd, p, v))))
                bd.store(new[-1], bd.gep(p, [I64(v)]), align=4)
        return pack(cx, bd, tile, new)

    return tile(given, index, momentum, x, tile), build


@intrinsic
def adam_step(typing, given, first, second, index, tile, scale, b1, b2, length, root, eps):
    """With g = scale · tile: first ← b1 first + (1 - b1) g, second ← b2 second + (1 - b2) g², and
    given ← given - length · first / (root · √second + eps). Bias corrections are in `length` and `root`."""
    factors = (scale, b1, b2, length, root, eps)

    def build(cx, bd, sig, args):
        scale_, b1_, b2_, length_, root_, eps_ = (
            broadcast(cx, bd, a, t, tile.dtype) for a, t in zip(args[5:], factors, strict=True)
        )
        one = ir.Constant(scale_.type, [1.0] * scale_.type.count)
        rest1, rest2, back = bd.fsub(one, b1_), bd.fsub(one, b2_), bd.fneg(length_)
        for q in range(tile.rows):
            ps = [
                registers_at(cx, bd, v, a, index, args[3], q)
                for v, a in zip((given, first, second), args, strict=False)
            ]
            for v in range(tile.registers):
                g = bd.fmul(scale_, bd.extract_value(args[4], q * tile.registers + v))
                w, m, s = (load_at(bd, p, v) for p in ps)
                m = muladd(bd, rest1, g, bd.fmul(b1_, m))
                s = muladd(bd, rest2, bd.fmul(g, g), bd.fmul(b2_, s))
                w = muladd(bd, back, bd.fdiv(m, muladd(bd, root_, _root(bd, s), eps_)), w)
                for p, new in zip(ps, (w, m, s), strict=True):
                    bd.store(new, bd.gep(p, [I64(v)]), align=4)
        return cx.get_dummy_value()

    return types.none(given, first, second, index, tile, *factors), build


def _root(bd, x):
    name = f"llvm.sqrt.v{x.type.count}{x.type.element.intrinsic_name}"
    return bd.call(cgutils.get_or_insert_function(bd.module, ir.FunctionType(x.type, [x.type]), name), [x])
