"""The kinds of evaluators and what runs them: `CodeRunner`, large batches in threads, and `SharedStateRunner`.

States do not depend on each other and the kernels release the GIL, so that threads of one process share all tables and
copy nothing. `SharedStateRunner` has one state on P processors, each with its own list of walks and sums, in threads
that stay. The lists come from the schedule that the counted model prices (`processor_code`). A list runs in its own
thread, or, where there are more lists than cores, a thread goes from one of its lists to another. Between states
threads look for the next one in shared memory, for 2 to 6 ms; then they sleep until a caller wakes them.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, Literal, get_args
from weakref import WeakSet

import numpy as np
import numpy.typing as npt
from numba import types
from numba.np.numpy_support import from_dtype

from bddtorque.base.errors import BddTorqueError, not_among, unknown
from bddtorque.base.jit import DISABLE_JIT
from bddtorque.base.system import usable_processors
from bddtorque.evaluate import threads as kernel
from bddtorque.evaluate.code_writer import plans_folder
from bddtorque.evaluate.float_straight import float_straight
from bddtorque.evaluate.operations import StepCosts
from bddtorque.evaluate.pointers import WORD_BYTES, entry
from bddtorque.evaluate.processor_code import ProcessorCode, processor_code
from bddtorque.evaluate.single import (
    COLUMNS,
    COUNTED,
    THREADS,
    TILES,
    batch_call,
    plan_addresses,
    plan_kinds,
    straight_kernel,
)
from bddtorque.evaluate.spreading import Spreading, SpreadWay, delayed, schedule_model
from bddtorque.evaluate.state_arrays import StateArrays
from bddtorque.evaluate.straight import Evaluable, straight, walkable_forms
from bddtorque.evaluate.threads import LINE, HelpingThreads, other_cores, yielding_function
from bddtorque.plan.forms import BIT_FORMS

Integers = npt.NDArray[np.int64]

_WORD, _empty = np.dtype(np.int64), np.empty  # found at once
NOTHING = np.empty(0, dtype=np.int64)
MIN_STATES = 512
"""Of a piece: handing a piece to a thread costs some 20 µs, which fewer states of a small arm would not make good."""


UNCHECKED = "checked = False is only valid for target 'float': other kernels always check their words"


class CodeRunner:
    """Runs a plan as code of its own: a batch in tiles, what is left one state after another.

    With a form other than ``"straight"`` nothing is multiplied: products are looked up too, in tables or in diagrams.
    Large batches are cut into pieces for `threads` threads; single states run in the caller's own. `takes_columns` says
    that arrays in Fortran's order are taken as they are.
    """

    def __init__(self, model: Evaluable, form: str = "straight", threads: int = 1) -> None:
        plan, about = model.plan, (model.plan, model.formats, model.tables, plans_folder())
        if plan.in_floats:
            self.code = float_straight(*about)
        else:
            self.code = straight(*about, native=form == "straight", forms=walkable_forms(model, form))
        self.arrays, self.batch_threads = StateArrays(model.formats), threads
        self.takes_columns = self.code.columns is not None
        self._room = self.code.room * np.dtype(self.code.kind).itemsize // WORD_BYTES
        self._helpers: tuple[int, HelpingThreads] | None = None

    @cached_property
    def addresses(self) -> Integers:
        """Head of the `addresses` of compiled calls."""
        code = self.code
        return plan_addresses(len(self.arrays.inputs), code.states, code.table, code.tile if code.tiles else 0)

    def run(self, arrays: Sequence[Integers], out: Integers, counts: Integers) -> bool:
        """Run N states, and return whether any may have been counted; safe in threads, and the GIL is released.

        Words (N, n) of each array go in, output words (N, k) out, and words out of range are counted.
        """
        if self.batch_threads == 1:
            return self.run_piece(arrays, out, counts)
        return self.spread(self.run_piece, arrays, out, counts)

    def run_piece(self, arrays: Sequence[Integers], out: Integers, counts: Integers) -> bool:
        """Run N states in this thread, as `run` does."""
        code = self.code
        if DISABLE_JIT:
            code.states(tuple(arrays), out, code.table, counts)
            return True
        run, addresses, rows = batch_call(len(arrays)), self.addresses, _empty(self._room, _WORD)
        while (missing := run(*arrays, out, addresses, counts, rows)) > 0:
            self._compile(missing)
        return missing == COUNTED

    def spread(
        self,
        run: Callable[..., bool],
        arrays: Sequence[npt.NDArray[Any]],
        out: npt.NDArray[Any],
        counts: npt.NDArray[np.int64],
    ) -> bool:
        """Call run(arrays, out, counts) with pieces of arrays (N, n), and return whether any call returned true."""
        if self.batch_threads == 1 or len(out) < 2 * MIN_STATES:
            return run(arrays, out, counts)
        parts = pieces(len(out), self.batch_threads)
        own = np.zeros((len(parts), *counts.shape), dtype=np.int64)  # threads must not count in one array

        def work(place: int) -> bool:
            part = parts[place]
            return run([each[part] for each in arrays], out[part], own[place])

        told = self._helping_threads().run(work, len(parts))
        counts += own.sum(axis=0)
        return told

    def _helping_threads(self) -> HelpingThreads:
        """Return the threads of this process: a forked child has none of its parent's, and starts its own."""
        process = os.getpid()
        if self._helpers is None or self._helpers[0] != process:
            self._helpers = process, HelpingThreads(self.batch_threads - 1)  # the caller's own takes a piece too
        return self._helpers[1]

    def _compile(self, missing: int) -> None:
        """Have `tiles` or `columns` compiled, or found on disk."""
        code = self.code
        rows = types.Array(from_dtype(np.dtype(code.kind)), 1, "C")
        kinds = (*plan_kinds(len(self.arrays.inputs), code.table), rows, types.int64)
        self.addresses[missing] = entry(code.tiles if missing == TILES else code.columns, kinds)

    def kernel(self, checked: bool) -> Callable[..., None]:
        """Return kernel(arrays, out) of states; words are known to be in range unless it is `checked`."""
        run = self.code.bare if checked else self.code.unchecked
        if run is None:
            raise BddTorqueError(UNCHECKED)
        return straight_kernel(self.code, self.arrays, run)

    def compiled_later(self) -> dict[str, Callable[[], Any]]:
        """Return what batches and kernels have compiled when they are first used, by name."""
        code, count = self.code, len(self.arrays.inputs)
        later: dict[str, Callable[[], Any]] = {"batches": partial(batch_call, count)}
        if code.tiles is not None:
            later["batches in rows"] = partial(self._compile, TILES)
            later["batches in columns"] = partial(self._compile, COLUMNS)
        later["kernel"] = partial(entry, code.bare, plan_kinds(count, code.table)[:-1])
        return later


