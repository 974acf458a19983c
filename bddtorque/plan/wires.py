"""The wires of a plan. Each knows which wires it reads, what the plan states of its word, and what it means.

The meaning of a wire is stated once, in its `evaluate`. What is computed with is an `Algebra`: arrays of words, ranges,
proved errors, parities. A pass over a plan is one of these, and `Plan.evaluate` runs it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar

from bddtorque.plan.blocks import Block, PlanPart
from bddtorque.words.integer_range import Range, word_range

T = TypeVar("T")


class Algebra(Generic[T]):
    """What wires are computed in. Numbers that multiply and add as integers do need no `product` and `total`."""

    def input(self, wire: Input) -> T:
        """Return the word of an input."""
        raise NotImplementedError

    def table(self, wire: Lookup, words: Sequence[T]) -> T:
        """Return the word that a table gives for others."""
        raise NotImplementedError

    def wrapped(self, total: T, wire: AngleSum) -> T:
        """Return the low bits of a sum, two's complement."""
        raise NotImplementedError

    def rounded(self, exact: T, wire: Product | Sum | Output) -> T:
        """Return floor(exact/2^shift + 1/2); an output is not clamped."""
        raise NotImplementedError

    def product(self, wire: Product, left: T, right: T) -> T:
        """Return the exact product of two words."""
        return left * right  # type: ignore[operator, no-any-return]

    def total(self, wire: AngleSum | Sum | Output, terms: Sequence[tuple[T, int]]) -> T:
        """Return the exact sum of words times factors, and of the constant of the wire."""
        total: Any = wire.constant
        for word, factor in terms:
            total = total + word * factor  # type: ignore[operator]
        return total  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Input(PlanPart):
    """An input word: which quantity of which joint, whether it wraps, and its bits."""

    name: str
    bits: int
    wraps: bool

    kind: ClassVar[str] = "input"
    sources: ClassVar[tuple[int, ...]] = ()

    @property
    def lowest(self) -> int:
        """The lowest word."""
        return word_range(self.bits).low

    @property
    def highest(self) -> int:
        """The highest word."""
        return word_range(self.bits).high

    def moved(self, places: Mapping[int, int]) -> Input:
        """Return the wire itself: it reads no other."""
        return self

    def range(self, blocks: Sequence[Block]) -> Range:
        """Return the range of the word."""
        return word_range(self.bits)

    def evaluate(self, algebra: Algebra[T], words: Sequence[T]) -> T:
        """Return the word, from those of the wires before it."""
        return algebra.input(self)


@dataclass(frozen=True)
class AngleSum(PlanPart):
    """A wrapping sum of angle words: Σ multiplier·(word << shift) + constant, kept to `bits` bits."""

    name: str
    bits: int
    parts: tuple[tuple[int, int, int], ...]
    """(wire, multiplier, shift) of each angle word."""
    constant: int = 0
    """Turns a sine into a cosine: a quarter of a turn less."""

    kind: ClassVar[str] = "angle_sum"

    @property
    def sources(self) -> tuple[int, ...]:
        """The wires that it reads."""
        return tuple(wire for wire, _, _ in self.parts)

    def moved(self, places: Mapping[int, int]) -> AngleSum:
        """Return the wire with its sources at other places."""
        return replace(self, parts=tuple((places[wire], factor, shift) for wire, factor, shift in self.parts))

    def range(self, blocks: Sequence[Block]) -> Range:
        """Return the range of the word."""
        return word_range(self.bits)

    def evaluate(self, algebra: Algebra[T], words: Sequence[T]) -> T:
        """Return the word, from those of the wires before it."""
        terms = [(words[wire], multiplier << shift) for wire, multiplier, shift in self.parts]
        return algebra.wrapped(algebra.total(self, terms), self)


@dataclass(frozen=True)
class Lookup(PlanPart):
    """The output word of a block at the words of some wires."""

    name: str
    block: int
    wires: tuple[int, ...]

    kind: ClassVar[str] = "lookup"

    @property
    def sources(self) -> tuple[int, ...]:
        """The wires that it reads."""
        return self.wires

    def moved(self, places: Mapping[int, int]) -> Lookup:
        """Return the wire with its sources at other places."""
        return replace(self, wires=tuple(places[wire] for wire in self.wires))

    def range(self, blocks: Sequence[Block]) -> Range:
        """Return the range that the plan states of the word."""
        return Range(blocks[self.block].low, blocks[self.block].high)

    def evaluate(self, algebra: Algebra[T], words: Sequence[T]) -> T:
        """Return the word, from those of the wires before it."""
        return algebra.table(self, [words[wire] for wire in self.wires])


