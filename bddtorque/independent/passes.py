"""What is done to any plan, whether it is in words or in floats."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .bounds import Composition, OutputBound, check_ranges, compose
from .cascade import Angles, angles_of, unrounded
from .certificate import Stated, least_arithmetic, recomputed
from .float_bounds import compose_floats
from .float_plan import MAX_WORD_BITS, AnyPlan, FloatPlan
from .float_running import run_floats, unrounded_floats
from .plan import Block
from .running import run
from .tables import Facts
from .widths import MAX_BITS, check_widths


def check_words(plan: AnyPlan) -> str:
    """Refuse words that do not fit where they go; say what was found."""
    if isinstance(plan, FloatPlan):  # refused when it was read
        return f"no word needs more than {MAX_WORD_BITS} bits: a float holds it"
    check_widths(plan)
    return f"no product and no sum needs more than {MAX_BITS} bits"


def compose_errors(plan: AnyPlan, facts: list[Facts], axes: dict[str, int]) -> Composition:
    """Carry ranges and errors from the tables to the outputs; `axes` number the inputs that are angles."""
    return compose_floats(plan, facts) if isinstance(plan, FloatPlan) else compose(plan, facts, angles_of(plan, axes))


def range_findings(plan: AnyPlan, composition: Composition, reaches: dict[int, tuple[float, float]]) -> str:
    """Refuse ranges that are stated and do not follow; say how they were proved."""
    if isinstance(plan, FloatPlan):
        return f"the values of {len(plan.wires)} wires stay within {plan.precision.name} precision"
    return check_ranges(plan, composition, reaches)


def compared(stated: Stated, found: OutputBound, difference: float) -> str:
    """Return the bound and the arithmetic of one output in units, as stated and as proved here."""
    own, least = recomputed(stated, found, difference), least_arithmetic(stated, found, difference)
    arithmetic = f"; arithmetic {stated.parts['arithmetic']:.3g} in the file, {least:.3g} needed"
    said = f"bound {stated.bound:.6f} units in the file, {own:.6f} proved here"
    return said + (arithmetic if stated.parts["arithmetic"] else "")


def outputs_of(
    plan: AnyPlan,
    inputs: dict[str, Any],
    angles: Angles,
    algebra: Any,
    opaque: Callable[[int, Block], Any],
    look: Callable[[int, Any], None],
) -> Iterable[Any]:
    """Return the outputs of a plan without its roundings, one after another (`cascade.unrounded`)."""
    if isinstance(plan, FloatPlan):
        return unrounded_floats(plan, inputs, angles, algebra, opaque)
    return unrounded(plan, inputs, angles, algebra, opaque, look)


def run_state(plan: AnyPlan, tables: list[Any], inputs: dict[str, int]) -> list[int]:
    """Return every output of one state before it is clamped."""
    return run_floats(plan, tables, inputs) if isinstance(plan, FloatPlan) else run(plan, tables, inputs)
