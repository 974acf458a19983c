"""`Plan`: the cascade. Wires carry words or floats; blocks are truth tables; outputs are made of the words of wires.

A plan says what is computed, to the last bit, and how many units each rounding may cost: in integers, exact rationals
beside them; or in IEEE floats, operation by operation. It knows nothing of robots.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.plain import choice, listed, of_type, table, whole
from bddtorque.base.shown_text import html_table
from bddtorque.plan.blocks import BLOCKS, MAX_TABLE_BITS, Block, output_format
from bddtorque.plan.fields import MAX_BITS, Earlier, part_from_plain
from bddtorque.plan.wires import (
    MAX_FLOAT_WORD_BITS,
    OPERATIONS,
    Algebra,
    Constant,
    Input,
    Output,
    Product,
    Sum,
    T,
    Wire,
)
from bddtorque.words.ieee import PRECISIONS, Precision
from bddtorque.words.integer_range import Range

TABLES, INTEGER, FLOAT = "tables", "integer", "float"
"""Targets of plans: nothing is multiplied, the processor multiplies integers, or it computes in floats."""


@dataclass(frozen=True)
class CentredProduct:
    """factor·(left + centre)·(right + centre), left and right being the words of a product that is a summand."""

    wire: int  # of the product
    factor: Fraction  # of left·right, in units of the sum
    centres: tuple[Fraction, Fraction]  # of left and right, in units of their words

    def moved(self, places: Mapping[int, int]) -> CentredProduct:
        """Return it with its wire at another place."""
        return replace(self, wire=places[self.wire])


@dataclass(frozen=True)
class ExactSum:
    """A sum before its factors are rounded to integers, in its units."""

    parts: tuple[tuple[int, Fraction], ...]  # (wire, factor) of each summand
    constant: Fraction  # what is added to them
    dropped: tuple[tuple[Fraction, Fraction], ...] = ()  # factor and largest magnitude of each term that is left out
    names: tuple[str, ...] = ()  # what these are, for people
    centred: tuple[CentredProduct, ...] = ()  # what was multiplied out, and is in `parts` and `constant`

    def moved(self, places: Mapping[int, int]) -> ExactSum:
        """Return it with its wires at other places."""
        parts = tuple((places[wire], factor) for wire, factor in self.parts)
        return replace(self, parts=parts, centred=tuple(product.moved(places) for product in self.centred))


@dataclass(frozen=True, repr=False)
class Plan:
    """Wires in the order they are computed, the blocks they look up, the outputs they make.

    In a plan in floats the wires after the input words carry floats; its blocks are the tables of laws, and of sines of
    fractions of angles. `exact` says what sums stand for, by wire, outputs as −1, −2, ...; planners know it, and files
    do not keep it.
    """

    wires: tuple[Wire, ...]
    blocks: tuple[Block, ...]
    outputs: tuple[Output, ...]
    source: str
    target: str
    block_bits: int = 0  # input bits of one table, at most; 0 in floats
    exact: dict[int, ExactSum] = field(default_factory=dict, compare=False)
    precision: Precision | None = None  # of its floats

    @property
    def in_floats(self) -> bool:
        """True if it computes in floats."""
        return self.precision is not None

    @property
    def floats(self) -> Precision:
        """The precision of a plan in floats."""
        assert self.precision is not None, "a plan in integers has no precision"
        return self.precision

    @property
    def made_of_tables(self) -> bool:
        """True if nothing is multiplied: tables and additions do everything, so that diagrams can stand for them."""
        return self.target == TABLES

    @property
    def multiplies_integers(self) -> bool:
        """True if it is in integers that the processor multiplies."""
        return self.target == INTEGER

    def require_tables(self, what: str, name: str) -> Plan:
        """Return the plan if it is made of tables; else refuse: `what` needs its tables or diagrams."""
        if not self.made_of_tables:
            raise BddTorqueError(
                f"{what} needs a model for target '{TABLES}', and '{name:.60}' was compiled for target "
                f"'{self.target}': compile it with target = \"{TABLES}\" (--target {TABLES})"
            )
        return self

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The input words, in the order of the wires."""
        return tuple(wire for wire in self.wires if isinstance(wire, Input))

    @property
    def sums(self) -> list[Sum | Output]:
        """Every sum: those among the wires, and the outputs."""
        return [*(wire for wire in self.wires if isinstance(wire, Sum)), *self.outputs]

    def range_of(self, wire: int) -> Range:
        """Return the range that the plan states of the word of a wire that carries one."""
        return self.wires[wire].range(self.blocks)

    def bits_of(self, wire: int) -> int:
        """Return the width of the two's complement word of a wire that carries one."""
        return self.range_of(wire).bits

    def most(self, wire: Sum | Output) -> int:
        """Return what the terms of a sum add up to at most, each in its word at the largest magnitude."""
        return sum(abs(factor) << (self.bits_of(part) - 1) for part, factor in wire.parts) + abs(wire.constant)

    def needed(self, wires: Iterable[int]) -> list[int]:
        """Return some wires with all that they are computed from, in the plan's order."""
        needed = set(wires)
        for place in range(len(self.wires) - 1, -1, -1):
            if place in needed:
                needed.update(self.wires[place].sources)
        return sorted(needed)

    @cached_property
    def read(self) -> list[int]:
        """The wires that some output depends on, in the plan's order."""
        return self.needed(wire for output in self.outputs for wire in output.sources)

    def evaluate(self, algebra: Algebra[T]) -> list[T]:
        """Return the words or floats of all wires, in whatever they are computed."""
        values: list[T] = []
        for wire in self.wires:
            values.append(wire.evaluate(algebra, values))
        return values

    def counts(self) -> dict[str, int]:
        """Return how many wires of each kind, blocks and table rows there are, and how many summands outputs have."""
        found = Counter(wire.plural for wire in self.wires)
        kinds = [each.plural for each in operations_of(self.in_floats).values() if each.plural]
        rows = sum(1 << sum(block.input_widths) for block in self.blocks)
        counts = {**{kind: found[kind] for kind in kinds}, "blocks": len(self.blocks), "rows": rows}
        return counts if self.in_floats else {**counts, "summands": sum(len(output.parts) for output in self.outputs)}

    def __repr__(self) -> str:
        counts = self.counts()
        own = (
            f"{self.floats.name} precision, {counts['sines']:,} sines, {counts['products']:,} products, "
            f"{counts['sums']:,} sums, {counts['fused']:,} fused multiply-adds"
            if self.in_floats
            else f"{counts['lookups']:,} lookups in {counts['blocks']:,} blocks of {counts['rows']:,} rows, "
            f"{counts['products']:,} products"
        )
        return f"<bddtorque plan: source {self.source}, target {self.target}, {own}>"

    def _repr_html_(self) -> str:
        rows = [(name.replace("_", " "), f"{count:,}") for name, count in self.counts().items()]
        own = f"in {self.floats.name} precision" if self.in_floats else f", blocks of at most {self.block_bits} bits"
        if not self.in_floats:
            rows += [(f"summands of {output.name}", f"{len(output.parts):,}") for output in self.outputs]
        title = f"Plan from source {self.source} for target {self.target} {own}".replace(" ,", ",")
        return html_table(title, (), rows)

    def to_plain(self) -> dict[str, Any]:
        """Return the plan as plain data for JSON, in an order that is always the same."""
        own = {"block_bits": self.block_bits} if self.precision is None else {"precision": self.precision.name}
        parts = {"wires": self.wires, "blocks": self.blocks, "outputs": self.outputs}
        plain = {name: [part.to_plain() for part in group] for name, group in parts.items()}
        return {"source": self.source, "target": self.target, **own, **plain}


