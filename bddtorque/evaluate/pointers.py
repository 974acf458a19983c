"""Arrays and plans at addresses, rows of one state, space on the stack: for functions that count no references.

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
alloca_once: Any = cgutils.alloca_once

LINE_BYTES = 64
"""Of a line of the caches."""


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


def _align(typing: Any) -> Any:
    """Have the stack of this function begin at a line of the caches: vectors that lie across two take twice as long.

    LLVM aligns it only where a variable asks for that, not for vectors for which no register is left.
    """

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        variable = alloca_once(builder, ir.IntType(64))
        variable.align = LINE_BYTES
        kind = ir.FunctionType(ir.VoidType(), [variable.type])
        builder.asm(kind, "", "r", [variable], side_effect=True)  # else nothing would be left of it
        return context.get_dummy_value()

    return types.none(), generate


def _address(typing: Any, array: Any) -> Any:
    """Return the address of an array's first element."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.ptrtoint(make_array(array)(context, builder, given[0]).data, ir.IntType(64))

    return types.int64(array), generate


def _run(typing: Any, address: Any, q: Any, qd: Any, qdd: Any, tau: Any, table: Any, counts: Any) -> Any:
    """Run the plan whose function `states` lies at an address."""
    return types.none(address, q, qd, qdd, tau, table, counts), _call


def _run_tiles(
    typing: Any, address: Any, q: Any, qd: Any, qdd: Any, tau: Any, table: Any, counts: Any, rows: Any, end: Any
) -> Any:
    """Run the plan whose function `tiles` or `columns` lies at an address."""
    return types.none(address, q, qd, qdd, tau, table, counts, rows, end), _call


def _do(typing: Any, address: Any, book: Any, thread: Any, epoch: Any) -> Any:
    """Have a thread do its part of a state, by the function that lies at an address."""
    return types.none(address, book, types.int64, types.int64), _call


def _call(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    """Call a function that Numba compiled, which returns nothing and raises nothing; elements have any type."""
    convention, kinds = context.call_conv, signature.args[1:]
    function = convention.get_function_type(types.none, kinds)
    returned, raised = (alloca_once(builder, kind.pointee) for kind in function.args[:2])
    arguments = context.get_arg_packer(kinds).as_arguments(builder, given[1:])
    builder.call(builder.inttoptr(given[0], function.as_pointer()), [returned, raised, *arguments])
    return context.get_dummy_value()


def entry(function: Any, kinds: tuple[Any, ...]) -> int:
    """Return the address of a compiled function for arguments of these types: compiled now, or found on disk.

    Other compiled code that calls it there holds no copy of it, which the compiler would have to optimise once more.
    """
    function.compile(kinds)
    made = function.overloads[kinds]
    address: int = made.library.get_pointer_to_function(made.fndesc.llvm_func_name)
    return address


array_at: Any = intrinsic(_array)
address_of: Any = intrinsic(_address)
run_at: Any = intrinsic(_run)
run_tiles_at: Any = intrinsic(_run_tiles)
do_at: Any = intrinsic(_do)
as_rows: Any = intrinsic(_rows)
given_rows: Any = intrinsic(_given_rows)
space_of: Any = intrinsic(_space)
align_stack: Any = intrinsic(_align)
