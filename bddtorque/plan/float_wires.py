"""The wires of a plan in floats. Words come in as in any plan; what follows are IEEE numbers of one precision.

Every operation is rounded to nearest even, once, exactly as it stands; nothing is reassociated, and only `Fused` is
fused. So a plan has one set of words on every machine with IEEE arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from bddtorque.plan.blocks import PlanPart
from bddtorque.plan.wires import Algebra, AngleSum, Input, Lookup, T


class FloatAlgebra(Algebra[T]):
    """What the wires of a plan in floats are computed in: arrays of floats, ranges with proved errors."""

    def number(self, wire: Number, word: T) -> T:
        """Return a word as a float."""
        raise NotImplementedError

    def constant(self, wire: Constant) -> T:
        """Return a constant."""
        raise NotImplementedError

    def sine(self, wire: Sine, word: T) -> T:
        """Return the sine or cosine of an angle word."""
        raise NotImplementedError

    def add(self, wire: Add, left: T, right: T) -> T:
        """Return left + sign·right, rounded."""
        raise NotImplementedError

    def multiply(self, wire: Multiply, left: T, right: T) -> T:
        """Return left·right, rounded."""
        raise NotImplementedError

    def fused(self, wire: Fused, left: T, right: T, addend: T) -> T:
        """Return product_sign·left·right + addend_sign·addend, rounded once."""
        raise NotImplementedError


class _FloatWire(PlanPart):
    """A wire whose fields named in `reads` are the wires that it reads."""

    reads: ClassVar[tuple[str, ...]] = ()
    name: ClassVar[str] = ""

    @property
    def sources(self) -> tuple[int, ...]:
        """The wires that it reads."""
        return tuple(getattr(self, field) for field in self.reads)

    def moved(self, places: Mapping[int, int]) -> Any:
        """Return the wire with its sources at other places."""
        return replace(self, **{field: places[getattr(self, field)] for field in self.reads})  # type: ignore[type-var]


@dataclass(frozen=True)
class Number(_FloatWire):
    """A word as a float: of an input, or of a table. It is exact: words have no more bits than a float."""

    word: int

    kind: ClassVar[str] = "number"
    reads: ClassVar[tuple[str, ...]] = ("word",)

    def evaluate(self, algebra: FloatAlgebra[T], values: Sequence[T]) -> T:
        """Return the float, from the values of the wires before it."""
        return algebra.number(self, values[self.word])


@dataclass(frozen=True)
class Constant(_FloatWire):
    """The float nearest to a rational number, ties to even."""

    value: Fraction

    kind: ClassVar[str] = "constant"

    def evaluate(self, algebra: FloatAlgebra[T], values: Sequence[T]) -> T:
        """Return the float."""
        return algebra.constant(self)


@dataclass(frozen=True)
class Sine(_FloatWire):
    """The sine or cosine of an angle word, plus a constant angle, by `bddtorque.words.float_sine`."""

    word: int  # an input or a sum of angles
    cosine: bool  # whether it is the cosine
    rest: Fraction = Fraction(0)  # the constant angle, rad

    kind: ClassVar[str] = "sine"
    reads: ClassVar[tuple[str, ...]] = ("word",)

    def evaluate(self, algebra: FloatAlgebra[T], values: Sequence[T]) -> T:
        """Return the float, from the values of the wires before it."""
        return algebra.sine(self, values[self.word])


@dataclass(frozen=True)
class Add(_FloatWire):
    """left + sign·right, rounded."""

    left: int
    right: int
    sign: int = 1

    kind: ClassVar[str] = "add"
    reads: ClassVar[tuple[str, ...]] = ("left", "right")

    def evaluate(self, algebra: FloatAlgebra[T], values: Sequence[T]) -> T:
        """Return the float, from the values of the wires before it."""
        return algebra.add(self, values[self.left], values[self.right])


@dataclass(frozen=True)
class Multiply(_FloatWire):
    """left·right, rounded."""

    left: int
    right: int

    kind: ClassVar[str] = "multiply"
    reads: ClassVar[tuple[str, ...]] = ("left", "right")

    def evaluate(self, algebra: FloatAlgebra[T], values: Sequence[T]) -> T:
        """Return the float, from the values of the wires before it."""
        return algebra.multiply(self, values[self.left], values[self.right])


@dataclass(frozen=True)
class Fused(_FloatWire):
    """product_sign·left·right + addend_sign·addend, rounded once: a fused multiply-add."""

    left: int
    right: int
    addend: int
    product_sign: int = 1
    addend_sign: int = 1

    kind: ClassVar[str] = "fused"
    reads: ClassVar[tuple[str, ...]] = ("left", "right", "addend")

    def evaluate(self, algebra: FloatAlgebra[T], values: Sequence[T]) -> T:
        """Return the float, from the values of the wires before it."""
        return algebra.fused(self, values[self.left], values[self.right], values[self.addend])


WordWire = Input | AngleSum | Lookup
"""Wires of a plan in floats that carry words."""
FloatWire = WordWire | Number | Constant | Sine | Add | Multiply | Fused


@dataclass(frozen=True)
class FloatOutput(PlanPart):
    """One output word: the float of a wire, which is in units, clamped to low..high and rounded, ties to even."""

    name: str
    wire: int
    low: int
    high: int
    lsb: Fraction

    @property
    def sources(self) -> tuple[int, ...]:
        """The wire that it reads."""
        return (self.wire,)

    def moved(self, places: Mapping[int, int]) -> FloatOutput:
        """Return the output with its wire at another place."""
        return replace(self, wire=places[self.wire])
