"""Tile: a block of S rows by R vector registers, held in registers while a loop runs over it, as inside a BLAS.

numba has no such value, so this adds one, with the handful of operations that training needs, on views of arrays. cx
is numba's context, bd LLVM's instruction builder.
"""

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic, models, register_model

from saddlescope.engines.fused.view import I64, address


def register_bytes():
    """The vector width of the processor that numba compiles for. Only speed depends on it."""
    features = config.CPU_FEATURES or ("" if config.CPU_NAME else binding.get_host_cpu_features().flatten())
    return 64 if "+avx512f" in features or "avx512" in (config.CPU_NAME or "") else 32


REGISTER = register_bytes()
# Panels are the innermost axis of every array. Twelve registers of sums hide the latency of a multiply-add and leave
# four of AVX2's sixteen for the factors: 4 samples × 3 registers, 2 × 6, or 1 × 6.
PANEL = 6
I32 = ir.IntType(32)


class Tile(types.Type):
    def __init__(self, dtype, rows, registers):
        self.dtype, self.rows, self.registers = dtype, rows, registers
        super().__init__(f"Tile({dtype}, {rows}, {registers})")


@register_model(Tile)
class TileModel(models.PrimitiveModel):
    def __init__(self, manager, tile):
        register = vector(manager.lookup(tile.dtype).get_value_type(), tile.dtype)
        super().__init__(manager, tile, ir.ArrayType(register, tile.rows * tile.registers))


