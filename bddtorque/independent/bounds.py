"""Errors and ranges of every word, carried through the cascade by the rules of docs/certificate.md.

Everything is counted in units of the word itself. `errors` are by where they arose; a product with a sine or cosine
keeps apart what is at most that sine or cosine times something, so that a sum can join the two of one angle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

from .findings import require
from .graph import COSINE, INPUT, SINE, Angle
from .plan import Block, Plan, Wire
from .tables import Facts

PARTS = ("dropped", "constants", "tables", "products", "sums")
UP = 1 + 1e-14
"""Every step is rounded up by so much: more than the float operations in it can lose."""

Errors = dict[str, float]
Turning = tuple[Angle, bool, int]
"""An angle up to quarter turns and sign, whether it is its sine, and with which sign."""


@dataclass(frozen=True)
class Known:
    """A word: its range, its errors, and those that are at most |sine or cosine| times `turned`.

    `ideal` is a range of the word before any rounding, which may be sharper than that of the word and its error.
    """

    low: int
    high: int
    errors: Errors = field(default_factory=dict)
    turned: Errors = field(default_factory=dict)
    turning: Turning | None = None
    ideal: tuple[float, float] = (-math.inf, math.inf)

    @property
    def most(self) -> float:
        """The largest magnitude of the word."""
        return float(max(abs(self.low), abs(self.high))) * UP

    @property
    def all_errors(self) -> Errors:
        """All errors by where they arose; a sine or cosine is at most 1."""
        both = {**self.errors, **self.turned}
        return {part: (self.errors.get(part, 0.0) + self.turned.get(part, 0.0)) * UP for part in both}

    @property
    def rounding(self) -> float:
        """What all roundings together can move the word by; left out are those of constants and dropped terms."""
        found = self.all_errors
        return sum(found.get(part, 0.0) for part in ("tables", "products", "sums")) * UP


@dataclass(frozen=True)
class OutputBound:
    """The parts of one output's bound in units, and the range of its sum before it is rounded and clamped."""

    parts: Errors
    low: float
    high: float


@dataclass(frozen=True)
class Composition:
    """All outputs, and the wires whose stated range does not follow from the words before it, with what they claim.

    `unproved` holds, for each such wire, what roundings can move its word by.
    """

    outputs: list[OutputBound]
    unproved: dict[int, float]


def compose(plan: Plan, facts: list[Facts], angles: dict[int, Angle]) -> Composition:
    """Carry ranges and errors from the tables to the outputs."""
    turnings = {k: found for k in range(len(plan.wires)) if (found := _turning(plan, k, angles)) is not None}
    known: list[Known] = []
    unproved: dict[int, float] = {}
    for place, wire in enumerate(plan.wires):
        if wire.kind in ("input", "angle_sum"):
            low, high = -(1 << (wire.bits - 1)), (1 << (wire.bits - 1)) - 1
            known.append(Known(low, high, ideal=(low, high)))
        elif wire.kind == "lookup":
            fact = facts[wire.block]
            ends = (fact.low - fact.error) * 1.0, (fact.high + fact.error) * 1.0
            known.append(Known(fact.low, fact.high, {"tables": fact.error}, ideal=ends))
        elif wire.kind == "product":
            known.append(_product(plan, place, known, turnings))
            ends = _stated_product(plan, wire)
            require((wire.low, wire.high) == ends, f"plan, wire {place}: the range {ends} of the product required")
        else:
            each = _sum(wire, known)
            ideal, moved = _ideal_sum(plan, wire, known, turnings), each.rounding * UP
            # a word is whole, and no further from its ideal value than roundings move it
            low = max(each.low, math.ceil(ideal[0] - moved))
            high = min(each.high, math.floor(ideal[1] + moved))
            if not (wire.low <= low and high <= wire.high):
                unproved[place] = moved
            ideal = max(ideal[0], wire.low - moved), min(ideal[1], wire.high + moved)
            known.append(Known(max(each.low, wire.low), min(each.high, wire.high), each.errors, ideal=ideal))
    outputs = []
    for output in plan.outputs:
        errors = _summed(output, known)
        low, high = _ends(output, known)
        step = 1 << output.shift
        parts = {part: errors.get(part, 0.0) * UP for part in PARTS}
        parts["final_rounding"] = 0.5 if output.shift else 0.0
        outputs.append(OutputBound(parts, low / step, high / step))
    return Composition(outputs, unproved)


