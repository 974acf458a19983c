"""Cost of each target: operations of one state, and bytes of tables.

Those of the target that was compiled are counted in its plan. Planning for another one takes up to half a minute, so
those are estimated from the recursion, which is traced in milliseconds.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from bddtorque.compiler.origin import true_graph
from bddtorque.evaluate.float_code import MAX_TABLE_BITS, FloatPool
from bddtorque.model.model import Model
from bddtorque.plan.plan import Plan
from bddtorque.plan.plan_cost import additions, look_ups
from bddtorque.plan.wires import Sine
from bddtorque.words.float_sine import sine_factors
from bddtorque.words.ieee import SINGLE

CHIPS = {"tables": "any", "integer": "with multiplier", "float": "with FPU"}
"""Microcontrollers that each target is for."""
TABLE_BYTES = (50_000, 9_000_000)
"""Bytes of the tables of the built-in arms from 8 to 16 bits: `bddtorque compile ARM --bits 8`, and 16."""


@dataclass(frozen=True)
class TargetCost:
    """Operations and bytes of tables of one state."""

    target: str  # its name
    counted: bool  # whether the figures are those of a plan; else they are estimates, good to a factor of about two
    # look_ups, sums, products: a fused multiply-add is one product
    look_ups: int
    sums: int
    products: int
    # least_bytes, most_bytes: of tables
    least_bytes: int
    most_bytes: int
    # operations for each one of target float; on a PC all take about as long, but tables may miss its cache
    times_float: float = 1.0
    chip: str = ""  # what microcontrollers it is for

    @property
    def operations(self) -> int:
        """All of them."""
        return self.look_ups + self.sums + self.products

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Recursion:
    """Facts behind estimates: operations of the recursion, numbers that are scaled, laws, bits of an angle."""

    sums: int
    products: int
    sines: int
    inputs: int  # words other than angles
    outputs: int
    laws: int
    bits: int


def target_costs(model: Model) -> list[TargetCost]:
    """Return the cost of each target, the one that was compiled among them; that one only where there is no graph."""
    made, known = counted_cost(model), true_graph(model)
    costs = {made.target: made}
    if known is not None:
        counts, words = known.graph.counts(), model.formats.words.values()
        recursion = Recursion(
            counts["sums"], counts["products"], counts["sine_cosines"], sum(word.kind != "angle" for word in words),
            len(model.formats.results), len(known.laws), max(word.bits for word in words),
        )  # fmt: skip
        costs = {cost.target: cost for cost in estimates(recursion)} | costs
    floats = costs["float"].operations if "float" in costs else 0
    return [
        replace(cost, times_float=cost.operations / floats if floats else 1.0, chip=CHIPS.get(target, ""))
        for target, cost in costs.items()
    ]


def counted_cost(model: Model) -> TargetCost:
    """Return the cost of the plan of a model."""
    plan = model.plan
    if plan.in_floats:
        return _of_floats(plan)
    size, native = sum(table.stored_bytes for table in model.tables), plan.multiplies_integers
    look_up = sum(look_ups(plan, native).values())
    return TargetCost(plan.target, True, look_up, additions(plan), _products(plan) if native else 0, size, size)


def _products(plan: Plan) -> int:
    """Return the products of a plan in machine integers: of two words, and with factors that are no powers of two."""
    factors = (abs(factor) for wire in plan.sums for _, factor in wire.parts)
    return plan.counts()["products"] + sum(factor & (factor - 1) != 0 for factor in factors)


def _of_floats(plan: Plan) -> TargetCost:
    counts, pool = plan.counts(), FloatPool(plan)
    sines = sum(isinstance(wire, Sine) and pool.tabled(wire) for wire in plan.wires)
    polynomials = (counts["sines"] - sines) * (len(sine_factors(plan.floats)) + 2)
    found, products = counts["lookups"] + sines, counts["products"] + counts["fused"] + polynomials
    size = pool.length * plan.floats.dtype().itemsize if found else 0
    return TargetCost(plan.target, True, found, counts["sums"], products, size, size)


def estimates(recursion: Recursion) -> list[TargetCost]:
    """Return an estimate for each target, from the operations of the recursion.

    Tables: the factors are fitted to the plans of the built-in arms in `cascade/`, and tests/bench/test_target_costs.py
    holds all three targets to a factor of 2.2. Integers: every output is scaled; the words of the one table of a cosine
    have 16 or 32 bits. Floats: every input but angles, and every output, is scaled; three sums of four are fused.
    """
    products, outputs, sines, laws, bits = (
        recursion.products, recursion.outputs, recursion.sines, recursion.laws, recursion.bits,
    )  # fmt: skip
    found, sums = 1.05 * products**1.25 + laws, 0.75 * (recursion.sums + products) ** 1.25
    tables = TargetCost("tables", False, round(found), round(sums), 0, *TABLE_BYTES)
    rows = laws + (sines > 0) << bits
    integer = TargetCost("integer", False, sines + laws, recursion.sums, products + outputs, 2 * rows, 4 * rows)
    scaled, look_up, rows = products + recursion.inputs + outputs, laws, laws << bits
    if bits <= MAX_TABLE_BITS:
        look_up, rows = look_up + sines, rows + (5 << bits >> 2)
    else:
        scaled += sines * (len(sine_factors(SINGLE)) + 2)
    return [tables, integer, TargetCost("float", False, look_up, recursion.sums // 4, scaled, 4 * rows, 4 * rows)]
