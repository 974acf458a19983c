"""Operations of a counted machine: walks through diagrams, one an output bit, and additions of two words.

`operations_of` takes a plan apart. Nothing is multiplied: products become look-ups as their method says; an integer
factor of a summand becomes shifted copies of its word, one for each non-zero digit of the factor, and the copies take
part in the sum.

Words are read as wires carry them (`WordView`). Wires are free: to gather bits into a word, to shift a word, to keep
its low bits or to read its sign takes no time and no processor. `CoreClocks` prices operations on one-bit cores.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Literal

from bddtorque.plan.bdd import Diagram
from bddtorque.plan.blocks import output_format
from bddtorque.plan.plan import Plan
from bddtorque.plan.wires import AngleSum, Input, Lookup, Output, Product, Sum
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


def twos(number: int) -> int:
    """Return how often 2 divides a number that is not 0."""
    return (number & -number).bit_length() - 1


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


def operations_of(plan: Plan, diagrams: Sequence[Diagram], costs: StepCosts = WORD_STEPS) -> list[Operation]:
    """Return the operations of a plan, predecessors first, each done once; the last of each torque has its `output`.

    `costs` only decides which two words of a sum are added first: those that are ready first.
    """
    builder = _OperationBuilder(plan, diagrams, costs)
    builder.start("", plan.read)
    for place, output in enumerate(plan.outputs):
        builder.output(place, output, builder.summands(output.parts))
    return builder.operations


def operations_by_terms(
    plan: Plan, diagrams: Sequence[Diagram], owners: Mapping[int, int], costs: StepCosts = WORD_STEPS
) -> tuple[list[Operation], dict[str, int]]:
    """Return operations with which every processor computes its own summands by itself, and who does each.

    Nothing is shared but partial sums: what two processors need is computed by both.

    `owners`: for each wire that is a summand of a torque, the processor that computes it.
    """
    builder = _OperationBuilder(plan, diagrams, costs)
    bound: dict[str, int] = {}
    partial: list[list[Summand]] = [[] for _ in plan.outputs]
    first: list[int] = [min(owners.values(), default=0)] * len(plan.outputs)
    for processor in sorted(set(owners.values())):
        mine = {wire for wire, owner in owners.items() if owner == processor}
        begun = len(builder.operations)
        builder.start(f"@{processor}", plan.needed(mine))
        for place, output in enumerate(plan.outputs):
            parts = [part for part in output.parts if part[0] in mine]
            if parts:
                if not partial[place]:
                    first[place] = processor
                partial[place].append((builder.partial(place, parts), 1))
        bound |= {operation.name: processor for operation in builder.operations[begun:]}
    builder.suffix = ""
    for place, output in enumerate(plan.outputs):
        begun = len(builder.operations)
        builder.output(place, output, partial[place])
        for operation in builder.operations[begun:]:  # where one of its operands is, so that only the other travels
            bound[operation.name] = next((bound[name] for name in operation.predecessors), first[place])
    return builder.operations, bound


@dataclass
class _OperationBuilder:
    plan: Plan
    diagrams: Sequence[Diagram]
    costs: StepCosts
    operations: list[Operation] = field(default_factory=list)
    words: dict[int, WordView] = field(default_factory=dict)
    """By wire."""
    owner: str = ""
    suffix: str = ""
    """At the end of every name: who does it, where everyone works by itself."""
    ready: dict[str, float] = field(default_factory=dict)
    """When an operation is done if there are processors for all: decides the order of additions."""

    def start(self, suffix: str, wires: Sequence[int]) -> None:
        """Begin the work of one processor, which computes these wires by itself."""
        self.suffix, self.words = suffix, {}
        for place in wires:
            self.wire(place)

    def wire(self, place: int) -> None:
        """Make the word of a wire."""
        wire, name = self.plan.wires[place], wire_owner(place)
        self.owner = name
        match wire:
            case Input():
                low, high = wire.words
                self.words[place] = WordView(input=wire.name, low=low, high=high)
            case AngleSum(bits=bits, parts=parts, constant=constant):
                summands = [
                    each for source, factor, shift in parts for each in copies(self.words[source], factor << shift)
                ]
                self.words[place] = wrapped(self._sum(name, summands, constant, bits), bits)
            case Lookup(block=block, wires=sources):
                self.words[place] = self._look_up(name, block, [self.words[source] for source in sources])
            case Product():
                self.words[place] = self._product(name, wire)
            case Sum(parts=parts, constant=constant, shift=shift):
                self.words[place] = self._rounded(name, self.summands(parts), constant, shift)

    def output(self, place: int, output: Output, summands: list[Summand]) -> None:
        """Make an output of its summands; the last operation, which clamps, finishes it."""
        self.owner = name = output_owner(place)
        total = self._rounded(name, summands, output.constant, output.shift)
        ends = Range(output.low, output.high)
        bits = ends.bits - (ends.low >= 0)  # an unsigned word has no sign
        self._operation(
            f"{name} clamped", "clamp", (total,), low=ends.low, high=ends.high, output=place, most_bits=bits
        )

    def partial(self, place: int, parts: Sequence[tuple[int, int]]) -> WordView:
        """Return the sum of some summands of an output, exact."""
        self.owner = name = output_owner(place)
        return self._sum(name, self.summands(parts), 0)

    def summands(self, parts: Sequence[tuple[int, int]]) -> list[Summand]:
        """Return Σ factor·word as shifted copies of words."""
        return [each for source, factor in parts for each in copies(self.words[source], factor)]

    def _rounded(self, name: str, summands: list[Summand], constant: int, shift: int) -> WordView:
        """Return floor((Σ + constant)/2^shift + 1/2): half a unit goes into the constant, the shift is free."""
        half = 1 << (shift - 1) if shift else 0
        return shifted(self._sum(name, summands, constant + half), shift)

    def _sum(self, name: str, summands: list[Summand], constant: int, most_bits: int = 64) -> WordView:
        """Return the word of a sum: a tree of additions, always of the two words that are ready first.

        No more than `most_bits` low bits of it are read.
        """
        number, order = count(1), count()
        if constant or not summands:
            summands = [*summands, (WordView(constant=constant, low=constant, high=constant), 1)]
        if len(summands) == 1 and summands[0][1] < 0:  # nothing to subtract it from
            summands = [(WordView(), 1), *summands]
        waiting = [(self._time(word), next(order), word, sign) for word, sign in summands]
        heapq.heapify(waiting)
        while len(waiting) > 1:
            pair = [heapq.heappop(waiting)[2:] for _ in range(2)]
            sides = [sorted((sign * word.low, sign * word.high)) for word, sign in pair]
            made = self._operation(
                f"{name}+{next(number)}",
                "add",
                tuple(word for word, _ in pair),
                signs=tuple(sign for _, sign in pair),
                low=sides[0][0] + sides[1][0],
                high=sides[0][1] + sides[1][1],
                most_bits=most_bits,
            )
            heapq.heappush(waiting, (self._time(made), next(order), made, 1))
        return waiting[0][2]

    def _look_up(self, name: str, block: int, words: Sequence[WordView]) -> WordView:
        """Return the word of a look-up: one walk a bit."""
        table = self.plan.blocks[block]
        places = [
            (word, bit) for word, width in zip(words, table.input_widths, strict=True) for bit in range(width)[::-1]
        ]
        found = []
        for bit, (tests, support) in enumerate(self.diagrams[block].paths):
            needed = dict.fromkeys(name for variable in support for name in sources_of_bit(*places[variable]))
            made = Operation(
                f"{name}.{bit}{self.suffix}", f"{name}{self.suffix}", self.owner, "walk", tuple(words), tuple(needed),
                block=block, bit=bit, widths=table.input_widths, tests=tests,
            )  # fmt: skip
            found.append(self._done(made).name)
        _, signed = output_format(table)
        return WordView(tuple(found), bits_apart=True, signed=signed, low=table.low, high=table.high)

    def _product(self, name: str, wire: Product) -> WordView:
        """Return the word of a product, by tables alone."""
        left, right = self.words[wire.left], self.words[wire.right]
        half = 1 << (wire.shift - 1) if wire.shift else 0
        match wire.method:
            case "blocks":
                return self._look_up(name, wire.block, (left, right))
            case "squares":  # ⌊(a+b)²/4⌋ − ⌊(a−b)²/4⌋
                plus = self._sum(f"{name} left+right", [(left, 1), (right, 1)], 0)
                minus = self._sum(f"{name} left-right", [(left, 1), (right, -1)], 0)
                squares = [self._look_up(f"{name}{s}", wire.block, (each,)) for s, each in (("+", plus), ("-", minus))]
                total = self._sum(name, [(squares[0], 1), (squares[1], -1)], half)
            case _:
                total = self._partial_products(name, wire, left, right, half)
        return replace(shifted(total, wire.shift), low=wire.low, high=wire.high)

    def _partial_products(self, name: str, wire: Product, left: WordView, right: WordView, half: int) -> WordView:
        """Return left·right + half: magnitudes in pieces, each pair of pieces looked up, added, and the sign."""
        width = self.plan.blocks[wire.block].input_widths[0]
        pieces = []
        for side, word, source in (("left", left, wire.left), ("right", right, wire.right)):
            reach = max(abs(word.low), abs(word.high))
            size = self._operation(f"{name} |{side}|", "magnitude", (word,), low=0, high=reach)
            counted = -(-self.plan.bits_of(source) // width)
            ends = [(0, min(reach >> (k * width), (1 << width) - 1)) for k in range(counted)]
            pieces.append([replace(size, shift=k * width, low=low, high=high) for k, (low, high) in enumerate(ends)])
        summands = [
            (shifted(self._look_up(f"{name} {i},{j}", wire.block, (a, b)), -(i + j) * width), 1)
            for i, a in enumerate(pieces[0])
            for j, b in enumerate(pieces[1])
        ]
        exact = self._sum(f"{name} pieces", summands, 0)
        operands = (exact, left, right)
        signed = self._operation(f"{name} signed", "sign", operands, low=-exact.high, high=exact.high)
        return self._sum(name, [(signed, 1)], half)

    def _operation(
        self, name: str, kind: Kind, operands: tuple[WordView, ...], *, low: int, high: int, output: int = -1,
        signs: tuple[int, ...] = (), most_bits: int = 64,
    ) -> WordView:  # fmt: skip
        needed = tuple(dict.fromkeys(source for word in operands for source in word.sources))
        bits = min(Range(low, high).bits, most_bits)
        full = f"{name}{self.suffix}"
        made = Operation(
            full, full, self.owner, kind, operands, needed, signs, bits=bits, low=low, high=high,
            output=output,
        )  # fmt: skip
        return WordView((self._done(made).name,), low=low, high=high)

    def _done(self, operation: Operation) -> Operation:
        self.operations.append(operation)
        begins = max((self.ready[name] for name in operation.predecessors), default=0.0)
        self.ready[operation.name] = begins + self.costs.duration(operation)
        return operation

    def _time(self, word: WordView) -> float:
        return max((self.ready[name] for name in word.sources), default=0.0)
