"""`Evaluator`: torques from states, through the words; the same words whatever the form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, get_args

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError, not_among
from bddtorque.base.jit import DISABLE_JIT
from bddtorque.base.processors import checked_processors
from bddtorque.base.workers import NoProgress, Progress, step
from bddtorque.evaluate.float_batches import FloatBatches, float_calls
from bddtorque.evaluate.inline import array_kernel, word_kernel
from bddtorque.evaluate.kinds import OnRange, SpreadBy, choose_form, make_runner
from bddtorque.evaluate.program import QUANTITIES, Program
from bddtorque.evaluate.range_counts import RangeCounts
from bddtorque.evaluate.runners import Interpreted, Runnable, Spread
from bddtorque.evaluate.shared_state import SharedStateRunner
from bddtorque.evaluate.single import GOES_ON, LEFT, RAISES, STOPS, WARNS, One, Single, common_arrays
from bddtorque.evaluate.state_arrays import (
    are_batches,
    array_columns,
    array_results,
    input_columns,
    one_state,
    out_of_range_message,
    state_words,
    taking_any,
)
from bddtorque.words.interface import Interface

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_WORD, _FLOAT = np.dtype(np.int64), np.dtype(np.float64)
_REST = 0
_array, _empty, _overlap = (
    np.ndarray,
    np.empty,
    np.may_share_memory,
)  # found at once: every name counts in a call for a single state


class Evaluable(Runnable, Protocol):
    """A compiled robot or a compiled function."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def runnable(self) -> Runnable:
        """Itself, or a function as an arm: its inputs are the positions, its value is the first torque."""

    @property
    def named_arrays(self) -> Interface | None:
        """The arrays of a quantity; None for anything else."""

    def require_torque(self, where: str = "") -> None:
        """Raise unless it is the torque of a robot."""

    def require_function(self) -> None:
        """Raise unless it is a function."""


