"""Errors and ranges of every word, carried through a plan in words by the rules of docs/certificate.md.

Everything is counted in units of the word itself. `errors` are by where they arose; a product with a sine or cosine
keeps apart what is at most that sine or cosine times something, so that a sum can join the two of one angle. Ranges of
words before any rounding may be sharper than those of the words.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from .findings import require
from .formats import ends_of_word
from .graph import COSINE, INPUT, SINE, Angle
from .plan import EXACT, Block, Plan, Wire
from .ranges import Span
from .tables import Facts

PARTS = ("dropped", "constants", "tables", "products", "sums")
NOTHING: Span = (0.0, 0.0)
UP = 1 + 1e-14
"""Every step is rounded up by so much: more than the float operations in it can lose."""

Errors = npt.NDArray[np.float64]
"""Errors by where they arose, in the order of PARTS."""
ROUNDINGS = [PARTS.index(part) for part in ("tables", "products", "sums")]
Turning = tuple[Angle, bool, int]
"""An angle up to quarter turns and sign, whether it is its sine, and with which sign."""


def errors_of(**parts: float) -> Errors:
    """Return errors of some parts."""
    return np.array([parts.get(part, 0.0) for part in PARTS])


@dataclass(frozen=True)
class Known:
    """A word: its range, its errors, and those that are at most |sine or cosine| times `turned`.

    `ideal` is a range of the word before any rounding, which may be sharper than that of the word and its error.
    """

    low: int
    high: int
    errors: Errors
    ideal: Span
    turned: Errors = field(default_factory=errors_of)
    turning: Turning | None = None

    @property
    def most(self) -> float:
        """The largest magnitude of the word."""
        return float(max(abs(self.low), abs(self.high))) * UP

    @property
    def all_errors(self) -> Errors:
        """All errors by where they arose; a sine or cosine is at most 1."""
        return (self.errors + self.turned) * UP


def turning_of(plan: Plan, place: int, angles: dict[int, Angle]) -> Turning | None:
    """Return the angle of a wire that is ± its sine or cosine, over the unit of its table."""
    wire = plan.wires[place]
    if wire.kind != "lookup" or len(wire.wires) != 1 or wire.wires[0] not in angles:
        return None
    graph = plan.blocks[wire.block].graph
    if graph is None:
        return None
    node = graph.nodes[graph.output >> 1]
    if node.operation not in (SINE, COSINE) or graph.nodes[node.left >> 1].operation != INPUT:
        return None
    (argument,) = plan.blocks[wire.block].arguments
    if not argument.angle:
        return None
    angle = angles[wire.wires[0]]
    if argument.scale.denominator == 1:
        angle = angle.times(int(argument.scale))
    elif angle.is_variable:
        angle = Angle(((angle.multipliers[0][0], argument.scale),))
    else:
        return None
    sine, cosine_sign = node.operation == SINE, -1 if graph.output & 1 else 1
    sign = -cosine_sign if sine and node.left & 1 else cosine_sign
    angle, sine, turned = angle.plus(Angle(rest=argument.centre)).canonical(sine)
    return angle, sine, sign * turned


@dataclass(frozen=True)
class OutputBound:
    """The parts of one output's bound in units, and the range of its sum before it is rounded and clamped.

    `proved` is what all roundings of floats together can amount to, which may be less than the parts add up to; None
    for words.
    """

    parts: dict[str, float]
    low: float
    high: float
    proved: float | None = None


@dataclass(frozen=True)
class Composition:
    """All outputs, and the wires whose stated range does not follow from the words before it.

    `unproved` holds, for each such wire, between which values it must stay before any rounding.
    """

    outputs: list[OutputBound]
    unproved: dict[int, Span]


def compose(plan: Plan, facts: list[Facts], angles: dict[int, Angle]) -> Composition:
    """Carry ranges and errors from the tables to the outputs."""
    turnings = {k: found for k in range(len(plan.wires)) if (found := turning_of(plan, k, angles)) is not None}
    known: list[Known] = []
    unproved: dict[int, Span] = {}
    for place, wire in enumerate(plan.wires):
        low, high = _stated(plan, place)
        if wire.kind in EXACT:
            known.append(Known(low, high, errors_of(), (low, high)))
        elif wire.kind == "lookup":
            fact = facts[wire.block]
            ideal = (fact.low - fact.error) * 1.0, (fact.high + fact.error) * 1.0
            known.append(Known(fact.low, fact.high, errors_of(tables=fact.error), ideal))
        elif wire.kind == "product":
            known.append(_product(plan, wire, known, turnings))
            ends = _product_ends(wire, *(_stated(plan, factor) for factor in wire.wires))
            require((low, high) == ends, f"plan, wire {place}: expected the range {ends} of the product")
        else:
            least, most = _ends(wire, known)
            errors = _summed(wire, known) + errors_of(sums=0.5 if wire.shift else 0.0)
            ideal, moved = ideal_sum(plan, wire, known, turnings), float((errors * UP)[ROUNDINGS].sum()) * UP * UP
            # a word is whole, and no further from its ideal value than roundings move it
            above = low <= max(least, math.ceil(ideal[0] - moved))
            below = min(most, math.floor(ideal[1] + moved)) <= high
            if not (above and below):  # each side by itself
                lowest = math.nextafter(float(low - 1 + Fraction(moved)), math.inf)
                highest = math.nextafter(float(high + 1 - Fraction(moved)), -math.inf)
                unproved[place] = -math.inf if above else lowest, math.inf if below else highest
            ideal = max(ideal[0], low - moved), min(ideal[1], high + moved)
            known.append(Known(max(least, low), min(most, high), errors, ideal))
    outputs = []
    for output in plan.outputs:
        low, high = _ends(replace(output, shift=0), known)
        parts = dict(zip(PARTS, (_summed(output, known) * UP).tolist(), strict=True))
        parts["final_rounding"] = 0.5 if output.shift else 0.0
        outputs.append(OutputBound(parts, low / (1 << output.shift), high / (1 << output.shift)))
    return Composition(outputs, unproved)


def _stated(plan: Plan, place: int) -> tuple[int, int]:
    """Return the range of a word that the file states, or that its bits allow."""
    wire = plan.wires[place]
    if wire.kind in EXACT:
        return ends_of_word(wire.bits, wire.signed)
    stated: Wire | Block = plan.blocks[wire.block] if wire.kind == "lookup" else wire
    return stated.low, stated.high


def _rounded(ends: Iterable[int], shift: int) -> tuple[int, int]:
    """Return the range of numbers after a shift that rounds."""
    low, high = (end + ((1 << shift) >> 1) >> shift for end in _hull(ends))
    return low, high


def _hull(numbers: Iterable[Any]) -> tuple[Any, Any]:
    values = [*numbers]
    return min(values), max(values)


def _product_ends(wire: Wire, left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
    return _rounded((x * y for x in left for y in right), wire.shift)


def _product(plan: Plan, wire: Wire, known: list[Known], turnings: dict[int, Turning]) -> Known:
    """|ab − a'b'| <= |a|·e_b + |b'|·e_a; the left factor is a, or the one that is a sine or cosine."""
    left, right = wire.wires
    if right in turnings:
        left, right = right, left
    a, b = known[left], known[right]
    step = 1 << wire.shift
    low, high = _product_ends(wire, (a.low, a.high), (b.low, b.high))
    errors = a.all_errors * (b.most / step * UP) + errors_of(products=0.5 if wire.shift else 0.0)
    ideal = ideal_product(a, b, left == right, step)
    if left in turnings:
        # |a| is the unit of the table over 1, times |sine or cosine|: what e_b is worth where that is 1
        size = float(1 / plan.blocks[plan.wires[left].block].lsb) / step * UP
        return Known(low, high, errors, ideal, b.all_errors * (size * UP), turnings[left])
    most = (a.most + float(a.all_errors.sum())) * UP
    return Known(low, high, (errors + b.all_errors * (most / step)) * UP, ideal)


