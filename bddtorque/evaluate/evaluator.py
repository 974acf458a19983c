"""`Evaluator`: torques from states, through the words; the same words whatever the form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError, nearest
from bddtorque.diagrams.bdd import Diagram
from bddtorque.diagrams.choosing import choose_forms
from bddtorque.diagrams.forms import FORMS, Form
from bddtorque.evaluate.generated import private_folder
from bddtorque.evaluate.inline import program_kernel, straight_kernel
from bddtorque.evaluate.machine import run_states
from bddtorque.evaluate.parallel import Runner, Spread
from bddtorque.evaluate.program import QUANTITIES, Program, assemble, limits
from bddtorque.evaluate.single import LEFT, One, Single, common_arrays, machine_single, straight_single
from bddtorque.evaluate.straight import TILE, straight
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.plan.wires import Input
from bddtorque.words import Format, Formats
from bddtorque.work.caching import cache_directory
from bddtorque.work.processors import checked_processors, usable_processors

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
OnRange = Literal["saturate", "raise"]
_WORD, _FLOAT = np.dtype(np.int64), np.dtype(np.float64)
_ADDRESSES = ("_kernel", "_single", "_places", "_one_words", "_one_floats")
_array, _empty = np.ndarray, np.empty  # found at once: every name counts in a call for a single state

BIT_FORMS = ("lockstep", "bits")
WORD_FORMS = (
    "chosen", "dense", "folded", "classes", "radix64", "radix16", "radix4", "edge_valued", "multi_terminal", "straight",
)  # fmt: skip
EVALUATORS: dict[str, tuple[str, ...]] = {
    "bits": BIT_FORMS,
    "words": WORD_FORMS,
    "parallel": WORD_FORMS + BIT_FORMS,
}
"""The evaluators, and the forms each can run, the first by default. `straight` is code made for the one plan, `chosen`
the form of least cost for each block by itself; the others are blocks' forms."""


class Runnable(Protocol):
    """What an evaluator runs: words, a plan, and one table and one diagram per block."""

    @property
    def formats(self) -> Formats:
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


