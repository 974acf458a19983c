"""Exact sums of products in C, in as few and as narrow operations as the chip's costs allow.

All arithmetic is modulo 2^32 in unsigned numbers, so that only the result has to fit, and nothing can overflow whatever
file a plan came from. A sum T beyond 32 bits is written as H·2^K + L: L fits 32 bits, H is needed modulo 2^32 only, and
floor(T/2^s) = floor((H + floor(L/2^K))/2^(s-K)). The costs of the chip say which K is taken, how each product goes into
H and L, and whether 64 bits are cheaper.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from bddtorque.base.errors import BddTorqueError
from bddtorque.evaluate.operations import twos
from bddtorque.export.c_text import HelperCalls, integer, unsigned
from bddtorque.spec.chips import Chip
from bddtorque.words.integer_range import INT32, INT64, Range, word_range

INT16 = word_range(16)
CALL_BYTES = {8: 40, 32: 24}
"""Of a call of a library function with its arguments, by the bits of a register, about."""


@dataclass(frozen=True)
class Value:
    """A variable of the generated function."""

    name: str  # what it is called
    range: Range  # numbers that it can be
    # bits, signed: of its type
    bits: int
    signed: bool = True
    # defined, helper, cost: the statement that computes it where it is first needed, the function that this calls, and
    # its cycles; empty if it is there
    defined: str = ""
    helper: str = ""
    cost: int = 0

    @property
    def type(self) -> str:
        """Its C type."""
        return f"{'' if self.signed else 'u'}int{self.bits}_t"

    def as_bits(self, bits: int = 32) -> str:
        """Return it as an operand of unsigned arithmetic of 32 bits, or of 64 if it has so many."""
        return self.name if not self.signed and self.bits == bits else f"(uint{bits}_t){self.name}"


@dataclass(frozen=True)
class CTerm:
    """A summand: a factor times one value, or the product of two."""

    factor: int
    values: tuple[Value, ...]

    @property
    def range(self) -> Range:
        """The numbers it can be."""
        return prod((value.range for value in self.values), start=Range(1, 1)) * self.factor


@dataclass
class Draft:
    """One way to write a sum, not yet taken: its cost in cycles, what has to be computed before, its expression."""

    cost: int = 0
    inside: int = 0
    """Of these, cycles inside library functions or slow instructions, which take no code of their own."""
    before: dict[str, Value] = field(default_factory=dict)
    first: str = ""
    terms: list[str] = field(default_factory=list)
    last: str = ""
    bits: int = 32  # that the type of the expression has at most
    calls: HelperCalls = field(default_factory=HelperCalls)

    def wrap(self, helper: str, *arguments: str) -> None:
        """Put a call of a helper around the expression."""
        self.calls.add(helper)
        self.first, self.last = f"{helper}({self.first}", f"{self.last}{''.join(f', {each}' for each in arguments)})"


@dataclass(frozen=True)
class Part:
    """A summand of H or L: its sign, its text, a power of two that it is still to be multiplied by."""

    negative: bool
    text: str
    shift: int = 0
    narrow: bool = False  # whether it is a word of 16 bits alone, cast


class SumWriter:
    """Writes sums for a chip; keeps what they share."""

    def __init__(self, chip: Chip) -> None:
        self.costs = chip.costs
        self.small = chip.register < 32
        self.known: set[str] = set()
        self.calls = HelperCalls()
        self.cycles = 0
        """Of the code of all sums so far, about; what library functions do is not in it."""
        call = round(CALL_BYTES[chip.register] / chip.code_per_cycle)
        multiply = self.costs.multiply
        called = multiply if not chip.multiplier else (0, 0, multiply[2])
        self.inside = tuple(max(cycles - call, 0) for cycles in called)

    def sum(
        self, terms: Sequence[CTerm], constant: int, shift: int, result: Range, where: str
    ) -> tuple[list[str], Draft]:
        """Return statements, and the expression that follows them: floor((sum + constant)/2^shift + 1/2), signed.

        `result`: numbers that the rounded sum can be; `where`: names the sum in an error.
        """
        terms = [term for term in terms if term.factor]
        common = min([shift, *(twos(number) for number in (*(term.factor for term in terms), constant) if number)])
        terms = [replace(term, factor=term.factor >> common) for term in terms]
        constant, shift = constant >> common, shift - common
        half = 1 << shift >> 1
        total = sum((term.range for term in terms), start=Range(constant + half, constant + half))
        total = total.common(Range(result.low << shift, ((result.high + 1) << shift) - 1))
        if max(total.magnitude, *(abs(term.factor) for term in terms), 0) > INT64.high:
            raise BddTorqueError(
                f"export, {where}: arithmetic needs {total.magnitude.bit_length() + 1} bits, but the limit is 64: "
                "use fewer bits"
            )
        drafts = list(self._drafts(terms, constant + half, shift, total, result))
        best = min(drafts, key=lambda draft: draft.cost)
        self.cycles += best.cost - best.inside
        halves = [half for name, half in best.before.items() if name not in self.known]
        self.known.update(best.before)
        self.calls |= best.calls | {half.helper for half in halves}
        return [half.defined for half in halves], best

    def _drafts(
        self, terms: Sequence[CTerm], constant: int, shift: int, total: Range, result: Range
    ) -> Iterator[Draft]:
        narrow = all(value.bits < 64 for term in terms for value in term.values)
        if narrow and total.within(INT32):
            yield self._plain(terms, constant, shift, result)
            return
        if narrow and result.within(INT32):
            first = max(1, total.bits - 32)
            drafts = (self._split(terms, constant, shift, low, result) for low in range(first, min(shift, 30) + 1))
            yield from filter(None, drafts)
        yield self._wide(terms, constant, shift)

    def _plain(self, terms: Sequence[CTerm], constant: int, shift: int, result: Range) -> Draft:
        draft = Draft()
        parts = [self._scaled(term.values, term.factor, draft) for term in terms]
        return self._floor(draft, self._join(parts, constant, draft), shift, result)

    def _split(self, terms: Sequence[CTerm], constant: int, shift: int, low: int, result: Range) -> Draft | None:
        """Return the sum as H·2^low + L, or nothing if L does not fit."""
        draft = Draft()
        remainder = constant & ((1 << low) - 1)
        reach = Range(remainder, remainder)
        highs: list[Part] = []
        lows: list[Part] = []
        for term in terms:
            ways = [way for way in self._ways(term, low) if way[1].bits <= 32]
            if not ways:
                return None
            drafted = [(self._taken(way, draft), way) for way in ways]
            (own, high, rest), way = min(drafted, key=lambda item: item[0][0].cost)
            draft.cost += own.cost
            draft.inside += own.inside
            draft.before.update(own.before)
            draft.calls |= own.calls
            highs += high
            lows += rest
            reach = reach + way[1]
            if not reach.within(INT32):
                return None
        if lows:
            text = draft.calls("floor32", " ".join(self._join(lows, remainder, draft)), integer(1 << low, 32))
            draft.cost += self.costs.shift_by(low) + self.costs.add[1]
            highs.append(Part(False, f"(uint32_t){text}"))
        elif remainder:  # below what the result is rounded by
            pass
        return self._floor(draft, self._join(highs, constant >> low, draft), shift - low, result)

    def _ways(self, term: CTerm, low: int) -> Iterator[tuple[list[CTerm], Range, list[CTerm]]]:
        """Yield ways to write a term as H·2^low + L: the terms of H, the range of L, the terms of L."""
        factor, places = term.factor, twos(term.factor)
        if places >= low:
            yield [replace(term, factor=factor >> low)], Range(0, 0), []
            return
        rest = (factor + (1 << (low - 1))) % (1 << low) - (1 << (low - 1))  # nearest to zero
        below = replace(term, factor=rest)
        above = (factor - rest) >> low
        yield ([replace(term, factor=above)] if above else []), below.range, [below]
        for place, value in enumerate(term.values):
            for cut in sorted({low - places, *((8, 16) if self.small else ())}):
                if not 0 < cut < 32 or cut + places < low or value.range.magnitude >> cut == 0 or value.bits > 32:
                    continue
                high, rest_of = (
                    (*term.values[:place], half, *term.values[place + 1 :]) for half in self._halves(value, cut)
                )
                lower = CTerm(factor, rest_of)
                yield [CTerm((factor >> places) << (cut + places - low), high)], lower.range, [lower]

    def _taken(self, way: tuple[list[CTerm], Range, list[CTerm]], draft: Draft) -> tuple[Draft, list[Part], list[Part]]:
        """Return what a way takes beside what is there, and its parts."""
        own = Draft(before=dict(draft.before))
        high, low = ([self._scaled(term.values, term.factor, own) for term in side] for side in (way[0], way[2]))
        return own, high, low

    def _multiply(self, draft: Draft, width: int, times: int = 1) -> None:
        """Charge multiplications: of 16, 32 or 64 bits by `width` 0, 1 or 2."""
        draft.cost += self.costs.multiply[width] * times
        draft.inside += self.inside[width] * times

    def _scaled(self, values: Sequence[Value], factor: int, draft: Draft) -> Part:
        """Return a product of values and a factor, modulo 2^32."""
        for value in values:
            if value.defined and value.name not in self.known and value.name not in draft.before:
                draft.before[value.name] = value
                draft.cost += value.cost
        size, costs = abs(factor), self.costs
        draft.cost += costs.add[1]
        shift = 0
        texts: list[str] = []
        if self.small and all(value.bits == 16 for value in values):
            places = twos(size)
            if size.bit_length() > 15 and (size >> places).bit_length() <= 15:
                shift = next(
                    (whole for whole in (8, 16) if whole <= places and (size >> whole).bit_length() <= 15), places
                )
                size >>= shift
            names = [value.name for value in values]
            if (
                len(names) == 2
                and 1 < size <= INT16.high
                and any((value.range * size).within(INT16) for value in values)
            ):
                scaled = next(k for k, value in enumerate(values) if (value.range * size).within(INT16))
                names[scaled] = draft.calls("scaled16", names[scaled], str(size))
                draft.cost += costs.add[0] * 4
                size = 1
            if len(names) == 2:
                texts, names = [draft.calls("product16", *names)], []
                self._multiply(draft, 0)
            elif 1 < size <= INT16.high:
                texts, names = [draft.calls("product16", names[0], str(size))], []
                self._multiply(draft, 0)
                size = 1
            texts += [f"(uint32_t){name}" for name in names]
        else:
            texts = [value.as_bits() for value in values]
            self._multiply(draft, 1, len(values) - 1)
        if size > 1 and size & (size - 1) == 0:
            texts.append(unsigned(size % 2**32))
            draft.cost += costs.shift_by(twos(size))
        elif size > 1:
            texts.append(unsigned(size % 2**32))
            draft.cost += costs.constant * (size > 255)
            self._multiply(draft, 1)
        narrow = self.small and texts == [f"(uint32_t){value.name}" for value in values]
        return Part(factor < 0, " * ".join(texts), shift, narrow)

    def _halves(self, value: Value, cut: int) -> tuple[Value, Value]:
        """Return floor(value/2^cut) and the bits below as variables of their own."""
        name, bits = f"{value.name}_{cut}", 16 if self.small else 32
        reach = Range(value.range.low >> cut, value.range.high >> cut)
        kind = bits if reach.within(word_range(bits)) else 32
        cast = f"(int{kind}_t)" if kind < 32 else ""
        text = f"{cast}floor32({value.as_bits()}, {integer(1 << cut, 32)})"
        cost, defined = self.costs.shift_by(cut), f"const int{kind}_t h{name} = {text};"
        high = Value(f"h{name}", reach, kind, True, defined, "floor32", cost)
        kind = bits if cut < bits else 32
        cast = f"(int{kind}_t)" if kind < 32 else ""
        text = f"{cast}signed32({value.as_bits()} & {unsigned((1 << cut) - 1)})"
        cost, defined = self.costs.add[1] + self.costs.constant * (cut > 8), f"const int{kind}_t l{name} = {text};"
        return high, Value(f"l{name}", Range(0, (1 << cut) - 1), kind, True, defined, "signed32", cost)

    def _join(self, parts: Sequence[Part], constant: int, draft: Draft) -> list[str]:
        """Return the texts of a sum modulo 2^32, each but the first with its sign before it."""
        texts: list[str] = []
        for shift in sorted({part.shift for part in parts}, reverse=True):
            together = [part for part in parts if part.shift == shift]
            together.sort(key=lambda part: part.negative)
            # gcc -Wsign-conversion finds fault with `+ (uint32_t)` of an int16_t, for no reason
            plain = [part.narrow and bool(k or texts) for k, part in enumerate(together)]
            pairs = zip(together, plain, strict=True)
            joined = _signed([(part.negative, f"0u + {part.text}" if cast else part.text) for part, cast in pairs])
            if shift:
                draft.cost += self.costs.shift_by(shift)
                joined = [f"(({' '.join(joined)}) << {shift}u)"]
            texts += [f"+ {joined[0]}", *joined[1:]] if texts else joined
        if constant or not texts:
            text = unsigned(constant % 2**32)
            texts.append(f"+ {text}" if texts else text)
            draft.cost += self.costs.add[1] + self.costs.constant * (abs(constant) > 255)
        return texts

    def _floor(self, draft: Draft, terms: list[str], shift: int, result: Range) -> Draft:
        """Return the expression of a sum modulo 2^32, rounded down.

        From 31 bits on, all that is left of a number of 32 bits is its sign: -1 or 0. Since neither 2^31 nor, for 16
        bits, 2^15 is a number of its type, these shifts are two divisions.
        """
        shift = min(shift, 31)
        cost, draft.terms = self.costs.shift_by(shift), terms
        if shift == 0:
            draft.wrap("signed32")
        elif self.small and shift >= 16:
            draft.wrap("high16")
            for unit in {16: [], 31: [1 << 14, 2]}.get(shift, [1 << (shift - 16)]):
                draft.wrap("floor16", str(unit))
            cost = self.costs.shift[1] + (self.costs.shift_by(shift - 16, 16) if shift > 16 else 0)
        elif self.small and shift > 12 and result.within(INT16):
            draft.first, draft.last = "(", f") << {16 - shift}u"
            draft.wrap("high16")
            cost = self.costs.shift[1] + self.costs.shift_by(16 - shift)
        elif shift == 31 or (self.small and shift > 8):
            step = 30 if shift == 31 else 8
            draft.wrap("floor32", integer(1 << step, 32))
            draft.first = f"(uint32_t){draft.first}"
            draft.wrap("floor32", integer(1 << (shift - step), 32))
            if shift < 31:
                cost = self.costs.shift[1] + self.costs.shift_by(shift - 8)
        else:
            draft.wrap("floor32", integer(1 << shift, 32))
        draft.cost += cost
        return draft

    def _wide(self, terms: Sequence[CTerm], constant: int, shift: int) -> Draft:
        """Return the sum in 64 bits."""
        draft = Draft(cost=self.costs.shift[2] + self.costs.add[2] + 2 * self.costs.constant, bits=64)
        texts = []
        for term in terms:
            size, values = abs(term.factor), list(term.values)
            draft.cost += self.costs.add[2] + self.costs.constant * (size > 255)
            if size > 1 and len(values) == 2:
                for k, value in enumerate(values):
                    if (value.range * size).within(INT32):
                        scaled = draft.calls("signed32", f"{value.as_bits()} * {unsigned(size)}")
                        values[k], size = Value(scaled, value.range * size, 32), 1
                        self._multiply(draft, 1)
                        break
            narrow = [value.name for value in values if value.bits < 64]
            others = [value.as_bits(64) for value in values if value.bits == 64]
            if size > 1 and size & (size - 1) and size <= INT32.high and len(narrow) == 1:
                narrow.append(integer(size, 32))
                size = 1
            if len(narrow) == 2:
                others.append(draft.calls("product32", *narrow))
                self._multiply(draft, 2)
            else:
                others += [draft.calls("long_bits", name) for name in narrow]
            if size > 1:
                others.append(integer(size, 64, True))
                if size & (size - 1) == 0:
                    draft.cost += self.costs.shift[2]
                else:
                    self._multiply(draft, 2, 3)
            texts.append((term.factor < 0, " * ".join(others)))
        draft.terms = _signed(texts, integer(0, 64, True))
        if constant or not texts:
            text = integer(constant % 2**64, 64, True)
            draft.terms.append(f"+ {text}" if texts else text)
        draft.wrap(*(("floor64", integer(1 << shift, 64)) if shift else ("signed64",)))
        return draft


def _signed(parts: Sequence[tuple[bool, str]], zero: str = "0u") -> list[str]:
    """Return texts with signs between them, a positive one first where there is one."""
    ordered = sorted(parts, key=lambda part: part[0])
    texts = [f"{'-' if negative else '+'} ({text})" if " " in text else f"{'-' if negative else '+'} {text}"
             for negative, text in ordered]  # fmt: skip
    if ordered:
        texts[0] = f"{zero} {texts[0]}" if ordered[0][0] else texts[0].removeprefix("+ ")
    return texts
