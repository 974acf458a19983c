"""`Evaluator`: torques from states, through the words; the same words whatever the form."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from bddtorque.diagrams.choosing import choose_forms
from bddtorque.diagrams.forms import FORMS, Form
from bddtorque.errors import BddTorqueError, nearest
from bddtorque.evaluate.inline import program_kernel, straight_kernel
from bddtorque.evaluate.machine import run_states
from bddtorque.evaluate.parallel import Runner, Spread, checked_processors
from bddtorque.evaluate.program import QUANTITIES, Program, assemble, limits
from bddtorque.evaluate.straight import TILE, straight
from bddtorque.plan.plan import Input
from bddtorque.words import Format
from bddtorque.work.caching import cache_directory
from bddtorque.work.pool import usable_processors

if TYPE_CHECKING:
    from bddtorque.model import Model

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
OnRange = Literal["saturate", "raise"]

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
        model: Model,
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
        self._kernel: Callable[..., None] | None = None

    def torque_words(self, q: Any, qd: Any, qdd: Any) -> Integers:
        """Return torque words of position, velocity and acceleration words, integers of shape (n,) or (N, n).

        Straight-line code is fastest on large batches, and there on arrays in Fortran's order, in which the words of a
        joint stand side by side; torques then come in that order too.

        Angle words are masked to their bits, others clamped to their ends; what lay outside is counted in
        `out_of_range` and never raises. Floats are refused.
        """
        rows, single = self._words(q=q, qd=qd, qdd=qdd)
        tau = np.empty_like(rows[0])
        self._runner.run(rows[0], rows[1], rows[2], tau, self.out_of_range)
        for place, joint in self._unread:
            self.out_of_range[place, joint] += _outside(self.model.formats.inputs[place][joint], rows[place][:, joint])
        return tau[0] if single else tau

    def torque(self, q: Any, qd: Any, qdd: Any) -> Floats:
        """Return the torques (N·m or N) of states in floats, shape (n,) or (N, n), through the words.

        NaN and infinity raise; what is out of range is counted, and raises where `on_range` is ``"raise"``.
        """
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

    def _words(self, **named: Any) -> tuple[list[Integers], bool]:
        """Return integer arrays (N, n) of one length, and whether every one was a single state."""
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
        return [np.asarray(row, order=order) for row in spread], single


def _outside(word: Format, words: Integers) -> int:
    """Return how many words are out of range, as the program counts them."""
    first, last = limits(word)
    held = word.held(words) if word.kind == "angle" else words
    within = (held >= first) & (held <= last) if first <= last else (held >= first) | (held <= last)
    return int(np.count_nonzero(~within))


class _Machine:
    """Runs a plan as a program under the one precompiled kernel."""

    def __init__(self, model: Model, form: str, tables_only: bool) -> None:
        if form == "chosen":
            orders = [diagram.order for diagram in model.diagrams]
            forms = [choice.form for choice in choose_forms(model.tables, orders, model.spec.memory)]
        else:
            forms = [_lowered(model, k, form) for k in range(len(model.tables))]
        self.program: Program = assemble(model.plan, model.formats, forms, tables_only)
        self.registers = len(model.plan.wires)

    def run(self, q: Integers, qd: Integers, qdd: Integers, tau: Integers, counts: Integers) -> None:
        run_states(self.program, q, qd, qdd, tau, np.empty(self.registers, dtype=np.int64), counts)

    def kernel(self, joints: int) -> Callable[..., None]:
        return program_kernel(self.program, self.registers, joints)


class _Straight:
    """Runs a plan as code of its own: a batch in tiles, what is left one state after another."""

    def __init__(self, model: Model) -> None:
        cache = cache_directory()
        folder = Path(tempfile.mkdtemp(prefix="bddtorque-")) if cache is None else cache / "plans"
        self.code = straight(model.plan, model.formats, model.tables, folder)
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


def _lowered(model: Model, block: int, form: str) -> Form:
    """Return a block in a form; the diagram that was sifted gives the order of the variables."""
    diagram = model.diagrams[block]
    if form in BIT_FORMS:
        return FORMS[form].from_diagram(diagram)  # type: ignore[attr-defined, no-any-return]
    return FORMS[form].from_table(model.tables[block], diagram.order)
