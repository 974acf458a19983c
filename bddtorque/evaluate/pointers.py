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

WORD_BYTES = 8
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


def _each(arrays: Any, kind_of: Any, make: Any) -> Any:
    """Return the type of new arrays, and what makes them: one of one array, or a tuple of a tuple of arrays.

    `kind_of` gives the type of each; `make` its data, shape and strides (None in C order) from those of the old one.
    """
    several = isinstance(arrays, types.BaseTuple)
    own = list(arrays) if several else [arrays]
    kinds = [kind_of(each) for each in own]

    def generate(context: Any, builder: Any, given: Any, state: Any) -> Any:
        values = unpack_tuple(builder, given) if several else [given]
        made = []
        for kind, old, value in zip(kinds, own, values, strict=True):
            array = make_array(old)(context, builder, value)
            shape, strides = (unpack_tuple(builder, each) for each in (array.shape, array.strides))
            new = make_array(kind)(context, builder)
            data, shape, strides = make(builder, array.data, shape, strides, state)
            width = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
            if strides is None:
                strides = [builder.mul(shape[1], width), width]
            populate_array(new, data=data, shape=shape, strides=strides, itemsize=width, meminfo=None)
            made.append(new._getvalue())
        if not several:
            return made[0]
        return context.make_tuple(builder, types.Tuple(kinds), made)  # type: ignore[no-untyped-call]

    made: Any = types.Tuple(kinds) if several else kinds[0]  # type: ignore[no-untyped-call]
    return made, generate


def _row_kind(array: Any, readonly: bool) -> Any:
    kind = array.copy(ndim=2, layout=array.layout if array.layout == "C" or array.ndim == 2 else "A")
    return kind.copy(readonly=True) if readonly else kind


def _one_row(builder: Any, data: Any, shape: Any, strides: Any, state: Any) -> Any:
    if len(shape) == 2:
        return data, shape, strides
    return data, [shape[0].type(1), *shape], [builder.mul(shape[0], strides[0]), *strides]


def each_as_rows(arrays: Any, readonly: bool) -> Any:
    """Return the type of arrays (n,) as arrays (1, n), and of (N, n) as they are, and what makes them."""
    return _each(arrays, lambda array: _row_kind(array, readonly), _one_row)


def _c_rows(array: Any) -> Any:
    return types.Array(array.dtype, 2, "C", readonly=not array.mutable)


def _rows_from(typing: Any, arrays: Any, first: Any, count: Any) -> Any:
    """Return `count` states from `first` on of arrays (N, n) that lie in rows, or of (n,), which are one state."""

    def part(builder: Any, data: Any, shape: Any, strides: Any, state: Any) -> Any:
        return builder.gep(data, [builder.mul(state[0], shape[-1])]), [state[1], shape[-1]], None

    kind, make = _each(arrays, _c_rows, part)

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        ends = [context.cast(builder, given[k], signature.args[k], types.intp) for k in (1, 2)]
        return make(context, builder, given[0], ends)

    return kind(arrays, first, count), generate


def _columns_of(typing: Any, arrays: Any) -> Any:
    """Return arrays (N, n) that lie in columns as arrays (n, the distance of columns)."""

    def turned(builder: Any, data: Any, shape: Any, strides: Any, state: Any) -> Any:
        return data, [shape[1], builder.udiv(strides[1], strides[1].type(WORD_BYTES))], None

    kind, make = _each(arrays, _c_rows, turned)
    return kind(arrays), lambda context, builder, signature, given: make(context, builder, given[0], None)


def _rows_at(typing: Any, arrays: Any, address: Any, states: Any) -> Any:
    """Return int64 arrays (states, n) as wide as given ones, one after another from an address on."""

    def next_rows(builder: Any, data: Any, shape: Any, strides: Any, state: Any) -> Any:
        begin, count = state
        pointer = builder.inttoptr(begin[0], ir.IntType(64).as_pointer())
        begin[0] = builder.add(begin[0], builder.mul(builder.mul(count, shape[-1]), count.type(WORD_BYTES)))
        return pointer, [count, shape[-1]], None

    kind, make = _each(arrays, lambda array: types.Array(types.int64, 2, "C"), next_rows)

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        begin, count = (context.cast(builder, given[k], signature.args[k], types.intp) for k in (1, 2))
        return make(context, builder, given[0], ([begin], count))

    return kind(arrays, address, states), generate


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


def _run(typing: Any, address: Any, arguments: Any) -> Any:
    """Call the compiled function at an address, which returns nothing, with a tuple of arguments; integers as int64."""
    kinds = [types.int64 if isinstance(kind, types.Integer) else kind for kind in arguments]

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        parts = zip(unpack_tuple(builder, given[1]), arguments, kinds, strict=True)
        values = [value if kind is own else context.cast(builder, value, own, kind) for value, own, kind in parts]
        call_at_address(context, builder, given[0], types.none, kinds, values)
        return context.get_dummy_value()

    return types.none(address, arguments), generate


def call_at_address(context: Any, builder: Any, address: Any, result: Any, kinds: Any, values: Any) -> Any:
    """Call a function that Numba compiled, which raises nothing, and return its result; elements have any type."""
    function = context.call_conv.get_function_type(result, kinds)
    returned, raised = (alloca_once(builder, kind.pointee) for kind in function.args[:2])
    arguments = context.get_arg_packer(kinds).as_arguments(builder, values)
    builder.call(builder.inttoptr(address, function.as_pointer()), [returned, raised, *arguments])
    return builder.load(returned)


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
rows_from: Any = intrinsic(_rows_from)
columns_of: Any = intrinsic(_columns_of)
rows_at: Any = intrinsic(_rows_at)
space_of: Any = intrinsic(_space)
align_stack: Any = intrinsic(_align)
