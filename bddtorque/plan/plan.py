"""`Plan`: the cascade. Wires carry words; blocks are truth tables; sums join the words of each output.

Everything here is exact integers and rationals: a plan says what is computed, to the last bit, and how many units each
rounding may cost. It knows nothing of robots.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Generic, TypeVar

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.shown_tables import html_table
from bddtorque.plan.blocks import Block, block_key, output_format
from bddtorque.plan.wires import Algebra, Input, Output, Product, Sum, T, Wire
from bddtorque.words.integer_range import Range

MOST_TABLE_BITS = 31
"""Bits of the word of a table: evaluators keep all tables as 32-bit integers."""
MOST_BITS = 62
"""Bits of a product or a sum, with room for rounding."""


AnyWire = TypeVar("AnyWire")
AnyOutput = TypeVar("AnyOutput")


@dataclass(frozen=True)
class BasePlan(Generic[AnyWire, AnyOutput]):
    """Wires in the order they are computed, the blocks they look up, the outputs they make."""

    wires: tuple[AnyWire, ...]
    blocks: tuple[Block, ...]
    outputs: tuple[AnyOutput, ...]
    source: str

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The content keys of the blocks."""
        return tuple(block_key(block) for block in self.blocks)

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The input words, in the order of the wires."""
        return tuple(wire for wire in self.wires if isinstance(wire, Input))

    def range_of(self, wire: int) -> Range:
        """Return the range that the plan states of the word of a wire that carries one."""
        word: Any = self.wires[wire]
        return word.range(self.blocks)  # type: ignore[no-any-return]

    def bits_of(self, wire: int) -> int:
        """Return the width of the two's complement word of a wire that carries one."""
        return self.range_of(wire).bits

    def needed(self, wires: Iterable[int]) -> list[int]:
        """Return some wires with all that they are computed from, in the plan's order."""
        every: Any = self.wires
        needed = set(wires)
        for place in range(len(every) - 1, -1, -1):
            if place in needed:
                needed.update(every[place].sources)
        return sorted(needed)

    @cached_property
    def read(self) -> list[int]:
        """The wires that some output depends on, in the plan's order."""
        outputs: Any = self.outputs
        return self.needed(wire for output in outputs for wire in output.sources)

    def _values(self, algebra: Algebra[T]) -> list[T]:
        """Return the values of all wires, in whatever they are computed."""
        wires: Any = self.wires
        values: list[T] = []
        for wire in wires:
            values.append(wire.evaluate(algebra, values))
        return values

    def _count(self, **kinds: str) -> dict[str, int]:
        """Return how many wires of some kinds there are, each by its name, blocks and table rows."""
        wires: Any = self.wires
        found = Counter(wire.kind for wire in wires)
        return {
            **{name: found[kind] for name, kind in kinds.items()},
            "blocks": len(self.blocks),
            "rows": sum(1 << sum(block.input_widths) for block in self.blocks),
        }

    def _plain(self, target: str, **own: Any) -> dict[str, Any]:
        parts: Any = (self.wires, self.blocks, self.outputs)
        wires, blocks, outputs = ([each.to_plain() for each in group] for group in parts)
        return {"source": self.source, "target": target, **own, "wires": wires, "blocks": blocks, "outputs": outputs}


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
    """What a sum stands for before its factors are rounded to integers, in its units."""

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
class Plan(BasePlan[Wire, Output]):
    """The cascade: every wire carries a word.

    `exact` says what sums stand for, by wire, outputs as −1, −2, ...; planners know it, and files do not keep it.
    """

    target: str
    block_bits: int
    exact: dict[int, ExactSum] = field(default_factory=dict, compare=False)

    @property
    def sums(self) -> list[Sum | Output]:
        """Every sum: those among the wires, and the outputs."""
        return [*(wire for wire in self.wires if isinstance(wire, Sum)), *self.outputs]

    def most(self, wire: Sum | Output) -> int:
        """Return what the terms of a sum add up to at most, each in its word at the largest magnitude."""
        return sum(abs(factor) << (self.bits_of(source) - 1) for source, factor in wire.parts) + abs(wire.constant)

    def evaluate(self, algebra: Algebra[T]) -> list[T]:
        """Return the words of all wires, in whatever they are computed."""
        return self._values(algebra)

    def counts(self) -> dict[str, int]:
        """Return how many wires of each kind, blocks, table rows and summands there are."""
        counts = self._count(inputs="input", angle_sums="angle_sum", lookups="lookup", products="product", sums="sum")
        return {**counts, "summands": sum(len(output.parts) for output in self.outputs)}

    def __repr__(self) -> str:
        counts = self.counts()
        return (
            f"<bddtorque plan: source {self.source}, target {self.target}, {counts['lookups']:,} lookups in "
            f"{counts['blocks']:,} blocks of {counts['rows']:,} rows, {counts['products']:,} products>"
        )

    def _repr_html_(self) -> str:
        rows = count_rows(self.counts())
        rows += [(f"summands of {output.name}", f"{len(output.parts):,}") for output in self.outputs]
        title = f"Plan from source {self.source} for target {self.target}, blocks of at most {self.block_bits} bits"
        return html_table(title, (), rows)

    def to_plain(self) -> dict[str, Any]:
        """Return the plan as plain data for JSON, in an order that is always the same."""
        return self._plain(self.target, block_bits=self.block_bits)


def count_rows(counts: dict[str, int]) -> list[tuple[str, str]]:
    """Return counts as rows of a table."""
    return [(name.replace("_", " "), f"{count:,}") for name, count in counts.items()]


def check_widths(plan: Plan, where: str = "plan") -> None:
    """Refuse a plan whose words do not fit a look-up index, a table, a product or a sum, and name the wire."""
    for k, wire in enumerate(plan.wires):
        block = getattr(wire, "block", -1)
        if block >= 0:
            bits = output_format(plan.blocks[block])[0]
            if bits > MOST_TABLE_BITS:
                raise BddTorqueError(
                    f"{where}, wire {k} ('{wire.name:.40}'): the words of its table need {bits} bits, but "
                    f"the limit is {MOST_TABLE_BITS}: fewer bits, narrower ranges or a larger accuracy would work"
                )
        if isinstance(wire, Product):
            _check_product(plan, wire, f"{where}, wire {k} ('{wire.name:.40}')")
    for each in plan.sums:
        bits = plan.most(each).bit_length()
        if bits > MOST_BITS:
            other = {"terms": "source 'recursive', ", "recursive": "source 'terms', "}.get(plan.source, "")
            raise BddTorqueError(
                f"{where}, '{each.name:.40}': a sum needs {bits} bits, but the limit is {MOST_BITS}: fewer bits, "
                f"{other}narrower ranges or a larger accuracy would work"
            )


def _check_product(plan: Plan, wire: Product, where: str) -> None:
    bits = plan.bits_of(wire.left), plan.bits_of(wire.right)
    widths = plan.blocks[wire.block].input_widths if wire.block >= 0 else ()
    fits = sum(bits) <= MOST_BITS
    if wire.method == "block":
        fits = fits and bits[0] <= widths[0] and bits[1] <= widths[1]
    elif wire.method == "squares":
        fits = fits and max(bits) < widths[0]
    if not fits:
        raise BddTorqueError(f"{where}: words of {bits[0]} and {bits[1]} bits are too wide for their product")
