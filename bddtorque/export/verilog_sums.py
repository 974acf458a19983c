"""Sums of words times constants as trees of adders: exact, and rounded once.

Factors that differ by a power of two share their words' sum before it is multiplied; a constant factor is a short chain
of adders. Every adder is as narrow as what it adds up to, and bits that only one operand has pass beside it. What
rounds, and any other constant, takes the place of zeros that a shift brings in, where there are enough of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from heapq import heapify, heappop, heappush

from bddtorque.evaluate.operations import signed_digits, twos
from bddtorque.export.verilog_stages import Circuit, joined, literal, register_bits
from bddtorque.words.integer_range import Range, word_range

MAX_ADDERS = 4
"""Adders of a chain that is searched for; longer ones follow the digits of the factor."""


@dataclass(frozen=True)
class Addend:
    """A summand: ±(word·2^shift) + pad, where pad is below 2^shift and 0 if the word is subtracted."""

    stage: int
    shift: int
    negative: bool = False
    pad: int = 0

    @property
    def lowest(self) -> int:
        """The first bit that can be 1."""
        return twos(self.pad) if self.pad else self.shift


Scaled = tuple[int, int, int]
"""Of a chain of adders: (d, shift, sign) stands for sign·d·2^shift times the word."""


def sum_stage(
    circuit: Circuit, terms: Iterable[tuple[int, int]], constant: int, shift: int, result: Range, wraps: bool = False
) -> int:
    """Return the stage of floor((Σ factor·word + constant)/2^shift + 1/2) for stages and their factors.

    `result`: numbers that it can be. If it `wraps`, it is kept modulo its bits, and can be any number before.
    """
    factors: dict[int, int] = {}
    for stage, factor in terms:
        factors[stage] = factors.get(stage, 0) + factor
    given = [(stage, factor) for stage, factor in factors.items() if factor]
    common = min([shift, *(twos(number) for number in (*(factor for _, factor in given), constant) if number)])
    given, constant, shift = [(stage, factor >> common) for stage, factor in given], constant >> common, shift - common
    modulus = result.bits + shift
    rounding = constant + (1 << shift >> 1)
    if not given:
        word = rounding >> shift
        return circuit.logic((), literal(word, register_bits(Range(word, word))), Range(word, word))
    if circuit.plain:
        addends = [_multiplied(circuit, stage, factor) for stage, factor in given]
    else:
        addends = [each for group in _groups(given) for each in _group_addends(circuit, group, modulus)]
    stage = _tree(circuit, addends, rounding % (1 << modulus), shift, result, modulus)
    if wraps and circuit.stages[stage].range != result:  # a word as it came, of more or fewer bits
        return circuit.logic((stage,), circuit.operand(0, stage, register_bits(result)), result)
    return stage


def _multiplied(circuit: Circuit, stage: int, factor: int) -> Addend:
    """Return a word times a constant as a multiplication."""
    shift = twos(factor)
    odd = abs(factor) >> shift
    if odd > 1:
        reach = circuit.stages[stage].range * odd
        width = register_bits(reach)
        text = f"$signed({circuit.operand(0, stage, width)}) * $signed({literal(odd, width)})"
        stage = circuit.logic((stage,), text, reach)
    return Addend(stage, shift, factor < 0)


def _groups(terms: Sequence[tuple[int, int]]) -> list[tuple[int, list[Addend]]]:
    """Return terms by the odd parts of their factors: words that are added before they are multiplied."""
    groups: dict[int, list[Addend]] = {}
    for stage, factor in terms:
        shift = twos(factor)
        groups.setdefault(abs(factor) >> shift, []).append(Addend(stage, shift, factor < 0))
    return list(groups.items())


def _group_addends(circuit: Circuit, group: tuple[int, list[Addend]], modulus: int) -> list[Addend]:
    """Return the addends of words that have one odd factor."""
    odd, addends = group
    if odd == 1:
        return addends
    if len(addends) > 1:
        lowest = min(each.shift for each in addends)
        moved = [replace(each, shift=each.shift - lowest) for each in addends]
        reach = sum((_reach(circuit, each) for each in moved), start=Range(0, 0))
        whole = _tree(circuit, moved, 0, 0, reach, reach.bits)
        addends = [Addend(whole, lowest)]
    (word,) = addends
    return _scaled(circuit, word, odd, modulus)


def _scaled(circuit: Circuit, word: Addend, odd: int, modulus: int) -> list[Addend]:
    """Return the addends of a word times an odd factor."""
    found = []
    for inner, shift, sign in chain(odd):
        part = word
        if inner > 1:
            addends = _scaled(circuit, Addend(word.stage, 0), inner, modulus)
            reach = circuit.stages[word.stage].range * inner
            part = replace(word, stage=_tree(circuit, addends, 0, 0, reach, reach.bits))
        found.append(replace(part, shift=word.shift + shift, negative=word.negative != (sign < 0)))
    return found


@cache
def chain(odd: int) -> tuple[Scaled, ...]:
    """Return an odd factor as a sum of few scaled factors, each 1 or had by a chain of its own."""
    digits = _digits(odd)
    for limit in range(1, min(MAX_ADDERS + 1, len(digits) - 1)):
        if found := _chain(odd, limit):
            return found
    return digits


@cache
def _chain(odd: int, limit: int) -> tuple[Scaled, ...] | None:
    """Return a chain of at most `limit` adders; nothing if there is none among those looked at."""
    digits = _digits(odd)
    if len(digits) - 1 <= limit:
        return digits
    if limit == 1:
        return None
    span = odd.bit_length() + 2
    for k in range(1, span):  # odd = (2^k ± 1)·d
        for sign in (1, -1):
            whole = (1 << k) + sign
            if 1 < whole < odd and odd % whole == 0 and _chain(odd // whole, limit - 1) is not None:
                return ((odd // whole, k, 1), (odd // whole, 0, sign))
    # odd = ±2^i·d ± 2^k; of a long chain, 2^k is one of its digits
    tried = [(sign, place) for _, place, sign in digits] if limit > 2 else [
        (sign, place) for place in range(span) for sign in (1, -1)
    ]  # fmt: skip
    for sign, place in tried:
        rest = odd - (sign << place)
        inner, shift = abs(rest) >> twos(rest), twos(rest)
        if 1 < inner < odd and _chain(inner, limit - 1) is not None:
            return ((inner, shift, 1 if rest > 0 else -1), (1, place, sign))
    return None


def _digits(number: int) -> tuple[Scaled, ...]:
    """Return a positive number as shifts: the digits of its non-adjacent form."""
    return tuple((1, place, digit) for place, digit in signed_digits(number))


def _reach(circuit: Circuit, addend: Addend) -> Range:
    factor = (-1 if addend.negative else 1) << addend.shift
    return circuit.stages[addend.stage].range * factor + Range(addend.pad, addend.pad)


def _tree(circuit: Circuit, addends: Sequence[Addend], constant: int, shift: int, result: Range, modulus: int) -> int:
    """Return the stage of (Σ addends + constant) >> shift, computed modulo 2^modulus."""
    items = list(addends)
    pads = [k for k, each in enumerate(items) if not each.negative and each.shift]
    if constant and pads:
        widest = max(pads, key=lambda k: (items[k].shift, circuit.ready[items[k].stage]))
        pad = constant % (1 << items[widest].shift)
        items[widest] = replace(items[widest], pad=pad)
        constant -= pad
    increment = bool(constant) and constant == 1 << shift >> 1
    if constant and not increment:
        first = min(range(len(items)), key=lambda k: circuit.ready[items[k].stage])
        items[first] = _with_constant(circuit, items[first], constant, modulus)
    queue = [(circuit.ready[each.stage], _top(circuit, each), k, each) for k, each in enumerate(items)]
    heapify(queue)
    count = len(queue)
    while len(queue) > 2:
        *_, left = heappop(queue)
        *_, right = heappop(queue)
        both = _joined(circuit, left, right, modulus)
        heappush(queue, (circuit.ready[both.stage], _top(circuit, both), count, both))
        count += 1
    last = [each for *_, each in queue]
    return (_incremented if increment else _last)(circuit, last, shift, result, modulus)


def _incremented(circuit: Circuit, items: Sequence[Addend], shift: int, result: Range, modulus: int) -> int:
    """Return (Σ addends + 2^(shift − 1)) >> shift: what is above bit `shift`, and that bit added."""
    only = items[0]
    if len(items) > 1 or only.negative or only.shift:
        only = Addend(_last(circuit, items, shift - 1, Range(2 * result.low - 1, 2 * result.high), modulus), shift - 1)
    width, stage = register_bits(result), only.stage
    place = shift - 1 - only.shift
    bit = f"@0[{place}]" if place < circuit.stages[stage].bits else circuit.operand(0, stage, 1, 0, 0, place)
    below = joined([literal(0, width - 1), bit] if width > 1 else [bit])
    return circuit.logic((stage,), f"{circuit.operand(0, stage, width, only.shift, 0, shift)} + {below}", result)


def _top(circuit: Circuit, addend: Addend) -> int:
    return addend.shift + circuit.stages[addend.stage].bits


def _with_constant(circuit: Circuit, addend: Addend, constant: int, modulus: int) -> Addend:
    """Return an addend with a constant added: an adder of its own."""
    lowest = min(addend.lowest, twos(constant))
    centred = constant - (1 << modulus) if constant >> (modulus - 1) else constant
    reach = _narrowed(_reach(circuit, addend) + Range(centred, centred), lowest, modulus)
    width = register_bits(reach)
    beside = max(0, twos(constant) - addend.lowest) if not addend.negative else 0
    text = circuit.operand(0, addend.stage, width - beside, addend.shift, addend.pad, lowest + beside)
    sign = "-" if addend.negative else "+"
    parts = [f"{literal(constant >> (lowest + beside), width - beside)} {sign} {text}"]
    if beside:
        parts.append(circuit.operand(0, addend.stage, beside, addend.shift, addend.pad, lowest))
    return Addend(circuit.logic((addend.stage,), joined(parts), reach), lowest)


def _narrowed(reach: Range, lowest: int, modulus: int) -> Range:
    """Return the range of a sum from bit `lowest` on, in at most `modulus` bits."""
    found = Range(reach.low >> lowest, reach.high >> lowest)
    return found if found.bits + lowest <= modulus else word_range(max(modulus - lowest, 1))


def _joined(circuit: Circuit, left: Addend, right: Addend, modulus: int) -> Addend:
    """Return the sum of two addends; of two that are subtracted, their sum is to be subtracted."""
    negative = left.negative and right.negative
    if negative:
        left, right = replace(left, negative=False), replace(right, negative=False)
    lowest = min(left.lowest, right.lowest)
    reach = _narrowed(_reach(circuit, left) + _reach(circuit, right), lowest, modulus)
    text, operands = _sum_text(circuit, left, right, lowest, register_bits(reach))
    return Addend(circuit.logic(operands, text, reach), lowest, negative)


def _last(circuit: Circuit, items: Sequence[Addend], drop: int, result: Range, modulus: int) -> int:
    """Return the stage of one or two addends less `drop` low bits; one that is there already if it is just that."""
    if len(items) == 2 and items[0].negative and items[1].negative:
        items = [_joined(circuit, items[0], items[1], modulus)]
    width = register_bits(result)
    if len(items) == 2:
        left, right = items
        lowest = min(left.lowest, right.lowest, drop)
        text, operands = _sum_text(circuit, left, right, lowest, width + drop - lowest)
        return circuit.logic(operands, text, result, drop - lowest)
    (only,) = items
    if only.negative:
        text = f"{literal(0, width + drop)} - {circuit.operand(0, only.stage, width + drop, only.shift)}"
        return circuit.logic((only.stage,), text, result, drop)
    if not (only.shift or only.pad or drop):
        return only.stage
    return circuit.logic((only.stage,), circuit.operand(0, only.stage, width, only.shift, only.pad, drop), result)


def _sum_text(circuit: Circuit, left: Addend, right: Addend, lowest: int, width: int) -> tuple[str, tuple[int, ...]]:
    """Return left + right, or their difference, from bit `lowest` on; low bits that one alone has pass the adder."""
    if left.negative:
        left, right = right, left
    operands = (left.stage, right.stage)
    start = lowest
    passing = None
    if left.lowest < right.lowest:
        start, passing = min(right.lowest, lowest + width), (0, left)
    elif right.lowest < left.lowest and not right.negative:
        start, passing = min(left.lowest, lowest + width), (1, right)
    else:
        start = left.lowest if not right.negative else min(left.lowest, right.lowest)
    high = lowest + width - start
    parts = []
    if high:
        texts = [
            circuit.operand(k, each.stage, high, each.shift, each.pad, start) for k, each in enumerate((left, right))
        ]
        parts.append(f"{texts[0]} {'-' if right.negative else '+'} {texts[1]}")
    if start > lowest:
        if passing is None:
            parts.append(literal(0, start - lowest))
        else:
            place, addend = passing
            parts.append(circuit.operand(place, addend.stage, start - lowest, addend.shift, addend.pad, lowest))
    return joined(parts), operands
