"""A plan as C statements: one per wire, from input words to output words.

Angles that go in wrap, other words are clamped, and what is out of range is counted. Words that are to be clamped are
tested all at once, and looked at one by one only if some word is out of range: few operations for states in range.

Sums and products are written by `c_sums`, in arithmetic modulo 2^32 where it does. Products that are not rounded go
into the sums that read them. Words that are only indices of tables are kept as they come: tables mask them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from operator import itemgetter

from bddtorque.base.errors import BddTorqueError
from bddtorque.export.c_call import CSignature
from bddtorque.export.c_sums import CTerm, SumWriter, Value
from bddtorque.export.c_text import ConstantArray, HelperCalls, integer, statement, unsigned
from bddtorque.plan.bound import known_ranges
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.plan.tabulate import check_products
from bddtorque.plan.wires import AngleSum, Input, Lookup, Output, Product, Sum
from bddtorque.spec.chips import Chip
from bddtorque.words.formats import Format, limits
from bddtorque.words.integer_range import INT32, Range, word_range


def take_inputs(signature: CSignature, values: Mapping[str, Value], calls: HelperCalls) -> Iterator[str]:
    """Yield the statements that take every input word; `values` are the variables of those that are read."""
    tested = {
        array: formats
        for array, formats in signature.arrays.items()
        if any(_clamped(word, signature.type_of(array)) for word in formats)
    }
    yield from _range_test(signature, tested, calls) if tested else ()
    for array, formats in signature.arrays.items():
        given = f"given_{array}" if array in tested else array
        lines = [
            line
            for place, (word, name) in enumerate(zip(formats, signature.names[array], strict=True))
            for line in _input(f"{given}[{place}]", word, values.get(name), signature.register < 32, calls)
        ]
        yield from lines
        if not lines:
            yield f"    (void){given};"


def _clamped(word: Format, kind: str) -> bool:
    """Return whether an argument of a C type can be beyond its word's ends."""
    return word.kind == "range" and kind != f"{'' if word.signed else 'u'}int{word.bits}_t"


def _range_test(signature: CSignature, tested: Mapping[str, tuple[Format, ...]], calls: HelperCalls) -> Iterator[str]:
    """Yield a test of all words that are to be clamped; where one is out of range, copies are taken in their place."""
    for array, formats in tested.items():
        kind = signature.type_of(array)
        yield f"    {kind} held_{array}[{len(formats)}];"
        yield f"    const {kind} *given_{array} = {array};"
    sums: dict[int, list[str]] = {}
    for array, formats in tested.items():
        for place, word in enumerate(formats):
            if _clamped(word, signature.type_of(array)):
                words = Range(word.lowest, word.highest)
                sums.setdefault(word.bits, []).append(raised(f"{array}[{place}]", words, signature))
    tests = [
        f"{'| ' if k or place else ''}{'((' * (not place)}{each}{f') >> {bits}u)' * (place == len(among) - 1)}"
        for k, (bits, among) in enumerate(sums.items())
        for place, each in enumerate(among)
    ]
    yield statement("if ((", tests, ") != 0u) { /* some word is out of range */")
    for array, formats in tested.items():
        kind = signature.type_of(array)
        clamps = "clamp_unsigned" if kind.startswith("u") else "clamp_natural"
        runs = [
            ((word.bits, "clamp_words" if word.signed else clamps) if _clamped(word, kind) else (0, ""), place)
            for place, word in enumerate(formats)
        ]
        for (bits, clamp), places in ((key, [place for _, place in run]) for key, run in groupby(runs, itemgetter(0))):
            first = places[0]
            if bits:
                given = f"&{array}[{first}]", f"&held_{array}[{first}]", f"{len(places)}u", f"{bits}u"
                yield f"        outside += {calls(clamp, *given)};"
            else:
                yield from (f"        held_{array}[{place}] = {array}[{place}];" for place in places)
        yield f"        given_{array} = held_{array};"
    yield "    }"


def raised(word: str, words: Range, signature: CSignature) -> str:
    """Return a word, moved so that it has no bits above its own if, and only if, it is one of `words`."""
    if not words.low:
        return f"(uint32_t){word}"
    half = unsigned(-words.low)
    if signature.bits == signature.register * 2 == 16:  # an 8-bit processor tests what it is given
        return f"(uint16_t)((uint16_t){word} + {half})"
    return f"((uint32_t){word} + {half})"


def _input(given: str, word: Format, value: Value | None, small: bool, calls: HelperCalls) -> Iterator[str]:
    """Yield what takes one word, which is in range by now unless it is an angle; nothing if nobody reads it."""
    first, last = limits(word)
    if value is not None:
        taken = given  # what is only an index is masked where it is looked up
        if value.signed and word.kind == "angle" and word.bits < 32:
            taken = calls("wrapped32", f"(uint32_t){given}", f"{word.bits}u")
        plain = value.type == "int32_t" and word.signed
        yield f"    const {value.type} {value.name} = {taken if plain else f'({value.type}){taken}'};"
    if word.kind == "angle" and (first, last) != (word.lowest, word.highest):
        yield f"    outside += {_beyond(given, word.bits, first, last, small)};"


