"""What each target would cost: operations of one state, and bytes of tables.

Those of the target that was compiled are counted in its plan. Planning for another one takes up to half a minute, so
those are estimated from the recursion, which is traced in milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from bddtorque.compiler.true_graph import true_graph
from bddtorque.evaluate.float_code import MAX_TABLE_BITS, FloatPool
from bddtorque.model.model import Model
from bddtorque.plan.plan import Plan
from bddtorque.plan.plan_operations import additions, look_ups
from bddtorque.plan.wires import Sine
from bddtorque.words.float_sine import sine_factors
from bddtorque.words.ieee import SINGLE

CHIPS = {"tables": "any", "integer": "with multiplier", "float": "with FPU"}
"""What microcontrollers each target is for."""
TABLE_BYTES = (50_000, 9_000_000)
"""What tables of the built-in arms take from 8 to 16 bits."""


@dataclass(frozen=True)
class TargetCost:
    """What one state costs."""

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
    """What estimates are made of: operations of the recursion, numbers that are scaled, laws, bits of an angle."""

    sums: int
    products: int
    sines: int
    inputs: int  # words other than angles
    outputs: int
    laws: int
    bits: int


def target_costs(model: Model) -> list[TargetCost]:
    """Return what each target costs, the one that was compiled among them; that one only where there is no graph."""
    made, known = counted_cost(model), true_graph(model)
    costs = {made.target: made}
    if known is not None:
        counts, words = known.graph.counts(), model.formats.words.values()
        recursion = Recursion(
            counts["sums"], counts["products"], counts["sine_cosines"], sum(word.kind != "angle" for word in words),
            len(model.formats.results), len(known.laws), max(word.bits for word in words),
        )  # fmt: skip
        costs = {target: estimate(recursion) for target, estimate in ESTIMATES.items()} | costs
    floats = costs["float"].operations if "float" in costs else 0
    return [
        replace(cost, times_float=cost.operations / floats if floats else 1.0, chip=CHIPS.get(target, ""))
        for target, cost in costs.items()
    ]


def counted_cost(model: Model) -> TargetCost:
    """Return what the plan of a model costs."""
    plan = model.plan
    if plan.in_floats:
        return _of_floats(plan)
    size, native = sum(table.stored_bytes for table in model.tables), plan.multiplies_integers
    found = sum(look_ups(plan, native).values())
    return TargetCost(plan.target, True, found, additions(plan), _products(plan) if native else 0, size, size)


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


def _about_tables(recursion: Recursion) -> TargetCost:
    found = 1.05 * recursion.products**1.25 + recursion.laws
    sums = 0.75 * (recursion.sums + recursion.products) ** 1.25
    return TargetCost("tables", False, round(found), round(sums), 0, *TABLE_BYTES)


def _about_integers(recursion: Recursion) -> TargetCost:
    """Every output is scaled; of 16 or of 32 bits are the words of the one table of a cosine."""
    products, rows = recursion.products + recursion.outputs, recursion.laws + (recursion.sines > 0) << recursion.bits
    found = recursion.sines + recursion.laws
    return TargetCost("integer", False, found, recursion.sums, products, 2 * rows, 4 * rows)


def _about_floats(recursion: Recursion) -> TargetCost:
    """Every input but angles, and every output, is scaled; three sums of four are fused."""
    products = recursion.products + recursion.inputs + recursion.outputs
    found, rows = recursion.laws, recursion.laws << recursion.bits
    if recursion.bits <= MAX_TABLE_BITS:
        found, rows = found + recursion.sines, rows + (5 << recursion.bits >> 2)
    else:
        products += recursion.sines * (len(sine_factors(SINGLE)) + 2)
    return TargetCost("float", False, found, recursion.sums // 4, products, 4 * rows, 4 * rows)


ESTIMATES: dict[str, Callable[[Recursion], TargetCost]] = {
    "tables": _about_tables,
    "integer": _about_integers,
    "float": _about_floats,
}
