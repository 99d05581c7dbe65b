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
WIDE = REGISTER == 64  # AVX-512: 32 registers of 64 bytes, where AVX2 has 16 of 32
# Panels are the innermost axis of every array. Twelve registers of sums hide the latency of a multiply-add and leave
# four of AVX2's sixteen for the factors: 2 samples × 6 registers, or 1 × 6. AVX-512 has room for sixteen: 4 × 4, 2 × 8,
# or 1 × 8.
PANEL = 8 if WIDE else 6
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


def registers_at(cx, bd, array, value, index, at, shift=0):
    p = address(cx, bd, array, value, index, at, shift)
    return bd.bitcast(p, vector(cx.get_value_type(array.dtype), array.dtype).as_pointer())


def load_at(bd, p, offset):
    return bd.load(bd.gep(p, [I64(offset)]), align=4)


def pack(cx, bd, tile, registers):
    value = ir.Constant(cx.get_value_type(tile), ir.Undefined)
    for q, register in enumerate(registers):
        value = bd.insert_value(value, register, q)
    return value


def unpack(bd, tile, value):
    return [bd.extract_value(value, q) for q in range(tile.rows * tile.registers)]


def broadcast(cx, bd, x, given, dtype):
    """A register with the number x, of the numba type `given`, in every lane."""
    x = cx.cast(bd, x, given, dtype)
    none = ir.Constant(vector(x.type, dtype), ir.Undefined)
    zeros = ir.Constant(ir.VectorType(I32, none.type.count), None)
    return bd.shuffle_vector(bd.insert_element(none, x, I32(0)), none, zeros)


def muladd(bd, x, y, z):
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
        ps = [registers_at(cx, bd, array, args[0], index, args[1], q) for q in range(tile.rows)]
        return pack(cx, bd, tile, [load_at(bd, p, v) for p in ps for v in range(tile.registers)])

    return tile(array, index, rows, registers), build


@intrinsic
def store(typing, array, index, tile):
    def build(cx, bd, sig, args):
        values = unpack(bd, tile, args[2])
        for q in range(tile.rows):
            p = registers_at(cx, bd, array, args[0], index, args[1], q)
            for v in range(tile.registers):
                bd.store(values[q * tile.registers + v], bd.gep(p, [I64(v)]), align=4)
        return cx.get_dummy_value()

    return types.none(array, index, tile), build


@intrinsic(prefer_literal=True)
def repeat(typing, row, rows):
    """A tile of `rows` equal rows."""
    tile = Tile(row.dtype, rows.literal_value, row.registers)

    def build(cx, bd, sig, args):
        return pack(cx, bd, tile, unpack(bd, row, args[0]) * tile.rows)

    return tile(row, rows), build


@intrinsic
def column_times_row(typing, x, at_x, y, at_y, tile):
    """tile[q] + x[..., s + q, k] · y[at_y], where at_x is (..., s, k): a column of numbers times one row."""

    def build(cx, bd, sig, args):
        ps = [address(cx, bd, x, args[0], at_x, args[1], q) for q in range(tile.rows)]
        xs = [broadcast(cx, bd, bd.load(p), x.dtype, tile.dtype) for p in ps]
        row, values = registers_at(cx, bd, y, args[2], at_y, args[3]), unpack(bd, tile, args[4])
        for v in range(tile.registers):  # one register of the row at a time: loaded all first, they would spill
            b = load_at(bd, row, v)
            for q, a in enumerate(xs):
                at = q * tile.registers + v
                values[at] = muladd(bd, a, b, values[at])
        return pack(cx, bd, tile, values)

    return tile(x, at_x, y, at_y, tile), build


@intrinsic
def relu(typing, x):
    """0 where x < 0, else x: what is not a number stays so."""

    def build(cx, bd, sig, args):
        none = ir.Constant(vector(cx.get_value_type(x.dtype), x.dtype), None)
        values = unpack(bd, x, args[0])
        return pack(cx, bd, x, [bd.select(bd.fcmp_ordered("<", a, none), none, a) for a in values])

    return x(x), build