def _beyond(word: str, bits: int, first: int, last: int, small: bool) -> str:
    """Return 1 if an angle is not from first on to last, over half a turn if need be; else 0."""
    turn = 1 << bits
    if first >= turn // 2:  # there is no such word
        return "1"
    span = (last - first) % turn
    if small and bits <= 16:
        moved = f"(uint16_t)((uint16_t)((uint16_t){word} - {unsigned(first % turn)}) & {unsigned(turn - 1)})"
        return f"({moved} > {unsigned(span)}) ? 1 : 0"
    # bits above those of the word are shifted out
    moved = f"((uint32_t){word} - {unsigned(first % turn)})"
    if bits < 32:
        moved = f"({moved} << {32 - bits}u)"
    return f"({moved} > {unsigned(span << (32 - bits))}) ? 1 : 0"


CODE_BYTES, BLOCK_BYTES = 128, 64
"""Bytes of code beside arithmetic, about: of functions that take and clamp words, and of one that looks a word up."""


@dataclass(frozen=True)
class Steps:
    """The body of the function that computes output words."""

    lines: tuple[str, ...]  # statements, in the order they run
    blocks: tuple[int, ...]  # numbers of the blocks they look up
    calls: frozenset[str]  # names of the helper functions that they call
    # of each table of unsigned products that wide products are put together from, its bits a factor
    partial_products: Mapping[int, int] = field(default_factory=dict)
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
        self.calls = self.sums.calls

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
        lines += _late_clamps(late, signature, self.calls)
        taken = [wire for k in self.plan.read if isinstance(wire := self.plan.wires[k], Product)]
        partial_products = {wire.block: wire.piece_bits for wire in taken if wire.method == "partial"}
        looked = [wire for k in self.plan.read if isinstance(wire := self.plan.wires[k], Lookup)]
        blocks = {each.block for each in taken if each.method != "native"} | {each.block for each in looked}
        code = CODE_BYTES + len(blocks) * BLOCK_BYTES + round(self._cycles(len(looked)) * self.chip.code_per_cycle)
        pieces = dict(sorted(partial_products.items()))
        return Steps(tuple(lines), tuple(sorted(blocks)), frozenset(self.calls), pieces, code_bytes=code)

    def _cycles(self, looked: int) -> int:
        """Return the cycles of all statements, about: words that come in, go out and are looked up, and sums."""
        costs = self.chip.costs
        words = len(self.inputs) + len(self.plan.outputs) + looked
        return self.sums.cycles + words * (costs.load[1] + costs.add[1])

    def _wire(self, k: int) -> list[str]:
        wire, value = self.plan.wires[k], self.value(k)
        declared = f"const {value.type} w{k} = "
        match wire:
            case AngleSum():
                return [angle_sum(wire, declared, wire.bits if value.signed else None, self.calls, value.type)]
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
                call = f"partial_products_{block}({left.name}, {counts[0]}u, {right.name}, {counts[1]}u)"
                half = f" + {integer(1 << wire.shift >> 1, 64, True)}" if wire.shift else ""
                floor = self.calls("floor64", f"{call}{half}", integer(1 << wire.shift, 64))
                return [f"    {declared}{self._cast(value, 64)}{floor};"]

    def _output(self, k: int, output: Output, signature: CSignature, late: dict[int, list[int]]) -> list[str]:
        """Return what keeps an output word; `late` gets those that are to be clamped together, by their bits."""
        ends, result = Range(output.low, output.high), signature.result
        kind = signature.type_of(result)
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
        if not kept and not reach.within(ends):
            draft.wrap(f"clamped{draft.bits}", *(integer(end, draft.bits) for end in ends))
            self.calls |= draft.calls
        text = statement(f"{result}[{k}] = {cast}{draft.first}", draft.terms, f"{draft.last};")
        return [*(f"    {line}" for line in before), text]


def _late_clamps(late: Mapping[int, Sequence[int]], signature: CSignature, calls: HelperCalls) -> Iterator[str]:
    """Yield tests of output words of the same bits together, and what clamps them."""
    result = signature.result
    for bits, places in late.items():
        tests = [
            f"{'| ' * (k > 0)}{raised(f'{result}[{place}]', word_range(bits), signature)}"
            for k, place in enumerate(places)
        ]
        yield statement("if (((", tests, f") >> {bits}u) != 0u) {{ /* some word is out of range */")
        together = list(places) == list(range(places[0], places[-1] + 1))
        for first, count in [(places[0], len(places))] if together else [(place, 1) for place in places]:
            word = f"&{result}[{first}]"
            yield f"        (void){calls('clamp_words', word, word, f'{count}u', f'{bits}u')};"
        yield "    }"


def angle_sum(wire: AngleSum, declared: str, wrapped: int | None, calls: HelperCalls, kind: str = "int32_t") -> str:
    """Return the statement of a sum of angles: of so many bits as a word, or with all bits as an index."""
    terms = []
    for source, multiplier, shift in wire.parts:
        factor = (multiplier << shift) % 2**32
        taken = f"(uint32_t)w{source}"
        terms.append(f"+ {taken}" if factor == 1 else f"+ (UINT32_C({factor}) * {taken})")
    if wire.constant or not terms:
        terms.append(f"+ UINT32_C({wire.constant % 2**32})")
    terms[0] = terms[0].removeprefix("+ ")
    if wrapped is None:
        return statement(f"{declared}({kind})(", terms, ");")
    helper, cast, bits = ("signed32", "", "") if wrapped == 32 else ("wrapped32", f"({kind})", f", {wrapped}u")
    calls.add(helper)
    return statement(f"{declared}{cast}{helper}(", terms, f"{bits});")