class Evaluator:
    """Runs a compiled model.

    Parameters
    ----------
    model : what was compiled
    kind : ``"bits"`` (each output bit walks its diagram, one test at a time: the paper's evaluator), ``"words"``
        (whole words: the fast path) or ``"parallel"`` (batches of states in threads, in any of these forms)
    form : for ``"words"`` and ``"parallel"``: a form of the blocks (``"dense"``, ``"classes"``, ``"radix64"``, ...; one
        precompiled kernel runs any plan), ``"chosen"`` (for each block the form that costs least within the spec's
        memory) or ``"straight"`` (code for this plan alone, with native products: many times faster, once it is
        compiled). By default straight for a plan made for a host, else chosen. For ``"bits"``: ``"lockstep"`` (all
        output bits of a block side by side) or ``"bits"`` (one after another); ``"parallel"`` takes these too
    on_range : what out-of-range floats do: ``"saturate"`` (and be counted) or ``"raise"``
    processors : for ``"parallel"``: a batch is cut into as many pieces, but no more than there are cores; by default
        as many as this process may use. `processors.schedule_model` counts what so many would make of one state

    Attributes
    ----------
    out_of_range : (3, n) int64, how many positions, velocities and accelerations were out of range since the start.
        Positions of revolute joints wrap and are only counted; everything else saturates.
    """

    def __init__(
        self,
        model: Runnable,
        kind: str = "words",
        form: str | None = None,
        on_range: OnRange = "saturate",
        processors: int | None = None,
    ) -> None:
        if kind not in EVALUATORS:
            raise BddTorqueError(
                f"evaluator: {', '.join(EVALUATORS)} required, {kind!r} given{nearest(kind, EVALUATORS)}"
            )
        form = form or ("straight" if kind != "bits" and model.plan.target == "host" else EVALUATORS[kind][0])
        if form not in EVALUATORS[kind]:
            known = EVALUATORS[kind]
            raise BddTorqueError(
                f"evaluator {kind}: form {' or '.join(known)} required, {form!r} given{nearest(str(form), known)}"
            )
        if on_range not in ("saturate", "raise"):
            raise BddTorqueError(f"evaluator: on_range 'saturate' or 'raise' required, {on_range!r} given")
        if kind != "parallel" and processors is not None:
            raise BddTorqueError(
                f"evaluator {kind}: no processors required, {processors!r:.40} given (parallel has them)"
            )
        self.processors = checked_processors(processors) if kind == "parallel" else 1
        self.model = model
        self.kind = kind
        self.form = form
        self.on_range = on_range
        self.out_of_range: Integers = np.zeros((3, len(model.formats.q)), dtype=np.int64)
        self._runner: Runner
        self._runner = _Straight(model) if form == "straight" else _Machine(model, form, tables_only=form in BIT_FORMS)
        if kind == "parallel":
            self._runner = Spread(self._runner, min(self.processors, usable_processors()))
        read = {wire.name for wire in model.plan.wires if isinstance(wire, Input)}
        # no torque depends on these, and the program does not read them: they are counted apart
        self._unread = [
            (place, joint)
            for place, name in enumerate(QUANTITIES)
            for joint in range(len(model.formats.q))
            if f"{name}{joint + 1}" not in read
        ]
        self._kernel: Callable[..., None] | None
        self._joints = len(model.formats.q)
        self._forget_addresses()

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what holds addresses of this process: a copy makes its own."""
        return {name: value for name, value in vars(self).items() if name not in _ADDRESSES}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what another evaluator gave."""
        vars(self).update(state)
        self._forget_addresses()

    def torque_words(self, q: Any, qd: Any, qdd: Any, out: Integers | None = None) -> Integers:
        """Return torque words of position, velocity and acceleration words, integers of shape (n,) or (N, n).

        Straight-line code is fastest on large batches, and there on arrays in Fortran's order, in which the words of a
        joint stand side by side; torques then come in that order too.

        Angle words are masked to their bits, others clamped to their ends; what lay outside is counted in
        `out_of_range` and never raises. Floats are refused.

        A single state is fastest as arrays (n,) of int64. `out`, an int64 array of the result's shape, takes the
        torques of a batch and is returned: memory that is new each time costs as much as a small arm's torques.
        """
        # one compiled call for the arguments it is made for; anything else goes the ordinary way below
        if q.__class__ is _array and q.ndim == 1 and out is None:
            tau = _empty(self._joints, _WORD)
            try:
                self._one_words(q, qd, qdd, tau, self._places)
                return tau
            except TypeError:  # other arrays, or none
                self._be_careful()
            except ValueError:
                pass
        rows, single = self._words(q=q, qd=qd, qdd=qdd)
        tau = np.empty_like(rows[0]) if out is None else self._taken(out, rows[0], single)
        self._runner.run(rows[0], rows[1], rows[2], tau, self.out_of_range)
        for place, joint in self._unread:
            self.out_of_range[place, joint] += _outside(self.model.formats.inputs[place][joint], rows[place][:, joint])
        if out is not None:
            if not np.may_share_memory(tau, out):
                out[...] = tau[0] if single else tau
            return out
        return tau[0] if single else tau

    def _taken(self, out: Any, rows: Integers, single: bool) -> Integers:
        """Return the array (N, n) that torques are written to: `out` itself where it lies as the states do."""
        shape = rows.shape[1:] if single else rows.shape
        if out.__class__ is not _array or out.dtype != _WORD or out.shape != shape or not out.flags.writeable:
            given = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
            raise BddTorqueError(f"out: a writable int64 array of shape {shape} required, {given} given")
        tau = np.atleast_2d(out)
        alike = tau.flags.c_contiguous if rows.flags.c_contiguous else tau.flags.f_contiguous
        return tau if alike else np.empty_like(rows)

    def torque(self, q: Any, qd: Any, qdd: Any) -> Floats:
        """Return the torques (N·m or N) of states in floats, shape (n,) or (N, n), through the words.

        NaN and infinity raise; what is out of range is counted, and raises where `on_range` is ``"raise"``. A single
        state is fastest as arrays (n,) of float64.
        """
        if q.__class__ is _array and q.ndim == 1:
            tau = _empty(self._joints)
            try:
                self._one_floats(q, qd, qdd, tau, self._places)
                return tau
            except TypeError:
                self._be_careful()
            except ValueError:
                pass
        words = []
        for place, (name, given) in enumerate(zip(QUANTITIES, (q, qd, qdd), strict=True)):
            formats = getattr(self.model.formats, name)
            quantised, outside = formats.quantise_counted(given)
            if self.on_range == "raise" and outside.any():
                joint = int(outside.argmax())
                raise BddTorqueError(
                    f"{formats.name}: values within {formats[joint].span[0]:.6g} to {formats[joint].span[1]:.6g} "
                    f"{formats[joint].unit} required for joint '{self.model.formats.joint_names[joint]}', "
                    f"{outside[joint]} of them lie outside"
                )
            self.out_of_range[place] += outside
            words.append(quantised)
        counted = self.out_of_range.copy()
        torques = self.torque_words(*words)
        self.out_of_range[:] = counted  # the words themselves were in range: nothing is counted twice
        return self.model.formats.tau.dequantise(torques)

    @property
    def program(self) -> Program:
        """The plan as plain arrays, for a kernel of your own or another process; not for the form ``"straight"``."""
        runner = self._runner.runner if isinstance(self._runner, Spread) else self._runner
        if not isinstance(runner, _Machine):
            raise BddTorqueError(f"evaluator: a form of blocks required for a program, '{self.form}' given")
        return runner.program

    @property
    def kernel(self) -> Callable[..., None]:
        """A compiled function kernel(q, qd, qdd, tau) on word arrays (n,) or (N, n), for an own njit loop or to call.

        It allocates nothing, needs no GIL and is safe in threads. It counts nothing; integers only.
        """
        if self._kernel is None:
            self._kernel = self._runner.kernel(len(self.model.formats.q))
        return self._kernel

    def _forget_addresses(self) -> None:
        """Have what reads the evaluator's arrays by their addresses made anew, when first called."""
        self._kernel = None
        self._single: Single | None = None
        self._places: Integers = np.empty(0, dtype=np.int64)
        self._one_words: One = lambda *given: self._first_single("words", given)
        self._one_floats: One = lambda *given: self._first_single("floats", given)

    def _be_careful(self) -> None:
        """Look at arguments before they are tried: that Numba finds them to be none of its kind takes 80 µs."""
        if self._single is not None:
            self._one_words = _carefully(self._single.words, _WORD)
            self._one_floats = _carefully(self._single.floats, _FLOAT)

    def _first_single(self, kind: str, given: tuple[Any, ...]) -> None:
        """Make the compiled calls for single states, and run the first; leave it if there are none."""
        common = common_arrays(self.model.formats, self.out_of_range, self._unread)
        runner = self._runner.runner if isinstance(self._runner, Spread) else self._runner
        single = runner.single(common, self.on_range == "raise") if isinstance(runner, _Machine | _Straight) else None
        if single is None:
            self._one_words = self._one_floats = _leave
            raise ValueError(LEFT)
        self._single, self._places = single, single.places
        self._one_words, self._one_floats = single.words, single.floats
        getattr(single, kind)(*given[:4], single.places)

    def _are_batches(self, q: Any, qd: Any, qdd: Any) -> bool:
        """Whether three things are arrays (N, n) of int64 as the runner takes them, all of one shape and order."""
        columns = getattr(self._runner, "takes_columns", False) and not (q.__class__ is _array and q.flags.c_contiguous)
        return all(
            each.__class__ is _array
            and each.dtype is _WORD
            and each.ndim == 2
            and (each.flags.f_contiguous if columns else each.flags.c_contiguous)
            and each.flags.aligned
            and each.shape == q.shape
            and each.shape[1] == self._joints
            for each in (q, qd, qdd)
        )

    def _words(self, **named: Any) -> tuple[list[Integers], bool]:
        """Return integer arrays (N, n) of one length, and whether every one was a single state."""
        if self._are_batches(*named.values()):  # nothing to be made of them: saves 15 µs
            views = [given.view() for given in named.values()]
            for view in views:
                view.flags.writeable = False
            return views, False
        rows, single = [], True
        for name, given in named.items():
            formats = getattr(self.model.formats, name)
            array = np.asarray(given)
            if array.dtype.kind not in "iu":
                raise BddTorqueError(
                    f"{formats.name}: integer words required, {array.dtype} given (torque takes floats)"
                )
            if array.ndim not in (1, 2) or array.shape[-1] != len(formats):
                n = len(formats)
                raise BddTorqueError(f"{formats.name}: shape ({n},) or (N, {n}) required, {array.shape} given")
            if array.dtype == np.uint64:  # before the cast, or large words would turn negative; angles keep low bits
                wraps = np.array([each.kind == "angle" for each in formats])
                array = np.where(wraps, array, np.minimum(array, np.uint64(2**62)))
            single = single and array.ndim == 1
            rows.append(np.atleast_2d(array.astype(np.int64, copy=False)))
        lengths = {len(row) for row in rows} - {1}
        if len(lengths) > 1:
            raise BddTorqueError(f"states: the same number of rows required, {[len(row) for row in rows]} given")
        shape = (lengths.pop() if lengths else 1, rows[0].shape[1])
        spread = [np.broadcast_to(row, shape) for row in rows]
        columns = all(row.flags.f_contiguous and not row.flags.c_contiguous for row in spread)
        order: Literal["C", "F"] = "F" if columns and getattr(self._runner, "takes_columns", False) else "C"
        rows = [np.asarray(row, order=order) for row in spread]
        for row in rows:
            row.flags.writeable = False  # views already are, and so must copies be: one type, compiled once
        return rows, single