def _summed(wire: Wire, known: list[Known]) -> Errors:
    """Return the errors of a sum in its units: c·x + s·y of one angle errs by √(e_x² + e_y²)."""
    total = errors_of()
    turned: dict[Angle, list[Errors]] = {}
    for part, factor, _ in wire.parts:
        weight, word = abs(factor) / (1 << wire.shift), known[part]
        total = total + word.errors * weight
        if word.turning is not None:
            angle, is_sine, _ = word.turning
            pair = turned.setdefault(angle, [errors_of(), errors_of()])
            pair[is_sine] = pair[is_sine] + word.turned * weight
    for cosine, sine in turned.values():
        total = total + np.hypot(cosine, sine)
    own = errors_of(constants=float(wire.constant_error), dropped=float(wire.dropped))
    # each addition loses at most 2^-53 of the total
    return (total * (UP * (1 + len(wire.parts) * 2.0**-52)) + own) * UP


def _ends(wire: Wire, known: list[Known]) -> tuple[int, int]:
    """Return the lowest and highest sum, rounded where it is shifted."""
    low = high = wire.constant
    for part, factor, _ in wire.parts:
        least, most = _hull((factor * known[part].low, factor * known[part].high))
        low, high = low + least, high + most
    return _rounded((low, high), wire.shift)


