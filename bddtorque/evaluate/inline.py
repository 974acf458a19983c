"""Kernels: a plan as a compiled function of its own, for use inside a user's compiled loop.

The function knows the addresses of the plan's arrays and keeps the arrays alive; its registers lie on the stack. Numba
is told of the addresses as such, so that it never writes a loop around the kernel into a cache on disk: the addresses
of one process are nothing in the next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from bddtorque.evaluate.llvm_code import HIGH
from bddtorque.evaluate.pointers import array_at, each_as_rows, make_array, unpack_tuple
from bddtorque.evaluate.state_arrays import StateArrays

if TYPE_CHECKING:  # its generated modules import this one
    from bddtorque.evaluate.code_writer import Straight

OPTIONS: Any = {"nogil": True, "_nrt": False}
"""Of kernels: they count no references, since nothing is allocated and the caller holds the arrays."""
SHAPES = "kernel: arrays must have shape (n,) or (N, n), n being the number of words"


def _pointer(typing: Any, address: Any) -> Any:
    """Turn an address (a literal) of this process into a pointer."""
    if not isinstance(address, types.IntegerLiteral):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.add_dynamic_addr(builder, address.literal_value, info="bddtorque table")

    return types.voidptr(address), generate


def _stack(typing: Any, count: Any) -> Any:
    """Return the address of `count` (a literal) int64 on the stack of the caller, all zero."""
    if not isinstance(count, types.IntegerLiteral):
        return None
    size = count.literal_value

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        space = cgutils.alloca_once(builder, ir.ArrayType(ir.IntType(64), size))
        builder.store(ir.Constant(ir.ArrayType(ir.IntType(64), size), None), space)
        return builder.bitcast(space, cgutils.voidptr_t)

    return types.voidptr(count), generate


_pointer_to: Any = intrinsic(_pointer)
stack_of: Any = intrinsic(_stack)


def _array_arguments(names: Sequence[str], widths: Sequence[int]) -> Any:
    """Return what takes all arguments of a kernel, the last for the outputs, refusing what are no arrays of words.

    It gives whether the arrays have the widths they should and one length, the input arrays in rows, and the last. What
    takes those is not compiled for arguments that are refused.
    """

    def check(typing: Any, given: Any) -> Any:
        if len(given) != len(names):
            raise TypingError(f"kernel takes {len(names)} arrays ({', '.join(names)}), got {len(given)} arguments")
        for name, kind in zip(names, given, strict=True):
            words = isinstance(kind, types.Array) and kind.ndim in (1, 2) and isinstance(kind.dtype, types.Integer)
            words = words and kind.ndim == getattr(given[0], "ndim", 0)
            last = name is names[-1]
            if not words or (last and (kind.dtype != types.int64 or not kind.mutable)):
                wanted = "a writable int64 array" if last else "an integer array"
                raise TypingError(f"kernel: {name} must be {wanted} of shape (n,) or (N, n), got {kind}")
        own: Any = types.Tuple(list(given)[:-1])
        inputs, make_inputs = each_as_rows(own, readonly=True)
        out, make_out = each_as_rows(given[len(names) - 1], readonly=False)
        made: Any = types.Tuple((types.boolean, inputs, out))

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            values, fits, length = unpack_tuple(builder, arguments[0]), ir.IntType(1)(1), None
            for kind, width, value in zip(given, widths, values, strict=True):
                shape = unpack_tuple(builder, make_array(kind)(context, builder, value).shape)
                fits = builder.and_(fits, builder.icmp_signed("==", shape[-1], shape[-1].type(width)))
                length = length or shape[0]
                if kind.ndim == 2:
                    fits = builder.and_(fits, builder.icmp_signed("==", shape[0], length))
            rows = make_inputs(context, builder, context.make_tuple(builder, own, values[:-1]), None)
            return context.make_tuple(builder, made, [fits, rows, make_out(context, builder, values[-1], None)])

        return made(given), generate

    return intrinsic(check)


def _number_arguments(arrays: StateArrays) -> Any:
    """Return what puts all arguments of a kernel, which are numbers, into memory, refusing what are no words."""

    def check(typing: Any, given: Any, address: Any) -> Any:
        names = arrays.names
        if len(given) != len(names):
            raise TypingError(f"kernel takes {len(names)} words ({', '.join(names)}), got {len(given)} arguments")
        for name, kind in zip(names, given, strict=True):
            if not isinstance(kind, types.Integer):
                raise TypingError(f"kernel: {name} must be an integer, got {kind}")

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            memory = builder.bitcast(arguments[1], ir.IntType(64).as_pointer())
            for k, (word, kind) in enumerate(zip(arrays.words, given, strict=True)):
                value = context.cast(builder, builder.extract_value(arguments[0], k), kind, types.int64)
                if kind == types.uint64 and word.kind == "range":
                    beyond = builder.icmp_signed("<", value, value.type(0))
                    value = builder.select(beyond, value.type(HIGH), value)
                builder.store(value, builder.gep(memory, [ir.IntType(64)(k)]))
            return context.get_dummy_value()

        return types.none(given, address), generate

    return intrinsic(check)


def _public_kernel(run: Any, arrays: StateArrays, keep: Any, **options: Any) -> Callable[..., Any]:
    """Return the kernel that users call, over run(arrays, out) on arrays (N, n): of arrays, or of numbers."""
    if arrays.packed and len(arrays.outputs) == 1:
        count, put = len(arrays.words), _number_arguments(arrays)

        def kernel(*given: Any) -> Any:
            space = stack_of(count)
            put(given, space)
            out = array_at(stack_of(1), (1, 1), np.int64)
            run((array_at(space, (1, count), np.int64),), out)
            return out[0, 0]

    else:
        outputs = [array.name for array in arrays.interface.outputs]
        names = [*(array.name for array in arrays.inputs), outputs[0] if len(outputs) == 1 else "out"]
        take = _array_arguments(names, [*map(len, arrays.inputs), len(arrays.outputs)])

        def kernel(*given: Any) -> Any:
            fits, inputs, out = take(given)
            if not fits:
                raise ValueError(SHAPES)
            run(inputs, out)

    function: Any = numba.njit(**OPTIONS, **options)(kernel)
    function.kept = keep  # lives as long as the function
    return function  # type: ignore[no-any-return]


def straight_kernel(code: Straight, arrays: StateArrays, bare: Callable[..., None]) -> Callable[..., Any]:
    """Return the kernel of straight-line code and its tables."""
    address, size, kind = code.table.ctypes.data, len(code.table), code.table.dtype

    def run(given: Any, out: Any) -> None:
        bare(given, out, array_at(_pointer_to(address), (size,), kind))

    return _public_kernel(numba.njit(forceinline=True, **OPTIONS)(run), arrays, code, forceinline=True)