def _outside(word: Format, words: Integers) -> int:
    """Return how many words are out of range, as the program counts them."""
    first, last = limits(word)
    held = word.held(words) if word.kind == "angle" else words
    within = (held >= first) & (held <= last) if first <= last else (held >= first) | (held <= last)
    return int(np.count_nonzero(~within))


def _leave(*given: Any) -> None:
    """Leave a state to the ordinary way."""
    raise ValueError(LEFT)


def _carefully(one: One, dtype: Any) -> One:
    """Return a compiled call that is tried only with what it takes."""

    def call(*given: Any) -> None:
        if all(x.__class__ is _array and x.dtype is dtype and x.ndim == 1 and x.flags.carray for x in given[:3]):
            one(*given)
        else:
            raise ValueError(LEFT)

    return call


class _Machine:
    """Runs a plan as a program under the one precompiled kernel."""

    def __init__(self, model: Runnable, form: str, tables_only: bool) -> None:
        if form == "chosen":
            orders = [diagram.order for diagram in model.diagrams]
            forms = [choice.form for choice in choose_forms(model.tables, orders, model.memory)]
        else:
            forms = [_lowered(model, k, form) for k in range(len(model.tables))]
        self.program: Program = assemble(model.plan, model.formats, forms, tables_only)
        self.registers = len(model.plan.wires)

    def run(self, q: Integers, qd: Integers, qdd: Integers, tau: Integers, counts: Integers) -> None:
        run_states(self.program, q, qd, qdd, tau, np.empty(self.registers, dtype=np.int64), counts)

    def kernel(self, joints: int) -> Callable[..., None]:
        return program_kernel(self.program, self.registers, joints)

    def single(self, common: Sequence[npt.NDArray[Any]], raises: bool) -> Single | None:
        return machine_single(self.program, self.registers, common, raises)


