"""`FunctionEvaluator`: runs a compiled function, in every form that a compiled robot has.

The evaluators know the words of an arm: positions, velocities, accelerations in, torques out. A function of k words is
run as an arm of k joints that reads its positions alone and whose first torque is the result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.evaluate.evaluator import Evaluator, OnRange
from bddtorque.evaluate.inline import carray, stack_of
from bddtorque.evaluate.runners import Runnable
from bddtorque.plan.plan import Plan
from bddtorque.plan.wires import Input
from bddtorque.words import Format, Formats, JointFormats

if TYPE_CHECKING:
    from bddtorque.model.model import Model

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _AsArm:
    """What an `Evaluator` reads of a model."""

    plan: Plan
    formats: Formats
    tables: Any
    diagrams: Any
    memory: int


def as_arm(model: Model) -> Runnable:
    """Return what an `Evaluator` reads of a function: its words as the positions of an arm."""
    places = {name: f"q{k}" for k, name in enumerate(model.input_names, 1)}
    wires = tuple(
        replace(wire, name=places[wire.name]) if isinstance(wire, Input) else wire for wire in model.plan.wires
    )
    inputs = JointFormats("inputs", model.inputs)
    formats = Formats(model.input_names, inputs, inputs, inputs, inputs)  # only the positions are ever read
    return _AsArm(replace(model.plan, wires=wires), formats, model.tables, model.diagrams, model.memory)


class FunctionEvaluator:
    """Runs a compiled function.

    Parameters
    ----------
    model : what was compiled
    kind, form, on_range, processors : as those of `Evaluator`

    Attributes
    ----------
    out_of_range : (k,) int64, how many values of each input were out of range since the start. Angles wrap and are only
        counted, where they have limits; everything else saturates
    """

    def __init__(
        self,
        model: Model,
        kind: str = "words",
        form: str | None = None,
        on_range: OnRange = "saturate",
        processors: int | None = None,
    ) -> None:
        self.model = model
        self._arm = Evaluator(as_arm(model), kind, form, on_range, processors)
        self.kind, self.form, self.on_range = kind, self._arm.form, on_range
        self._kernel: Callable[..., int] | None = None

    @property
    def out_of_range(self) -> Integers:
        """How many values of each input were out of range."""
        counts: Integers = self._arm.out_of_range[0]
        return counts

    def words(self, *words: Any) -> Any:
        """Return output words of input words: integers of any shapes that go together, as many as there are inputs."""
        rows, shape = self._rows(words)
        integers = rows.dtype.kind in "iu"
        if not integers:
            raise BddTorqueError(f"{self.model.name}: integer words required, {rows.dtype} given (value takes floats)")
        none = np.zeros(rows.shape, dtype=np.int64)
        found = self._arm.torque_words(rows, none, none)[:, 0].reshape(shape)
        return found if shape else int(found)

    def value(self, *values: Any) -> Any:
        """Return the function at floats of any shapes that go together, through the words.

        NaN and infinity raise; what is out of range is counted, and raises where `on_range` is ``"raise"``.
        """
        given = [np.asarray(each) for each in values]
        rows, shape = self._rows(given)
        quantised, outside = JointFormats("inputs", self.model.inputs).quantise_counted(rows)
        if self.on_range == "raise" and outside.any():
            k = int(outside.argmax())
            low, high = self.model.inputs[k].span
            raise BddTorqueError(
                f"{self.model.input_names[k]}: values within {low:.6g} to {high:.6g} {self.model.inputs[k].unit} "
                f"required, {outside[k]} of them lie outside"
            )
        counted = self._arm.out_of_range.copy()
        none = np.zeros(quantised.shape, dtype=np.int64)
        words = self._arm.torque_words(quantised, none, none)[:, 0]
        self._arm.out_of_range[:] = counted  # the words themselves were in range: nothing is counted twice
        self._arm.out_of_range[0] += outside
        found = self.model.output.dequantise(words).reshape(shape)
        return found if shape else float(found)

    @property
    def kernel(self) -> Callable[..., int]:
        """A compiled function word = kernel(word, ...) of as many words as there are inputs, for an own njit loop.

        It allocates nothing, needs no GIL and is safe in threads. It counts nothing; integers only.
        """
        if self._kernel is None:
            self._kernel = word_kernel(self._arm.kernel, len(self.model.inputs))
        return self._kernel

    def _rows(self, given: Any) -> tuple[Any, tuple[int, ...]]:
        """Return an array (N, k) of all that was given, and the shape of the result."""
        names = self.model.input_names
        if len(given) != len(names):
            raise BddTorqueError(
                f"{self.model.name}: {len(names)} arguments ({', '.join(names)}) required, {len(given)} given"
            )
        try:
            arrays = np.broadcast_arrays(*map(np.asarray, given))
        except ValueError:
            shapes = ", ".join(str(np.shape(each)) for each in given)
            raise BddTorqueError(f"{self.model.name}: shapes that go together required, {shapes} given") from None
        kinds = {array.dtype.kind for array in arrays}
        if not kinds <= set("iuf"):
            raise BddTorqueError(f"{self.model.name}: real numbers required, {arrays[0].dtype} given")
        dtype: Any = np.float64 if "f" in kinds else np.int64
        columns = [
            np.minimum(array, np.uint64(2**62)) if array.dtype == np.uint64 and word.kind == "range" else array
            for array, word in zip(arrays, self.model.inputs, strict=True)
        ]  # before the cast, or large words would turn negative
        return np.stack([column.reshape(-1).astype(dtype) for column in columns], axis=1), arrays[0].shape


def word_kernel(arm: Callable[..., None], count: int) -> Callable[..., int]:
    """Return kernel(word, ...) of `count` words over a kernel on the words of an arm."""

    @numba.njit(nogil=True)
    def of_one(a: Any) -> Any:
        words = carray(stack_of(count), (count,), np.int64)
        none = carray(stack_of(count), (count,), np.int64)
        out = carray(stack_of(count), (count,), np.int64)
        words[0] = a | a  # floats have no `|` and are refused
        arm(words, none, none, out)
        return out[0]

    @numba.njit(nogil=True)
    def of_two(a: Any, b: Any) -> Any:
        words = carray(stack_of(count), (count,), np.int64)
        none = carray(stack_of(count), (count,), np.int64)
        out = carray(stack_of(count), (count,), np.int64)
        words[0], words[1] = a | a, b | b
        arm(words, none, none, out)
        return out[0]

    @numba.njit(nogil=True)
    def of_three(a: Any, b: Any, c: Any) -> Any:
        words = carray(stack_of(count), (count,), np.int64)
        none = carray(stack_of(count), (count,), np.int64)
        out = carray(stack_of(count), (count,), np.int64)
        words[0], words[1], words[2] = a | a, b | b, c | c
        arm(words, none, none, out)
        return out[0]

    @numba.njit(nogil=True)
    def of_four(a: Any, b: Any, c: Any, d: Any) -> Any:
        words = carray(stack_of(count), (count,), np.int64)
        none = carray(stack_of(count), (count,), np.int64)
        out = carray(stack_of(count), (count,), np.int64)
        words[0], words[1], words[2], words[3] = a | a, b | b, c | c, d | d
        arm(words, none, none, out)
        return out[0]

    kernels: tuple[Any, ...] = (of_one, of_two, of_three, of_four)
    kernel: Callable[..., int] = kernels[count - 1]
    return kernel


def words_of(formats: tuple[Format, ...], index: int) -> tuple[int, ...]:
    """Return the input words at an index of a table that has them one after another, the first most significant."""
    words = []
    for word in reversed(formats):
        held = index & ((1 << word.bits) - 1)
        words.append(held - (1 << word.bits) if held > word.highest else held)
        index >>= word.bits
    return tuple(reversed(words))
