"""Memory that threads share: loads, stores and exchanges that compiled code neither moves nor splits.

An ordinary load may be hoisted out of a loop that waits for it, and ordinary stores may change places. What is written
before a `publish` is seen by whoever has read the published value with `observe`; x86 does this for nothing, other
processors with a barrier.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic

from bddtorque.evaluate.pointers import make_array

WORD = ir.IntType(64)
HINTS = {
    **dict.fromkeys(("x86_64", "amd64"), ("llvm.x86.sse2.pause", ())),
    **dict.fromkeys(("aarch64", "arm64"), ("llvm.aarch64.isb", (15,))),
}
"""Hint that tells a processor that a loop only waits: LLVM's name for the instruction, and its operands."""
ALIGNED = 8


def _place(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    """Return the address of an element of an int64 array (n,)."""
    kind: Any = signature.args[0]
    array = make_array(kind)(context, builder, given[0])
    return builder.gep(array.data, [context.cast(builder, given[1], signature.args[1], types.intp)])


def _observe(typing: Any, array: Any, place: Any) -> Any:
    """Return an element; all that its writer had written before is seen from now on."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.load_atomic(_place(context, builder, signature, given), "acquire", ALIGNED)

    return types.int64(array, place), generate


def _publish(typing: Any, array: Any, place: Any, value: Any) -> Any:
    """Set an element, after all that was written before."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        word = context.cast(builder, given[2], signature.args[2], types.int64)
        builder.store_atomic(word, _place(context, builder, signature, given), "release", ALIGNED)
        return context.get_dummy_value()

    return types.none(array, place, value), generate


def _take(typing: Any, array: Any, place: Any, before: Any, after: Any) -> Any:
    """Set an element to `after` if it is `before`, and return whether it was; of many threads one has it so."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        old, new = (context.cast(builder, given[k], signature.args[k], types.int64) for k in (2, 3))
        done = builder.cmpxchg(_place(context, builder, signature, given), old, new, "acq_rel", "acquire")
        return builder.extract_value(done, 1)

    return types.boolean(array, place, before, after), generate


def _call(typing: Any, address: Any) -> Any:
    """Call the function at an address, which takes nothing; nothing is called at 0."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        with builder.if_then(builder.icmp_signed("!=", given[0], WORD(0))):
            kind = ir.FunctionType(ir.IntType(32), [])
            builder.call(builder.inttoptr(given[0], kind.as_pointer()), [])
        return context.get_dummy_value()

    return types.none(types.int64), generate


def _relax(typing: Any) -> Any:
    """Let a core that waits do less: a sibling on the same core, or the clock, gets what it does not need."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        if hint := HINTS.get(platform.machine().lower()):
            name, options = hint
            operands = [ir.IntType(32)(option) for option in options]
            kind = ir.FunctionType(ir.VoidType(), [each.type for each in operands])
            insert: Any = get_or_insert_function
            builder.call(insert(builder.module, kind, name), operands)
        return context.get_dummy_value()

    return types.none(), generate


observe: Any = intrinsic(_observe)
publish: Any = intrinsic(_publish)
take: Any = intrinsic(_take)
call_at: Any = intrinsic(_call)
relax: Any = intrinsic(_relax)


def yielding_function() -> int:
    """Return the address of the system's function that lets another thread have the core; 0 if there is none."""
    windows = sys.platform == "win32"
    try:
        library = ctypes.CDLL("kernel32" if windows else None)
        function = library.SwitchToThread if windows else library.sched_yield
        return ctypes.cast(function, ctypes.c_void_p).value or 0
    except (OSError, AttributeError):
        return 0


def other_cores() -> set[int]:
    """Return the cores that this thread may use but does not run on: where one that it wakes should run.

    Linux wakes a thread on the core of the one that wakes it, and takes milliseconds to find that another is idle.
    Empty where the system does not tell, or there is only one.
    """
    try:
        return os.sched_getaffinity(0) - {ctypes.CDLL(None).sched_getcpu()} if sys.platform == "linux" else set()
    except (OSError, AttributeError):
        return set()