def _turning(plan: Plan, place: int, angles: dict[int, Angle]) -> Turning | None:
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
    if not argument.angle or abs(argument.scale) != 1:
        return None
    angle = angles[wire.wires[0]].times(int(argument.scale)).plus(Angle(rest=argument.centre))
    sine, sign = node.operation == SINE, -1 if graph.output & 1 else 1
    sign = -sign if sine and node.left & 1 else sign
    if angle.multipliers and angle.multipliers[0][1] < 0:
        angle, sign = angle.times(-1), -sign if sine else sign
    quarters = angle.turns * 4
    whole = quarters.numerator // quarters.denominator
    left = Angle(angle.multipliers, angle.turns - Fraction(whole, 4), angle.rest)
    for _ in range(whole % 4):  # sin(x + 90°) = cos x, cos(x + 90°) = −sin x
        sine, sign = not sine, sign if sine else -sign
    return left, sine, sign


def _product(plan: Plan, place: int, known: list[Known], turnings: dict[int, Turning]) -> Known:
    """|ab − a'b'| <= |a|·e_b + |b'|·e_a; the left factor is a, or the one that is a sine or cosine."""
    wire = plan.wires[place]
    left, right = wire.wires
    if right in turnings:
        left, right = right, left
    a, b = known[left], known[right]
    step, half = 1 << wire.shift, (1 << wire.shift) >> 1
    ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    low, high = (end + half >> wire.shift for end in (min(ends), max(ends)))
    errors = {part: b.most * error / step * UP for part, error in a.all_errors.items()}
    if wire.shift:
        errors["products"] = errors.get("products", 0.0) + 0.5
    ideal = _ideal_product(a, b, left == right, step)
    if left in turnings:
        # |a| is the unit of the table over 1, times |sine or cosine|: what e_b is worth where that is 1
        size = float(1 / plan.blocks[plan.wires[left].block].lsb) / step * UP
        turned = {part: size * error * UP for part, error in b.all_errors.items()}
        return Known(low, high, errors, turned, turnings[left], ideal)
    most = (a.most + sum(a.all_errors.values())) * UP
    for part, error in b.all_errors.items():
        errors[part] = (errors.get(part, 0.0) + most * error / step) * UP
    return Known(low, high, errors, ideal=ideal)


def _stated_product(plan: Plan, wire: Wire) -> tuple[int, int]:
    """Return the range of a product that the stated ranges of its factors allow; it holds that of the words found."""
    ranges = []
    for source in wire.wires:
        factor = plan.wires[source]
        if factor.kind in ("input", "angle_sum"):
            ranges.append((-(1 << (factor.bits - 1)), (1 << (factor.bits - 1)) - 1))
        else:
            stated: Wire | Block = plan.blocks[factor.block] if factor.kind == "lookup" else factor
            ranges.append((stated.low, stated.high))
    ends = [x * y for x in ranges[0] for y in ranges[1]]
    half = (1 << wire.shift) >> 1
    return min(ends) + half >> wire.shift, max(ends) + half >> wire.shift


def _ideal_product(a: Known, b: Known, square: bool, step: int) -> tuple[float, float]:
    if square:
        return 0.0, max(map(abs, a.ideal)) ** 2 / step * UP
    ends = [x * y / step for x in a.ideal for y in b.ideal]
    return _wider(min(ends), max(ends))


def _sum(wire: Wire, known: list[Known]) -> Known:
    """Return what is known of a sum: it is exact, and rounded once where it is shifted."""
    errors = _summed(wire, known)
    if wire.shift:
        errors["sums"] = errors.get("sums", 0.0) + 0.5
    half = (1 << wire.shift) >> 1
    low, high = (end + half >> wire.shift for end in _ends(wire, known))
    return Known(low, high, errors)


