"""Take a plan apart into operations: a walk for each output bit of each look-up, and additions two by two.

Nothing is multiplied. Products become look-ups as their method says; a whole factor of a summand
becomes shifted copies of its word, one for each non-zero digit of the factor, and the copies take part in the sum.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from bddtorque.evaluate.operations import (
    WORD_STEPS,
    Kind,
    Operation,
    StepCosts,
    Summand,
    WordView,
    copies,
    output_owner,
    shifted,
    sources_of_bit,
    wire_owner,
    wrapped,
)
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.blocks import output_format
from bddtorque.plan.plan import Plan
from bddtorque.plan.wires import AngleSum, Input, Lookup, Output, Product, Sum
from bddtorque.words.integer_range import Range


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
                total = self._limbs(name, wire, left, right, half)
        return replace(shifted(total, wire.shift), low=wire.low, high=wire.high)

    def _limbs(self, name: str, wire: Product, left: WordView, right: WordView, half: int) -> WordView:
        """Return left·right + half: magnitudes in pieces, each pair of pieces looked up, added, and the sign."""
        limb = self.plan.blocks[wire.block].input_widths[0]
        pieces = []
        for side, word, source in (("left", left, wire.left), ("right", right, wire.right)):
            reach = max(abs(word.low), abs(word.high))
            size = self._operation(f"{name} |{side}|", "magnitude", (word,), low=0, high=reach)
            counted = -(-self.plan.bits_of(source) // limb)
            ends = [(0, min(reach >> (k * limb), (1 << limb) - 1)) for k in range(counted)]
            pieces.append([replace(size, shift=k * limb, low=low, high=high) for k, (low, high) in enumerate(ends)])
        summands = [
            (shifted(self._look_up(f"{name} {i},{j}", wire.block, (a, b)), -(i + j) * limb), 1)
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