def check_ranges(plan: Plan, composition: Composition, reaches: dict[int, Span]) -> str:
    """Refuse ranges of sums that neither the words before them nor the waves of their values prove; say how many."""
    if plan.precision:  # refused where a value leaves it
        return f"the values of {len(plan.wires)} wires stay within {plan.precision.name} precision"
    for place, (least, most) in composition.unproved.items():
        wire, (low, high) = plan.wires[place], reaches[place]
        require(
            least <= low and high <= most,
            f"plan, wire {place}: the range {wire.low} to {wire.high} does not follow: {low:.6g} to "
            f"{high:.6g} before rounding is proved, {least:.6g} to {most:.6g} is needed",
        )
    sums, waves = sum(wire.kind == "sum" for wire in plan.wires), len(composition.unproved)
    what = "1 sum" if sums == 1 else f"{sums} sums"
    return f"of {what}: {sums - waves} by the words before them, {waves} by the waves of their values"


def ideal_product(a: Known, b: Known, square: bool, step: int) -> Span:
    """Return the range of a product of two words over 2^shift; a square is not negative."""
    if square:
        return 0.0, max(map(abs, a.ideal)) ** 2 / step * UP
    return _wider(*_hull(x * y / step for x in a.ideal for y in b.ideal))


def ideal_sum(plan: Plan, wire: Wire, known: list[Known], turnings: dict[int, Turning]) -> Span:
    """Return a range of a sum without any rounding.

    What is multiplied with the same word is added up first; c·x + s·y of one angle is at most √(x² + y²).
    """
    step = 1 << wire.shift
    total = wire.constant / step, wire.constant / step
    alone = {part for part, _, _ in wire.parts}
    beside: dict[int, Span] = {}
    squares: dict[int, float] = {}
    for part, factor, _ in wire.parts:
        read = plan.wires[part]
        if read.kind == "product" and read.wires[0] == read.wires[1]:
            word = read.wires[0]
            squares[word] = squares.get(word, 0.0) + factor / step / (1 << read.shift)
            continue
        shared, other, size = _factored(plan, part, alone, turnings)
        ends = (1.0, 1.0) if other is None else known[other].ideal
        beside[shared] = _plus(beside.get(shared, NOTHING), _times(factor / step * size, ends))
    for word, square in squares.items():
        linear = NOTHING if word in turnings else beside.pop(word, NOTHING)
        total = _plus(total, _parabola(square, linear, known[word].ideal))
    pairs: dict[Angle, list[Span]] = {}
    for shared, ends in beside.items():
        if shared in turnings:
            angle, sine, sign = turnings[shared]
            size = sign * float(1 / plan.blocks[plan.wires[shared].block].lsb)
            pair = pairs.setdefault(angle, [NOTHING, NOTHING])
            pair[sine] = _plus(pair[sine], _times(size, ends))
        else:
            total = _plus(total, _wider(*_hull(x * y for x in ends for y in known[shared].ideal)))
    for spans in pairs.values():
        reach = math.hypot(*(max(map(abs, span)) for span in spans)) * UP
        total = _plus(total, (-reach, reach))
    return total


def _parabola(a: float, linear: Span, ends: Span) -> Span:
    """Return a range of a·x² + b·x for b and x in their ranges; it is linear in b, so that the ends of b are enough."""
    found = []
    for b in linear:
        peak = -b / (2 * a) if a else ends[0]
        for x in (*ends, min(max(peak, ends[0]), ends[1])):
            size = abs(a) * x * x + abs(b * x)
            found += [a * x * x + b * x - 1e-14 * size, a * x * x + b * x + 1e-14 * size]
    return min(found), max(found)


def _factored(plan: Plan, place: int, alone: set[int], turnings: dict[int, Turning]) -> tuple[int, int | None, float]:
    """Return a part as shared·other·size: of a product the factor that other parts may share, and the other one."""
    wire = plan.wires[place]
    if wire.kind != "product":
        return place, None, 1.0
    left, right = wire.wires

    def likely(word: int) -> tuple[bool, bool, bool]:
        return word in turnings, word in alone, plan.wires[word].kind != "input"

    if likely(right) > likely(left):
        left, right = right, left
    return left, right, 1 / (1 << wire.shift)


def _wider(low: float, high: float) -> Span:
    slack = (abs(low) + abs(high)) * 1e-14
    return low - slack, high + slack


def _plus(first: Span, second: Span) -> Span:
    return _wider(first[0] + second[0], first[1] + second[1])


def _times(factor: float, span: Span) -> Span:
    return _wider(*_hull((factor * span[0], factor * span[1])))