def operations_of(in_floats: bool) -> dict[str, type[Wire]]:
    """Return the kinds of wires that plans in floats, or in integers, are made of."""
    return {kind: each for kind, each in OPERATIONS.items() if (each.in_floats if in_floats else each.in_words)}


def plan_from_plain(plain: object, where: str = "plan") -> Plan:
    """Return the plan that `Plan.to_plain` wrote: every reference is checked, so that none can lead a reader astray."""
    in_floats = isinstance(plain, Mapping) and plain.get("target") == FLOAT
    own = "precision" if in_floats else "block_bits"
    given = table(plain, ("source", "target", own, "wires", "blocks", "outputs"), where)
    target = choice(given["target"], (TABLES, INTEGER, FLOAT), f"{where}, target")
    precision, block_bits = None, 0
    if in_floats:
        precision = PRECISIONS[choice(given["precision"], tuple(PRECISIONS), f"{where}, precision")]
    else:
        block_bits = whole(given["block_bits"], 1, 64, f"{where}, block_bits")
    wires: list[Wire] = []
    blocks: list[Block] = []
    earlier = Earlier(wires, blocks)
    for k, each in enumerate(listed(given["blocks"], f"{where}, blocks")):
        blocks.append(part_from_plain(each, BLOCKS, f"{where}, block {k}", earlier))
    operations = operations_of(in_floats)
    for k, each in enumerate(listed(given["wires"], f"{where}, wires")):
        wires.append(part_from_plain(each, operations, f"{where}, wire {k}", earlier))
    outputs = [
        Output.from_plain(each, f"{where}, output {k}", earlier)
        for k, each in enumerate(listed(given["outputs"], f"{where}, outputs"))
    ]
    source = of_type(given["source"], str, f"{where}, source")
    plan = Plan(tuple(wires), tuple(blocks), tuple(outputs), source, target, block_bits, precision=precision)
    check_plan(plan, where)
    return plan


