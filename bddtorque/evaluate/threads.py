"""Threads that share memory, and those that take shares of a batch.

`observe`, `publish` and `take` are loads, stores and exchanges that compiled code neither moves nor splits. An ordinary
load may be hoisted out of a loop that waits for it, and ordinary stores may change places. What is written before a
`publish` is seen by whoever has read the published value with `observe`; x86 does this for nothing, other processors
with a barrier.

`HelpingThreads` are quicker to begin and to end than those of an executor. Waking a thread takes tens of microseconds,
in which a core computes thousands of states. So whoever waits looks at memory for a moment, without the GIL, before it
sleeps. Nor must two threads want the GIL at once, or one of them sleeps for as long: the end of a share is told without
it, and a share begins when the caller is inside compiled code.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
import threading
import weakref
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic

from bddtorque.base.jit import DISABLE_JIT, njit_without_refcounts
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


LOOKS = 10_000
"""At memory, before a thread sleeps: some hundred microseconds."""
MOMENT = 300
"""Looks that pass before a share begins: some microseconds, which the caller needs to come to its own."""


@njit_without_refcounts
def _wait(array: Any, seen: int) -> bool:
    """Wait until a number is no longer what was seen there, and return whether it is so within `LOOKS`."""
    for _ in range(LOOKS):
        if observe(array, 0) != seen:
            return True
        relax()
    return False


@njit_without_refcounts
def _end_and_wait(ended: Any, handed: Any, seen: int) -> None:
    """Tell that a share has ended, and wait until more are handed out."""
    publish(ended, 0, observe(ended, 0) + 1)
    if _wait(handed, seen):
        for _ in range(MOMENT):
            relax()


class HelpingThreads:
    """Threads that wait for shares of work; they end when this object does."""

    def __init__(self, count: int) -> None:
        self._shares: SimpleQueue[Any] = SimpleQueue()
        self._handed = np.zeros(1, dtype=np.int64)
        weakref.finalize(self, _dismiss, self._shares, self._handed, count)
        for _ in range(count):
            arguments = self._shares, self._handed
            threading.Thread(target=_attend, args=arguments, name="bddtorque", daemon=True).start()

    def run(self, work: Callable[[int], bool], count: int) -> bool:
        """Call work(0), ..., work(count - 1), the first in this thread, and return whether any call returned true."""
        ended, results = np.zeros(1, dtype=np.int64), SimpleQueue[Any]()
        for place in range(1, count):
            self._shares.put((work, place, ended, results))
        self._handed += 1
        told = work(0)
        for _ in range(1, count):
            try:
                _do(self._shares.get_nowait())  # no thread has come to it yet, perhaps for want of a core
            except Empty:
                seen = int(ended[0])
                if results.empty() and not DISABLE_JIT:
                    _wait(ended, seen)
            outcome = results.get()
            if isinstance(outcome, BaseException):
                raise outcome
            told |= outcome
        return told


def _do(share: Any) -> None:
    """Do a share, and hand over what comes of it."""
    work, place, _, results = share
    try:
        results.put(work(place))
    except BaseException as error:  # it is raised where the work was asked for
        results.put(error)


def _attend(shares: SimpleQueue[Any], handed: npt.NDArray[np.int64]) -> None:
    """Do shares until there is None."""
    while (share := shares.get()) is not None:
        seen, ended = int(handed[0]), share[2]
        _do(share)
        del share  # it holds arrays of the caller
        if not DISABLE_JIT:
            _end_and_wait(ended, handed, seen)


def _dismiss(shares: SimpleQueue[Any], handed: npt.NDArray[np.int64], count: int) -> None:
    for _ in range(count):
        shares.put(None)
    handed += 1
