"""The operations of a plan. Each says what its fields are, what the plan states of its word, and what it means.

The meaning of a wire is stated once, in its `evaluate`. What is computed with is an `Algebra`: arrays of words, ranges,
proved errors, parities. A pass over a plan is one of these, and `Plan.evaluate` runs it.

Words come in as integers in any plan. What follows are integers too, or, in a plan in floats, IEEE numbers of one
precision: there every operation is rounded to nearest even, once, exactly as it stands; nothing is reassociated, and
only `Fused` is fused. So a plan has one set of words on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar

from bddtorque.base.errors import BddTorqueError
from bddtorque.plan.blocks import Block, ProductBlock, SquareBlock
from bddtorque.plan.fields import (
    MAX_INPUT_BITS,
    BlockReference,
    Earlier,
    ExactWord,
    FloatValue,
    Integer,
    PlanPart,
    Shift,
    Sign,
    Unit,
    Value,
    Whole,
    Word,
)
from bddtorque.words.argument import Argument
from bddtorque.words.integer_range import Range, word_range

MAX_FLOAT_WORD_BITS = 24
"""Bits of any word of a plan in floats: so many a binary32 holds."""
T = TypeVar("T")
WordBits = Annotated[int, Whole(1, 32)]


class Algebra(Generic[T]):
    """Numbers that wires are computed in; those that add and multiply as integers do need no `product` and `total`."""

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
        """Return floor(exact/2^shift + 1/2), or a float as the nearest integer; an output is not clamped."""
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

    def number(self, wire: Number, word: T) -> T:
        """Return a word as a float."""
        raise NotImplementedError

    def constant(self, wire: Constant) -> T:
        """Return a constant, a float."""
        raise NotImplementedError

    def sine(self, wire: Sine, word: T) -> T:
        """Return the sine or cosine of an angle word, a float."""
        raise NotImplementedError

    def add(self, wire: Add, left: T, right: T) -> T:
        """Return left + sign·right of floats, rounded."""
        raise NotImplementedError

    def multiply(self, wire: Multiply, left: T, right: T) -> T:
        """Return left·right of floats, rounded."""
        raise NotImplementedError

    def fused(self, wire: Fused, left: T, right: T, addend: T) -> T:
        """Return product_sign·left·right + addend_sign·addend of floats, rounded once."""
        raise NotImplementedError


@dataclass(frozen=True)
class Input(PlanPart):
    """An input word: which quantity of which joint, whether it wraps, its bits, and whether it is two's complement."""

    name: str
    bits: WordBits
    wraps: bool
    signed: bool = True

    kind: ClassVar[str] = "input"
    optional: ClassVar[frozenset[str]] = frozenset({"signed"})
    plural: ClassVar[str] = "inputs"
    in_floats: ClassVar[bool] = True
    exact_word: ClassVar[bool] = True

    @classmethod
    def of(cls, name: str, argument: Argument) -> Input:
        """Return the input of a word that stands for `argument`."""
        return cls(name, argument.bits, argument.kind == "angle", argument.signed)

    @property
    def words(self) -> Range:
        """All words."""
        return word_range(self.bits, self.signed)

    @property
    def lowest(self) -> int:
        """The lowest word."""
        return self.words.low

    @property
    def highest(self) -> int:
        """The highest word."""
        return self.words.high

    def check(self, where: str, earlier: Earlier) -> None:
        """Refuse an angle that is not two's complement."""
        if self.wraps and not self.signed:
            raise BddTorqueError(f"{where}: a word that wraps must be signed")

    def range(self, blocks: Sequence[Block]) -> Range:
        """Return the range of the word."""
        return self.words

    def evaluate(self, algebra: Algebra[T], words: Sequence[T]) -> T:
        """Return the word, from those of the wires before it."""
        return algebra.input(self)


