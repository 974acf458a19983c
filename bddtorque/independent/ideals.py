"""Ranges of words before any rounding, which may be sharper than those of the words."""

from __future__ import annotations

import math

from .graph import Angle
from .known import UP, Known, Turning
from .plan import Plan, Wire


def ideal_product(a: Known, b: Known, square: bool, step: int) -> tuple[float, float]:
    """Return the range of a product of two words over 2^shift; a square is not negative."""
    if square:
        return 0.0, max(map(abs, a.ideal)) ** 2 / step * UP
    ends = [x * y / step for x in a.ideal for y in b.ideal]
    return _wider(min(ends), max(ends))


def ideal_sum(plan: Plan, wire: Wire, known: list[Known], turnings: dict[int, Turning]) -> tuple[float, float]:
    """Return a range of a sum without any rounding.

    What is multiplied with the same word is added up first; c·x + s·y of one angle is at most √(x² + y²).
    """
    step = 1 << wire.shift
    low = high = wire.constant / step
    alone = {part for part, _, _ in wire.parts}
    beside: dict[int, tuple[float, float]] = {}
    squares: dict[int, float] = {}
    for part, factor, _ in wire.parts:
        source = plan.wires[part]
        if source.kind == "product" and source.wires[0] == source.wires[1]:
            word = source.wires[0]
            squares[word] = squares.get(word, 0.0) + factor / step / (1 << source.shift)
            continue
        shared, other, size = _factored(plan, part, alone, turnings)
        ends = [factor / step * size * end for end in ((1.0, 1.0) if other is None else known[other].ideal)]
        before = beside.get(shared, (0.0, 0.0))
        least, most = _wider(min(ends), max(ends))
        beside[shared] = _wider(before[0] + least, before[1] + most)
    for word, square in squares.items():
        linear = (0.0, 0.0) if word in turnings else beside.pop(word, (0.0, 0.0))
        least, most = _parabola(square, linear, known[word].ideal)
        low, high = _wider(low + least, high + most)
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


def _parabola(a: float, linear: tuple[float, float], ends: tuple[float, float]) -> tuple[float, float]:
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


def _wider(low: float, high: float) -> tuple[float, float]:
    slack = (abs(low) + abs(high)) * 1e-14
    return low - slack, high + slack