Method = Literal["block", "limbs", "squares", "native"]
"""How a product is taken: see `Product`. Files say these words; people read those of `Product.way`."""


@dataclass(frozen=True)
class Product(PlanPart):
    """floor(left·right/2^shift + 1/2), exact, and rounded once.

    For the target ``"tables"`` it is got with tables alone, in one of these ways:

    - ``block``: one table of both words, rounding included;
    - ``limbs``: partial products: magnitudes, piece by piece from one unsigned table of `limb_bits` by `limb_bits`,
      added, then the sign;
    - ``squares``: quarter squares, ab = ⌊(a+b)²/4⌋ − ⌊(a−b)²/4⌋, from one table of one word.

    For the target ``"integer"`` there is one way, ``native``: the processor's own multiplication. No table lies below
    it, and `block` is −1. All ways give the same words, so that any may replace another.
    """

    name: str
    left: int
    right: int
    shift: int
    method: Method
    block: int
    limb_bits: int
    low: int
    high: int
    """`limb_bits` is 0 where the method is not limbs."""

    kind: ClassVar[str] = "product"

    @property
    def sources(self) -> tuple[int, ...]:
        """The wires that it reads."""
        return self.left, self.right

    @property
    def way(self) -> str:
        """What the key `products` of a specification calls the method."""
        return {"block": "blocks", "limbs": "partial"}.get(self.method, self.method)

    def moved(self, places: Mapping[int, int]) -> Product:
        """Return the wire with its sources at other places."""
        return replace(self, left=places[self.left], right=places[self.right])

    def range(self, blocks: Sequence[Block]) -> Range:
        """Return the range that the plan states of the word."""
        return Range(self.low, self.high)

    def evaluate(self, algebra: Algebra[T], words: Sequence[T]) -> T:
        """Return the word, from those of the wires before it."""
        return algebra.rounded(algebra.product(self, words[self.left], words[self.right]), self)


class _Summed(PlanPart):
    """What `Sum` and `Output` have in common: Σ factor·word + constant, rounded once."""

    parts: tuple[tuple[int, int], ...]
    low: int
    high: int

    @property
    def sources(self) -> tuple[int, ...]:
        """The wires that it reads."""
        return tuple(wire for wire, _ in self.parts)

    def moved(self, places: Mapping[int, int]) -> Self:
        """Return the sum with its sources at other places."""
        return replace(self, parts=tuple((places[wire], factor) for wire, factor in self.parts))  # type: ignore[type-var]

    def range(self, blocks: Sequence[Block]) -> Range:
        """Return the range that the plan states of the word."""
        return Range(self.low, self.high)

    def total(self, algebra: Algebra[T], words: Sequence[T]) -> T:
        """Return the exact sum, before it is rounded."""
        return algebra.total(self, [(words[wire], factor) for wire, factor in self.parts])  # type: ignore[arg-type]

    def evaluate(self, algebra: Algebra[T], words: Sequence[T]) -> T:
        """Return the rounded sum, from the words of the wires before it; that of an output is not clamped."""
        return algebra.rounded(self.total(algebra, words), self)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Sum(_Summed):
    """floor((Σ factor·word + constant)/2^shift + 1/2): ordinary arithmetic, exact, and rounded once."""

    name: str
    parts: tuple[tuple[int, int], ...]  # (wire, whole factor) of each summand
    constant: int
    shift: int
    low: int
    high: int
    lsb: Fraction  # the value of one unit of the result
    constant_error: Fraction = Fraction(0)  # how far rounded factors and constants can move the result, in its units
    dropped: Fraction = Fraction(0)  # what was left out as too small to matter, in its units

    kind: ClassVar[str] = "sum"


Wire = Input | AngleSum | Lookup | Product | Sum


@dataclass(frozen=True)
class Output(_Summed):
    """One output word: clamp(floor((Σ factor·word + constant)/2^shift + 1/2)); fields as in `Sum`."""

    name: str
    parts: tuple[tuple[int, int], ...]
    constant: int
    constant_error: Fraction
    shift: int
    low: int
    high: int
    lsb: Fraction
    dropped: Fraction = Fraction(0)
