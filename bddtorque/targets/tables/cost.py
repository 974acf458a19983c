"""The candidates of a plan: what each form of a block, or method of a product, would cost before any table is made.

Bytes and costs of what is not made yet are bounds: a table may have fewer distinct rows or nodes than it could have.
Of tables that exist, forms are made, measured in bytes and loads, and chosen under a memory budget; forms that cannot
win, because even in the fastest memory their loads cost more than another form does, are not made. `plan.plan_cost`
has the cost model itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.blocks import Block, output_format
from bddtorque.plan.engine import DEFAULT_MEMORY_LIMIT, MemoryLimit
from bddtorque.plan.forms import Form, make_form, make_word_form
from bddtorque.plan.forms.bit_forms import LANES, LEVELS
from bddtorque.plan.forms.word_forms import CYCLES_A_FOLD, CYCLES_A_WORD
from bddtorque.plan.plan import Plan
from bddtorque.plan.plan_cost import (
    Candidate,
    latency,
    least_cost,
    load_cost,
    partial_look_ups,
    pick,
    piece_bits,
    piece_table_bytes,
)
from bddtorque.plan.rows import digit_cuts
from bddtorque.plan.table import Table, word_dtype
from bddtorque.plan.wires import Product
from bddtorque.spec.chips import Chip
from bddtorque.targets.builder import MAX_AUTO_SQUARE_BITS

NODE_BYTES = 9
"""A node of a lowered diagram: the position of the bit it tests, and two successors."""
SMALLER = ("folded", "runs")
"""Forms that may take much less than a whole table and are quickly made."""
RULE_BYTES = 40
"""The rule by which a table is folded along one of its words."""
TABLE_WORD_BYTES = 4
"""An entry of the tables that products share."""


def block_candidates(block: Block) -> list[Candidate]:
    """Return the forms a block can be evaluated in, and which the evaluators take: one for words, one for bits.

    No memory budget decides here: a plan whose tables do not fit theirs is refused.
    """
    bits, signed = output_format(block)
    (words,) = pick([list(word_bounds(block.input_widths, bits, signed))])
    return [*words, *bit_bounds(sum(block.input_widths), bits)]


def word_bounds(input_widths: tuple[int, ...], bits: int, signed: bool, runs: int | None = None) -> Iterator[Candidate]:
    """Yield the forms that give whole words, with the bytes and the cost that each has at most.

    `input_widths`: bits of each input word; `bits` and `signed`: output word; `runs`: of equal words, where known.
    """
    inputs = sum(input_widths)
    word, rows = word_dtype(bits, signed).itemsize, 1 << inputs
    values = 1 << bits
    yield _bound("dense", rows * word, 1, (rows * word,), True)
    folding = len(input_widths) * (CYCLES_A_WORD + CYCLES_A_FOLD)
    yield _bound("folded", rows * word + RULE_BYTES * len(input_widths), 1, (rows * word,), True, folding)
    if runs is not None:
        steps = (runs - 1).bit_length()
        yield _bound("runs", runs * (4 + word), steps + 1, (4 * runs,) * steps + (word * runs,), True)
    nodes = max_diagram_nodes(inputs, 1, values)
    weighted = (nodes + 1) * (NODE_BYTES + word_dtype(bits + 1, True).itemsize)
    yield _bound("edge_valued", weighted, 3 * inputs, (nodes + 1, 8 * nodes + 8) * inputs, False)


def bit_bounds(inputs: int, bits: int) -> Iterator[Candidate]:
    """Yield the forms that walk a diagram for each of `bits` output bits; the evaluator bits takes the first."""
    lanes = -(-bits // LANES) * LANES
    steps = [
        min(bits << above, _functions(2, inputs - above)) << (below - above)
        for above, below in pairwise(digit_cuts(inputs, LEVELS))
    ]
    loads, chain = inputs + len(steps) * lanes, (4 * sum(steps),) * len(steps)
    yield replace(
        _bound("lockstep", 4 * sum(steps) + inputs + 4 * lanes, loads, chain, True, inputs),
        chosen=True,
        reason="the diagrams of all output bits side by side: taken by the evaluator bits",
    )
    tested = max_diagram_nodes(inputs, bits, 2) + 1
    chain = (tested, 8 * tested) * inputs
    yield replace(
        _bound("bits", tested * NODE_BYTES + 4 * bits, 2 * inputs * bits, chain, False),
        reason="one output bit after another",
    )


def _bound(name: str, size: int, loads: int, chain: tuple[int, ...], constant: bool, arithmetic: int = 0) -> Candidate:
    return Candidate(name, size, loads, len(chain), load_cost(loads, chain, arithmetic), constant)


def _functions(values: int, inputs: int) -> int:
    """Return how many functions of so many bits with so many values there are; 2^64 stands for that and more."""
    rows = 1 << inputs
    return int(values**rows) if rows * values.bit_length() <= 64 else 1 << 64


def max_diagram_nodes(inputs: int, outputs: int, values: int) -> int:
    """Return how many nodes a diagram can have at most, reduced or unrolled.

    A level has no more nodes than paths lead to it from the `outputs` roots, and no more than there are functions with
    so many `values` of the bits from there on.
    """
    return sum(min(outputs << level, _functions(values, inputs - level)) for level in range(inputs))


def product_candidates(plan: Plan, wire: Product) -> list[Candidate]:
    """Return the ways to take a product of two words, and why the plan has the one it has; none of a native product."""
    if wire.method == "native":
        return []
    widths = plan.bits_of(wire.left), plan.bits_of(wire.right)
    together, widest = sum(widths), max(widths)
    ranges = plan.range_of(wire.left), plan.range_of(wire.right)
    bits = wire.piece_bits or piece_bits([ranges], plan.block_bits)
    found = [
        ("blocks", TABLE_WORD_BYTES << together, 1, 1, _why_block(plan, wire, together)),
        ("squares", TABLE_WORD_BYTES << (widest + 1), 2, 1, _why_squares(plan, wire, widest)),
        ("partial", piece_table_bytes(bits), partial_look_ups(*ranges, bits), 1, _why_partial(wire, bits)),
    ]
    candidates = []
    for name, size, loads, depth, reason in found:
        cost = depth * latency(size) + loads - depth
        constant = name != "partial"  # as many pieces as the words at hand need
        candidates.append(Candidate(name, size, loads, depth, cost, constant, name == wire.method, reason))
    return candidates


def _why_block(plan: Plan, wire: Product, together: int) -> str:
    if wire.method == "blocks":
        return "one load, rounding included"
    if together > plan.block_bits:
        return f"{together} input bits, block_bits is {plan.block_bits}"
    return "a table for this product alone; the others are shared by all"


def _why_squares(plan: Plan, wire: Product, widest: int) -> str:
    if wire.method == "squares":
        return "two loads from a table of one word, shared by all such products"
    if widest >= plan.block_bits:
        return f"{widest + 1} input bits, block_bits is {plan.block_bits}"
    if widest >= MAX_AUTO_SQUARE_BITS:
        return f"{widest + 1} input bits: beyond {MAX_AUTO_SQUARE_BITS} its diagram outgrows partial products"
    if wire.method == "blocks":
        return "two loads against one"
    return 'two loads from a table shared by all: products = "squares"'


def _why_partial(wire: Product, bits: int) -> str:
    shared = f"a table of {bits} by {bits} bits, shared by all such products"
    return shared if wire.method == "partial" else f"more loads, from {shared}"


@dataclass(frozen=True)
class FormChoice:
    """A block in the form chosen for it."""

    form: Form  # the block, lowered
    candidates: tuple[Candidate, ...]  # the forms that were made, what each costs, and why one was chosen

    @property
    def reason(self) -> str:
        """Reason for the choice."""
        return next(each.reason for each in self.candidates if each.chosen)


def choose_forms(
    tables: Sequence[Table],
    orders: Sequence[tuple[int, ...] | None],
    budget: int | None = None,
) -> list[FormChoice]:
    """Return each table in the form of least cost, all forms together within `budget` bytes if there is one.

    `orders` has the variables at the levels of each block's diagrams. Raise `BddTorqueError` if not even the smallest
    forms fit.
    """
    made = [contenders(table, order) for table, order in zip(tables, orders, strict=True)]
    if budget is not None and sum(min(found.values(), key=form_cost).bytes for found in made) > budget:
        # what costs least does not fit: now every form may be the one
        pairs = zip(tables, orders, strict=True)
        made = [contenders(table, order, everything=True) for table, order in pairs]
    picked = pick([[candidate(form) for form in found.values()] for found in made], budget)
    return [
        FormChoice(found[next(each.name for each in candidates if each.chosen)], tuple(candidates))
        for found, candidates in zip(made, picked, strict=True)
    ]


def lower_blocks(form: str, tables: Sequence[Table], diagrams: Sequence[Diagram], budget: int) -> list[Form]:
    """Return blocks in a form, or (``"chosen"``) each in that of least cost, all together within `budget` bytes."""
    if form == "chosen":
        orders = [diagram.order for diagram in diagrams]  # that were found by sifting
        return [choice.form for choice in choose_forms(tables, orders, budget)]
    return [make_form(form, table, diagram) for table, diagram in zip(tables, diagrams, strict=True)]


def room_on(chip: Chip, flash: int | None) -> int | None:
    """Return the bytes that tables and code may take: those asked for, else those of a chip, if it is no stand-in."""
    return chip.flash if flash is None and chip.tools else flash


def flash_refusal(smallest: int, code: int, flash: int, chip: Chip) -> BddTorqueError:
    """Return what to say where the smallest tables and about so many bytes of code do not fit."""
    return BddTorqueError(
        f"flash must hold {smallest:,} bytes of tables in their smallest forms and about {code:,} of code on chip "
        f"'{chip.name}', got {flash:,}: more flash or fewer bits would work",
        option="flash",
    )


def smaller_forms(
    forms: Sequence[Form], tables: Sequence[Table], counts: Sequence[int], chip: Chip, spare: float
) -> list[Form]:
    """Return forms with smaller ones in their place, as long as all look-ups take a chip no more than `spare` cycles.

    `counts` tells how often each is looked up. Those that save most bytes for a cycle come first.
    """
    taken, moves = list(forms), []
    for k, (form, table, count) in enumerate(zip(forms, tables, counts, strict=True)):
        for name in SMALLER:
            other = make_word_form(name, table)
            slower = max(count * (chip_cycles(other, chip) - chip_cycles(form, chip)), 0)
            if 2 * other.bytes <= form.bytes:
                moves.append((slower / (form.bytes - other.bytes), slower, k, other))
    for _, slower, k, other in sorted(moves, key=lambda move: move[:3]):
        if slower <= spare and taken[k] is forms[k]:
            taken[k] = other
            spare -= slower
    return taken


def chip_cycles(form: Form, chip: Chip) -> int:
    """Return the cycles of a look-up on a chip, about."""
    return form.loads * chip.costs.load[1] + form.arithmetic * chip.costs.add[1]


def contenders(
    table: Table, order: tuple[int, ...] | None, memory_limit: int = DEFAULT_MEMORY_LIMIT, everything: bool = False
) -> dict[str, Form]:
    """Return the forms of a table that give whole words: `everything`, or those that may cost less than others."""
    found: dict[str, Form] = {}
    runs = 1 + int(np.count_nonzero(table.values[1:] != table.values[:-1]))
    for bound in word_bounds(table.input_widths, table.output_bits, table.signed, runs):
        cheapest = min(map(form_cost, found.values()), default=None)
        if everything or cheapest is None or least_cost(bound.loads, bound.depth) < cheapest:
            try:
                found[bound.name] = make_word_form(bound.name, table, order, memory_limit)
            except MemoryLimit:
                continue
    return found


def candidate(form: Form) -> Candidate:
    """Return what a form costs."""
    return Candidate(form.name, form.bytes, form.loads, len(form.chain), form_cost(form), form.constant)


def form_cost(form: Form) -> int:
    """Return the cost of a look-up in a form; see `plan.plan_cost`."""
    return load_cost(form.loads, form.chain, form.arithmetic)