def vector(scalar, dtype):
    return ir.VectorType(scalar, REGISTER * 8 // dtype.bitwidth)


def _registers_at(cx, bd, array, value, index, at, shift=0):
    p = address(cx, bd, array, value, index, at, shift)
    return bd.bitcast(p, vector(cx.get_value_type(array.dtype), array.dtype).as_pointer())


def _load_at(bd, p, offset):
    return bd.load(bd.gep(p, [I64(offset)]), align=4)


def pack(cx, bd, tile, registers):
    value = ir.Constant(cx.get_value_type(tile), ir.Undefined)
    for q, register in enumerate(registers):
        value = bd.insert_value(value, register, q)
    return value


def _unpack(bd, tile, value):
    return [bd.extract_value(value, q) for q in range(tile.rows * tile.registers)]


def broadcast(cx, bd, x, given, dtype):
    """A register with the number x, of the numba type `given`, in every lane."""
    x = cx.cast(bd, x, given, dtype)
    none = ir.Constant(vector(x.type, dtype), ir.Undefined)
    zeros = ir.Constant(ir.VectorType(I32, none.type.count), None)
    return bd.shuffle_vector(bd.insert_element(none, x, I32(0)), none, zeros)


def _muladd(bd, x, y, z):
    return bd.fadd(bd.fmul(x, y, flags=["contract"]), z, flags=["contract"])


def add_lanes(bd, v):
    scalar = v.type.element
    name = f"llvm.vector.reduce.fadd.v{v.type.count}{scalar.intrinsic_name}"
    f = cgutils.get_or_insert_function(bd.module, ir.FunctionType(scalar, [scalar, v.type]), name)
    return bd.call(f, [scalar(0.0), v], fastmath=["reassoc"])


@intrinsic
def lanes(typing, array):
    """Numbers in a register, as a constant of the compiler."""
    return types.intp(array), lambda cx, bd, sig, args: I64(REGISTER * 8 // array.dtype.bitwidth)


@intrinsic(prefer_literal=True)
def zeros(typing, array, rows, registers):
    tile = Tile(array.dtype, rows.literal_value, registers.literal_value)

    def build(cx, bd, sig, args):
        return ir.Constant(cx.get_value_type(tile), None)

    return tile(array, rows, registers), build


@intrinsic(prefer_literal=True)
def load(typing, array, index, rows, registers):
    """`rows` consecutive rows of the array, `registers` of each, the first at array[index]."""
    tile = Tile(array.dtype, rows.literal_value, registers.literal_value)

    def build(cx, bd, sig, args):
        ps = [_registers_at(cx, bd, array, args[0], index, args[1], q) for q in range(tile.rows)]
        return pack(cx, bd, tile, [_load_at(bd, p, v) for p in ps for v in range(tile.registers)])

    return tile(array, index, rows, registers), build


@intrinsic
def store(typing, array, index, tile):
    def build(cx, bd, sig, args):
        values = _unpack(bd, tile, args[2])
        for q in range(tile.rows):
            p = _registers_at(cx, bd, array, args[0], index, args[1], q)
            for v in range(tile.registers):
                bd.store(values[q * tile.registers + v], bd.gep(p, [I64(v)]), align=4)
        return cx.get_dummy_value()

    return types.none(array, index, tile), build


@intrinsic(prefer_literal=True)
def repeat(typing, row, rows):
    """A tile of `rows` equal rows."""
    tile = Tile(row.dtype, rows.literal_value, row.registers)

    def build(cx, bd, sig, args):
        return pack(cx, bd, tile, _unpack(bd, row, args[0]) * tile.rows)

    return tile(row, rows), build


@intrinsic
def column_times_row(typing, x, at_x, y, at_y, tile):
    """tile[q] + x[..., s + q, k] · y[at_y], where at_x is (..., s, k): a column of numbers times one row."""

    def build(cx, bd, sig, args):
        ps = [address(cx, bd, x, args[0], at_x, args[1], q) for q in range(tile.rows)]
        xs = [broadcast(cx, bd, bd.load(p), x.dtype, tile.dtype) for p in ps]
        row, values = _registers_at(cx, bd, y, args[2], at_y, args[3]), _unpack(bd, tile, args[4])
        for v in range(tile.registers):  # one register of the row at a time: loaded all first, they would spill
            b = _load_at(bd, row, v)
            for q, a in enumerate(xs):
                at = q * tile.registers + v
                values[at] = _muladd(bd, a, b, values[at])
        return pack(cx, bd, tile, values)

    return tile(x, at_x, y, at_y, tile), build


@intrinsic
def add_scaled(typing, given, index, x, tile):
    """view[index] += x · tile, register by register."""

    def build(cx, bd, sig, args):
        x_, values = broadcast(cx, bd, args[2], x, tile.dtype), _unpack(bd, tile, args[3])
        for q in range(tile.rows):
            p = _registers_at(cx, bd, given, args[0], index, args[1], q)
            for v in range(tile.registers):
                new = _muladd(bd, x_, values[q * tile.registers + v], _load_at(bd, p, v))
                bd.store(new, bd.gep(p, [I64(v)]), align=4)
        return cx.get_dummy_value()

    return types.none(given, index, x, tile), build


@intrinsic
def decay_add(typing, given, index, momentum, x, tile):
    """view[index] = momentum · view[index] + x · tile; returns the new rows."""

    def build(cx, bd, sig, args):
        m_, x_ = (broadcast(cx, bd, a, t, tile.dtype) for a, t in ((args[2], momentum), (args[3], x)))
        values, new = _unpack(bd, tile, args[4]), []
        for q in range(tile.rows):
            p = _registers_at(cx, bd, given, args[0], index, args[1], q)
            for v in range(tile.registers):
                new.append(_muladd(bd, x_, values[q * tile.registers + v], bd.fmul(m_, _load_at(bd, p, v))))
                bd.store(new[-1], bd.gep(p, [I64(v)]), align=4)
        return pack(cx, bd, tile, new)

    return tile(given, index, momentum, x, tile), build


@intrinsic
def relu(typing, x):
    """0 where x < 0, else x: what is not a number stays so."""

    def build(cx, bd, sig, args):
        none = ir.Constant(vector(cx.get_value_type(x.dtype), x.dtype), None)
        values = _unpack(bd, x, args[0])
        return pack(cx, bd, x, [bd.select(bd.fcmp_ordered("<", a, none), none, a) for a in values])

    return x(x), build


@intrinsic
def gate(typing, x, y):
    """0 where y ≤ 0, else x."""

    def build(cx, bd, sig, args):
        none = ir.Constant(vector(cx.get_value_type(x.dtype), x.dtype), None)
        pairs = zip(_unpack(bd, x, args[0]), _unpack(bd, y, args[1]), strict=True)
        return pack(cx, bd, x, [bd.select(bd.fcmp_ordered("<=", b, none), none, a) for a, b in pairs])

    return x(x, y), build


@intrinsic
def leaky_gate(typing, x, y, slope):
    """slope · x where y ≤ 0, else x. With y = x it is leaky ReLU."""

    def build(cx, bd, sig, args):
        s = broadcast(cx, bd, args[2], slope, x.dtype)
        none = ir.Constant(s.type, None)
        pairs = zip(_unpack(bd, x, args[0]), _unpack(bd, y, args[1]), strict=True)
        return pack(cx, bd, x, [bd.select(bd.fcmp_ordered("<=", b, none), bd.fmul(a, s), a) for a, b in pairs])

    return x(x, y, slope), build


@intrinsic
def squares(typing, tile, total):
    """total + Σ tile² over its rows, with total one row."""

    def build(cx, bd, sig, args):
        row, values = _unpack(bd, total, args[1]), _unpack(bd, tile, args[0])
        for at, x in enumerate(values):
            row[at % tile.registers] = _muladd(bd, x, x, row[at % tile.registers])
        return pack(cx, bd, total, row)

    return total(tile, total), build


@intrinsic
def dot_panels(typing, x, at_x, y, at_y, sums):
    """sums[q, m] + x[at_x + q] · y[at_y + m] over one panel, lane by lane; at_x and at_y begin rows."""

    def build(cx, bd, sig, args):
        px = [_registers_at(cx, bd, x, args[0], at_x, args[1], q) for q in range(sums.rows)]
        py = [_registers_at(cx, bd, y, args[2], at_y, args[3], m) for m in range(sums.registers)]
        values = _unpack(bd, sums, args[4])
        for v in range(PANEL):
            xs = [_load_at(bd, p, v) for p in px]
            for m, p in enumerate(py):
                b = _load_at(bd, p, v)
                for q, a in enumerate(xs):
                    at = q * sums.registers + m
                    values[at] = _muladd(bd, a, b, values[at])
        return pack(cx, bd, sums, values)

    return sums(x, at_x, y, at_y, sums), build


@intrinsic
def total(typing, register):
    """The sum over the lanes of a tile of one register."""
    return register.dtype(register), lambda cx, bd, sig, args: add_lanes(bd, bd.extract_value(args[0], 0))
