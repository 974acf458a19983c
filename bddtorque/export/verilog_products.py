"""Products of two words: on a multiplier of the chip, from adders, or from tables as the plan says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from bddtorque.export.verilog_cells import MULTIPLIER_BITS, MULTIPLIER_CLOCKS
from bddtorque.export.verilog_stages import Circuit, Stage, literal, register_bits
from bddtorque.export.verilog_sums import sum_stage
from bddtorque.words.integer_range import Range


def multiplied(circuit: Circuit, left: int, right: int) -> int:
    """Return the stage of a product on multipliers of the chip; wide words are taken apart."""
    left, right = sorted((left, right))
    for word, other in ((left, right), (right, left)):
        own = circuit.stages[word]
        if _signed_bits(own) > MULTIPLIER_BITS:
            cut = MULTIPLIER_BITS - 1
            low = circuit.logic((word,), circuit.operand(0, word, cut), Range(0, (1 << cut) - 1))
            reach = Range(own.range.low >> cut, own.range.high >> cut)
            high = circuit.logic((word,), circuit.operand(0, word, register_bits(reach), start=cut), reach)
            parts = [(multiplied(circuit, high, other), 1 << cut), (multiplied(circuit, low, other), 1)]
            return sum_stage(circuit, parts, 0, 0, _reach(circuit, left, right))
    reach = _reach(circuit, left, right)
    return circuit.add(Stage((left, right), "", reach, "product", latency=MULTIPLIER_CLOCKS))


def _signed_bits(stage: Stage) -> int:
    return stage.range.bits


def _reach(circuit: Circuit, left: int, right: int) -> Range:
    if left == right:
        ends = circuit.stages[left].range
        return Range(0, ends.magnitude**2)
    return circuit.stages[left].range * circuit.stages[right].range


def soft_product(circuit: Circuit, left: int, right: int) -> int:
    """Return the stage of a product made of adders: of the other word times two bits of the shorter one, then a tree.

    The sum of two rows is conditional, so that an adder and the choice take one logic cell for each bit.
    """
    left, right = sorted((left, right))
    if circuit.stages[left].bits < circuit.stages[right].bits:
        left, right = right, left
    word, digits = circuit.stages[left], circuit.stages[right]
    terms = []
    for low in range(0, digits.bits, 2):
        pair = low + 1 < digits.bits
        top = digits.signed and low + 2 >= digits.bits
        factors = Range(-2 if top and pair else 0, 1 if top and pair else 3) if pair else Range(0, 1)
        reach = word.range * factors
        reach = Range(min(reach.low, 0), max(reach.high, 0))
        width = register_bits(reach)
        row = f"({{{width}{{@1[{low}]}}}} & {circuit.operand(0, left, width)})"
        if pair:
            twice = circuit.operand(0, left, width, 1)
            row = f"@1[{low + 1}] ? {row} {'-' if top else '+'} {twice} : {row}"
        sign = -1 if top and not pair else 1
        terms.append((circuit.logic((left, right), row, reach), sign << low))
    return sum_stage(circuit, terms, 0, 0, _reach(circuit, left, right))


def squares_product(circuit: Circuit, left: int, right: int, square: Callable[[int], int]) -> int:
    """Return the stage of a product by quarter squares: ⌊(a + b)²/4⌋ − ⌊(a − b)²/4⌋; `square` looks one up."""
    ends = [circuit.stages[each].range for each in (left, right)]
    both = [
        sum_stage(circuit, [(left, 1), (right, sign)], 0, 0, ends[0] + ends[1] if sign > 0 else ends[0] - ends[1])
        for sign in (1, -1)
    ]
    squares = [square(each) for each in both]
    return sum_stage(circuit, [(squares[0], 1), (squares[1], -1)], 0, 0, _reach(circuit, left, right))


def limbs_product(circuit: Circuit, left: int, right: int, multiply: Callable[[Sequence[int]], int], limb: int) -> int:
    """Return the stage of a product by partial products: magnitudes, then pieces that `multiply` looks up, the sign."""
    sizes = [magnitude(circuit, each) for each in (left, right)]
    pieces = [[_piece(circuit, size, low, limb) for low in range(0, circuit.stages[size].bits, limb)] for size in sizes]
    terms = [
        (multiply((one, other)), 1 << limb * (i + j))
        for i, one in enumerate(pieces[0])
        for j, other in enumerate(pieces[1])
    ]
    most = prod(circuit.stages[each].range.high for each in sizes)
    total = sum_stage(circuit, terms, 0, 0, Range(0, most))
    words = [each for each in (left, right) if circuit.stages[each].signed]
    if not words:
        return total
    signs = [f"@{k}[{circuit.stages[each].bits - 1}]" for k, each in enumerate(words)]
    flip = circuit.logic(words, " ^ ".join(signs), Range(0, 1))
    reach = Range(-most, most)
    own = circuit.operand(0, total, reach.bits)
    return circuit.logic((total, flip), f"@1[0] ? {literal(0, reach.bits)} - {own} : {own}", reach)


def _piece(circuit: Circuit, word: int, low: int, limb: int) -> int:
    """Return the stage of some bits of an unsigned word."""
    bits = min(limb, circuit.stages[word].bits - low)
    return circuit.logic((word,), circuit.operand(0, word, bits, start=low), Range(0, (1 << bits) - 1))


def magnitude(circuit: Circuit, word: int) -> int:
    """Return the stage of an absolute value."""
    own = circuit.stages[word]
    if not own.signed:
        return word
    reach = Range(0, own.range.magnitude)
    width = register_bits(reach)
    text = circuit.operand(0, word, width)
    return circuit.logic((word,), f"@0[{own.bits - 1}] ? {literal(0, width)} - {text} : {text}", reach)
