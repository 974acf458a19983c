"""`FloatPlan`: what is computed in IEEE floats, operation by operation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from bddtorque.base.errors import BddTorqueError, not_among
from bddtorque.base.plain import choice, fraction, listed, of_type, table, whole
from bddtorque.base.shown_tables import html_table
from bddtorque.plan.blocks import Block, FunctionBlock, LawBlock
from bddtorque.plan.float_wires import (
    Add,
    Constant,
    FloatAlgebra,
    FloatOutput,
    FloatWire,
    Fused,
    Multiply,
    Number,
    Sine,
    WordWire,
)
from bddtorque.plan.plan import BasePlan, Plan, count_rows
from bddtorque.plan.plan_data import block_from_plain, wire_from_plain
from bddtorque.plan.wires import AngleSum, Input, T
from bddtorque.words.ieee import PRECISIONS, Precision

MOST_WORD_BITS = 24
"""Bits of any word of a plan in floats: so many a binary32 holds."""
TARGET = "float"


@dataclass(frozen=True, repr=False)
class FloatPlan(BasePlan[FloatWire, FloatOutput]):
    """Wires that carry words or floats; their blocks are the tables of laws, and of sines of fractions of angles."""

    precision: Precision

    target: ClassVar[str] = TARGET

    def evaluate(self, algebra: FloatAlgebra[T]) -> list[T]:
        """Return the values of all wires, in whatever they are computed."""
        return self._values(algebra)

    def counts(self) -> dict[str, int]:
        """Return how many wires of each kind there are, blocks and table rows."""
        return self._count(
            inputs="input", angle_sums="angle_sum", lookups="lookup", sines="sine", products="multiply", sums="add",
            fused="fused",
        )  # fmt: skip

    def __repr__(self) -> str:
        counts = self.counts()
        return (
            f"<bddtorque plan: source {self.source}, target {self.target}, {self.precision.name} precision, "
            f"{counts['sines']:,} sines, {counts['products']:,} products, {counts['sums']:,} sums, "
            f"{counts['fused']:,} fused multiply-adds>"
        )

    def _repr_html_(self) -> str:
        title = f"Plan from source {self.source} for target {self.target} in {self.precision.name} precision"
        return html_table(title, (), count_rows(self.counts()))

    def to_plain(self) -> dict[str, Any]:
        """Return the plan as plain data for JSON, in an order that is always the same."""
        return self._plain(self.target, precision=self.precision.name)


def float_plan_from_plain(plain: object, where: str = "plan") -> FloatPlan:
    """Return the plan that `FloatPlan.to_plain` wrote; every reference is checked."""
    given = table(plain, ("source", "target", "precision", "wires", "blocks", "outputs"), where)
    choice(given["target"], (TARGET,), f"{where}, target")
    precision = PRECISIONS[choice(given["precision"], tuple(PRECISIONS), f"{where}, precision")]
    blocks = tuple(
        block_from_plain(each, f"{where}, block {k}") for k, each in enumerate(listed(given["blocks"], where))
    )
    for k, block in enumerate(blocks):
        if not isinstance(block, LawBlock | FunctionBlock) or len(block.arguments) != 1:
            raise BddTorqueError(f"{where}, block {k} must be the table of a law or a function of one word")
    wires: list[FloatWire] = []
    for k, each in enumerate(listed(given["wires"], where)):
        wire = _wire(each, wires, blocks, f"{where}, wire {k}")
        if isinstance(wire, Constant) and math.isinf(precision.nearest(wire.value)):
            raise BddTorqueError(f"{where}, wire {k}: the constant is beyond {precision.name} precision")
        wires.append(wire)
    outputs = tuple(
        _output(each, wires, f"{where}, output {k}") for k, each in enumerate(listed(given["outputs"], where))
    )
    return FloatPlan(tuple(wires), blocks, outputs, of_type(given["source"], str, f"{where}, source"), precision)


def _wire(plain: object, wires: list[FloatWire], blocks: tuple[Block, ...], where: str) -> FloatWire:
    def word(value: object, *kinds: type) -> int:
        place = whole(value, 0, len(wires) - 1, where)
        read = wires[place]
        fits = isinstance(read, WordWire) and read.range(blocks).bits <= MOST_WORD_BITS
        if not fits or (kinds and not isinstance(read, kinds)):
            raise BddTorqueError(f"{where} must read a word of at most {MOST_WORD_BITS} bits, wire {place} is none")
        return place

    def number(value: object) -> int:
        place = whole(value, 0, len(wires) - 1, where)
        if isinstance(wires[place], WordWire):
            raise BddTorqueError(f"{where} must read floats, and wire {place} is a word")
        return place

    def sign(value: object) -> int:
        if value not in (1, -1):
            raise BddTorqueError(f"{where}: a sign must be 1 or -1, got {value!r:.40}")
        return whole(value, -1, 1, where)

    kind = plain.get("kind") if isinstance(plain, dict) else None
    match kind:
        case "input" | "angle_sum" | "lookup":
            wire = wire_from_plain(plain, len(wires), blocks, where)
            for source in wire.sources:
                word(source, Input, AngleSum)
            assert isinstance(wire, WordWire)
            return wire
        case "number":
            return Number(word(table(plain, ("kind", "word"), where)["word"]))
        case "constant":
            return Constant(fraction(table(plain, ("kind", "value"), where)["value"], where))
        case "sine":
            given = table(plain, ("kind", "word", "cosine", "rest"), where)
            cosine = of_type(given["cosine"], bool, f"{where}, cosine")
            return Sine(word(given["word"], Input, AngleSum), cosine, fraction(given["rest"], where))
        case "add":
            given = table(plain, ("kind", "left", "right", "sign"), where)
            return Add(number(given["left"]), number(given["right"]), sign(given["sign"]))
        case "multiply":
            given = table(plain, ("kind", "left", "right"), where)
            return Multiply(number(given["left"]), number(given["right"]))
        case "fused":
            given = table(plain, ("kind", "left", "right", "addend", "product_sign", "addend_sign"), where)
            left, right, addend = (number(given[field]) for field in Fused.reads)
            return Fused(left, right, addend, sign(given["product_sign"]), sign(given["addend_sign"]))
    known = ("input", "angle_sum", "lookup", "number", "constant", "sine", "add", "multiply", "fused")
    raise BddTorqueError(not_among(f"{where}, kind", kind, known))


def _output(plain: object, wires: list[FloatWire], where: str) -> FloatOutput:
    given = table(plain, ("name", "wire", "low", "high", "lsb"), where)
    place = whole(given["wire"], 0, len(wires) - 1, where)
    if isinstance(wires[place], WordWire):
        raise BddTorqueError(f"{where} must read floats, and wire {place} is a word")
    most = 1 << (MOST_WORD_BITS - 1)
    low = whole(given["low"], -most, most, where)
    lsb = fraction(given["lsb"], f"{where}, lsb")
    if lsb <= 0:
        raise BddTorqueError(f"{where}, lsb must be more than 0, got {str(lsb)[:40]}")
    return FloatOutput(of_type(given["name"], str, where), place, low, whole(given["high"], low, most, where), lsb)


AnyPlan = Plan | FloatPlan
"""A plan in words, or one in floats."""


def plan_in_words(plan: AnyPlan, what: str, name: str) -> Plan:
    """Return a plan for the target ``"tables"``; refuse others: `what` needs its tables or diagrams."""
    if isinstance(plan, FloatPlan) or plan.target != "tables":
        raise BddTorqueError(
            f"{what} needs a model for target 'tables', and '{name:.60}' was compiled for target '{plan.target}': "
            'compile it with target = "tables" (--target tables)'
        )
    return plan
