"""What runs a plan: `Interpreted` under the one precompiled kernel, `Compiled` as code of its own, `Spread` in threads.

States do not depend on each other and the kernels release the GIL, so that threads of one process share all tables and
copy nothing. Several processors on a *single* state: `bddtorque.evaluate.shared_state`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from numba import types
from numba.np.numpy_support import from_dtype

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.jit import DISABLE_JIT
from bddtorque.evaluate.float_straight import float_straight
from bddtorque.evaluate.generated import plans_folder
from bddtorque.evaluate.helping_threads import HelpingThreads
from bddtorque.evaluate.inline import program_kernel, straight_kernel
from bddtorque.evaluate.machine import program_descriptor, run_program, run_states
from bddtorque.evaluate.pointers import entry
from bddtorque.evaluate.program import Program, assemble
from bddtorque.evaluate.single import (
    COLUMNS,
    COUNTED,
    ENTRIES,
    PLAN,
    RUN,
    TABLE,
    TILE,
    TILES,
    WORD_BYTES,
    Single,
    batch_call,
    plan_single,
)
from bddtorque.evaluate.straight import straight
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.forms import check_form
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.targets.tables.choosing import lower_blocks
from bddtorque.words.interface import Interface

Integers = npt.NDArray[np.int64]

MAX_REGISTERS = 1 << 14
"""Wires of a plan that are held on the stack; those of a larger one have memory of their own."""
_WORD, _empty = np.dtype(np.int64), np.empty  # found at once
NOTHING = np.empty(0, dtype=np.int64)
MIN_STATES = 512
"""Of a piece: handing a piece to a thread costs some 20 µs, which fewer states of a small arm would not make good."""


class Runnable(Protocol):
    """What an evaluator runs: words, a plan, and one table and one diagram per block."""

    @property
    def formats(self) -> Interface:
        """The words that go in and come out."""

    @property
    def plan(self) -> Plan:
        """What is computed, wire by wire."""

    @property
    def tables(self) -> Sequence[Table]:
        """One per block of the plan."""

    @property
    def diagrams(self) -> Sequence[Diagram]:
        """One per block of the plan."""

    @property
    def memory(self) -> int:
        """Bytes that the forms of the blocks may take together."""


class Runner(Protocol):
    """What runs a plan: words (N, n) in, torque words (N, n) out, out-of-range words counted in (3, n)."""

    @property
    def takes_columns(self) -> bool:
        """Whether arrays in Fortran's order are taken as they are."""

    def run(self, q: Integers, qd: Integers, qdd: Integers, tau: Integers, counts: Integers) -> bool:
        """Run N states, and return whether any may have been counted; safe in threads, and the GIL is released."""

    @property
    def counts_unread(self) -> bool:
        """Whether words that no torque depends on are counted too."""

    def kernel(self, joints: int, checked: bool) -> Callable[..., None]:
        """Return kernel(q, qd, qdd, tau) of one state; words are known to be in range unless it is `checked`."""

    def single(self, common: Sequence[npt.NDArray[Any]], stops: int) -> Single | None:
        """Return the compiled calls for single states, if there are any."""

    def compiled_later(self) -> dict[str, Callable[[], Any]]:
        """Return what batches and kernels have compiled when they are first used, by name."""


UNCHECKED = "checked = False is only valid for target 'float': other kernels always check their words"


def plan_kinds(table: npt.NDArray[Any]) -> tuple[Any, ...]:
    """Return the types that a plan is compiled for, whoever calls it: q, qd, qdd, tau, its table, counts."""
    words = types.Array(types.int64, 2, "C")
    given = words.copy(readonly=True)
    return given, given, given, words, types.Array(from_dtype(table.dtype), 1, "C"), words


def plan_places(run: Callable[..., None], table: npt.NDArray[Any], tile: int = 0) -> Integers:
    """Return how `places` of compiled calls begin, for a plan that takes its states one by one, or `tile` at once."""
    places = np.zeros(PLAN, dtype=np.int64)
    places[[RUN, TABLE, ENTRIES, TILE]] = entry(run, plan_kinds(table)), table.ctypes.data, len(table), tile
    return places


class Interpreted:
    """Runs a plan, its blocks in one form or each in the cheapest, as a program under the one precompiled kernel.

    Each form is made here, once, and compared with its table on every entry.
    """

    takes_columns = counts_unread = False

    def __init__(self, model: Runnable, form: str) -> None:
        forms = lower_blocks(form, model.tables, model.diagrams, model.memory)
        for made, table in zip(forms, model.tables, strict=True):
            check_form(made, table)
        plan = model.plan.require_tables(f"the form '{form}'", "this model")
        self.program: Program = assemble(plan, model.formats, forms)
        self.registers = len(model.plan.wires)

    @cached_property
    def places(self) -> Integers:
        """How `places` of compiled calls begin."""
        self.descriptor = program_descriptor(self.program, self.registers)
        return plan_places(run_program, self.descriptor)

    def run(self, q: Integers, qd: Integers, qdd: Integers, tau: Integers, counts: Integers) -> bool:
        """Run N states."""
        if DISABLE_JIT or self.registers > MAX_REGISTERS:
            run_states(self.program, q, qd, qdd, tau, np.empty(self.registers, dtype=np.int64), counts)
            return True
        return batch_call()(q, qd, qdd, tau, self.places, counts, NOTHING) == COUNTED

    def kernel(self, joints: int, checked: bool) -> Callable[..., None]:
        """Return the kernel of one state."""
        if not checked:
            raise BddTorqueError(UNCHECKED)
        return program_kernel(self.program, self.registers, joints)

    def single(self, common: Sequence[npt.NDArray[Any]], stops: int) -> Single | None:
        """Return the compiled calls for single states."""
        if self.registers > MAX_REGISTERS:
            return None
        return plan_single(self.places, (self.descriptor, *self.program), common, stops)

    def compiled_later(self) -> dict[str, Callable[[], Any]]:
        """Return what batches have compiled."""
        return {"batches": batch_call}


