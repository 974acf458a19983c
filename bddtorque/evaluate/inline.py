"""A program as a compiled function of its own, for use inside a user's compiled loop.

The function knows the addresses of the program's arrays and keeps the arrays alive; its registers lie on the stack.
Numba is told of the addresses as such, so that it never writes a loop around the kernel into a cache on disk: the
addresses of one process are nothing in the next.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from llvmlite import ir
from numba import literal_unroll, types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from bddtorque.evaluate.machine import PROGRAM, program_at, program_descriptor, run_states
from bddtorque.evaluate.pointers import array_at, as_rows, given_rows
from bddtorque.evaluate.program import Program

if TYPE_CHECKING:  # its generated modules import this one
    from bddtorque.evaluate.code_writer import Straight

carray: Any = vars(numba)["carray"]
OPTIONS: Any = {"nogil": True, "_nrt": False}
"""Of kernels: they count no references, since nothing is allocated and the caller holds the arrays."""


def _pointer(typing: Any, address: Any) -> Any:
    """Turn an address (a literal) of this process into a pointer."""
    if not isinstance(address, types.IntegerLiteral):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.add_dynamic_addr(builder, address.literal_value, info="bddtorque program")

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


def _check(typing: Any, q: Any, qd: Any, qdd: Any, tau: Any) -> Any:
    """Return `tau`, and refuse what is no array of words when a call is compiled; no code is left of it.

    What takes `tau` from here is not compiled for arguments that are refused.
    """
    for name, given in (("q", q), ("qd", qd), ("qdd", qdd), ("tau", tau)):
        words = isinstance(given, types.Array) and given.ndim in (1, 2) and isinstance(given.dtype, types.Integer)
        words = words and given.ndim == getattr(q, "ndim", 0)
        if not words or (name == "tau" and (given.dtype != types.int64 or not given.mutable)):
            wanted = "a writable int64 array" if name == "tau" else "an integer array"
            raise TypingError(f"kernel: {name} must be {wanted} of shape (n,) or (N, n), got {given}")
    return tau(q, qd, qdd, tau), lambda context, builder, signature, arguments: arguments[3]


_pointer_to: Any = intrinsic(_pointer)
stack_of: Any = intrinsic(_stack)
_checked: Any = intrinsic(_check)


def program_kernel(program: Program, registers: int, joints: int) -> Callable[..., None]:
    """Return kernel(q, qd, qdd, tau): compiled, on integer arrays (n,) or (N, n), with nothing allocated."""
    own = program_descriptor(program, registers)
    descriptor, size, counters = own.ctypes.data, len(own), 3 * joints

    def kernel(q: Any, qd: Any, qdd: Any, tau: Any) -> None:
        tau = _checked(q, qd, qdd, tau)
        if not (q.shape == qd.shape == qdd.shape == tau.shape and q.shape[-1] == joints):
            raise ValueError("kernel: arrays must have shape (n,) or (N, n), n being the number of joints")
        places = array_at(_pointer_to(descriptor), (size,), np.int64)
        scratch = array_at(stack_of(registers), (registers,), np.int64)
        counts = array_at(stack_of(counters), (3, joints), np.int64)
        rows = given_rows(q), given_rows(qd), given_rows(qdd)
        run_states(program_at(places, PROGRAM), rows[0], rows[1], rows[2], as_rows(tau), scratch, counts)

    function: Any = numba.njit(**OPTIONS)(kernel)
    function.program = program, own  # keeps the arrays alive as long as the function
    return function  # type: ignore[no-any-return]


def straight_kernel(code: Straight, joints: int, bare: Callable[..., None]) -> Callable[..., None]:
    """Return kernel(q, qd, qdd, tau) for a function of straight-line code and its tables; as `program_kernel`."""
    address, size, kind = code.table.ctypes.data, len(code.table), code.table.dtype

    def kernel(q: Any, qd: Any, qdd: Any, tau: Any) -> None:
        tau = _checked(q, qd, qdd, tau)
        if not (q.shape == qd.shape == qdd.shape == tau.shape and q.shape[-1] == joints):
            raise ValueError("kernel: arrays must have shape (n,) or (N, n), n being the number of joints")
        values = array_at(_pointer_to(address), (size,), kind)
        bare(given_rows(q), given_rows(qd), given_rows(qdd), as_rows(tau), values)

    function: Any = numba.njit(forceinline=True, **OPTIONS)(kernel)
    function.code = code  # keeps the arrays alive as long as the function
    return function  # type: ignore[no-any-return]


def array_kernel(arm: Callable[..., None], sizes: tuple[int, ...], outputs: int, joints: int) -> Callable[..., None]:
    """Return kernel(array, ..., out) of arrays of these sizes and one for all outputs, over a kernel of positions."""
    count = len(sizes)

    @numba.njit(nogil=True)
    def kernel(*given: Any) -> None:
        if len(given) != count + 1:
            raise TypeError("kernel takes the input arrays of the quantity, and one array for its output words")
        words = carray(stack_of(joints), (joints,), np.int64)
        none = carray(stack_of(joints), (joints,), np.int64)
        result = carray(stack_of(joints), (joints,), np.int64)
        place, index = 0, 0
        for array in literal_unroll(given):
            if array.shape[0] != (sizes[index] if index < count else outputs):
                raise ValueError("kernel: an array must have as many words as the quantity says")
            if index < count:
                for k in range(sizes[index]):
                    words[place] = array[k] | array[k]  # floats have no `|` and are refused
                    place += 1
            index += 1  # noqa: SIM113 - Numba unrolls no enumerate
        arm(words, none, none, result)
        out = given[-1]
        for k in range(outputs):
            out[k] = result[k]

    return kernel


def word_kernel(arm: Callable[..., None], count: int) -> Callable[..., int]:
    """Return word = kernel(word, ...) of `count` words, over a kernel(q, qd, qdd, tau) that reads positions only."""

    @numba.njit(nogil=True)
    def kernel(*given: Any) -> Any:
        if len(given) != count:
            raise TypeError("kernel takes as many words as there are inputs")
        words = carray(stack_of(count), (count,), np.int64)
        none = carray(stack_of(count), (count,), np.int64)
        out = carray(stack_of(count), (count,), np.int64)
        place = 0
        for word in literal_unroll(given):
            words[place] = word | word  # floats have no `|` and are refused
            place += 1  # noqa: SIM113 - Numba unrolls no enumerate
        arm(words, none, none, out)
        return out[0]

    return kernel
