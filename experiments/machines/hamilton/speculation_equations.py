"""Newton-Euler recursions as data: each variable an expression over vectors, each operand a named reading.

Speculative machines differ from the serial recursion only in *which value* an operand is read from: that of this
control iteration or that of an earlier one. So the equations are data here, not code. One interpreter runs them
(`speculation_machine`), one counter prices them (`speculation_costs`), and the dependencies that decide schedules, ages
and recovery from faults are read off the same expressions (`speculation_methods`, `faults`).

`LATHROP` is LAT Table 2 (rotational and translational joints); HAM Table 1, for rotational joints, is in
`hamilton_equations`. Frames are those of the robot: R_i turns from link i to link i-1, the joint
axis is b_i = [0, 0, 1] in link i, and O_i is the origin of joint i+1, a point of link i.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Literal

from bddtorque.base.errors import BddTorqueError

Kind = str
"""The name of a joint kind: revolute or prismatic."""
OperandKind = Literal["neighbour", "own", "unboxed"]
"""Of another link; of the same link, in a box of HAM Table 1; of the same link, in no box."""


@dataclass(frozen=True)
class Operand:
    """A recursion variable that an equation reads: of the same link (offset 0) or of a neighbour (−1 or +1)."""

    variable: str
    offset: int = 0
    boxed: bool = True

    @property
    def kind(self) -> OperandKind:
        """Class of operands it belongs to; methods give each class its age."""
        if self.offset:
            return "neighbour"
        return "own" if self.boxed else "unboxed"


class VectorOp(IntEnum):
    """The vector operations of the recursions."""

    READ = 0
    """a recursion variable"""
    CONSTANT = 1
    """a vector of the link in its own axes, one of `CONSTANTS`; known from joint data"""
    AXIS = 2
    """b_i, the joint axis"""
    INTO = 3
    """R_iᵀ v, from the axes of link i-1 into those of link i"""
    OUT = 4
    """R_{i+1} v, from the axes of link i+1 into those of link i"""
    CROSS = 5
    ADD = 6
    SUBTRACT = 7
    SCALE = 8
    """a vector times one of `SCALARS`"""
    INERTIA = 9
    """I_i v, the inertia about the centre of mass"""


CONSTANTS = ("to_next", "to_centre", "back_to_centre", "gravity")
"""r_{i,i+1} = p*: O_{i-1} to O_i; r_{i,ci} = s*: O_{i-1} to the centre of mass; r_{i+1,ci} = r*: O_i to it; g_i."""
SCALARS = ("rate", "acceleration", "mass", "two")
"""q̇_i, the commanded q̈_i, m_i, 2."""


@dataclass(frozen=True)
class Expression:
    """A vector: an operation on other vectors. Equal expressions are the same value, which is what sharing rests on.

    `name` is the constant, the scalar, or for an axis the quantity it is formed for; `operand` is what READ reads.
    """

    op: VectorOp
    parts: tuple[Expression, ...] = ()
    name: str = ""
    operand: Operand | None = None

    def __add__(self, other: Expression) -> Expression:
        return Expression(VectorOp.ADD, (self, other))

    def __sub__(self, other: Expression) -> Expression:
        return Expression(VectorOp.SUBTRACT, (self, other))

    def nodes(self) -> Iterator[Expression]:
        """Yield every distinct sub-expression, parts before what is made of them."""
        seen: set[Expression] = set()

        def visit(node: Expression) -> Iterator[Expression]:
            if node not in seen:
                for part in node.parts:
                    yield from visit(part)
                seen.add(node)
                yield node

        yield from visit(self)

    def operands(self) -> tuple[Operand, ...]:
        """Return the recursion variables read, each once."""
        return tuple(dict.fromkeys(node.operand for node in self.nodes() if node.operand is not None))


def read(variable: str, offset: int = 0, *, boxed: bool = True) -> Expression:
    """Return a variable of link i + offset."""
    return Expression(VectorOp.READ, operand=Operand(variable, offset, boxed))


def into(v: Expression) -> Expression:
    """Return R_iᵀ v."""
    return Expression(VectorOp.INTO, (v,))


def out(v: Expression) -> Expression:
    """Return R_{i+1} v."""
    return Expression(VectorOp.OUT, (v,))


def cross(u: Expression, v: Expression) -> Expression:
    """Return u × v."""
    return Expression(VectorOp.CROSS, (u, v))


def scale(v: Expression, by: str) -> Expression:
    """Return v times one of `SCALARS`."""
    return Expression(VectorOp.SCALE, (v,), by)


def inertia(v: Expression) -> Expression:
    """Return I_i v."""
    return Expression(VectorOp.INERTIA, (v,))


def constant(name: str) -> Expression:
    """Return one of `CONSTANTS`."""
    return Expression(VectorOp.CONSTANT, name=name)


def axis_times(quantity: str) -> Expression:
    """Return b_i times the rate or the acceleration; HAM form b_i anew for each of the two, so it is named for it."""
    return scale(Expression(VectorOp.AXIS, name=quantity), quantity)


Equations = Mapping[str, Expression]


@dataclass(frozen=True)
class Recursion:
    """A Newton-Euler recursion: its variables in the order in which a serial machine computes them for one link."""

    name: str
    # outward, inward: names of the variables of the sweep from the base to the tip, and back
    outward: tuple[str, ...]
    inward: tuple[str, ...]
    equations: Mapping[Kind, Equations]  # for each kind of joint, an expression a variable
    # force, moment: the variables the joint force b_i · f_i and torque b_i · t_i are read from
    force: str
    moment: str
    # the variable whose value before link 1 is minus gravity; "" where gravity is a term of its own
    base_acceleration: str = ""

    @property
    def variables(self) -> tuple[str, ...]:
        """All variables, those of the outward sweep first."""
        return self.outward + self.inward

    def of(self, kind: Kind) -> Equations:
        """Return the equations for a kind of joint, or refuse."""
        if kind not in self.equations:
            raise BddTorqueError(f"recursion '{self.name}': joints must be {' or '.join(self.equations)}, got {kind}")
        return self.equations[kind]

    def with_equation(self, variable: str, expression: Expression, name: str) -> Recursion:
        """Return the recursion with one equation replaced for all kinds of joints."""
        changed = {kind: {**equations, variable: expression} for kind, equations in self.equations.items()}
        return replace(self, name=name, equations=changed)


def swung(arm: Expression, w: Expression, wd: Expression) -> Expression:
    """Return ẇ × r + w × (w × r), the acceleration of a point at r of a turning body beyond that of its origin."""
    return cross(wd, arm) + cross(w, cross(w, arm))


def _lathrop(kind: Kind, *, gravity_apart: bool) -> Equations:
    """Return LAT Table 2, added up in the order of LAT Table 4.

    LAT turn sums into link i, w_i = Aᵀ(w + z q̇); here the summands are turned, w_i = Rᵀw + b q̇, since b_i is constant
    in link i: the same values, the same operations on every path.
    """
    w, wd, pdd = read("w"), read("wd"), read("pdd")
    turning, accelerating = axis_times("rate"), axis_times("acceleration")
    p = into(read("pdd", -1)) + swung(constant("to_next"), w, wd)
    rotational = kind == "revolute"
    rdd = swung(constant("back_to_centre"), w, wd) + pdd
    force = scale(rdd, "mass")
    f_next = out(read("f", 1))
    return {
        "w": into(read("w", -1)) + turning if rotational else into(read("w", -1)),
        "wd": into(read("wd", -1)) + (accelerating + cross(into(read("w", -1)), turning))
        if rotational
        else into(read("wd", -1)),
        "pdd": p if rotational else p + accelerating + scale(cross(w, turning), "two"),
        "F": force - scale(constant("gravity"), "mass") if gravity_apart else force,
        "N": inertia(wd) + cross(w, inertia(w)),
        "f": out(read("f", 1)) + read("F", boxed=False),
        "n": out(read("n", 1))
        + (
            cross(constant("to_next"), f_next)
            + (read("N", boxed=False) + cross(constant("to_centre"), read("F", boxed=False)))
        ),
    }


LATHROP = Recursion(
    "Lathrop",
    outward=("w", "wd", "pdd", "F", "N"),
    inward=("f", "n"),
    equations={
        "revolute": _lathrop("revolute", gravity_apart=False),
        "prismatic": _lathrop("prismatic", gravity_apart=False),
    },
    force="f",
    moment="n",
    base_acceleration="pdd",
)
"""LAT Table 2, both kinds of joints: pdd acceleration of O_i, F and N force and moment of inertia of link
i, f and n what joint i carries. Gravity is the acceleration of the base, so with old data it arrives late. What LAT
leave open is ours: F and N are unboxed where f and n read them, as ac and al are in HAM."""

LATHROP_GRAVITY_APART = replace(
    LATHROP,
    name="Lathrop, gravity apart",
    equations={
        "revolute": _lathrop("revolute", gravity_apart=True),
        "prismatic": _lathrop("prismatic", gravity_apart=True),
    },
    base_acceleration="",
)
"""LAT Table 2 with gravity as in HAM: −m_i g_i in F_i, from joint data, and so always current."""
