"""The wires of a plan as C statements: one per wire, from input words to output words.

Sums and products are written by `c_sums`, in arithmetic modulo 2^32 where it does. Products that are not rounded go
into the sums that read them. Words that are only indices of tables are kept as they come: tables mask them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from bddtorque.base.errors import BddTorqueError
from bddtorque.export.c_inputs import raised
from bddtorque.export.c_signature import CSignature
from bddtorque.export.c_sums import CTerm, SumWriter, Value
from bddtorque.export.c_text import ConstantArray, integer, statement
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.plan.tabulate import check_products
from bddtorque.plan.wires import AngleSum, Input, Lookup, Output, Product, Sum
from bddtorque.plan.word_ranges import known_ranges
from bddtorque.spec.chips import Chip
from bddtorque.words.integer_range import INT32, Range, word_range

CODE_BYTES, BLOCK_BYTES = 128, 64
"""What functions that take and clamp words need beside arithmetic, and what looks a word up in a table, about."""


@dataclass(frozen=True)
class Steps:
    """The body of the function that computes output words."""

    lines: tuple[str, ...]  # statements, in the order they run
    blocks: tuple[int, ...]  # numbers of the blocks they look up
    # of each table of unsigned products that wide products are put together from, its bits a factor
    limbs: Mapping[int, int] = field(default_factory=dict)
    preamble: str = ""  # what must stand before all other code
    libraries: str = ""  # what a program is linked with
    # arrays, functions: what they read and call beside tables of the plan
    arrays: tuple[ConstantArray, ...] = ()
    functions: str = ""
    code_bytes: int = 0  # of the compiled code, about; 0 if nobody estimated it


class PlanSteps:
    """Writes the wires of a plan for a chip."""

    def __init__(self, plan: Plan, tables: Sequence[Table], chip: Chip) -> None:
        check_products(plan, tables)
        self.plan, self.chip = plan, chip
        self.small = chip.register < 32
        self.ranges = known_ranges(plan, tables)
        self.entries = [table.range for table in tables]
        self.sums = SumWriter(chip)

    @cached_property
    def indices(self) -> set[int]:
        """Angles that nothing reads but tables, and sums of angles that these read."""
        plain = set(self.plan.read) - {wire for output in self.plan.outputs for wire in output.sources}
        indices: set[int] = set()
        readers: dict[int, list[int]] = {k: [] for k in self.plan.read}
        for k in self.plan.read:
            for source in self.plan.wires[k].sources:
                readers[source].append(k)
        for k in reversed(self.plan.read):
            wire = self.plan.wires[k]
            if k in plain and (isinstance(wire, AngleSum) or (isinstance(wire, Input) and wire.wraps)):
                by = [self.plan.wires[reader] for reader in readers[k]]
                if all(isinstance(each, Lookup | AngleSum) for each in by):
                    indices.add(k)
        return indices

    @cached_property
    def inlined(self) -> set[int]:
        """Products that are not rounded and that only sums read."""
        natives = {
            k
            for k in self.plan.read
            if isinstance(wire := self.plan.wires[k], Product) and wire.method == "native" and not wire.shift
        }
        read = {
            source for k in self.plan.read if not isinstance(wire := self.plan.wires[k], Sum) for source in wire.sources
        }
        return natives - read

    def value(self, k: int) -> Value:
        """Return the variable of a wire."""
        reach = self.ranges[k]
        if k in self.indices:
            bits = max(self.plan.bits_of(k), 17 - self.small)
            return Value(f"w{k}", word_range(bits, signed=False), 16 if bits <= 16 else 32, signed=False)
        least = 16 if self.small else 32
        bits = next(bits for bits in (least, 32, 64) if reach.within(word_range(bits)))
        return Value(f"w{k}", reach, bits)

    @property
    def inputs(self) -> dict[str, Value]:
        """The variables of the input words that are read, by the names of the words."""
        wires = ((k, self.plan.wires[k]) for k in self.plan.read)
        return {wire.name: self.value(k) for k, wire in wires if isinstance(wire, Input)}

    def steps(self, inputs: Iterable[str], signature: CSignature) -> Steps:
        """Return the statements of the plan after those of its `inputs`."""
        lines = list(inputs)
        for k in self.plan.read:
            if not isinstance(self.plan.wires[k], Input) and k not in self.inlined:
                lines += self._wire(k)
        late: dict[int, list[int]] = {}
        for k, output in enumerate(self.plan.outputs):
            lines += self._output(k, output, signature, late)
        lines += _late_clamps(late, signature)
        taken = [wire for k in self.plan.read if isinstance(wire := self.plan.wires[k], Product)]
        limbs = {wire.block: wire.piece_bits for wire in taken if wire.method == "partial"}
        looked = [wire for k in self.plan.read if isinstance(wire := self.plan.wires[k], Lookup)]
        blocks = {each.block for each in taken if each.method != "native"} | {each.block for each in looked}
        code = CODE_BYTES + len(blocks) * BLOCK_BYTES + round(self._cycles(len(looked)) * self.chip.code_per_cycle)
        return Steps(tuple(lines), tuple(sorted(blocks)), dict(sorted(limbs.items())), code_bytes=code)

    def _cycles(self, looked: int) -> int:
        """Return the cycles of all statements, about: words that come in, go out and are looked up, and sums."""
        costs = self.chip.costs
        words = len(self.inputs) + len(self.plan.outputs) + looked
        return self.sums.cycles + words * (costs.load[1] + costs.add[1])

    def _wire(self, k: int) -> list[str]:
        wire, value = self.plan.wires[k], self.value(k)
        kind = f"{'' if value.signed else 'u'}int{value.bits}_t"
        declared = f"const {kind} w{k} = "
        match wire:
            case AngleSum():
                return [angle_sum(wire, declared, None if not value.signed else wire.bits, kind)]
            case Lookup():
                return [f"    {declared}{self._cast(value, 32)}{self._call(wire.block, wire.wires)};"]
            case Product():
                return self._product(k, wire, value, declared)
            case Sum():
                terms = [term for source, factor in wire.parts for term in self._terms(source, factor)]
                where = f"'{wire.name:.40}'"
                return self._summed(declared, value, terms, wire.constant, wire.shift, self.ranges[k], where)
            case _:
                raise AssertionError(wire)

    def _terms(self, source: int, factor: int) -> list[CTerm]:
        """Return a summand: a word times a factor, or a product in its place."""
        if source in self.inlined:
            return [CTerm(factor, tuple(self.value(each) for each in self.plan.wires[source].sources))]
        return [CTerm(factor, (self.value(source),))]

    def _cast(self, value: Value, bits: int) -> str:
        return f"(int{value.bits}_t)" if value.bits < bits else ""

    def _summed(
        self, declared: str, value: Value, terms: Sequence[CTerm], constant: int, shift: int, reach: Range, where: str
    ) -> list[str]:
        """Return the statements that keep a rounded sum in a variable."""
        before, draft = self.sums.sum(terms, constant, shift, reach, where)
        first = f"{declared}{self._cast(value, draft.bits)}{draft.first}"
        return [*(f"    {line}" for line in before), statement(first, draft.terms, f"{draft.last};")]

    def _index(self, block: int) -> str:
        """Return the type that the words of a table's index are given in."""
        return "uint16_t" if self.small and sum(self.plan.blocks[block].input_widths) <= 16 else "uint32_t"

    def _call(self, block: int, wires: Sequence[int]) -> str:
        """Return the word of a table at the words of some wires; functions ignore bits above those of each word."""
        index = self._index(block)
        given = []
        for wire in wires:
            value = self.value(wire)
            same = not value.signed and f"uint{value.bits}_t" == index
            given.append(value.name if same else f"({index}){value.name}")
        return f"block_{block}({', '.join(given)})"

    def _product(self, k: int, wire: Product, value: Value, declared: str) -> list[str]:
        left, right, block = self.value(wire.left), self.value(wire.right), wire.block
        where = f"'{wire.name:.40}'"
        match wire.method:
            case "blocks":
                return [f"    {declared}{self._cast(value, 32)}{self._call(block, (wire.left, wire.right))};"]
            case "native":
                return self._summed(declared, value, [CTerm(1, (left, right))], 0, wire.shift, self.ranges[k], where)
            case "squares":
                call = f"block_{block}(({self._index(block)})({left.as_bits()} {{}} {right.as_bits()}))"
                pair = [Value(call.format(sign), self.entries[block], 32) for sign in "+-"]
                terms = [CTerm(1, (pair[0],)), CTerm(-1, (pair[1],))]
                return self._summed(declared, value, terms, 0, wire.shift, self.ranges[k], where)
            case _:
                counts = [
                    max(-(-self.ranges[each].magnitude.bit_length() // wire.piece_bits), 1) for each in wire.sources
                ]
                # put together in 64 bits, modulo 2^64, where the sign is easy
                call = f"limbs_{block}({left.name}, {counts[0]}u, {right.name}, {counts[1]}u)"
                half = f" + {integer(1 << wire.shift >> 1, 64, True)}" if wire.shift else ""
                return [f"    {declared}{self._cast(value, 64)}floor64({call}{half}, {integer(1 << wire.shift, 64)});"]

    def _output(self, k: int, output: Output, signature: CSignature, late: dict[int, list[int]]) -> list[str]:
        """Return what keeps an output word; `late` gets those that are to be clamped together, by their bits."""
        ends, kind, result = Range(output.low, output.high), signature.type, signature.result
        if not ends.within(INT32):
            raise BddTorqueError(f"export, output {k} must have words of at most 32 bits")
        terms = [term for source, factor in output.parts for term in self._terms(source, factor)]
        start = Range(output.constant, output.constant)
        reach = sum((term.range for term in terms), start=start).rounded(output.shift)
        before, draft = self.sums.sum(terms, output.constant, output.shift, reach, f"output {k}")
        cast = f"({kind})" if draft.bits > 32 or kind != "int32_t" else ""
        kept = reach.within(word_range(signature.bits)) and ends == word_range(ends.bits)
        if kept and not reach.within(ends):
            late.setdefault(ends.bits, []).append(k)
        if kept or reach.within(ends):
            text = statement(f"{result}[{k}] = {cast}{draft.first}", draft.terms, f"{draft.last};")
        else:
            low, high = (integer(end, draft.bits) for end in ends)
            first = f"{result}[{k}] = {cast}clamped{draft.bits}({draft.first}"
            text = statement(first, draft.terms, f"{draft.last}, {low}, {high});")
        return [*(f"    {line}" for line in before), text]


def _late_clamps(late: Mapping[int, Sequence[int]], signature: CSignature) -> Iterator[str]:
    """Yield tests of output words of the same bits together, and what clamps them."""
    result = signature.result
    for bits, places in late.items():
        tests = [f"{'| ' * (k > 0)}{raised(f'{result}[{place}]', bits, signature)}" for k, place in enumerate(places)]
        yield statement("if (((", tests, f") >> {bits}u) != 0u) {{ /* some word is out of range */")
        together = list(places) == list(range(places[0], places[-1] + 1))
        for first, count in [(places[0], len(places))] if together else [(place, 1) for place in places]:
            word = f"&{result}[{first}]"
            yield f"        (void)clamp_words({word}, {word}, {count}u, {bits}u);"
        yield "    }"


def angle_sum(wire: AngleSum, declared: str, wrapped: int | None, kind: str = "int32_t") -> str:
    """Return the statement of a sum of angles: of so many bits as a word, or with all bits as an index."""
    unsigned_type = kind if wrapped is None else "uint32_t"
    terms = []
    for source, multiplier, shift in wire.parts:
        factor = (multiplier << shift) % 2**32
        taken = f"(uint32_t)w{source}"
        terms.append(f"+ {taken}" if factor == 1 else f"+ (UINT32_C({factor}) * {taken})")
    if wire.constant or not terms:
        terms.append(f"+ UINT32_C({wire.constant % 2**32})")
    terms[0] = terms[0].removeprefix("+ ")
    if wrapped is None:
        return statement(f"{declared}({unsigned_type})(", terms, ");")
    if wrapped == 32:
        return statement(f"{declared}signed32(", terms, ");")
    return statement(f"{declared}({kind})wrapped32(", terms, f", {wrapped}u);")