@intrinsic
def gate(typing, x, y, at):
    """0 where the rows of y from `at` on are ≤ 0, else x: one register of y at a time, or masks would spill."""

    def build(cx, bd, sig, args):
        none = ir.Constant(vector(cx.get_value_type(x.dtype), x.dtype), None)
        ps = [registers_at(cx, bd, y, args[1], at, args[2], q) for q in range(x.rows)]
        new = []
        for n, a in enumerate(unpack(bd, x, args[0])):
            b = load_at(bd, ps[n // x.registers], n % x.registers)
            new.append(bd.select(bd.fcmp_ordered("<=", b, none), none, a))
        return pack(cx, bd, x, new)

    return x(x, y, at), build


@intrinsic
def leaky_gate(typing, x, y, slope):
    """slope · x where y ≤ 0, else x. With y = x it is leaky ReLU."""

    def build(cx, bd, sig, args):
        s = broadcast(cx, bd, args[2], slope, x.dtype)
        none = ir.Constant(s.type, None)
        pairs = zip(unpack(bd, x, args[0]), unpack(bd, y, args[1]), strict=True)
        return pack(cx, bd, x, [bd.select(bd.fcmp_ordered("<=", b, none), bd.fmul(a, s), a) for a, b in pairs])

    return x(x, y, slope), build


@intrinsic
def squares(typing, tile, total):
    """total + Σ tile² over its rows, with total one row."""

    def build(cx, bd, sig, args):
        row, values = unpack(bd, total, args[1]), unpack(bd, tile, args[0])
        for at, x in enumerate(values):
            row[at % tile.registers] = muladd(bd, x, x, row[at % tile.registers])
        return pack(cx, bd, total, row)

    return total(tile, total), build


@intrinsic
def dot_panels(typing, x, at_x, y, at_y, sums):
    """sums[q, m] + x[at_x + q] · y[at_y + m] over one panel, lane by lane; at_x and at_y begin rows."""

    def build(cx, bd, sig, args):
        px = [registers_at(cx, bd, x, args[0], at_x, args[1], q) for q in range(sums.rows)]
        py = [registers_at(cx, bd, y, args[2], at_y, args[3], m) for m in range(sums.registers)]
        values = unpack(bd, sums, args[4])
        for v in range(PANEL):
            xs = [load_at(bd, p, v) for p in px]
            for m, p in enumerate(py):
                b = load_at(bd, p, v)
                for q, a in enumerate(xs):
                    at = q * sums.registers + m
                    values[at] = muladd(bd, a, b, values[at])
        return pack(cx, bd, sums, values)

    return sums(x, at_x, y, at_y, sums), build


@intrinsic
def dot_rows_with(typing, sums, at, y, at_y, tile):
    """sums[s + q, at] += y[at_y] · tile[q], lane by lane: the rows of the tile stay in registers."""

    def build(cx, bd, sig, args):
        row, values = registers_at(cx, bd, y, args[2], at_y, args[3]), unpack(bd, tile, args[4])
        ps = [registers_at(cx, bd, sums, args[0], at, args[1], q) for q in range(tile.rows)]
        chains = max(1, 4 // tile.rows)  # sums that wait for nothing but themselves
        none = ir.Constant(vector(cx.get_value_type(tile.dtype), tile.dtype), None)
        found = [[load_at(bd, p, 0)] + [none] * (chains - 1) for p in ps]
        for v in range(tile.registers):  # one register of the row at a time
            b = load_at(bd, row, v)
            for q in range(tile.rows):
                found[q][v % chains] = muladd(bd, b, values[q * tile.registers + v], found[q][v % chains])
        for p, parts in zip(ps, found, strict=True):
            while len(parts) > 1:
                parts = [bd.fadd(a, b) for a, b in zip(parts[::2], parts[1::2], strict=True)]
            bd.store(parts[0], p, align=4)
        return cx.get_dummy_value()

    return types.none(sums, at, y, at_y, tile), build


@intrinsic
def total(typing, row):
    """The sum over all lanes of a tile of one row."""

    def build(cx, bd, sig, args):
        parts = unpack(bd, row, args[0])
        while len(parts) > 1:
            pairs = [bd.fadd(a, b) for a, b in zip(parts[::2], parts[1::2], strict=False)]
            parts = pairs + parts[len(parts) & -2 :]
        return add_lanes(bd, parts[0])

    return row.dtype(row), build
