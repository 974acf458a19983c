"""The operations of a schedule as steps of one-bit cores, still by name: no addresses yet.

A step is one instruction: a walk through a diagram to one bit, one bit of an addition, a wait for a bit of another
core, or nothing. Gathering bits into words, shifts and signs cost nothing, since every step names the bits it reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from bddtorque.evaluate.operations import Operation, WordView, clamp_clocks
from bddtorque.evaluate.spreading import Spreading
from bddtorque.plan.bdd import Diagram


class Bit(NamedTuple):
    """A bit by name.

    ``("constant", "", 0 or 1)``, ``("input", word, bit)``, ``("made", operation, bit)``, or a place into which bits
    are copied before a walk, ``("window", block, variable)``.
    """

    kind: str
    name: str
    bit: int


ZERO = Bit("constant", "", 0)
Bits = tuple[Bit, ...]


@dataclass(frozen=True)
class Diagrammed:
    """A diagram and the bit that each of its variables is: what nodes are made of."""

    block: int
    bits: Bits


@dataclass(frozen=True)
class Step:
    """One instruction."""

    # a, b: bits that it reads; of a walk none, of a wait the bit waited for in `a`
    a: Bit = ZERO
    b: Bit = ZERO
    target: Bit | None = None  # the bit that it makes; None where nothing is kept
    # walk, edge: for a walk: the diagram and the root edge in it
    walk: Diagrammed | None = None
    edge: int = 0
    waits: bool = False  # whether it waits for `a` from another core
    first: bool = False  # whether it begins an addition: the carry is forgotten
    negate: bool = False  # whether `b` is subtracted
    conditional: bool = False  # whether `b` is subtracted if the condition holds
    condition: bool = False  # whether the result becomes the condition
    choose: bool = False  # whether the result is `b` where the condition holds, and `a` elsewhere
    output: int = -1  # the number of the output bit that it makes, all words one after another; −1 for others
    operation: str = ""  # what it is part of


@dataclass
class StepMaker:
    """Makes the steps of every core of a schedule."""

    spreading: Spreading  # the schedule
    diagrams: Sequence[Diagram]  # one per block
    input_bits: Mapping[str, int]  # the bits of each input word
    output_bits: Sequence[int]  # the bits of each output word
    bits: dict[str, int] = field(default_factory=dict)
    """Bits that each operation makes."""

    def cores(self) -> list[list[Step]]:
        """Return the steps of each core, in their order; what is read from other cores is waited for."""
        by_name = {each.name: each for each in self.spreading.operations}
        self.bits = {name: 1 if each.kind == "walk" else each.bits for name, each in by_name.items()}
        number = {each.name: k for k, each in enumerate(self.spreading.operations)}
        lists: list[list[Operation]] = [[] for _ in range(self.spreading.processors)]
        for placed in sorted(
            self.spreading.schedule.placements, key=lambda one: (one.start, one.end, number[one.task])
        ):
            lists[placed.processor].append(by_name[placed.task])
        return self._with_waits([list(self._core(mine)) for mine in lists])

    def _core(self, operations: Sequence[Operation]) -> Iterator[Step]:
        """Yield the steps of one core; a diagram that is walked for several words reads copies of their bits."""
        uses: dict[int, dict[Bits, None]] = {}
        for operation in operations:
            if operation.kind == "walk":
                uses.setdefault(operation.block, {})[self._variables(operation)] = None
        held: dict[tuple[int, int], Bit] = {}
        for operation in operations:
            for step in self._steps(operation, uses, held):
                yield replace(step, operation=operation.name)

    def _steps(
        self, operation: Operation, uses: Mapping[int, Mapping[Bits, None]], held: dict[tuple[int, int], Bit]
    ) -> Iterator[Step]:
        name, bits = operation.name, operation.bits
        match operation.kind:
            case "walk":
                variables = self._variables(operation)
                if len(uses[operation.block]) > 1:
                    windows = []
                    support = set(self.diagrams[operation.block].paths[operation.bit][1])
                    for variable, bit in enumerate(variables):
                        window = Bit("window", str(operation.block), variable)
                        windows.append(window)
                        if variable in support and held.get((operation.block, variable)) != bit:
                            held[operation.block, variable] = bit
                            yield Step(bit, ZERO, window, first=True)
                    variables = tuple(windows)
                edge = int(self.diagrams[operation.block].roots[operation.bit])
                target = Bit("made", name, 0)
                if edge <= 1:  # the same for all inputs
                    yield Step(Bit("constant", "", edge), ZERO, target, first=True)
                else:
                    yield Step(target=target, walk=Diagrammed(operation.block, variables), edge=edge)
            case "add":
                yield from self._addition(operation)
            case "magnitude":
                (word,) = operation.operands
                yield Step(self.bit(word, 64), ZERO, first=True, condition=True)
                yield from self._negated(name, word, bits)
            case "sign":
                word, left, right = operation.operands
                yield Step(self.bit(left, 64), self.bit(right, 64), first=True, condition=True)
                yield from self._negated(name, word, bits)
            case "clamp":
                yield from self._clamp(operation)

    def _addition(self, operation: Operation) -> Iterator[Step]:
        (left, right), signs, name = operation.operands, operation.signs, operation.name
        bits = range(operation.bits)
        ones, others = [self.bit(left, k) for k in bits], [self.bit(right, k) for k in bits]
        if signs[0] < 0 and signs[1] < 0:
            negative = [Bit("made", f"{name}~", k) for k in bits]
            for k in bits:
                yield Step(ZERO, ones[k], negative[k], first=k == 0, negate=True)
            ones = negative
        elif signs[0] < 0:
            ones, others = others, ones
        for k in bits:
            yield Step(ones[k], others[k], Bit("made", name, k), first=k == 0, negate=min(signs) < 0)

    def _negated(self, name: str, word: WordView, bits: int) -> Iterator[Step]:
        """Yield the steps that negate a word if the condition holds."""
        for k in range(bits):
            yield Step(ZERO, self.bit(word, k), Bit("made", name, k), first=k == 0, conditional=True)

    def _clamp(self, operation: Operation) -> Iterator[Step]:
        (word,), name, bits = operation.operands, operation.name, operation.bits
        low, high = operation.low, operation.high
        below, above, _ = clamp_clocks(operation)
        found = [self.bit(word, k) for k in range(bits)]
        start = sum(self.output_bits[: operation.output])
        made = [Bit("made", name, k) for k in range(bits)]
        for clocks, end, is_low in ((below, low, True), (above, high, False)):
            if not clocks:
                continue
            for k in range(clocks - bits):  # the sign of word − low or high − word
                one, other = self.bit(word, k), _constant_bit(end, k)
                if not is_low:
                    one, other = other, one
                yield Step(one, other, first=k == 0, negate=True, condition=k == clocks - bits - 1)
            last = not (is_low and above)
            for k in range(bits):
                target = made[k] if last else Bit("made", f"{name}~", k)
                output = start + k if last else -1
                yield Step(found[k], _constant_bit(end, k), target, choose=True, output=output)
                found[k] = target
        if not below and not above:
            for k in range(bits):
                yield Step(found[k], ZERO, made[k], first=k == 0, output=start + k)

    def _variables(self, operation: Operation) -> Bits:
        """Return the bit that each variable of a walk's table is."""
        return tuple(
            self.bit(word, bit)
            for word, width in zip(operation.operands, operation.widths, strict=True)
            for bit in range(width)[::-1]
        )

    def bit(self, word: WordView, place: int) -> Bit:
        """Return a bit of a word as its reader sees it; beyond its ends those of its sign."""
        if word.wrap and place >= word.wrap:
            place = word.wrap - 1
        if place < word.scale:
            return ZERO
        place += word.shift - word.scale
        if word.input is not None:
            if place >= self.input_bits[word.input] and word.low >= 0:
                return ZERO
            return Bit("input", word.input, min(place, self.input_bits[word.input] - 1))
        if not word.sources:
            return _constant_bit(word.constant, place)
        if word.bits_apart:
            if place >= len(word.sources) and not word.signed:
                return ZERO
            return Bit("made", word.sources[min(place, len(word.sources) - 1)], 0)
        return Bit("made", word.sources[0], min(place, self.bits[word.sources[0]] - 1))

    def _with_waits(self, cores: list[list[Step]]) -> list[list[Step]]:
        """Return the steps with waits before operations that read what other cores make.

        A core sends its bits in the order of its steps: one wait per sender, for the last of them, is enough.
        """
        maker = {
            step.target: (core, place)
            for core, steps in enumerate(cores)
            for place, step in enumerate(steps)
            if step.target is not None and step.target.kind == "made"
        }
        waiting = []
        for core, steps in enumerate(cores):
            known: dict[int, int] = {}
            made: list[Step] = []
            needed: dict[str, dict[Bit, None]] = {}
            for step in steps:
                needed.setdefault(step.operation, {}).update(dict.fromkeys(self.reads(step)))
            begun = ""
            for step in steps:
                if step.operation != begun:
                    begun = step.operation
                    last: dict[int, tuple[int, Bit]] = {}
                    for bit in needed[begun]:
                        sender, place = maker.get(bit, (core, 0))
                        if sender != core and place > known.get(sender, -1):
                            last[sender] = max(last.get(sender, (-1, bit)), (place, bit))
                    for sender, (place, bit) in last.items():
                        known[sender] = place
                        made.append(Step(bit, waits=True, operation=begun))
                made.append(step)
            waiting.append(made)
        return waiting

    def reads(self, step: Step) -> list[Bit]:
        """Return every bit that a step may read."""
        if step.walk is None:
            return [step.a, step.b]
        support = self.diagrams[step.walk.block]
        root = next(paths for edge, paths in zip(support.roots, support.paths, strict=True) if edge == step.edge)
        return [step.walk.bits[variable] for variable in root[1]]


def _constant_bit(number: int, place: int) -> Bit:
    return Bit("constant", "", number >> place & 1)