@dataclass(frozen=True)
class AngleSum(PlanPart):
    """A wrapping sum of angle words: Σ multiplier·(word << shift) + constant, kept to `bits` bits."""

    name: str
    bits: WordBits
    parts: tuple[tuple[ExactWord, Annotated[int, Whole(-64, 64)], Annotated[int, Whole(0, 32)]], ...]
    """(wire, multiplier, shift) of each angle word."""
    constant: Annotated[int, Whole(-(1 << 32), 1 << 32)] = 0
    """Turns a sine into a cosine: a quarter of a turn less."""

    kind: ClassVar[str] = "angle_sum"
    plural: ClassVar[str] = "angle_sums"
    in_floats: ClassVar[bool] = True
    exact_word: ClassVar[bool] = True

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
    block: Annotated[int, BlockReference()]
    wires: tuple[ExactWord, ...]

    kind: ClassVar[str] = "lookup"
    plural: ClassVar[str] = "lookups"
    in_floats: ClassVar[bool] = True

    def check(self, where: str, earlier: Earlier) -> None:
        """Refuse another number of words than the block has."""
        block: Any = earlier.blocks[self.block]
        words = len(block.input_widths)
        if len(self.wires) != words:
            raise BddTorqueError(
                f"{where}, wires must be a list of {words}, as block {self.block} has it, got {list(self.wires)}"
            )

    def range(self, blocks: Sequence[Block]) -> Range:
        """Return the range that the plan states of the word."""
        return Range(blocks[self.block].low, blocks[self.block].high)

    def evaluate(self, algebra: Algebra[T], words: Sequence[T]) -> T:
        """Return the word, from those of the wires before it."""
        return algebra.table(self, [words[wire] for wire in self.wires])


Method = Literal["blocks", "partial", "squares", "native"]
"""Method by which a product is taken: see `Product`."""


@dataclass(frozen=True)
class Product(PlanPart):
    """floor(left·right/2^shift + 1/2), exact, and rounded once.

    For the target ``"tables"`` it is got with tables alone, in one of these ways:

    - ``blocks``: one table of both words, rounding included;
    - ``partial``: partial products: magnitudes, piece by piece from one unsigned table of `piece_bits` by `piece_bits`,
      added, then the sign;
    - ``squares``: quarter squares, ab = ⌊(a+b)²/4⌋ − ⌊(a−b)²/4⌋, from one table of one word.

    For the target ``"integer"`` there is one way, ``native``: the processor's own multiplication. No table lies below
    it, and `block` is −1. All ways give the same words, so that any may replace another.
    """

    name: str
    left: Word
    right: Word
    shift: Shift
    method: Method
    block: Annotated[int, BlockReference(lowest=-1)]
    piece_bits: Annotated[int, Whole(0, MAX_INPUT_BITS)]  # 0 where there are no partial products
    low: Integer
    high: Integer

    kind: ClassVar[str] = "product"
    plural: ClassVar[str] = "products"

    def check(self, where: str, earlier: Earlier) -> None:
        """Refuse a method that does not multiply with the block."""
        block = earlier.blocks[self.block] if self.block >= 0 else None
        signed = isinstance(block, ProductBlock) and block.signed
        fits = {
            "blocks": signed and block.shift == self.shift,  # type: ignore[union-attr]
            "partial": self.piece_bits > 0 and block == ProductBlock.of_pieces(self.piece_bits),
            "squares": isinstance(block, SquareBlock),
            "native": block is None,
        }
        if not fits[self.method] or (self.piece_bits and self.method != "partial"):
            raise BddTorqueError(f"{where}: method '{self.method}' does not multiply with block {self.block}")

    def range(self, blocks: Sequence[Block]) -> Range:
        """Return the range that the plan states of the word."""
        return Range(self.low, self.high)

    def evaluate(self, algebra: Algebra[T], words: Sequence[T]) -> T:
        """Return the word, from those of the wires before it."""
        return algebra.rounded(algebra.product(self, words[self.left], words[self.right]), self)


class _Summed(PlanPart):
    """Common part of `Sum` and `Output`: Σ factor·word + constant, rounded once."""

    parts: tuple[tuple[Word, Integer], ...]
    low: Integer
    high: Integer

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
    parts: tuple[tuple[Word, Integer], ...]  # (wire, factor) of each summand
    constant: Integer
    shift: Shift
    low: Integer
    high: Integer
    lsb: Unit  # the value of one unit of the result
    constant_error: Fraction = Fraction(0)  # how far rounded factors and constants can move the result, in its units
    dropped: Fraction = Fraction(0)  # what was left out as too small to matter, in its units

    kind: ClassVar[str] = "sum"
    plural: ClassVar[str] = "sums"


