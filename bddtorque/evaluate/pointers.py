"""Arrays and plans at addresses, rows of one state, space on the stack: for functions that count no references.

Numba's own `carray`, `expand_dims` and `reshape` are refused in such functions, or call functions of NumPy's.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numba.np import arrayobj

from bddtorque.base.jit import DISABLE_JIT

make_array: Any = arrayobj.make_array
populate_array: Any = arrayobj.populate_array
unpack_tuple: Any = cgutils.unpack_tuple
alloca_once: Any = cgutils.alloca_once

get_item_pointer: Any = cgutils.get_item_pointer2

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


def _rows(typing: Any, out: Any) -> Any:
    """Return an array (n,) as one of (1, n), and (N, n) as it is."""
    kind, make = each_as_rows(out, readonly=False)
    return kind(out), lambda context, builder, signature, given: make(context, builder, given[0], None)


def _given_rows(typing: Any, arrays: Any) -> Any:
    """Do the same for a tuple of arrays that are only read: a plan is compiled once for all of these."""
    kind, make = each_as_rows(arrays, readonly=True)
    return kind(arrays), lambda context, builder, signature, given: make(context, builder, given[0], None)


def _c_rows(array: Any) -> Any:
    return types.Array(array.dtype, 2, "C", readonly=not array.mutable)


def _rows_from(typing: Any, arrays: Any, first: Any, count: Any) -> Any:
    """Return `count` states from `first` on of arrays (N, n) that lie in rows."""

    def part(builder: Any, data: Any, shape: Any, strides: Any, state: Any) -> Any:
        return builder.gep(data, [builder.mul(state[0], shape[1])]), [state[1], shape[1]], None

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


def _word_at(typing: Any, arrays: Any, which: Any, state: Any, column: Any) -> Any:
    """Return an element of one of several integer arrays (N, n) as int64, and whether it is beyond int64."""
    if any(not isinstance(each.dtype, types.Integer) for each in arrays):
        raise TypingError(f"words must be integers, got {arrays}")
    pair: Any = types.Tuple((types.int64, types.boolean))  # type: ignore[no-untyped-call]
    word_type, bit_type = ir.IntType(64), ir.IntType(1)

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        place, row, word = (context.cast(builder, given[k], signature.args[k], types.intp) for k in (1, 2, 3))
        values = unpack_tuple(builder, given[0])
        blocks = [builder.append_basic_block(f"array{k}") for k in range(len(values))]
        end = builder.append_basic_block("read")
        switch = builder.switch(place, blocks[-1])
        loaded = []
        for k, (kind, value, block) in enumerate(zip(arrays, values, blocks, strict=True)):
            if k < len(blocks) - 1:
                switch.add_case(place.type(k), block)
            builder.position_at_end(block)
            array = make_array(kind)(context, builder, value)
            shape, strides = (unpack_tuple(builder, each) for each in (array.shape, array.strides))
            element = builder.load(
                get_item_pointer(context, builder, array.data, shape, strides, kind.layout, [row, word])
            )
            integer = context.cast(builder, element, kind.dtype, types.int64)
            beyond = builder.icmp_signed("<", integer, word_type(0)) if kind.dtype == types.uint64 else bit_type(0)
            loaded.append((integer, beyond, builder.block))
            builder.branch(end)
        builder.position_at_end(end)
        integer, beyond = builder.phi(word_type), builder.phi(bit_type)
        for one_word, one_bit, block in loaded:
            integer.add_incoming(one_word, block)
            beyond.add_incoming(one_bit, block)
        return context.make_tuple(builder, pair, [integer, beyond])

    return pair(arrays, which, state, column), generate


def _plain_word(arrays: Any, which: int, state: int, column: int) -> tuple[Any, bool]:
    """Return the same in plain Python, for NUMBA_DISABLE_JIT, where all arrays are int64."""
    return arrays[which][state, column], False


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


def _run(typing: Any, address: Any, arrays: Any, out: Any, table: Any, counts: Any) -> Any:
    """Run the plan whose function `states` lies at an address."""
    return types.none(address, arrays, out, table, counts), _call


def _run_tiles(typing: Any, address: Any, arrays: Any, out: Any, table: Any, counts: Any, rows: Any, end: Any) -> Any:
    """Run the plan whose function `tiles` or `columns` lies at an address."""
    return types.none(address, arrays, out, table, counts, rows, end), _call


def _do(typing: Any, address: Any, descriptor: Any, thread: Any, epoch: Any) -> Any:
    """Have a thread do its part of a state, by the function that lies at an address."""
    return types.none(address, descriptor, types.int64, types.int64), _call


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
rows_from: Any = intrinsic(_rows_from)
columns_of: Any = intrinsic(_columns_of)
rows_at: Any = intrinsic(_rows_at)
word_at: Any = _plain_word if DISABLE_JIT else intrinsic(_word_at)
space_of: Any = intrinsic(_space)
align_stack: Any = intrinsic(_align)
