"""`SharedStateRunner`: one state on P processors, each with its own list of walks and sums, in threads that stay.

The lists come from the schedule that the counted model prices (`processor_code`). A list runs in its own thread, or,
where there are more lists than cores, a thread goes from one of its lists to another. Between states threads look for
the next one in shared memory, for 2 to 6 ms; then they sleep until a caller wakes them.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any
from weakref import WeakSet

import numpy as np
import numpy.typing as npt
from numba import types

from bddtorque.base.jit import DISABLE_JIT
from bddtorque.evaluate import threads as kernel
from bddtorque.evaluate.operations import StepCosts
from bddtorque.evaluate.pointers import entry
from bddtorque.evaluate.processor_code import ProcessorCode, processor_code
from bddtorque.evaluate.runners import NOTHING, CodeRunner, Runnable, plan_addresses
from bddtorque.evaluate.single import COUNTED, THREADS, batch_call
from bddtorque.evaluate.spreading import Spreading, SpreadWay, delayed, schedule_model
from bddtorque.evaluate.threads import LINE, other_cores, yielding_function
from bddtorque.plan.forms import BIT_FORMS

Integers = npt.NDArray[np.int64]

MOMENT = 2e-5
"""Seconds; unasked, Python hands the GIL over every 5 ms only."""
MEETING = 200.0
"""Delay of a value from another processor, in tests of a bit: schedules leave so much time where they can,
and it decides how finely a state is cut. A meeting takes about 80; the rest is for walks that end early or late."""
COSTS = {"bits": StepCosts(1.0, 1.0), "lockstep": StepCosts(0.25, 1.0)}
"""Durations of a test and of an addition, relative to each other."""


class SharedStateRunner(CodeRunner):
    """Runs single states on the processors of a schedule, in at most so many threads; batches state after state.

    Kernels run on one processor, and so does everything where nothing is compiled.

    Attributes
    ----------
    spreading
        The schedule.
    lists
        The lists of the processors.
    """

    def __init__(self, model: Runnable, form: str, spreading: Spreading, threads: int) -> None:
        super().__init__(model, form)
        self.takes_columns, self.spreading = False, spreading
        self.threads = min(threads, spreading.processors)
        self.lists = processor_code(model, form, spreading)
        self.descriptor, self._shared = _descriptor(self.lists, spreading.processors, self.threads)
        self._pool: ThreadPoolExecutor | None = None
        self.forget_threads()
        _runners.add(self)

    def run_piece(self, arrays: Sequence[Integers], out: Integers, counts: Integers) -> bool:
        """Run N states, one after another."""
        if DISABLE_JIT:
            return super().run_piece(arrays, out, counts)
        run, addresses = batch_call(len(arrays)), self.addresses
        self._wake()
        return run(*arrays, out, addresses, counts, NOTHING) == COUNTED

    @cached_property
    def addresses(self) -> Integers:
        """Head of the `addresses` of compiled calls; while a thread sleeps, those leave a state to `run`."""
        descriptor: Any = types.Array(types.int64, 1, "C")
        count = len(self.arrays.inputs)
        self.descriptor[kernel.DO] = entry(kernel.do_lists, (descriptor, types.int64, types.int64))
        addresses = plan_addresses(count, kernel.run_together, self.descriptor)
        addresses[THREADS] = 1
        return addresses

    def forget_threads(self) -> None:
        """Begin before the first state, without any threads: a forked child has none of them."""
        self._shared[: self.descriptor[kernel.NOTES]] = 0
        self._shared[kernel.ASLEEP : self.descriptor[kernel.LISTS]] = 1
        self._pool, self._waking = None, threading.Lock()

    def _wake(self) -> None:
        """Start or wake the threads that sleep, and give them a moment of the GIL, which they need to begin."""
        asleep = self._shared[kernel.ASLEEP + LINE : self.descriptor[kernel.LISTS] : LINE]
        if not (asleep == 1).any():
            return
        with self._waking:
            called = np.flatnonzero(asleep == 1)
            asleep[called] = 2
            self._pool = self._pool or ThreadPoolExecutor(self.threads - 1, "bddtorque")
            try:
                for thread in called.tolist():
                    self._pool.submit(self._attend, thread + 1, int(self._shared[kernel.EPOCH]), other_cores())
            except RuntimeError:  # no more threads, as when Python ends: the caller does it all
                asleep[called] = 1
        time.sleep(MOMENT)

    def _attend(self, thread: int, seen: int, cores: set[int]) -> None:
        if cores:
            os.sched_setaffinity(0, cores)  # of this thread alone
        kernel.attend(self.descriptor, thread, seen)


_runners: WeakSet[SharedStateRunner] = WeakSet()


def _forget_threads() -> None:
    for runner in list(_runners):
        runner.forget_threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


def choose_spreading(model: Runnable, form: str, way: SpreadWay, processors: int) -> Spreading:
    """Return the schedule to run: as fine as pays where every meeting of processors takes its time.

    Forms that give whole words at once are never cut into bits.
    """
    costs = COSTS.get(form, COSTS["lockstep"])
    coarse = schedule_model(model, processors, way, costs, "wire", MEETING)
    if form not in BIT_FORMS or way == "terms":
        return coarse
    fine = schedule_model(model, processors, way, costs)
    return min((coarse, fine), key=lambda each: delayed(each, MEETING).makespan)


def _descriptor(code: ProcessorCode, processors: int, threads: int) -> tuple[Integers, Integers]:
    """Return the descriptor, and the memory that threads share."""
    first_list = kernel.ASLEEP + threads * LINE
    first_note = first_list + processors * LINE
    first_slot = first_note + threads * (processors + LINE)
    first_slot += -first_slot % LINE
    space = np.zeros(first_slot + code.slots + LINE, dtype=np.int64)
    skipped = -(space.ctypes.data // space.itemsize) % LINE
    shared = space[skipped : skipped + first_slot + code.slots]
    arrays = (shared, shared[first_slot:], code.table, code.starts, code.outputs, code.sections, code.waits)
    descriptor = np.zeros(kernel.DESCRIPTOR_LENGTH, dtype=np.int64)
    numbers = (processors, threads, yielding_function(), first_list, first_note, 0, code.read)
    descriptor[: len(numbers)] = numbers
    descriptor[kernel.ARRAYS :: 2] = [array.ctypes.data for array in arrays]
    descriptor[kernel.ARRAYS + 1 :: 2] = [len(array) for array in arrays]
    return descriptor, shared