def pieces(states: int, threads: int, fewest: int = MIN_STATES) -> list[slice]:
    """Return at most `threads` pieces of almost equal length that cover the states, none shorter than `fewest`."""
    count = max(1, min(threads, states // fewest))
    ends = [states * k // count for k in range(count + 1)]
    return [slice(first, last) for first, last in pairwise(ends)]


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
    """

    def __init__(self, model: Evaluable, form: str, spreading: Spreading, threads: int) -> None:
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


def choose_spreading(model: Evaluable, form: str, way: SpreadWay, processors: int) -> Spreading:
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


OnRange = Literal["warn", "saturate", "raise"]
SpreadBy = Literal["states", "terms", "bits"]
SPREADS = get_args(SpreadBy)

EVALUATORS: dict[str, tuple[str, ...]] = {
    "bits": tuple(BIT_FORMS),
    "words": ("straight", "dense"),
    "parallel": ("straight", "dense", *BIT_FORMS),
}
"""The evaluators, and the forms each can run, the first by default. All are code made for the one plan: `straight`
multiplies; `dense` looks products up in tables, and the others walk diagrams."""


def choose_form(model: Evaluable, name: str, kind: str, form: str | None, spread: str) -> str:
    """Return the form to run: the one given, or the default; refuse what the model called `name` cannot run."""
    if not isinstance(kind, str) or kind not in EVALUATORS:
        raise BddTorqueError(unknown("evaluator", kind, EVALUATORS))
    if spread not in SPREADS:
        raise BddTorqueError(not_among("spread", spread, SPREADS), option="spread")
    forms = EVALUATORS[kind]
    if spread != "states":
        if kind != "parallel":
            raise BddTorqueError(f"spread = '{spread}' is only valid for the evaluator 'parallel'", option="spread")
        forms = (*BIT_FORMS, "dense")
    if not model.plan.made_of_tables and (kind == "bits" or spread != "states" or form not in (None, "straight")):
        what = f"spread = '{spread}'" if spread != "states" else f"the evaluator '{kind}'"
        model.plan.require_tables(f"the form '{form}'" if form else what, name)
    form = form or forms[0]
    if form not in forms:
        how = "" if spread == "states" else f" that spreads {spread}"
        raise BddTorqueError(not_among(f"form of the evaluator '{kind}'{how}", form, forms))
    return form


def make_runner(model: Evaluable, kind: str, form: str, spread: SpreadBy, processors: int) -> CodeRunner:
    """Return what runs a model in a form, on one processor or on several."""
    threads = min(processors, usable_processors())
    if spread != "states":
        spreading = choose_spreading(model, form, spread, processors)
        return SharedStateRunner(model, form, spreading, threads)
    return CodeRunner(model, form, threads if kind == "parallel" else 1)
