"""The matrix-vector processor of LAT section 7, step by step: three modules of two multipliers, one adder, two busses.

A module computes one coordinate of a result. Its operands wait in latches; in one step each bus can bring the operands
of one unit from the latches, each multiplier can form a product and the adder a sum. Products and sums stay in the
module. A dot product takes three steps: two products; the third product and the first sum; the last sum. Lathrop's text
does not say what travels on the busses; that a bus serves one unit a step is our reading.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bddtorque.base.errors import BddTorqueError
from machines.vectors import Triple

MODULES = 3
"""In one processor."""
MULTIPLIERS, ADDERS, BUSSES = 2, 1, 2
"""In one module."""


@dataclass(frozen=True, slots=True)
class UnitOperation:
    """Operation of one unit in a step: result ← left · right, left + right or left − right.

    Operands are latches (u0, u1, u2, v0, v1, v2) or results of earlier steps.
    """

    unit: Literal["multiply", "add", "subtract"]
    result: str
    left: str
    right: str

    @property
    def from_latches(self) -> bool:
        """Tell if it needs a bus: some operand is a latch."""
        return self.left[0] in "uv" or self.right[0] in "uv"


Step = tuple[UnitOperation, ...]
Microprogram = tuple[Step, ...]


def _times(result: str, left: str, right: str) -> UnitOperation:
    return UnitOperation("multiply", result, left, right)


DOT_PRODUCT: Microprogram = (
    (_times("a", "u0", "v0"), _times("b", "u1", "v1")),
    (_times("c", "u2", "v2"), UnitOperation("add", "s", "a", "b")),
    (UnitOperation("add", "out", "s", "c"),),
)
VECTOR_SUM: Microprogram = ((UnitOperation("add", "out", "u0", "v0"),),)
SCALING: Microprogram = ((_times("out", "u0", "v0"),),)
CROSS_PRODUCT: Microprogram = (
    (_times("a", "u0", "v1"), _times("b", "u1", "v0")),
    (UnitOperation("subtract", "out", "a", "b"),),
)
MICROPROGRAMS: dict[str, Microprogram] = {
    "MV": DOT_PRODUCT,
    "VC": CROSS_PRODUCT,
    "VA": VECTOR_SUM,
    "SV": SCALING,
}
"""Program of every module, by primitive; the latches of module k are filled by `latched`."""


def latched(primitive: str, left: Any, right: Any) -> list[dict[str, Any]]:
    """Return what the latches of the three modules hold, so that module k computes coordinate k."""
    modules = []
    for k in range(MODULES):
        if primitive == "MV":  # row k of the matrix, and the whole vector
            u, v = left[k], right
        elif primitive == "VC":  # coordinate k is u_{k+1} v_{k+2} − u_{k+2} v_{k+1}
            u = (left[(k + 1) % 3], left[(k + 2) % 3])
            v = (right[(k + 1) % 3], right[(k + 2) % 3])
        elif primitive == "VA":
            u, v = (left[k],), (right[k],)
        else:  # SV: a number times a vector
            u, v = (left,), (right[k],)
        modules.append({f"u{j}": each for j, each in enumerate(u)} | {f"v{j}": each for j, each in enumerate(v)})
    return modules


def check_step(step: Sequence[UnitOperation]) -> None:
    """Refuse a step that asks for more units or busses than a module has."""
    multiplied = sum(operation.unit == "multiply" for operation in step)
    carried = sum(operation.from_latches for operation in step)
    if multiplied > MULTIPLIERS or len(step) - multiplied > ADDERS or carried > BUSSES:
        raise BddTorqueError(
            f"module: a step has at most {MULTIPLIERS} products, {ADDERS} sum and {BUSSES} busses, got "
            f"{multiplied}, {len(step) - multiplied} and {carried}"
        )


def run_module(program: Microprogram, latches: dict[str, Any]) -> Any:
    """Return what a module computes; a step reads latches and results of the steps before it only."""
    held = dict(latches)
    for step in program:
        check_step(step)
        made = {}
        for operation in step:
            left, right = held[operation.left], held[operation.right]
            match operation.unit:
                case "multiply":
                    made[operation.result] = left * right
                case "add":
                    made[operation.result] = left + right
                case _:
                    made[operation.result] = left - right
        held |= made
    return held["out"]


def run_processor(primitive: str, left: Any, right: Any) -> tuple[Triple, int]:
    """Return the vector that three modules compute side by side, and in how many steps."""
    program = MICROPROGRAMS[primitive]
    first, second, third = (run_module(program, latches) for latches in latched(primitive, left, right))
    return (first, second, third), len(program)


def initiation_steps(program: Microprogram) -> int:
    """Return after how many steps a module can begin the same operation again, units shared with those under way."""
    for gap in range(1, len(program) + 1):
        together = [
            [operation for k, step in enumerate(program) if k % gap == phase for operation in step]
            for phase in range(gap)
        ]
        try:
            for step in together:
                check_step(step)
        except BddTorqueError:
            continue
        return gap
    return len(program)