class Compiled:
    """Runs a plan as code of its own: a batch in tiles, what is left one state after another."""

    def __init__(self, model: Runnable) -> None:
        plan = model.plan
        if plan.in_floats:
            self.code = float_straight(plan, model.formats, model.tables, plans_folder())
        else:
            self.code = straight(plan, model.formats, model.tables, plans_folder())
        self.takes_columns, self.counts_unread = self.code.columns is not None, self.code.unchecked is not None
        self._room = self.code.room * np.dtype(self.code.kind).itemsize // WORD_BYTES

    @cached_property
    def places(self) -> Integers:
        """How `places` of compiled calls begin."""
        return plan_places(self.code.states, self.code.table, self.code.tile if self.code.tiles else 0)

    def run(self, q: Integers, qd: Integers, qdd: Integers, tau: Integers, counts: Integers) -> bool:
        """Run N states."""
        code = self.code
        if DISABLE_JIT:
            code.states(q, qd, qdd, tau, code.table, counts)
            return True
        run, places, rows = batch_call(), self.places, _empty(self._room, _WORD)
        while (missing := run(q, qd, qdd, tau, places, counts, rows)) > 0:
            self._compile(missing)
        return missing == COUNTED

    def _compile(self, missing: int) -> None:
        """Have `tiles` or `columns` compiled, or found on disk."""
        code = self.code
        rows = types.Array(from_dtype(np.dtype(code.kind)), 1, "C")
        kinds = (*plan_kinds(code.table), rows, types.int64)
        self.places[missing] = entry(code.tiles if missing == TILES else code.columns, kinds)

    def kernel(self, joints: int, checked: bool) -> Callable[..., None]:
        """Return the kernel of one state."""
        run = self.code.bare if checked else self.code.unchecked
        if run is None:
            raise BddTorqueError(UNCHECKED)
        return straight_kernel(self.code, joints, run)

    def single(self, common: Sequence[npt.NDArray[Any]], stops: int) -> Single | None:
        """Return the compiled calls for single states."""
        return plan_single(self.places, (self.code.table,), common, stops)

    def compiled_later(self) -> dict[str, Callable[[], Any]]:
        """Return what batches and kernels have compiled."""
        code = self.code
        later: dict[str, Callable[[], Any]] = {"batches": batch_call}
        if code.tiles is not None:
            later["batches in rows"] = partial(self._compile, TILES)
            later["batches in columns"] = partial(self._compile, COLUMNS)
        later["kernel"] = partial(entry, code.bare, plan_kinds(code.table)[:-1])
        return later


def runs_straight(plan: Plan) -> bool:
    """Tell whether a plan runs as code of its own unless somebody asks for a form.

    Where many models run a few states each, as in tests, compiling costs more than it saves: the environment variable
    ``BDDTORQUE_STRAIGHT`` can be set to ``off``. Plans for other targets than tables have no other form. The words are
    the same.
    """
    off = os.environ.get("BDDTORQUE_STRAIGHT", "").strip().lower() in ("off", "0", "no")
    return not plan.made_of_tables or not off


class Spread:
    """Runs batches of another runner in `threads` threads; single states and short batches in the caller's own."""

    def __init__(self, runner: Runner, threads: int) -> None:
        self.runner = runner
        self.threads = threads
        self.takes_columns, self.counts_unread = runner.takes_columns, runner.counts_unread
        self.kernel, self.single, self.compiled_later = runner.kernel, runner.single, runner.compiled_later
        self._helpers: tuple[int, HelpingThreads] | None = None

    def helpers(self) -> HelpingThreads:
        """Return the threads of this process: a forked child has none of its parent's, and starts its own."""
        process = os.getpid()
        if self._helpers is None or self._helpers[0] != process:
            self._helpers = process, HelpingThreads(self.threads - 1)  # the caller's own thread takes a piece too
        return self._helpers[1]

    def run(self, q: Integers, qd: Integers, qdd: Integers, tau: Integers, counts: Integers) -> bool:
        """Run N states; as the runner itself would."""
        return self.spread(self.runner.run, (q, qd, qdd, tau), counts)

    def spread(
        self, run: Callable[..., bool], arrays: Sequence[npt.NDArray[Any]], counts: npt.NDArray[np.int64]
    ) -> bool:
        """Call run(*arrays, counts) with pieces of arrays (N, n), and return whether any call returned true."""
        parts = pieces(len(arrays[0]), self.threads)
        if len(parts) == 1:
            return run(*arrays, counts)
        own = np.zeros((len(parts), *counts.shape), dtype=np.int64)  # threads must not count in one array

        def work(place: int) -> bool:
            return run(*(each[parts[place]] for each in arrays), own[place])

        told = self.helpers().run(work, len(parts))
        counts += own.sum(axis=0)
        return told


def pieces(states: int, threads: int, fewest: int = MIN_STATES) -> list[slice]:
    """Return at most `threads` pieces of almost equal length that cover the states, none shorter than `fewest`."""
    count = max(1, min(threads, states // fewest))
    ends = [states * k // count for k in range(count + 1)]
    return [slice(first, last) for first, last in pairwise(ends)]
