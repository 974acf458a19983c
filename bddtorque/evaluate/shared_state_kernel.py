"""Compiled code of `SharedStateRunner`: threads that together do the lists of one state, and meet where the lists say.

Everything is reached from one int64 array, `descriptor`: numbers, and the addresses and lengths of arrays. One of those
is the memory that all threads share:

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

from typing import Any

import numpy as np

from bddtorque.base.jit import inlined, njit_without_refcounts
from bddtorque.evaluate.pointers import array_at, rows_from, run_at
from bddtorque.evaluate.threads import call_at, observe, publish, relax, take

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
