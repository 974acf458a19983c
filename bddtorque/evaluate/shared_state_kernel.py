"""Compiled code of `SharedStateRunner`: threads that together do the lists of one state, and meet where the lists say.

Everything is reached from one int64 array, `descriptor`: numbers, and the addresses and lengths of arrays. One of those
is the memory that all threads share:

    EPOCH               the number of the state that is computed; the caller counts it up to begin
    BUSY                1 while a caller has the threads
    ASLEEP + thread     0 where a thread looks for the next state, 1 where it sleeps, 2 where it was called and comes
    lists + processor   how far its list is done, and for which state it was taken
    notes + thread      where a thread goes on in each list that it has taken
    slots               inputs, and what the instructions make (`list_building`)

A list is done by whoever takes it first, which is its own thread, unless that sleeps or the system has given its core
to somebody else: then the caller takes it after a while. So no state waits for a thread that is not running, and a
thread with several lists goes on with another one where one must wait.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bddtorque.base.jit import inlined, njit_without_refcounts
from bddtorque.evaluate.atomics import call_at, observe, publish, relax, take
from bddtorque.evaluate.list_building import (
    CLAMP,
    COLUMNS,
    LINE,
    MAGNITUDE,
    OPERAND_COLUMNS,
    POST,
    SIGN,
    SQUARES,
    WAIT,
    WALK,
)
from bddtorque.evaluate.machine import look_up, program_at
from bddtorque.evaluate.pointers import array_at, do_at, rows_from, run_at
from bddtorque.evaluate.program import Program

PROCESSORS, THREADS, YIELD, LISTS, NOTES, DO, READ, ARRAYS = range(8)
"""Numbers in `descriptor`: of processors and threads, the address of the function that yields a core, where lines and
notes begin in the shared memory, the addresses of `do_lists` and of `run_program`, compiled once for all that call
them. From ARRAYS on an address and a length for each array:"""
SHARED, SLOTS, CODE, STARTS, OPERANDS, OUTPUTS, INPUTS, PROGRAM = range(ARRAYS, ARRAYS + 16, 2)
DESCRIPTOR_LENGTH = PROGRAM + 2 * len(Program._fields)
"""Its length."""
EPOCH, BUSY, ASLEEP = 0, LINE, 2 * LINE
DONE, TAKEN = range(2)
"""State of a list, in a line of its own: how far it is done, and the last state for which a thread took it."""
STATE_BITS = 24
"""Below the epoch in DONE: room for the instructions of any list, and for the states of 17 years at 1 kHz."""
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
    starts = array_of(descriptor, STARTS)
    code = array_at(descriptor[CODE], (descriptor[CODE + 1], COLUMNS), np.int64)
    operands = array_at(descriptor[OPERANDS], (descriptor[OPERANDS + 1], OPERAND_COLUMNS), np.int64)
    own = program_at(descriptor, PROGRAM)
    home, base = descriptor[LISTS] + processor * LINE, epoch << STATE_BITS
    place, end = shared[note], starts[processor + 1]
    while place < end:
        op, target, first, last = code[place, 0], code[place, 1], code[place, 2], code[place, 3]
        if op == WAIT:
            looks = 0
            while observe(shared, descriptor[LISTS] + first * LINE + DONE) < base + last:
                looks += 1
                if looks > EAGER:
                    relax()
                    looks += RELAXED
                if looks > patience:
                    shared[note] = place
                    return False
        elif op == POST:
            publish(shared, home + DONE, base + first)
        elif op == SQUARES:
            left, right, middle = np.int64(0), np.int64(0), code[place, 5]
            for k in range(first, middle):
                left += operands[k, 3] * (slots[operands[k, 0]] << operands[k, 1] >> operands[k, 2])
            for k in range(middle, last):
                right += operands[k, 3] * (slots[operands[k, 0]] << operands[k, 1] >> operands[k, 2])
            total, mask = code[place, 7], (np.int64(1) << code[place, 6]) - 1
            for sign in (1, -1):
                total += sign * look_up(
                    own.blocks, own.values, own.positions, own.successors, own.roots,
                    code[place, 4], (left + sign * right) & mask,
                )  # fmt: skip
            slots[target] = total
        else:
            total, index, negative = np.int64(0), np.int64(0), False
            for k in range(first, last):
                total += operands[k, 3] * (slots[operands[k, 0]] << operands[k, 1] >> operands[k, 2])
                width = operands[k, 4]
                if width:
                    index = (index << width) | (total & ((np.int64(1) << width) - 1))
                    negative ^= total < 0
                    total = np.int64(0)
            if op == WALK:
                total = look_up(
                    own.blocks, own.values, own.positions, own.successors, own.roots, code[place, 4], index,
                )  # fmt: skip
            elif op == CLAMP:
                total = min(max(total >> code[place, 4], code[place, 5]), code[place, 6])
            elif op == MAGNITUDE:
                total = abs(total)
            elif op == SIGN and negative:
                total = -total
            slots[target] = total
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
    inputs = array_of(descriptor, INPUTS)
    for state in range(out.shape[0]):
        while not take(shared, BUSY, 0, 1):
            call_at(descriptor[YIELD])
        run_at(descriptor[READ], rows_from(arrays, state, 1), rows_from(out, state, 1), inputs, counts)
        epoch = shared[EPOCH] + 1
        publish(shared, EPOCH, epoch)
        do_at(descriptor[DO], descriptor, 0, epoch)
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
            do_at(descriptor[DO], descriptor, thread, epoch)
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
