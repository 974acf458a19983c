"""Errors and ranges of every word, carried through the cascade by the rules of docs/certificate.md.

Everything is counted in units of the word itself. `errors` are by where they arose; a product with a sine or cosine
keeps apart what is at most that sine or cosine times something, so that a sum can join the two of one angle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from .findings import require
from .graph import Angle
from .ideals import ideal_product, ideal_sum
from .known import PARTS, UP, Errors, Known, Turning, turning_of
from .plan import Block, Plan, Wire
from .spans import Span
from .tables import Facts


@dataclass(frozen=True)
class OutputBound:
    """The parts of one output's bound in units, and the range of its sum before it is rounded and clamped.

    `proved` is what all roundings of floats together can amount to, which may be less than the parts add up to; None
    for words.
    """

    parts: Errors
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
            require((wire.low, wire.high) == ends, f"plan, wire {place}: expected the range {ends} of the product")
        else:
            each = _sum(wire, known)
            ideal, moved = ideal_sum(plan, wire, known, turnings), each.rounding * UP
            # a word is whole, and no further from its ideal value than roundings move it
            low = max(each.low, math.ceil(ideal[0] - moved))
            high = min(each.high, math.floor(ideal[1] + moved))
            if not (wire.low <= low and high <= wire.high):  # each side by itself
                least = math.nextafter(float(wire.low - 1 + Fraction(moved)), math.inf)
                most = math.nextafter(float(wire.high + 1 - Fraction(moved)), -math.inf)
                unproved[place] = -math.inf if wire.low <= low else least, math.inf if high <= wire.high else most
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
    ideal = ideal_product(a, b, left == right, step)
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


def check_ranges(plan: Plan, composition: Composition, reaches: dict[int, Span]) -> str:
    """Refuse ranges of sums that neither the words before them nor the waves of their values prove; say how many."""
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
