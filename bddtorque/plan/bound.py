"""Compose what each block is proved to err into a bound on every output, by parts.

A wire stands for a real function of the input words; its error is the distance between word·lsb and that function.

    table     proved on every entry, or half a unit before it is made
    product   |ab − a'b'| <= |a|·e_b + |b'|·e_a, and half a unit where the shift rounds
    sum       exact

Floats only ever round a bound up (`ROOM`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from bddtorque.plan.plan import AngleSum, FunctionBlock, Input, Lookup, Plan, Product

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

    tables: float
    products: float
    constants: float
    final_rounding: float
    low: float
    high: float

    @property
    def total(self) -> float:
        """The sum of the parts."""
        return (self.tables + self.products + self.constants + self.final_rounding) * ROOM


@dataclass(frozen=True)
class _Known:
    """A wire in values: one unit, the word's range, and the errors by where they arose."""

    lsb: Fraction
    low: int
    high: int
    tables: float = 0.0
    products: float = 0.0

    @property
    def magnitude(self) -> float:
        return float(max(abs(self.low), abs(self.high)) * self.lsb) * ROOM


def planned_facts(plan: Plan) -> list[BlockFacts]:
    """Return what can be said of the blocks before any table is made: half a unit, and the planned range."""
    return [
        BlockFacts(float(block.lsb) / 2 * ROOM if isinstance(block, FunctionBlock) else 0.0, block.low, block.high)
        for block in plan.blocks
    ]


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
                lsb = block.lsb if isinstance(block, FunctionBlock) else Fraction(1)
                known.append(_Known(lsb, fact.low, fact.high, tables=fact.error))
            case Product(left=left, right=right, shift=shift):
                known.append(_product(known[left], known[right], shift))
    bounds = []
    for output in plan.outputs:
        unit = float(output.lsb)
        parts = [(known[wire], sign) for wire, sign in output.parts]
        ends = [(k.low, k.high) if sign > 0 else (-k.high, -k.low) for k, sign in parts]
        step = 1 << output.shift
        bounds.append(
            OutputBound(
                tables=sum(k.tables for k, _ in parts) / unit * ROOM,
                products=sum(k.products for k, _ in parts) / unit * ROOM,
                constants=float(output.constant_error) * ROOM,
                final_rounding=0.5 if output.shift else 0.0,
                low=(sum(low for low, _ in ends) + output.constant) / step,
                high=(sum(high for _, high in ends) + output.constant) / step,
            )
        )
    return bounds


def _product(left: _Known, right: _Known, shift: int) -> _Known:
    lsb = left.lsb * right.lsb * (1 << shift)
    ends = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
    low, high = ((end + ((1 << shift) >> 1)) >> shift for end in (min(ends), max(ends)))
    errors = {}
    for part in ("tables", "products"):
        left_error, right_error = getattr(left, part), getattr(right, part)
        # the true left factor is at most its word's value and all its error
        true_left = left.magnitude + (left.tables + left.products)
        errors[part] = (true_left * right_error + right.magnitude * left_error) * ROOM
    rounding = float(lsb) / 2 * ROOM if shift else 0.0
    return _Known(lsb, low, high, errors["tables"], errors["products"] + rounding)