class Evaluator:
    """Runs a compiled model: `torque` and `torque_words` for a robot, `value` and `words` for everything else.

    `Model.evaluator` makes one. All kinds and forms return the same words.

    Parameters
    ----------
    model
        The compiled model.
    kind
        ``"words"``: whole words, the fast path. ``"bits"``: each output bit walks its diagram one test at a time, as
        in the paper. ``"parallel"``: several processors, in any of these forms.
    form
        For ``"words"`` and ``"parallel"``: ``"straight"`` (code generated for this plan, by far the fastest once it is
        compiled) or ``"dense"`` (the tables as they are, read by a precompiled kernel). The default is straight; it is
        dense when the environment sets ``BDDTORQUE_STRAIGHT=off``. For ``"bits"``: ``"lockstep"`` (all output bits of
        a block side by side) or ``"bits"`` (one after another); ``"parallel"`` takes these too.
    on_range
        What to do with numbers out of range. ``"warn"``: clamp and count them; the first gives a `ClampWarning` that
        names its joint and range. ``"saturate"``: the same without a warning. ``"raise"``: reject floats out of range.
        Positions of joints that turn wrap and are never clamped.
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
        int64 counts of positions, velocities and accelerations out of range since the start, shape (3, n); for a
        function or a quantity (k,), one per input word. Positions of joints that turn that wrap are counted too.
        Rejected states are not counted. Threads that share an evaluator add to the same counts.
    """

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
            raise BddTorqueError("processors is only valid for the evaluator 'parallel'", option="processors")
        self.processors = checked_processors(processors) if kind == "parallel" else 1
        self.model = model
        self.kind = kind
        self.form = form
        self.on_range = on_range
        self.spread = spread
        arm = model.runnable
        self._formats, self._joints, self._of_function = arm.formats, len(arm.formats.q), arm is not model
        self._arrays = model.named_arrays
        self._runner = make_runner(arm, kind, form, spread, self.processors)
        self._range = RangeCounts(arm, self._runner, 1 if self._of_function else len(QUANTITIES), on_range == "warn")
        used = sum(map(len, self._arrays.inputs)) if self._arrays else self._joints
        self._outputs = sum(map(len, self._arrays.outputs)) if self._arrays else 1
        counts = self._range.counts
        self.out_of_range: Integers = counts[0, :used] if self._of_function else counts
        self._still = np.zeros(self._joints)
        self._at_rest = [formats.quantise(self._still) for formats in (arm.formats.qd, arm.formats.qdd)]
        self._floats = FloatBatches(arm.formats)
        self._sizes: dict[str, int] = {}  # of the arrays of a quantity; 0 for the numbers of a function
        if self._of_function:
            self._rest_values = [
                own.dequantise(words) for own, words in zip(arm.formats.inputs[1:], self._at_rest, strict=True)
            ]
            self._sizes = dict.fromkeys(arm.formats.q.labels, 0)
        if self._arrays is not None:
            self._sizes = {array.name: len(array) for array in self._arrays.inputs}
        self._forget_addresses()

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
        if out is None and (q.__class__ is not _array or q.ndim == 1):
            tau = _empty(self._joints, _WORD)
            try:
                (self._one_words if q.__class__ is _array else self._any_words)(q, qd, qdd, tau, self._places)
                return tau
            except TypeError:  # arrays that it does not take as they are
                self._be_careful()
            except OverflowError:  # the state was run
                self._range.warn(self._range.counts)
                self._places[STOPS] = self._stops
                return tau
            except ValueError:
                pass
        if self._of_function:
            self.model.require_torque()
        rows, single = [q, qd, qdd], False
        if not are_batches(q, qd, qdd, self._joints, self._runner.takes_columns):
            rows, single = state_words(self._formats, self._runner.takes_columns, q=q, qd=qd, qdd=qdd)
        tau = np.empty_like(rows[0]) if out is None else self._place(out, rows, single)
        self._run_counted(rows, tau)
        if out is None:
            return tau[0] if single else tau
        if tau is not out:
            out[...] = tau[0] if single else tau
        return out

    def _place(self, out: Any, rows: Sequence[Integers], single: bool) -> Integers:
        """Return the array (N, n) that torques are written to: `out` itself if it lies as the states do, and apart."""
        first = rows[0]
        shape = first.shape[1:] if single else first.shape
        if out.__class__ is not _array or out.dtype != _WORD or out.shape != shape or not out.flags.writeable:
            given = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
            raise BddTorqueError(f"out must be a writable int64 array of shape {shape}, got {given}")
        alike = out.flags.c_contiguous if first.flags.c_contiguous else out.flags.f_contiguous
        apart = alike and not (_overlap(out, first) or _overlap(out, rows[1]) or _overlap(out, rows[2]))
        return out if apart and not single else np.empty_like(first)

    def _run_counted(self, rows: Sequence[Integers], tau: Integers) -> None:
        """Run words, and count those that are out of range."""
        counts = np.zeros_like(self._range.counts)
        counted = self._runner.run(rows[0], rows[1], rows[2], tau, counts)
        self._range.add_unread(counts, rows)
        if counted or self._range.unread:
            self._count(counts)

    def _count(self, counts: Integers) -> None:
        """Add up what was out of range; after the first warning, single states need not stop for one."""
        self._range.add(counts)
        if self._single is not None:
            self._places[STOPS] = self._stops

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
        if q.__class__ is not _array or q.ndim == 1:
            tau = _empty(self._joints)
            try:
                (self._one_floats if q.__class__ is _array else self._any_floats)(q, qd, qdd, tau, self._places)
                return tau
            except TypeError:
                self._be_careful()
            except ValueError:
                pass
        if self._of_function:
            self.model.require_torque()
        motion = (self._still if isinstance(values, float) and values == 0 else values for values in (qd, qdd))
        torques, single = self._run_values((q, *motion))
        return torques[0] if single else torques

    def words(self, *words: Any, **named: Any) -> Any:
        """Return the output words of a quantity or a function.

        For a quantity: give arrays (n,) or (N, n) in the order of ``model.arrays.inputs`` or by name; the result is one
        array, or a named tuple of arrays. For a function: give one integer or integer array per input; shapes
        broadcast.
        """
        one = self._single_state(words, named, _WORD)
        if one is not None:
            return one
        rows, shape = self._rows(words, named, None)
        if rows.dtype != _WORD:
            raise BddTorqueError(f"{self.model.name} must have integer words, got {rows.dtype} (value takes floats)")
        states, _ = state_words(self._formats, False, q=rows, qd=self._at_rest[0], qdd=self._at_rest[1])
        found = np.empty_like(states[0])
        self._run_counted(states, found)
        if self._arrays is not None:
            return array_results(self._arrays, found, single=not shape)
        return found[:, 0].reshape(shape) if shape else int(found[0, 0])

    def output_words(self, **words: Any) -> Integers:
        """Return all output words side by side, shape (N, outputs), as C code and kernels return them.

        Give every input array by name, (N, words); a number may be (N,).
        """
        if not self._of_function:
            return np.atleast_2d(self.torque_words(**words))
        rows, _ = self._named_rows(words, None)
        states, _ = state_words(self._formats, False, q=rows, qd=self._at_rest[0], qdd=self._at_rest[1])
        found = np.empty_like(states[0])
        self._run_counted(states, found)
        return found[:, : self._outputs]

    def output_values(self, **values: Any) -> Floats:
        """Return all outputs at floats side by side, shape (N, outputs), in their units; see `output_words`."""
        if not self._of_function:
            return np.atleast_2d(self.torque(**values))
        rows, _ = self._named_rows(values, np.dtype(np.float64))
        found, _ = self._run_values((rows,))
        return found[:, : self._outputs]

    def _named_rows(self, named: dict[str, Any], dtype: np.dtype[Any] | None) -> tuple[Any, tuple[int, ...]]:
        """Return what is given by name as rows (N, joints); the numbers of a function are columns."""
        if self._arrays is not None:
            return self._rows((), named, dtype)
        return self._rows(tuple(np.reshape(named[name], -1) for name in self._sizes), {}, dtype)

    def value(self, *values: Any, **named: Any) -> Any:
        """Return a quantity or a function at floats, computed through the words.

        The arguments are those of `words`. NaN and infinity raise.
        """
        one = self._single_state(values, named, _FLOAT)
        if one is not None:
            return one
        rows, shape = self._rows(values, named, np.dtype(np.float64))
        found, _ = self._run_values((rows,))
        if self._arrays is not None:
            return array_results(self._arrays, found, single=not shape)
        return found[:, 0].reshape(shape) if shape else float(found[0, 0])

    def _single_state(self, given: tuple[Any, ...], named: dict[str, Any], dtype: np.dtype[Any]) -> Any:
        """Return a quantity or a function at a single state, by one compiled call; None where that is not possible."""
        state = one_state(self._sizes, given, named, self._joints, dtype)
        if state is None:
            return None
        found = _empty(self._joints, dtype)
        try:
            if dtype is _WORD:
                self._own_words(state, *self._at_rest, found, self._places)
            else:
                self._own_floats(state, *self._rest_values, found, self._places)
        except OverflowError:  # the state was run
            self._range.warn(self._range.counts)
            self._places[STOPS] = self._stops
        except ValueError:
            return None
        return found[0].item() if self._arrays is None else array_results(self._arrays, found[None], single=True)

    def _rows(
        self, given: tuple[Any, ...], named: dict[str, Any], dtype: np.dtype[Any] | None
    ) -> tuple[Any, tuple[int, ...]]:
        """Return the words or floats of a quantity or a function as rows (N, joints), and the shape of the result."""
        if self._arrays is not None:
            return array_columns(self._arrays, given, named, self.model.name, self._joints, dtype)
        if not self._of_function:
            self.model.require_function()
        if named:
            raise BddTorqueError(f"{self.model.name} takes its arguments in order, got '{next(iter(named)):.40}'")
        names = self._formats.q.labels
        return input_columns(given, dict(zip(names, self._formats.q, strict=True)), self.model.name, dtype)

    def _run_values(self, states: Sequence[Any]) -> tuple[Floats, bool]:
        """Return the outputs of q, qd and qdd, or of a function's inputs alone, and whether it was a single state."""
        states = list(states)
        outside = np.zeros_like(self._range.counts)
        arrays = self._floats.arrays(states)
        if arrays is not None:
            found = np.empty(arrays[0].shape)
            refused = self._floats.run(self._runner, arrays, self._at_rest[len(states) - 1 :], found, outside)
            if not refused and not (self.on_range == "raise" and outside.any()):
                self._count(outside)
                return found, False
            outside[:] = 0  # the ordinary way says what is wrong
        words = []
        for place, (formats, values) in enumerate(zip(self._formats.inputs, states, strict=False)):
            quantised, outside[place] = formats.quantise_counted(values)
            if self.on_range == "raise" and outside[place].any():
                joint = int(outside[place].argmax())
                raise BddTorqueError(out_of_range_message(formats[joint], np.asarray(values)[..., joint]))
            words.append(quantised)
        q, qd, qdd = words if len(words) == 3 else (*words, *self._at_rest)
        rows, single = state_words(self._formats, self._runner.takes_columns, q=q, qd=qd, qdd=qdd)
        tau = np.empty_like(rows[0])
        self._runner.run(rows[0], rows[1], rows[2], tau, np.zeros_like(outside))  # floats were counted, not words
        self._count(outside)
        return self._formats.tau.dequantise(tau), single

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
    def program(self) -> Program:
        """The plan as plain arrays, for a kernel of your own or another process; not for the form ``"straight"``."""
        runner = self._runner.runner if isinstance(self._runner, Spread | SharedStateRunner) else self._runner
        if not isinstance(runner, Interpreted):
            raise BddTorqueError(f"a program needs a form of blocks: the evaluator has the form '{self.form}'")
        return runner.program

    @property
    def kernel(self) -> Callable[..., Any]:
        """The kernel that clamps its words; see `make_kernel`."""
        return self.make_kernel()

    def make_kernel(self, checked: bool = True) -> Callable[..., Any]:
        """Return a compiled function for your own `numba.njit` loop.

        For a robot: ``kernel(q, qd, qdd, tau)`` on word arrays (n,) or (N, n), which writes `tau`. For a quantity:
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
            own: Callable[..., Any] = self._runner.kernel(self._joints, checked)
            if self._arrays is not None:
                sizes = tuple(map(len, self._arrays.inputs))
                own = array_kernel(own, sizes, sum(map(len, self._arrays.outputs)), self._joints)
            elif self._of_function:
                own = word_kernel(own, self._joints)
            self._kernels[checked] = own
        return self._kernels[checked]

    @property
    def _stops(self) -> int:
        """What single states do that are out of range; see `single`."""
        return RAISES if self.on_range == "raise" else WARNS if self._range.warns else GOES_ON

    def _forget_addresses(self) -> None:
        """Have what reads the evaluator's arrays by their addresses made anew, when first called."""
        self._kernels: dict[bool, Callable[..., Any]] = {}
        self._single: Single | None = None
        self._places: Integers = np.empty(0, dtype=np.int64)
        self._one_words: One = lambda *given: self._first_single("_any_words", given)
        self._one_floats: One = lambda *given: self._first_single("_any_floats", given)
        self._any_words, self._any_floats = self._one_words, self._one_floats
        self._own_words: One = lambda *given: self._first_single("_own_words", given)
        self._own_floats: One = lambda *given: self._first_single("_own_floats", given)

    def _be_careful(self) -> None:
        """Look at arguments before they are tried: that Numba finds them to be none of its kind takes 80 µs."""
        self._one_words, self._one_floats = self._any_words, self._any_floats

    def _first_single(self, kind: str, given: tuple[Any, ...]) -> None:
        """Make the compiled calls for single states, and run the first; leave it if there are none."""
        self._make_single()
        getattr(self, kind)(*given[:4], self._places)

    def _make_single(self) -> None:
        """Make the compiled calls for single states."""
        common = common_arrays(self._formats, self._range.counts, self._range.unread)
        single = None if DISABLE_JIT else self._runner.single(common, self._stops)
        self._own_words = self._own_floats = _leave
        if single is not None:
            self._single, self._places = single, single.places
        if single is not None and self._of_function:
            self._own_words, self._own_floats = single.words, single.floats
        if single is None or self._of_function:
            self._one_words = self._one_floats = self._any_words = self._any_floats = _leave
            return
        self._one_words, self._one_floats = single.words, single.floats
        self._any_words = taking_any(single.words, _WORD, self._still)
        self._any_floats = taking_any(single.floats, _FLOAT, self._still)


def _leave(*given: Any) -> None:
    """Leave a state to the ordinary way."""
    raise ValueError(LEFT)
