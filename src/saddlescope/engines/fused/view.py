"""View: where an array lies, as a pointer and strides.

numba counts references to arrays at every branch and call, which costs more than the work of a small tile; views carry
no count. They check no bounds: only arrays made by `packing` may be given. cx is numba's context, bd LLVM's builder.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

I64 = ir.IntType(64)


class View(types.Type):
    def __init__(self, dtype, ndim):
        self.dtype, self.ndim = dtype, ndim
        super().__init__(f"View({dtype}, {ndim})")


@register_model(View)
class ViewModel(models.StructModel):
    def __init__(self, manager, view):
        members = [("data", types.CPointer(view.dtype)), ("strides", types.UniTuple(types.intp, view.ndim))]
        super().__init__(manager, view, members)


@intrinsic
def view(typing, array):
    """The view of a C-contiguous array."""
    given = View(array.dtype, array.ndim)

    def build(cx, bd, sig, args):
        whole = cx.make_array(array)(cx, bd, args[0])
        made = cgutils.create_struct_proxy(given)(cx, bd)
        made.data = whole.data
        sizes = cgutils.unpack_tuple(bd, whole.shape)
        strides = [I64(1)]
        for size in sizes[:0:-1]:
            strides.insert(0, bd.mul(strides[0], size))
        made.strides = cx.make_tuple(bd, types.UniTuple(types.intp, array.ndim), strides)
        return made._getvalue()

    return given(array), build


def address(cx, bd, given, value, index, at, shift=0):
    """Of the view's element [index], `shift` rows further along the last axis but one."""
    made = cgutils.create_struct_proxy(given)(cx, bd, value=value)
    strides = cgutils.unpack_tuple(bd, made.strides)
    at = [cx.cast(bd, i, t, types.intp) for i, t in zip(cgutils.unpack_tuple(bd, at), index, strict=True)]
    at[-2] = bd.add(at[-2], I64(shift))
    offset = at[-1]
    for i, stride in zip(at[:-1], strides[:-1], strict=True):
        offset = bd.add(offset, bd.mul(i, stride, flags=["nsw"]), flags=["nsw"])
    return bd.gep(made.data, [offset])


@intrinsic
def read(typing, given, index):
    """The number at view[index]."""

    def build(cx, bd, sig, args):
        return bd.load(address(cx, bd, given, args[0], index, args[1]))

    return given.dtype(given, index), build


@intrinsic
def write(typing, given, index, x):
    """view[index] = x."""

    def build(cx, bd, sig, args):
        bd.store(cx.cast(bd, args[2], x, given.dtype), address(cx, bd, given, args[0], index, args[1]))
        return cx.get_dummy_value()

    return types.none(given, index, x), build
