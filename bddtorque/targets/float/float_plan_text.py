"""A plan in floats as text: every operation with what is proved of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bddtorque.base.sizes import counted
from bddtorque.plan.bound import OutputBound, PlanErrors, planned_facts
from bddtorque.plan.plan import Plan
from bddtorque.plan.wires import Add, AngleSum, Constant, Fused, Input, Lookup, Multiply, Number, Sine, Wire
from bddtorque.targets.plan_text import block_lines
from bddtorque.words.bounded import TINY

PARTS = ("constants", "tables", "arithmetic", "final_rounding")


def float_plan_text(plan: Plan, title: str, bounds: Sequence[OutputBound], most_wires: int | None = None) -> str:
    """Return the whole plan: a summary, the tables of friction, every operation, and the bound of each output.

    With `most_wires`, a plan of more wires leaves out their list and says how many there are.
    """
    wires = len(plan.wires)
    shown = most_wires is None or wires <= most_wires
    return "\n".join(
        [
            f"{title}: source {plan.source}, target {plan.target}, {plan.floats.name} precision",
            "  " + ", ".join(counted(count, name) for name, count in plan.counts().items()),
            "  bound, units: " + ", ".join(f"{bound.total:.4f}" for bound in bounds),
            *(["", "Tables of friction", *block_lines(plan)] if plan.blocks else []),
            "",
            "Operations (wire, kind, what it is, range of the true number, error of its float)",
            *(_wires(plan) if shown else [f"  {wires:,}, not listed here"]),
            "",
            "Outputs",
            *_outputs(plan, bounds),
            "",
        ]
    )


def _wires(plan: Plan) -> Iterator[str]:
    known = plan.evaluate(PlanErrors(plan, {}, planned_facts(plan.blocks)))
    for k, (wire, proved) in enumerate(zip(plan.wires, known, strict=True)):
        line = f"  w{k:<4} {wire.kind:9} {_operation(plan, wire)}"
        if isinstance(wire, Input | AngleSum | Lookup | Number | Constant):
            yield line
        else:
            low, high = (0.0 if abs(end) <= TINY else end for end in (proved.range.low, proved.range.high))
            yield f"{line:<44} {low:>11.4g} to {high:<11.4g} ±{proved.error:.2g}"


def _operation(plan: Plan, wire: Wire) -> str:
    match wire:
        case Input():
            return f"{wire.name}, {wire.bits} bits"
        case AngleSum():
            terms = " ".join(f"{factor << shift:+d}·w{source}" for source, factor, shift in wire.parts)
            return f"{terms}, {wire.bits} bits" + (f" {wire.constant:+d}" if wire.constant else "")
        case Lookup():
            return f"b{wire.block}[{', '.join(f'w{source}' for source in wire.wires)}]"
        case Number():
            return f"w{wire.word}"
        case Constant():
            return f"{plan.floats.nearest(wire.value):.9g}"
        case Sine():
            rest = f" {float(wire.rest):+.9g}" if wire.rest else ""
            return f"{'cos' if wire.cosine else 'sin'}(w{wire.word}{rest})"
        case Add():
            return f"w{wire.left} {_sign(wire.sign)} w{wire.right}"
        case Multiply():
            return f"w{wire.left}·w{wire.right}"
        case Fused():
            minus = "-" if wire.product_sign < 0 else ""
            return f"{minus}w{wire.left}·w{wire.right} {_sign(wire.addend_sign)} w{wire.addend}"
        case _:
            raise TypeError(f"a plan in floats has no wire of kind '{wire.kind}'")


def _sign(sign: int) -> str:
    return "+" if sign > 0 else "-"


def _outputs(plan: Plan, bounds: Sequence[OutputBound]) -> Iterator[str]:
    for output, bound in zip(plan.outputs, bounds, strict=True):
        parts = ", ".join(f"{name.replace('_', ' ')} {getattr(bound, name):.3g}" for name in PARTS)
        yield f"  {output.name}: w{output.wire} in units of {float(output.lsb):.6g}, {output.low} to {output.high}"
        yield f"    bound {bound.total:.4f} units: {parts}"
