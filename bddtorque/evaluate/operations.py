"""Operations of a counted machine: walks through diagrams, one an output bit, and additions of two words.

Words are read as wires carry them (`WordView`). Wires are free: to gather bits into a word, to shift a word, to keep
its low bits or to read its sign takes no time and no processor. `CoreClocks` prices operations on one-bit cores.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from bddtorque.words.integer_range import Range, word_range


@dataclass(frozen=True, slots=True)
class WordView:
    """A word as its reader sees it: floor(held / 2^shift)·2^scale, of which `wrap` bits are kept if it is not 0.

    Exactly one of `input`, `sources` and neither (a constant) says what is held.
    """

    sources: tuple[str, ...] = ()  # the operation that makes the word, or one operation a bit, least significant first
    bits_apart: bool = False  # whether `sources` are single bits
    signed: bool = True  # whether single bits are two's complement
    input: str | None = None  # the name of an input word (q1.., qd1.., qdd1..)
    constant: int = 0  # what is held where there is neither
    # shift, scale, wrap: see above; at least 0
    shift: int = 0
    scale: int = 0
    wrap: int = 0
    # low, high: ends of the word read
    low: int = 0
    high: int = 0


Summand = tuple[WordView, int]
"""A word, and the sign it is added with."""


def signed_digits(factor: int) -> list[tuple[int, int]]:
    """Return (power, sign) of the fewest signed digits of a whole number: its non-adjacent form, Σ sign·2^power."""
    digits, power = [], 0
    while factor:
        if factor & 1:
            sign = 2 - (factor & 3)  # 1 or −1, so that the next digit is zero
            digits.append((power, sign))
            factor -= sign
        factor >>= 1
        power += 1
    return digits


def copies(word: WordView, factor: int) -> list[Summand]:
    """Return factor·word as shifted copies of the word."""
    return [(shifted(word, -power), sign) for power, sign in signed_digits(factor)]


def shifted(word: WordView, shift: int) -> WordView:
    """Return floor(word / 2^shift), or word·2^−shift; the two do not cancel, for what is shifted out is lost."""
    if shift <= 0:
        wrap = word.wrap - shift if word.wrap else 0
        return replace(word, scale=word.scale - shift, wrap=wrap, low=word.low << -shift, high=word.high << -shift)
    if word.wrap:  # the last bit that is kept is the sign, and stays
        ends = word.low >> shift, word.high >> shift
        shift = min(shift, word.wrap - 1)
        kept = shifted(replace(word, wrap=0), shift)
        return replace(kept, wrap=word.wrap - shift, low=ends[0], high=ends[1])
    back = min(word.scale, shift)
    scale, right = word.scale - back, word.shift + shift - back
    return replace(word, scale=scale, shift=right, low=word.low >> shift, high=word.high >> shift)


def wrapped(word: WordView, bits: int) -> WordView:
    """Return the low bits of a word, two's complement."""
    low, high = word_range(bits)
    return word if low <= word.low and word.high <= high else replace(word, wrap=bits, low=low, high=high)


def sources_of_bit(word: WordView, bit: int) -> tuple[str, ...]:
    """Return what must be known to test one bit of a word."""
    if not word.bits_apart or word.shift or word.scale or word.wrap:
        return word.sources
    return (word.sources[min(bit, len(word.sources) - 1)],) if word.signed or bit < len(word.sources) else ()


Kind = Literal["walk", "add", "magnitude", "sign", "clamp"]
"""`walk`: one output bit of a look-up. `add`: two words. `magnitude`: |word|. `sign`: the first word, negated where the
signs of the two others differ. `clamp`: to the ends of a torque word. All but walks are one addition of words."""


def wire_owner(place: int) -> str:
    """Return what operations of a wire of the plan belong to."""
    return f"w{place}"


def output_owner(place: int) -> str:
    """Return what the last sum of an output belongs to: not its name, which may be that of a wire."""
    return f"y{place}"


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing a processor does without stopping."""

    # unique in a machine: "w13.4" is bit 4 of wire 13, "y1+3" an addition for output 1; with "@2" at its end where
    # processor 2 does it for itself
    name: str
    word: str  # the word that its result is, or is a bit of: bits of one word go in one message
    owner: str  # the wire ("w13") or output ("y1", both from 0) that it belongs to
    kind: Kind  # see `Kind`
    operands: tuple[WordView, ...]  # the words it reads
    predecessors: tuple[str, ...]  # the operations that must be done before
    signs: tuple[int, ...] = ()  # for `add`: 1 or −1 an operand
    # block, bit: for `walk`: which diagram, and which of its output bits
    block: int = -1
    bit: int = -1
    widths: tuple[int, ...] = ()  # for `walk`: how many low bits of each operand are part of the table's index
    tests: int = 0  # for `walk`: the most tests on any path; 0 for others
    bits: int = 1  # width of the result, as far as it is read
    # low, high: ends of the result
    low: int = 0
    high: int = 1
    output: int = -1  # the torque, counted from 0, that this operation finishes; −1 for others


@dataclass(frozen=True, slots=True)
class StepCosts:
    """Durations of operations, in steps."""

    test: float = 1.0  # one test of a bit
    addition: float = 1.0  # one addition of two words, however wide
    addition_bit: float = 0.0  # what every bit of its result takes on top

    def duration(self, operation: Operation) -> float:
        """Return the steps of an operation; of a walk, those of its longest path."""
        if operation.kind == "walk":
            return self.test * operation.tests
        return self.addition + self.addition_bit * operation.bits


WORD_STEPS = StepCosts()
"""A test and an addition are one step each: processors with an adder as wide as a word."""
BIT_SERIAL = StepCosts(addition=0.0, addition_bit=1.0)
"""A test is one step, an addition as many as its result has bits: processors of a single bit."""


@dataclass(frozen=True, slots=True)
class CoreClocks(StepCosts):
    """Clocks of operations on a one-bit core; of a walk, those of its longest path."""

    def duration(self, operation: Operation) -> float:
        """Return the clocks of an operation."""
        match operation.kind:
            case "walk":
                return max(operation.tests, 1)
            case "add":  # with two negative operands, the first is negated before
                return operation.bits * (2 if operation.signs == (-1, -1) else 1)
            case "clamp":
                return sum(clamp_clocks(operation))
            case _:
                return operation.bits + 1


def clamp_clocks(operation: Operation) -> tuple[int, int, int]:
    """Return the clocks of a clamp: below the lowest word, above the highest, and where neither can be.

    A comparison is a subtraction of which only the sign is kept; then every bit of the result is chosen.
    """
    (word,) = operation.operands
    below = above = 0
    if word.low < operation.low:
        below = (Range(word.low, word.high) - Range(operation.low, operation.low)).bits + operation.bits
    if word.high > operation.high:
        above = (Range(operation.high, operation.high) - Range(word.low, word.high)).bits + operation.bits
    return below, above, 0 if below or above else operation.bits


CORE_CLOCKS = CoreClocks(addition=0.0, addition_bit=1.0)
MESSAGE = 4.0
"""Clocks from the end of an operation to the start of one on another core that reads its result, at least."""
