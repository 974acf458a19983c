"""Threads that share memory: those that take shares of a batch, and those that compute one state together.

`observe`, `publish` and `take` are loads, stores and exchanges that compiled code neither moves nor splits. An ordinary
load may be hoisted out of a loop that waits for it, and ordinary stores may change places. What is written before a
`publish` is seen by whoever has read the published value with `observe`; x86 does this for nothing, other processors
with a barrier.

`HelpingThreads` are quicker to begin and to end than those of an executor. Waking a thread takes tens of microseconds,
in which a core computes thousands of states. So whoever waits looks at memory for a moment, without the GIL, before it
sleeps. Nor must two threads want the GIL at once, or one of them sleeps for as long: the end of a share is told without
it, and a share begins when the caller is inside compiled code.

Threads of `SharedStateRunner` together do the lists of one state, and meet where the lists say. They reach everything
from one int64 array, `descriptor`: numbers, and the addresses and lengths of arrays. One of those is the memory that
all threads share:

    EPOCH               the number of the state that is computed; the caller counts it up to begin
    BUSY                1 while a caller has the threads
    ASLEEP + thread     0 where a thread looks for the next state, 1 where it sleeps, 2 where it was called and comes
    lists + processor   how far its list is done, and for which state it was taken
    notes + thread      where a thread goes on in each list that it has taken
    slots               inputs, and words that leave a section (`processor_code`)

A list is done by whoever takes it first, which is its own thread, unless that sleeps or the system has given its core
to somebody else: then the caller takes it after a while. So no state waits for a thread that is not running, and a
thread with several lists goes on with another one where one must wait.
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

from bddtorque.base.jit import DISABLE_JIT, inlined, njit_without_refcounts
from bddtorque.evaluate.pointers import array_at, make_array, rows_from, run_at

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


LINE = 16
"""Words that lie together in the caches: what two processors write must not share a line, nor two neighbouring ones."""
ADDRESS, NUMBER, FIRST_WAIT, END_WAIT, POST = range(5)
"""Columns of `sections`: the function, which section of it, the rows of `waits`, and what to post at the end, or 0."""
SENDER, FAR = range(2)
"""Columns of `waits`: a processor, and what it must have posted, or something later."""
PROCESSORS, THREADS, YIELD, LISTS, NOTES, DO, READ, ARRAYS = range(8)
"""Numbers in `descriptor`: of processors and threads, the address of the function that yields a core, where lines and
notes begin in the shared memory, the addresses of `do_lists`, compiled once for all that call it, and of what reads the
inputs. From ARRAYS on an address and a length for each array:"""
SHARED, SLOTS, TABLE, STARTS, OUTPUTS, SECTIONS, WAITS = range(ARRAYS, ARRAYS + 14, 2)
DESCRIPTOR_LENGTH = WAITS + 2
"""Its length."""
EPOCH, BUSY, ASLEEP = 0, LINE, 2 * LINE
DONE, TAKEN = range(2)
"""State of a list, in a line of its own: how far it is done, and the last state for which a thread took it."""
STATE_BITS = 24
"""Below the epoch in DONE: room for the steps of any list, and for the states of 17 years at 1 kHz."""
WHOLE = (1 << STATE_BITS) - 1
PATIENCE = 1 << 11
"""Looks at what is not there yet, a few microseconds, before something else is tried."""
SHORT_PATIENCE = 1 << 4
"""The same where a thread has other lists to go on with."""
LIMIT = 1 << 21
"""Looks for the next state, 2 to 6 ms, before a thread sleeps: more than a control loop at 1 kHz lets it wait."""
EAGER, RELAXED = 1 << 6, 1 << 4
"""Looks before a thread relaxes between looks, and what one such look counts for: a pause takes some 20 to 50 ns."""


@inlined
def array_of(descriptor: Any, place: Any) -> Any:
    """Return an int64 array (k,) of the descriptor."""
    return array_at(descriptor[place], (descriptor[place + 1],), np.int64)


@njit_without_refcounts
def go_on(descriptor: Any, processor: Any, note: Any, epoch: Any, patience: Any) -> bool:
    """Do a processor's list from where its note says; return whether it is done, or else waits for another."""
    shared, slots = array_of(descriptor, SHARED), array_of(descriptor, SLOTS)
    table, starts = array_of(descriptor, TABLE), array_of(descriptor, STARTS)
    sections = array_at(descriptor[SECTIONS], (descriptor[SECTIONS + 1], 5), np.int64)
    waits = array_at(descriptor[WAITS], (descriptor[WAITS + 1], 2), np.int64)
    home, base = descriptor[LISTS] + processor * LINE, epoch << STATE_BITS
    place, end = shared[note], starts[processor + 1]
    while place < end:
        for k in range(sections[place, FIRST_WAIT], sections[place, END_WAIT]):
            looks, line = 0, descriptor[LISTS] + waits[k, SENDER] * LINE
            while observe(shared, line + DONE) < base + waits[k, FAR]:
                looks += 1
                if looks > EAGER:
                    relax()
                    looks += RELAXED
                if looks > patience:
                    shared[note] = place
                    return False
        run_at(sections[place, ADDRESS], (sections[place, NUMBER], slots, table))
        if sections[place, POST]:
            publish(shared, home + DONE, base + sections[place, POST])
        place += 1
    publish(shared, home + DONE, base + WHOLE)
    return True