def check_plan(plan: Plan, where: str = "plan") -> None:
    """Refuse operations and blocks that a plan for its target does not have, and words that are too wide."""
    for k, block in enumerate(plan.blocks):
        if plan.in_floats and (not block.in_floats or len(block.input_widths) != 1):
            raise BddTorqueError(f"{where}, block {k} must be the table of a law or a function of one word")
    for k, wire in enumerate(plan.wires):
        at = f"{where}, wire {k}"
        if isinstance(wire, Product) and (wire.method == "native") != plan.multiplies_integers:
            raise BddTorqueError(f"{at}: target '{plan.target}' does not multiply by '{wire.method}'")
        if isinstance(wire, Constant) and math.isinf(plan.floats.nearest(wire.value)):
            raise BddTorqueError(f"{at}: the constant is beyond {plan.floats.name} precision")
        if plan.in_floats and wire.in_words and plan.bits_of(k) > MAX_FLOAT_WORD_BITS:
            raise BddTorqueError(
                f"{at} must be a word of at most {MAX_FLOAT_WORD_BITS} bits for target '{plan.target}', got "
                f"{plan.bits_of(k)}"
            )
    for k, output in enumerate(plan.outputs):
        if plan.in_floats and (not output.is_one_float or plan.wires[output.wire].in_words):
            raise BddTorqueError(f"{where}, output {k} must read one float, with factor 1 and nothing added")
        if plan.in_floats and output.range(plan.blocks).bits > MAX_FLOAT_WORD_BITS:
            raise BddTorqueError(f"{where}, output {k} must have at most {MAX_FLOAT_WORD_BITS} bits")
    if not plan.in_floats:
        check_widths(plan, where)


def check_widths(plan: Plan, where: str = "plan") -> None:
    """Refuse a plan whose words do not fit a look-up index, a table, a product or a sum, and name the wire."""
    for k, wire in enumerate(plan.wires):
        block = getattr(wire, "block", -1)
        if block >= 0:
            bits = output_format(plan.blocks[block])[0]
            if bits > MAX_TABLE_BITS:
                raise BddTorqueError(
                    f"{where}, wire {k} ('{wire.name:.40}'): the words of its table need {bits} bits, but "
                    f"the limit is {MAX_TABLE_BITS}: fewer bits, narrower ranges or a larger accuracy would work"
                )
        if isinstance(wire, Product):
            _check_product(plan, wire, f"{where}, wire {k} ('{wire.name:.40}')")
    for each in plan.sums:
        bits = plan.most(each).bit_length()
        if bits > MAX_BITS:
            what = f"{where}, '{each.name:.40}': a sum needs {bits} bits, but the limit is {MAX_BITS}"
            raise BddTorqueError(f"{what}: {_what_helps(plan)}")


def _what_helps(plan: Plan) -> str:
    """Return what makes the words of a plan shorter."""
    other = {"terms": "source 'recursive', ", "recursive": "source 'terms', "}.get(plan.source, "")
    return f"fewer bits, {other}narrower ranges or a larger accuracy would work"


def _check_product(plan: Plan, wire: Product, where: str) -> None:
    bits = plan.bits_of(wire.left), plan.bits_of(wire.right)
    widths = plan.blocks[wire.block].input_widths if wire.block >= 0 else ()
    fits = sum(bits) <= MAX_BITS
    if wire.method == "blocks":
        fits = fits and bits[0] <= widths[0] and bits[1] <= widths[1]
    elif wire.method == "squares":
        fits = fits and max(bits) < widths[0]
    if not fits:
        raise BddTorqueError(
            f"{where}: words of {bits[0]} and {bits[1]} bits are too wide for their product: {_what_helps(plan)}"
        )
