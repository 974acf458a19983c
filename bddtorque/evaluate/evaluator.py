"""`Evaluator`: outputs of states, through the words; the same words whatever the form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, get_args

import numpy as np

from bddtorque.base.errors import BddTorqueError, not_among
from bddtorque.base.jit import DISABLE_JIT
from bddtorque.base.system import checked_processors
from bddtorque.base.workers import NoProgress, Progress, step
from bddtorque.evaluate.float_batches import FloatBatches, float_calls
from bddtorque.evaluate.runners import OnRange, SpreadBy, choose_form, make_runner
from bddtorque.evaluate.single import CLAMPED, COUNT_ONLY, LEFT, RAISES, STOPS, WARNS, Call, SingleCalls, single_calls
from bddtorque.evaluate.state_arrays import (
    FLOAT,
    TORQUE_ARRAYS,
    WORD,
    AnyArray,
    Integers,
    RangeCounts,
    StateArrays,
    out_of_range_message,
)
from bddtorque.evaluate.straight import Evaluable
from bddtorque.words.formats import Floats

_REST = 0
# found at once: every name counts in a call for a single state
_array, _empty, _zeros, _overlap = np.ndarray, np.empty, np.zeros, np.may_share_memory
_WORD = WORD


class Evaluator:
    """Runs a compiled model: `value` and `words` for every model, `torque` and `torque_words` for torques too.

    `Model.evaluator` makes one. All kinds and forms return the same words.

    Parameters
    ----------
    model
        The compiled model.
    kind
        ``"words"``: whole words, the fast path. ``"bits"``: each output bit walks its diagram one test at a time, as
        in the paper. ``"parallel"``: several processors, in any of these forms.
    form
        For ``"words"`` and ``"parallel"``: ``"straight"`` (the default) or ``"dense"`` (nothing is multiplied: products
        are looked up in tables too). For ``"bits"``: ``"lockstep"`` (all output bits of a block side by side) or
        ``"bits"`` (one after another); ``"parallel"`` takes these too.
    on_range
        What to do with numbers out of range. ``"warn"``: clamp and count them; the first gives a `ClampWarning` that
        names its joint and range. ``"saturate"``: the same without a warning. ``"raise"``: reject floats out of range.
        Positions of revolute joints wrap and are never clamped.
    processors
        For ``"parallel"``: how many share the work; by default as many as this process may use.
    spread
        For ``"parallel"``: what they share. ``"states"``: a batch is cut into one piece per processor, but no more
        pieces than cores. ``"terms"`` and ``"bits"``: all processors work on each single state, on whole terms of the
        torques or on everything that can run side by side, as scheduled by `evaluate/spreading.py`. The
        form is then ``"lockstep"`` by default and cannot be ``"straight"``.

    Attributes
    ----------
    out_of_range
        int64 counts of input numbers out of range since the start. For torques (3, n): positions, velocities and
        accelerations; likewise one row per array wherever all input arrays are as long. Else one count per input word,
        (k,). Positions of revolute joints that wrap are counted too. Rejected states are not counted. Threads that
        share an evaluator add to the same counts.
    """

    _direct: bool  # whether a state given as arrays is tried as it is

    def __init__(
        self,
        model: Evaluable,
        kind: str = "words",
        form: str | None = None,
        on_range: OnRange = "warn",
        processors: int | None = None,
        spread: SpreadBy = "states",
    ) -> None:
        form = choose_form(model, model.name, kind, form, spread)
        if on_range not in get_args(OnRange):
            raise BddTorqueError(not_among("on_range", on_range, get_args(OnRange)))
        if kind != "parallel" and processors is not None:
            raise BddTorqueError("processors is only valid for the evaluator 'parallel'")
        self.processors = checked_processors(processors) if kind == "parallel" else 1
        self.model = model
        self.kind = kind
        self.form = form
        self.on_range = on_range
        self.spread = spread
        self._arrays = StateArrays(model.formats)
        self._runner = make_runner(model, kind, form, spread, self.processors)
        self._range = RangeCounts(self._arrays.words, on_range == "warn")
        widths = set(self._arrays.widths)
        counts = self._range.counts
        alike = len(widths) == 1 and not self._arrays.packed
        self.out_of_range: Integers = counts.reshape(-1, widths.pop()) if alike else counts
        self._floats = FloatBatches(self._arrays)
        self._outputs = len(self._arrays.outputs)
        names = tuple(array.name for array in model.formats.arrays)
        self._of_torque = names == TORQUE_ARRAYS and not self._arrays.packed
        self._still = np.zeros(self._outputs)
        self._at_rest: list[Any] = [None, None]
        if self._of_torque:
            self._at_rest = [array.quantise(self._still) for array in self._arrays.inputs[1:]]
        self._forget_addresses()

    @property
    def out_of_range_by_array(self) -> dict[str, Integers]:
        """The counts of `out_of_range`, one array per input array in its own shape, by name."""
        return self._arrays.by_array(self._range.counts)

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy is made from: it has compiled code, threads and addresses of its own."""
        given = {name: vars(self)[name] for name in ("model", "kind", "form", "on_range", "spread")}
        processors = self.processors if self.kind == "parallel" else None
        return {**given, "processors": processors, "counts": self._range.counts.copy()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make an evaluator that counts on from where the other was."""
        counts = state.pop("counts")
        Evaluator.__init__(self, **state)
        self._range.counts[:] = counts

    def torque_words(self, q: Any, qd: Any = None, qdd: Any = None, out: Integers | None = None) -> Integers:
        """Return the torque words of position, velocity and acceleration words.

        Angle words are masked to their bits and others are clamped; `out_of_range` counts what lay outside. Floats are
        rejected.

        A single state is fastest as int64 arrays (n,); lists, tuples and other integers cost a copy. Large batches are
        fastest as arrays in C order. The result of arrays in Fortran order has that order too.

        Parameters
        ----------
        q
            Position words, integers of shape (n,) or (N, n).
        qd
            Velocity words; by default the words nearest to zero velocity, which are not the words 0 if the range is not
            centred on zero.
        qdd
            Acceleration words, likewise.
        out
            An int64 array of the result's shape that receives the torques and is returned. This saves allocating
            memory, which takes as long as the torques of a small arm. It may overlap the inputs, which costs a copy.

        Returns
        -------
        array of int64
            Torque words, shape (n,) or (N, n).
        """
        if qd is None:
            qd = self._at_rest[0]
        if qdd is None:
            qdd = self._at_rest[1]
        # one compiled call for a single state; anything else goes the ordinary way below
        if self._direct and out is None and q.__class__ is _array and q.ndim == 1:
            tau = _empty(self._outputs, _WORD)
            try:
                left = self._one_words(q, qd, qdd, tau, self._addresses)
            except TypeError:  # arrays that it does not take as they are
                self._direct = False
            else:
                if not left:
                    return tau
                if left == CLAMPED:
                    self._warn()
                    return tau
        if not self._of_torque:
            self.model.require_torque()
        given = q, qd, qdd
        batch = out is not None or (q.__class__ is _array and q.ndim > 1)
        found = None if batch else self._single_state(given, WORD)
        return self._batch_words(given, out) if found is None else found

    def _batch_words(self, given: Sequence[Any], out: Any = None) -> Integers:
        """Return the output words of states in the ordinary way: shape (N, outputs), or (outputs,) for a single one."""
        if self._arrays.are_batches(given, WORD, self._runner.takes_columns):
            rows, single = given, False
        else:
            rows, shape = self._arrays.rows(self.model.name, given, WORD, self._runner.takes_columns)
            single = not shape
        columns = not rows[0].flags.c_contiguous
        found = self._run_counted(rows, self._place(out, rows, columns, single))
        if out is None:
            return found[0] if single else found
        if found is not out:
            out[...] = found[0] if single else found
        return out  # type: ignore[no-any-return]

    def _place(self, out: Any, rows: Sequence[Integers], columns: bool, single: bool) -> Integers:
        """Return the array (N, n) that words are written to: `out` itself if it lies as the states do, and apart."""
        whole = (len(rows[0]), self._outputs)
        if out is None:
            return _empty(whole, _WORD, "F" if columns else "C")
        shape = whole[1:] if single else whole
        if out.__class__ is not _array or out.dtype != _WORD or out.shape != shape or not out.flags.writeable:
            given = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
            raise BddTorqueError(f"out must be a writable int64 array of shape {shape}, got {given}")
        alike = out.flags.f_contiguous if columns else out.flags.c_contiguous
        for each in rows:
            alike = alike and not _overlap(out, each)
        return out if alike and not single else self._place(None, rows, columns, single)

    def _run_counted(self, rows: Sequence[Integers], out: Integers) -> Integers:
        """Run words, count those that are out of range, and return `out` with the output words."""
        counts = _zeros(len(self._range.counts), _WORD)
        if self._runner.run(rows, out, counts):
            self._count(counts)
        return out

    def _count(self, counts: Integers) -> None:
        """Add up what was out of range; after the first warning, single states need not stop for one."""
        self._range.add(counts)
        if self._single is not None:
            self._addresses[STOPS] = self._stops

    def _warn(self) -> None:
        """Warn of the first word that was clamped, in a state that was run and counted."""
        self._range.warn(self._range.counts)
        self._addresses[STOPS] = self._stops

    def torque(self, q: Any, qd: Any = _REST, qdd: Any = _REST) -> Floats:
        """Return the torques of states in floats, computed through the words.

        NaN and infinity raise. A single state is fastest as float64 arrays (n,), many as float64 arrays (N, n) in C
        order; lists, tuples and other numbers cost a copy.

        Parameters
        ----------
        q
            Positions, rad or m, shape (n,) or (N, n).
        qd
            Velocities, rad/s or m/s; zero by default.
        qdd
            Accelerations, rad/s² or m/s²; zero by default.

        Returns
        -------
        array of float64
            Torques, N·m or N, shape (n,) or (N, n).
        """
        if qd is _REST:
            qd = self._still
        if qdd is _REST:
            qdd = self._still
        if self._direct and q.__class__ is _array and q.ndim == 1:
            tau = _empty(self._outputs)
            try:
                left = self._one_floats(q, qd, qdd, tau, self._addresses)
            except TypeError:
                self._direct = False
            else:
                if not left:
                    return tau
        if not self._of_torque:
            self.model.require_torque()
        given = q, *(self._still if each.__class__ is float and each == 0 else each for each in (qd, qdd))
        found = self._single_state(given, FLOAT)
        if found is not None:
            return found
        torques, shape = self._run_values(given)
        return torques if shape else torques[0]

    def words(self, *words: Any, **named: Any) -> Any:
        """Return the output words of input words, of any model.

        Give arrays (n,) or (N, n) in the order of ``model.formats.inputs`` or by name; the result is one array, or a
        named tuple of arrays. For a function give one integer or integer array per input: their shapes broadcast.
        """
        given = self._arrays.bound(self.model.name, words, named)
        found = self._single_state(given, WORD)
        if found is not None:
            return self._arrays.results(found[np.newaxis], ())
        rows, shape = self._arrays.rows(self.model.name, given, WORD)
        return self._arrays.results(self._run_counted(rows, self._place(None, rows, False, False)), shape)

    def value(self, *values: Any, **named: Any) -> Any:
        """Return the outputs at floats, computed through the words, of any model.

        The arguments are those of `words`. NaN and infinity raise.
        """
        given = self._arrays.bound(self.model.name, values, named)
        found = self._single_state(given, FLOAT)
        if found is not None:
            return self._arrays.results(found[np.newaxis], ())
        return self._arrays.results(*self._run_values(given))

    def output_words(self, **words: Any) -> Integers:
        """Return all output words side by side, shape (N, outputs), as C code and kernels return them."""
        rows, _ = self._arrays.rows(self.model.name, self._arrays.bound(self.model.name, (), words), WORD)
        return self._run_counted(rows, self._place(None, rows, False, False))

    def output_values(self, **values: Any) -> Floats:
        """Return all outputs at floats side by side, shape (N, outputs), in their units."""
        return self._run_values(self._arrays.bound(self.model.name, (), values))[0]

    def _single_state(self, given: Sequence[Any], dtype: np.dtype[Any]) -> AnyArray | None:
        """Return the outputs (outputs,) of a single state, by one compiled call; None where that is not possible."""
        state = self._arrays.one_state(given, dtype)
        if state is None:
            return None
        found = _empty(self._outputs, dtype)
        left = (self._one_words if dtype is WORD else self._one_floats)(*state, found, self._addresses)
        if left == CLAMPED:
            self._warn()
        return None if left == LEFT else found

    def _run_values(self, given: Sequence[Any]) -> tuple[Floats, tuple[int, ...]]:
        """Return the outputs (N, outputs) of floats in the ordinary way, and the shape of the states."""
        outside = _zeros(len(self._range.counts), _WORD)
        shape: tuple[int, ...]
        if self._arrays.are_batches(given, FLOAT, True):
            values, shape = given, (len(given[0]),)
        else:
            values, shape = self._arrays.rows(self.model.name, given, FLOAT)
        if len(values[0]) > 1 and self._floats.possible:
            found = np.empty((len(values[0]), self._outputs))
            refused = self._floats.run(self._runner, values, found, outside)
            if not refused and not (self.on_range == "raise" and outside.any()):
                self._count(outside)
                return found, shape
            outside[:] = 0  # the ordinary way says what is wrong
        words = []
        for k, (array, each) in enumerate(zip(self._arrays.inputs, values, strict=True)):
            quantised, counts = array.quantise_counted(each)
            if self.on_range == "raise" and counts.any():
                column = int(counts.argmax())
                raise BddTorqueError(out_of_range_message(array[column], each[:, column]))
            first, last = self._arrays.starts[k : k + 2]
            outside[first:last] = counts
            words.append(quantised)
        out = self._place(None, words, False, False)
        self._runner.run(words, out, np.zeros_like(outside))  # floats were counted, not words
        self._count(outside)
        return self._arrays.outputs.dequantise(out), shape

    def warm_up(self, progress: Progress | None = None) -> None:
        """Compile now what the first calls would compile: single states, batches in either order, kernels.

        The code is kept on disk for later processes.

        Parameters
        ----------
        progress
            Receives a call for every step.
        """
        steps: dict[str, Callable[[], Any]] = {}
        if not DISABLE_JIT:
            steps = {
                "single states": self._make_single,
                **self._runner.compiled_later(),
                "batches of floats": float_calls,
            }
        progress = progress or NoProgress()
        with step(progress, f"compiling code for {self.model.name}", len(steps)):
            for name, compile_step in steps.items():
                compile_step()
                progress.advance(name, 1.0, False)

    @property
    def kernel(self) -> Callable[..., Any]:
        """The kernel that clamps its words; see `make_kernel`."""
        return self.make_kernel()

    def make_kernel(self, checked: bool = True) -> Callable[..., Any]:
        """Return a compiled function for your own `numba.njit` loop.

        For torques: ``kernel(q, qd, qdd, tau)`` on word arrays (n,) or (N, n), which writes `tau`. For any quantity:
        ``kernel(q, ..., out)`` on its input arrays, with all output words in one int64 array. For a function:
        ``word = kernel(word, ...)``. The kernel takes integers only, allocates nothing, releases the GIL, is safe in
        threads, and counts nothing.

        Parameters
        ----------
        checked
            Clamp words to their range. With False (only for the target ``"float"``), words other than angles must be in
            range; the result for others is undefined.

        Returns
        -------
        callable
            The kernel.
        """
        if DISABLE_JIT:
            raise BddTorqueError("a kernel is compiled by Numba: NUMBA_DISABLE_JIT must not be set")
        if checked not in self._kernels:
            self._kernels[checked] = self._runner.kernel(checked)
        return self._kernels[checked]

    @property
    def _stops(self) -> int:
        """The way single states out of range go; see `single`."""
        return RAISES if self.on_range == "raise" else WARNS if self._range.warns else COUNT_ONLY

    def _forget_addresses(self) -> None:
        """Have what reads the evaluator's arrays by their addresses made anew, when first called."""
        self._kernels: dict[bool, Callable[..., Any]] = {}
        self._single: SingleCalls | None = None
        self._addresses: Integers = np.empty(0, dtype=np.int64)
        self._one_words: Call = lambda *given: self._first_single("_one_words", given)
        self._one_floats: Call = lambda *given: self._first_single("_one_floats", given)
        # arrays are tried as they are until Numba finds some to be none of its kind, which takes 80 µs
        self._direct = self._of_torque

    def _first_single(self, kind: str, given: tuple[Any, ...]) -> int:
        """Make the compiled calls for single states, and run the first; leave it if there are none."""
        self._make_single()
        call: Call = getattr(self, kind)
        return call(*given[:-1], self._addresses)

    def _make_single(self) -> None:
        """Make the compiled calls for single states."""
        self._one_words = self._one_floats = _leave
        if DISABLE_JIT:
            return
        runner = self._runner
        self._single = single_calls(self._arrays, self._range.counts, self._stops, runner.addresses, runner)
        self._one_words, self._one_floats = self._single.words, self._single.floats
        self._addresses = self._single.addresses


def _leave(*given: Any) -> int:
    """Leave a state to the ordinary way."""
    return LEFT