def _summed(wire: Wire, known: list[Known]) -> Errors:
    """Return the errors of a sum in its units: c·x + s·y of one angle errs by √(e_x² + e_y²)."""
    total: Errors = {}
    turned: dict[Angle, tuple[Errors, Errors]] = {}
    for part, factor, _ in wire.parts:
        weight = abs(factor) / (1 << wire.shift) * UP
        each = known[part]
        for name, error in each.errors.items():
            total[name] = (total.get(name, 0.0) + weight * error) * UP
        if each.turning is not None:
            angle, is_sine, _ = each.turning
            pair = turned.setdefault(angle, ({}, {}))[is_sine]
            for name, error in each.turned.items():
                pair[name] = (pair.get(name, 0.0) + weight * error) * UP
    for cosine, sine in turned.values():
        for name in {**cosine, **sine}:
            total[name] = (total.get(name, 0.0) + math.hypot(cosine.get(name, 0.0), sine.get(name, 0.0))) * UP
    for name, units in (("constants", wire.constant_error), ("dropped", wire.dropped)):
        total[name] = (total.get(name, 0.0) + float(units)) * UP
    return total


def _ends(wire: Wire, known: list[Known]) -> tuple[int, int]:
    """Return the lowest and highest sum before its shift."""
    low = high = wire.constant
    for part, factor, _ in wire.parts:
        ends = factor * known[part].low, factor * known[part].high
        low, high = low + min(ends), high + max(ends)
    return low, high


def _ideal_sum(plan: Plan, wire: Wire, known: list[Known], turnings: dict[int, Turning]) -> tuple[float, float]:
    """Return a range of a sum without any rounding.

    What is multiplied with the same word is added up first; c·x + s·y of one angle is at most √(x² + y²).
    """
    step = 1 << wire.shift
    low = high = wire.constant / step
    alone = {part for part, _, _ in wire.parts}
    beside: dict[int, tuple[float, float]] = {}
    for part, factor, _ in wire.parts:
        shared, other, size = _factored(plan, part, alone, turnings)
        ends = [factor / step * size * end for end in ((1.0, 1.0) if other is None else known[other].ideal)]
        before = beside.get(shared, (0.0, 0.0))
        least, most = _wider(min(ends), max(ends))
        beside[shared] = _wider(before[0] + least, before[1] + most)
    pairs: dict[Angle, list[tuple[float, float]]] = {}
    for shared, (least, most) in beside.items():
        if shared in turnings:
            angle, sine, sign = turnings[shared]
            size = sign * float(1 / plan.blocks[plan.wires[shared].block].lsb)
            pair = pairs.setdefault(angle, [(0.0, 0.0), (0.0, 0.0)])
            ends = [size * least, size * most]
            first, last = _wider(min(ends), max(ends))
            pair[sine] = _wider(pair[sine][0] + first, pair[sine][1] + last)
        else:
            ends = [x * y for x in (least, most) for y in known[shared].ideal]
            first, last = _wider(min(ends), max(ends))
            low, high = _wider(low + first, high + last)
    for cosine, sine_part in pairs.values():
        reach = math.hypot(max(map(abs, cosine)), max(map(abs, sine_part))) * UP
        low, high = _wider(low - reach, high + reach)
    return low, high


def _factored(plan: Plan, place: int, alone: set[int], turnings: dict[int, Turning]) -> tuple[int, int | None, float]:
    """Return a part as shared·other·size: of a product the factor that other parts may share, and the other one."""
    wire = plan.wires[place]
    if wire.kind != "product" or wire.wires[0] == wire.wires[1]:  # a square knows its own range better
        return place, None, 1.0
    left, right = wire.wires

    def likely(word: int) -> tuple[bool, bool, bool]:
        return word in turnings, word in alone, plan.wires[word].kind != "input"

    if likely(right) > likely(left):
        left, right = right, left
    return left, right, 1 / (1 << wire.shift)


def _wider(low: float, high: float) -> tuple[float, float]:
    slack = (abs(low) + abs(high)) * 1e-14
    return low - slack, high + slack


def check_ranges(plan: Plan, composition: Composition, reaches: dict[int, tuple[float, float]]) -> str:
    """Refuse ranges of sums that neither the words before them nor the waves of their values prove; say how many."""
    for place, moved in composition.unproved.items():
        wire, (low, high) = plan.wires[place], reaches[place]
        require(
            wire.low <= math.ceil(low - moved) and math.floor(high + moved) <= wire.high,
            f"plan, wire {place}: a range that follows required, {wire.low} to {wire.high} given, {low:.6g} to "
            f"{high:.6g} before rounding proved",
        )
    sums, waves = sum(wire.kind == "sum" for wire in plan.wires), len(composition.unproved)
    return f"of {sums} sums: {sums - waves} by the words before them, {waves} by the waves of their values"
