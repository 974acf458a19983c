"""Arrays at addresses, rows of one state, space on the stack: for compiled functions that count no references.

Numba's own `carray`, `expand_dims` and `reshape` are refused in such functions, or call functions of NumPy's.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np import arrayobj

make_array: Any = arrayobj.make_array
populate_array: Any = arrayobj.populate_array
unpack_tuple: Any = cgutils.unpack_tuple


def _array(typing: Any, address: Any, shape: Any, dtype: Any) -> Any:
    """Return the contiguous array of a shape and type (a class of NumPy) that lies at an address, int64 or pointer."""
    kind = types.Array(dtype.dtype, len(shape), "C")

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        parts = zip(unpack_tuple(builder, given[1]), shape, strict=True)
        sizes = [context.cast(builder, each, own, types.intp) for each, own in parts]
        width = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(dtype.dtype)))
        strides = [width]
        for size in sizes[:0:-1]:
            strides.insert(0, builder.mul(strides[0], size))
        array = make_array(kind)(context, builder)
        turn = builder.bitcast if address == types.voidptr else builder.inttoptr
        data = turn(given[0], array.data.type)
        populate_array(array, data=data, shape=sizes, strides=strides, itemsize=width, meminfo=None)
        return array._getvalue()

    return kind(address, shape, dtype), generate


def _rows(typing: Any, states: Any) -> Any:
    """Return an array (n,) as one of (1, n), and (N, n) as it is."""
    return _as_rows(states, readonly=False)


def _given_rows(typing: Any, states: Any) -> Any:
    """Do the same for states that are only read, as evaluators have batches: a plan is compiled once for both."""
    return _as_rows(states, readonly=True)


def _as_rows(states: Any, readonly: bool) -> Any:
    kind = states.copy(ndim=2, layout=states.layout if states.layout == "C" or states.ndim == 2 else "A")
    kind = kind.copy(readonly=True) if readonly else kind

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        one = make_array(states)(context, builder, given[0])
        shape, strides = (unpack_tuple(builder, each) for each in (one.shape, one.strides))
        if states.ndim == 1:
            strides = [builder.mul(shape[0], strides[0]), *strides]
            shape = [context.get_constant(types.intp, 1), *shape]
        row = make_array(kind)(context, builder)
        populate_array(row, data=one.data, shape=shape, strides=strides, itemsize=one.itemsize, meminfo=None)
        return row._getvalue()

    return kind(states), generate


def _space(typing: Any, count: Any) -> Any:
    """Return the address of `count` int64 on the stack; only for functions that Python calls, not within loops."""
    if not isinstance(count, types.Integer):
        return None

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.ptrtoint(builder.alloca(ir.IntType(64), given[0]), ir.IntType(64))

    return types.int64(count), generate


array_at: Any = intrinsic(_array)
as_rows: Any = intrinsic(_rows)
given_rows: Any = intrinsic(_given_rows)
space_of: Any = intrinsic(_space)