@inlined
def take_lists(descriptor: Any, shared: Any, first: Any, step: Any, notes: Any, epoch: Any) -> Any:
    """Take those of some lists that nobody has taken for this state, and return how many."""
    taken = 0
    for processor in range(first, descriptor[PROCESSORS], step):
        if take(shared, descriptor[LISTS] + processor * LINE + TAKEN, epoch - 1, epoch):
            shared[notes + processor] = array_of(descriptor, STARTS)[processor]
            taken += 1
    return taken


@njit_without_refcounts
def do_lists(descriptor: Any, thread: Any, epoch: Any) -> None:
    """Do the lists of a thread for one state; the caller, thread 0, stays until all are done."""
    shared, processors = array_of(descriptor, SHARED), descriptor[PROCESSORS]
    notes = descriptor[NOTES] + thread * (
        processors + LINE
    )  # where to go on in each list that this thread has taken, or −1
    for processor in range(processors):
        shared[notes + processor] = -1
    left = take_lists(descriptor, shared, thread, descriptor[THREADS], notes, epoch)
    if thread == 0:  # what belongs to those who are not there need not wait for them
        for other in range(1, descriptor[THREADS]):
            if observe(shared, ASLEEP + other * LINE):
                left += take_lists(descriptor, shared, other, descriptor[THREADS], notes, epoch)
    looks = 0
    while left or thread == 0:
        moved, patience = False, PATIENCE if left == 1 else SHORT_PATIENCE
        finished = True
        for processor in range(processors):
            at = shared[notes + processor]
            if at >= 0:
                if go_on(descriptor, processor, notes + processor, epoch, patience):
                    shared[notes + processor] = -1
                    left -= 1
                    moved = True
                else:
                    finished = False
                    moved |= shared[notes + processor] != at
            elif thread == 0 and finished:
                finished = observe(shared, descriptor[LISTS] + processor * LINE + DONE) == (epoch << STATE_BITS) + WHOLE
        if thread == 0 and finished:
            return
        looks = 0 if moved else looks + (patience if left else processors)
        if not left and looks > EAGER:
            relax()
            looks += RELAXED
        if looks > PATIENCE:
            looks = 0
            more = take_lists(descriptor, shared, 0, 1, notes, epoch) if thread == 0 else 0
            left += more
            if not more:  # who has what is waited for may need this core
                call_at(descriptor[YIELD])


@njit_without_refcounts
def run_together(arrays: Any, out: Any, descriptor: Any, counts: Any) -> None:
    """Run N states, one after another, each by all threads that are awake; callers take turns."""
    shared, slots, outputs = array_of(descriptor, SHARED), array_of(descriptor, SLOTS), array_of(descriptor, OUTPUTS)
    for state in range(out.shape[0]):
        while not take(shared, BUSY, 0, 1):
            call_at(descriptor[YIELD])
        run_at(descriptor[READ], (rows_from(arrays, state, 1), rows_from(out, state, 1), slots, counts))
        epoch = shared[EPOCH] + 1
        publish(shared, EPOCH, epoch)
        run_at(descriptor[DO], (descriptor, 0, epoch))
        for k in range(len(outputs)):
            out[state, k] = slots[outputs[k]]
        publish(shared, BUSY, 0)


@njit_without_refcounts
def attend(descriptor: Any, thread: Any, seen: Any) -> None:
    """Take part in every state after the one that was seen last, until there is none for a while."""
    shared = array_of(descriptor, SHARED)
    publish(shared, ASLEEP + thread * LINE, 0)
    looks = 0
    while looks < LIMIT:
        epoch = observe(shared, EPOCH)
        if epoch != seen:
            run_at(descriptor[DO], (descriptor, thread, epoch))
            seen, looks = epoch, 0
        looks += 1
        if looks > EAGER:
            relax()
            looks += RELAXED
    publish(shared, ASLEEP + thread * LINE, 1)


@inlined
def all_awake(descriptor: Any) -> bool:
    """Tell whether every thread looks for the next state."""
    shared, awake = array_of(descriptor, SHARED), True
    for thread in range(1, descriptor[THREADS]):
        awake = awake and not observe(shared, ASLEEP + thread * LINE)
    return awake
