"""Compose what each block is proved to err into a bound on every output, by parts.

A wire stands for a real function of the input words; its error is the distance between word·lsb and that function.

    table     proved on every entry, or half a unit before it is made
    product   |ab − a'b'| <= |a|·e_b + |b'|·e_a, and half a unit where the shift rounds
    sum       exact; in c·x + s·y with c² + s² = 1 the errors of x and y count as √(e_x² + e_y²): |c|·e_x + |s|·e_y
              is no more (Cauchy and Schwarz). Along a chain of joints that is half a bit a joint

Floats only ever round a bound up (`ROOM`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from bddtorque.plan.data_blocks import GivenBlock
from bddtorque.plan.plan import AngleSum, Block, Input, Lookup, Output, Plan, Product, RealBlock, Sum
from bddtorque.plan.turning import Angle, turning_of
from bddtorque.words.ordered_sums import added

PARTS = ("dropped", "constants", "tables", "products", "sums")
"""Where an error can arise on the way to an output."""
ROOM = 1 + 1e-12
"""Each composed bound is taken so much larger: more than the few float operations behind it can lose."""


@dataclass(frozen=True)
class BlockFacts:
    """What is known of a block's table: the largest error in the value it stands for, the lowest and highest word."""

    error: float
    low: int
    high: int


@dataclass(frozen=True)
class OutputBound:
    """The parts of one output's bound, in units of its last bit, and the reach of its sum before clamping."""

    dropped: float
    constants: float
    tables: float
    products: float
    sums: float
    final_rounding: float
    low: float
    high: float

    @property
    def total(self) -> float:
        """The sum of the parts."""
        return math.fsum(getattr(self, part) for part in (*PARTS, "final_rounding")) * ROOM


@dataclass(frozen=True)
class Turned:
    """Errors that are at most |sine or cosine of an angle|, the true one, times `errors`, by where they arose."""

    angle: Angle
    sine: bool
    errors: dict[str, float]


@dataclass(frozen=True)
class _Known:
    """A wire in values: one unit, the word's range, and the errors by where they arose."""

    lsb: Fraction
    low: int
    high: int
    errors: dict[str, float] = field(default_factory=dict)
    turned: Turned | None = None
    """Of a product with a sine or cosine: the part of its errors that is |sine or cosine| times something."""

    @property
    def magnitude(self) -> float:
        return float(max(abs(self.low), abs(self.high)) * self.lsb) * ROOM

    @property
    def error(self) -> float:
        return added(self.all_errors.values()) * ROOM

    @property
    def all_errors(self) -> dict[str, float]:
        """The errors by where they arose; a sine or cosine is at most 1."""
        if self.turned is None:
            return self.errors
        both = {**self.errors, **self.turned.errors}
        return {part: (self.errors.get(part, 0.0) + self.turned.errors.get(part, 0.0)) * ROOM for part in both}


def planned_facts(plan: Plan) -> list[BlockFacts]:
    """Return what can be said of the blocks before any table is made: half a unit, and the planned range."""
    return [BlockFacts(_planned_error(block), block.low, block.high) for block in plan.blocks]


def _planned_error(block: Block) -> float:
    if isinstance(block, GivenBlock):
        return block.error
    return float(block.lsb) / 2 * ROOM if isinstance(block, RealBlock) else 0.0


