"""`CodeRunner`: runs a plan as generated code, large batches in threads.

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
from bddtorque.evaluate.code_writer import plans_folder
from bddtorque.evaluate.float_straight import float_straight
from bddtorque.evaluate.pointers import WORD_BYTES, entry
from bddtorque.evaluate.single import (
    COLUMNS,
    COUNTED,
    ENTRIES,
    PLAN,
    RUN,
    TABLE,
    TILE,
    TILES,
    batch_call,
    straight_kernel,
)
from bddtorque.evaluate.spreading import Spreadable
from bddtorque.evaluate.state_arrays import StateArrays
from bddtorque.evaluate.straight import Walkable, straight
from bddtorque.evaluate.threads import HelpingThreads
from bddtorque.plan.forms import BIT_FORMS, Bits, Lockstep, check_form, make_form
from bddtorque.plan.table import Table
from bddtorque.words.interface import Interface

Integers = npt.NDArray[np.int64]

_WORD, _empty = np.dtype(np.int64), np.empty  # found at once
NOTHING = np.empty(0, dtype=np.int64)
MIN_STATES = 512
"""Of a piece: handing a piece to a thread costs some 20 µs, which fewer states of a small arm would not make good."""


class Runnable(Spreadable, Protocol):
    """Model for an evaluator: words, a plan, and one table and one diagram per block."""

    @property
    def formats(self) -> Interface:
        """The words that go in and come out."""

    @property
    def tables(self) -> Sequence[Table]:
        """One per block of the plan."""

    @property
    def memory(self) -> int:
        """Bytes that the forms of the blocks may take together."""


class Evaluable(Runnable, Protocol):
    """A compiled model."""

    @property
    def name(self) -> str:
        """Its name."""

    def require_torque(self, where: str = "") -> None:
        """Raise unless it is the torque of a robot."""


UNCHECKED = "checked = False is only valid for target 'float': other kernels always check their words"


def plan_kinds(count: int, table: npt.NDArray[Any]) -> tuple[Any, ...]:
    """Return the types that a plan of so many arrays is compiled for, whoever calls it: arrays, out, table, counts."""
    words: Any = types.Array(types.int64, 2, "C")
    arrays: Any = types.UniTuple(words.copy(readonly=True), count)  # type: ignore[no-untyped-call]
    return arrays, words, types.Array(from_dtype(table.dtype), 1, "C"), types.Array(types.int64, 1, "C")


def plan_addresses(count: int, run: Callable[..., None], table: npt.NDArray[Any], tile: int = 0) -> Integers:
    """Return how `addresses` of compiled calls begin, for a plan that takes states one by one, or `tile` at once."""
    addresses = np.zeros(PLAN, dtype=np.int64)
    begin = entry(run, plan_kinds(count, table)), table.ctypes.data, len(table), tile
    addresses[[RUN, TABLE, ENTRIES, TILE]] = begin
    return addresses


class CodeRunner:
    """Runs a plan as code of its own: a batch in tiles, what is left one state after another.

    With a form other than ``"straight"`` nothing is multiplied: products are looked up too, in tables or in diagrams.
    Large batches are cut into pieces for `threads` threads; single states run in the caller's own.

    Attributes
    ----------
    arrays
        The arrays of a state.
    takes_columns
        True if arrays in Fortran's order are taken as they are.
    """

    def __init__(self, model: Runnable, form: str = "straight", threads: int = 1) -> None:
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


def walkable_forms(model: Runnable, form: str) -> list[Walkable]:
    """Return the diagrams of a model in a form, each compared with its table on every entry; none for other forms."""
    if form not in BIT_FORMS:
        return []
    made = [make_form(form, table, diagram) for table, diagram in zip(model.tables, model.diagrams, strict=True)]
    for walkable, table in zip(made, model.tables, strict=True):
        check_form(walkable, table)
    return [walkable for walkable in made if isinstance(walkable, Bits | Lockstep)]


def pieces(states: int, threads: int, fewest: int = MIN_STATES) -> list[slice]:
    """Return at most `threads` pieces of almost equal length that cover the states, none shorter than `fewest`."""
    count = max(1, min(threads, states // fewest))
    ends = [states * k // count for k in range(count + 1)]
    return [slice(first, last) for first, last in pairwise(ends)]