class _Straight:
    """Runs a plan as code of its own: a batch in tiles, what is left one state after another."""

    def __init__(self, model: Runnable) -> None:
        cache = cache_directory()
        folder = private_folder() if cache is None else cache / "plans"
        self.code = straight(model.plan, model.formats, model.tables, folder)
        self.folder = folder
        self.takes_columns = self.code.columns is not None

    def run(self, q: Integers, qd: Integers, qdd: Integers, tau: Integers, counts: Integers) -> None:
        code = self.code
        if code.tiles is None or code.columns is None or len(q) < TILE:
            code.states(q, qd, qdd, tau, code.table, code.constants, counts)
            return
        rows, out = np.empty(code.rows * TILE), np.empty(tau.shape[1] * TILE, dtype=np.int64)
        if q.flags.c_contiguous:
            code.tiles(q, qd, qdd, tau, code.table, code.constants, counts, rows, out)
        else:
            code.columns(q.T, qd.T, qdd.T, tau.T, code.table, code.constants, counts, rows, out)

    def kernel(self, joints: int) -> Callable[..., None]:
        return straight_kernel(self.code, joints)

    def single(self, common: Sequence[npt.NDArray[Any]], raises: bool) -> Single | None:
        return straight_single(self.code, self.folder, common, raises)


def _lowered(model: Runnable, block: int, form: str) -> Form:
    """Return a block in a form; the diagram that was sifted gives the order of the variables."""
    diagram = model.diagrams[block]
    if form in BIT_FORMS:
        return FORMS[form].from_diagram(diagram)  # type: ignore[attr-defined, no-any-return]
    return FORMS[form].from_table(model.tables[block], diagram.order)