def compose(plan: Plan, scales: dict[str, Fraction], facts: Sequence[BlockFacts]) -> list[OutputBound]:
    """Return the bound of every output.

    `scales` gives the value of one unit of each input word that is multiplied as it is.
    """
    known: list[_Known] = []
    for wire in plan.wires:
        match wire:
            case Input(name=name, bits=bits):
                known.append(_Known(abs(scales.get(name, Fraction(1))), -(1 << (bits - 1)), (1 << (bits - 1)) - 1))
            case AngleSum(bits=bits):
                known.append(_Known(Fraction(1), -(1 << (bits - 1)), (1 << (bits - 1)) - 1))
            case Lookup(block=index):
                block, fact = plan.blocks[index], facts[index]
                lsb = block.lsb if isinstance(block, RealBlock) else Fraction(1)
                known.append(_Known(lsb, fact.low, fact.high, {"tables": fact.error}))
            case Product(left=left, right=right, shift=shift):
                angles = turning_of(plan, left), turning_of(plan, right)
                if angles[1] is not None:  # the sine or cosine is the factor that is taken as the true one
                    left, right, angles = right, left, angles[::-1]
                known.append(_product(known[left], known[right], shift, angles[0]))
            case Sum():
                rounding = {"sums": float(wire.lsb) / 2 * ROOM} if wire.shift else {}
                errors = _summed(wire, known, rounding)
                low, high = _reach(wire, known)
                # the plan may know a narrower range, from the value itself; words keep to both
                known.append(_Known(wire.lsb, max(low, wire.low), min(high, wire.high), errors))
    bounds = []
    for output in plan.outputs:
        errors = _summed(output, known, {})
        step = 1 << output.shift
        ends = [sorted((factor * known[wire].low, factor * known[wire].high)) for wire, factor in output.parts]
        bounds.append(
            OutputBound(
                **{part: errors.get(part, 0.0) / float(output.lsb) * ROOM for part in PARTS},
                final_rounding=0.5 if output.shift else 0.0,
                low=(sum(low for low, _ in ends) + output.constant) / step,
                high=(sum(high for _, high in ends) + output.constant) / step,
            )
        )
    return bounds


def _summed(each: Sum | Output, known: Sequence[_Known], errors: dict[str, float]) -> dict[str, float]:
    """Return the errors of a sum by part, in values, added to those given."""
    total = dict(errors)
    turned: dict[Angle, tuple[dict[str, float], dict[str, float]]] = {}
    for wire, factor in each.parts:
        # what one unit of the wire is worth here: the factor as rounded, not as meant; the difference is charged apart
        weight = float(abs(factor) * each.lsb / known[wire].lsb / (1 << each.shift)) * ROOM
        product = known[wire].turned
        for part, error in known[wire].errors.items():
            total[part] = (total.get(part, 0.0) + weight * error) * ROOM
        if product is not None:
            pair = turned.setdefault(product.angle, ({}, {}))[product.sine]
            for part, error in product.errors.items():
                pair[part] = (pair.get(part, 0.0) + weight * error) * ROOM
    for cosine, sine in turned.values():
        for part in {**cosine, **sine}:
            total[part] = (total.get(part, 0.0) + math.hypot(cosine.get(part, 0.0), sine.get(part, 0.0))) * ROOM
    for part, units in (("constants", each.constant_error), ("dropped", each.dropped)):
        total[part] = total.get(part, 0.0) + float(units * each.lsb) * ROOM
    return total


def _reach(each: Sum, known: Sequence[_Known]) -> tuple[int, int]:
    """Return the lowest and highest word that the words of the parts allow."""
    ends = [sorted((factor * known[wire].low, factor * known[wire].high)) for wire, factor in each.parts]
    half = (1 << each.shift) >> 1
    low, high = (sum(pair[side] for pair in ends) + each.constant + half for side in (0, 1))
    return low >> each.shift, high >> each.shift


def _product(left: _Known, right: _Known, shift: int, angle: tuple[Angle, bool] | None) -> _Known:
    """Return what is known of a product; `angle` if the left factor is a sine (True) or cosine of one."""
    lsb = left.lsb * right.lsb * (1 << shift)
    ends = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
    low, high = ((end + ((1 << shift) >> 1)) >> shift for end in (min(ends), max(ends)))
    errors = {part: right.magnitude * error * ROOM for part, error in left.all_errors.items()}
    if shift:
        errors["products"] = errors.get("products", 0.0) + float(lsb) / 2 * ROOM
    if angle is not None:
        return _Known(lsb, low, high, errors, Turned(*angle, right.all_errors))
    # the true left factor is at most its word's value and all its error
    true_left = left.magnitude + left.error
    for part, error in right.all_errors.items():
        errors[part] = (errors.get(part, 0.0) + true_left * error) * ROOM
    return _Known(lsb, low, high, errors)