class _FloatPart(PlanPart):
    """A wire of a plan in floats that carries a float."""

    name: ClassVar[str] = ""
    in_words: ClassVar[bool] = False
    in_floats: ClassVar[bool] = True

    def range(self, blocks: Sequence[Block]) -> Range:
        """Refuse to say: the wire carries no word."""
        raise TypeError(f"a wire of kind '{self.kind}' carries a float, and no word")

    def evaluate(self, algebra: Algebra[T], values: Sequence[T]) -> T:
        """Return the float, from the values of the wires before it: the algebra's method of this kind."""
        result: T = getattr(algebra, self.kind)(self, *(values[wire] for wire in self.sources))
        return result


@dataclass(frozen=True)
class Number(_FloatPart):
    """A word as a float: of an input, or of a table. It is exact: words have no more bits than a float."""

    word: Word

    kind: ClassVar[str] = "number"


@dataclass(frozen=True)
class Constant(_FloatPart):
    """The float nearest to a rational number, ties to even."""

    value: Fraction

    kind: ClassVar[str] = "constant"


@dataclass(frozen=True)
class Sine(_FloatPart):
    """The sine or cosine of an angle word, plus a constant angle, by `bddtorque.words.float_sine`."""

    word: ExactWord
    cosine: bool  # whether it is the cosine
    rest: Fraction = Fraction(0)  # the constant angle, rad

    kind: ClassVar[str] = "sine"
    plural: ClassVar[str] = "sines"


@dataclass(frozen=True)
class Multiply(_FloatPart):
    """left·right, rounded."""

    left: FloatValue
    right: FloatValue

    kind: ClassVar[str] = "multiply"
    plural: ClassVar[str] = "products"


@dataclass(frozen=True)
class Add(_FloatPart):
    """left + sign·right, rounded."""

    left: FloatValue
    right: FloatValue
    sign: Sign = 1

    kind: ClassVar[str] = "add"
    plural: ClassVar[str] = "sums"


@dataclass(frozen=True)
class Fused(_FloatPart):
    """product_sign·left·right + addend_sign·addend, rounded once: a fused multiply-add."""

    left: FloatValue
    right: FloatValue
    addend: FloatValue
    product_sign: Sign = 1
    addend_sign: Sign = 1

    kind: ClassVar[str] = "fused"
    plural: ClassVar[str] = "fused"


Wire = Input | AngleSum | Lookup | Product | Sum | Number | Constant | Sine | Multiply | Add | Fused
OPERATIONS: dict[str, type[Wire]] = {
    each.kind: each for each in (Input, AngleSum, Lookup, Product, Sum, Number, Constant, Sine, Multiply, Add, Fused)
}
"""Every kind of wire, by the name that files give it."""


@dataclass(frozen=True)
class Output(_Summed):
    """One output word: clamp(floor((Σ factor·word + constant)/2^shift + 1/2)); fields as in `Sum`.

    In a plan in floats it is the float of one wire, which is in units: clamped, then rounded, ties to even.
    """

    name: str
    parts: tuple[tuple[Value, Integer], ...]
    constant: Integer
    constant_error: Fraction
    shift: Shift
    low: Integer
    high: Integer
    lsb: Unit
    dropped: Fraction = Fraction(0)

    @classmethod
    def of_float(cls, name: str, wire: int, low: int, high: int, lsb: Fraction) -> Output:
        """Return the output that is the float of a wire."""
        return cls(name, ((wire, 1),), 0, Fraction(0), 0, low, high, lsb)

    @property
    def wire(self) -> int:
        """The wire whose float it is."""
        ((wire, _),) = self.parts
        return wire

    @property
    def is_one_float(self) -> bool:
        """True if it can be the word of one float: no factor, no constant, no shift."""
        plain = Output.of_float(self.name, self.sources[0] if self.parts else 0, self.low, self.high, self.lsb)
        return self == plain
