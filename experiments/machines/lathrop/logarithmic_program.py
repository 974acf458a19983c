"""Lathrop's logarithmic machine as a program of vector operations: LAT Table 5 on the network of Fig. 5.

w[0,3] is w of the interval [0, 3] of links; inputs are those of `linear_program`. The outward tree has the base
as leaf 0, the inward tree the links as leaves and, if asked for, the tip wrench as one more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from machines.lathrop.linear_program import LOAD_STEPS, Step
from machines.lathrop.prefix import intervals, sklansky
from machines.lathrop.vector_program import DOT, MM, MTV, MV, TWICE, VA, VC, Operation, Program

Leaf = Literal["matrix", "free", "combination"]

OUTWARD_COMBINATION: tuple[Step, ...] = (
    ("W", MM, "l.W", "r.W", "W"),
    ("Tw", MTV, "r.W", "l.w", "w"),
    ("w", VA, "Tw", "r.w", "w"),
    ("Twd", MTV, "r.W", "l.wd", "wd"),
    ("Tw_x_w", VC, "Tw", "r.w", "wd"),
    ("wd_right", VA, "Tw_x_w", "r.wd", "wd"),
    ("wd", VA, "Twd", "wd_right", "wd"),
    ("TQ", MTV, "r.W", "l.Q", "Q"),
    ("Q", VA, "TQ", "r.Q", "Q"),
    ("TR", MTV, "r.W", "l.R", "R"),
    ("R", VA, "TR", "r.R", "R"),
    ("TS", MTV, "r.W", "l.S", "S"),
    ("Tw_x_R", VC, "Tw", "r.R", "S"),
    ("S_right", VA, "Tw_x_R", "r.S", "S"),
    ("S", VA, "TS", "S_right", "S"),
    ("Tpdd", MTV, "r.W", "l.pdd", "pdd"),
    ("swept", VC, "Tw", "r.R", "pdd"),  # as Tw_x_R, on a processor of its own: every variable has its own group
    ("SQ", VA, "r.S", "r.Q", "pdd"),
    ("SQ_twice", TWICE, "SQ", "SQ", "pdd"),
    ("relative", VA, "swept", "SQ_twice", "pdd"),
    ("Tw_x_relative", VC, "Tw", "relative", "pdd"),
    ("Twd_x_R", VC, "Twd", "r.R", "pdd"),
    ("turning", VA, "Tw_x_relative", "Twd_x_R", "pdd"),
    ("pdd_right", VA, "turning", "r.pdd", "pdd"),
    ("pdd", VA, "Tpdd", "pdd_right", "pdd"),
)
"""[a, k] (l.) with [k+1, b] (r.): LAT Table 5. 26 matrix-vector processors, the product of matrices taking three."""

INWARD_COMBINATION: tuple[Step, ...] = (
    ("V", MM, "l.V", "r.V", "V"),
    ("Vf", MV, "l.V", "r.f", "f"),
    ("f", VA, "l.f", "Vf", "f"),
    ("arm_x_f", VC, "l.arm", "r.f", "n"),
    ("V_arm_x_f", MV, "l.V", "arm_x_f", "n"),
    ("n_left", VA, "l.n", "V_arm_x_f", "n"),
    ("Vn", MV, "l.V", "r.n", "n"),
    ("n", VA, "n_left", "Vn", "n"),
    ("T_arm", MTV, "r.V", "l.arm", "arm"),
    ("arm", VA, "T_arm", "r.arm", "arm"),
)
"""The same inward, V distributed over the moment so that n lags f by VC+VA. LAT has one operation for the arm
(A_{k+1}ᵀ R_ak, R being known), the closed operator two."""

UNDISTRIBUTED: tuple[Step, ...] = (
    ("arm_x_f", VC, "l.arm", "r.f", "n"),
    ("moment", VA, "arm_x_f", "r.n", "n"),
    ("V_moment", MV, "l.V", "moment", "n"),
    ("n", VA, "l.n", "V_moment", "n"),
)

ROTATIONAL_LEAF: tuple[Step, ...] = (
    ("w", MTV, "A", "T1", "leaf"),
    ("wd", MTV, "A", "T3", "leaf"),
    ("S", VC, "w", "p*", "leaf"),
    ("w_x_S", VC, "w", "S", "leaf"),
    ("wd_x_p", VC, "wd", "p*", "leaf"),
    ("pdd", VA, "w_x_S", "wd_x_p", "leaf"),
)
BASE_LEAF: tuple[Step, ...] = (
    ("w", MTV, "A", "base.w", "leaf"),
    ("wd", MTV, "A", "base.wd", "leaf"),
    ("S", VC, "w", "p*", "leaf"),
    ("w_x_S", VC, "w", "S", "leaf"),
    ("wd_x_p", VC, "wd", "p*", "leaf"),
    ("carried", VA, "w_x_S", "wd_x_p", "leaf"),
    ("Tpdd", MTV, "A", "base.pdd", "leaf"),
    ("pdd", VA, "carried", "Tpdd", "leaf"),
)
TRANSLATIONAL_LEAF: tuple[Step, ...] = (("Q", MTV, "A", "T1", "leaf"), ("pdd", MTV, "A", "T3", "leaf"))
LEAF_INPUTS = {
    True: {"W": "A", "R": "p*", "Q": "zero"},
    False: {"W": "A", "R": "p*"} | dict.fromkeys(["w", "wd", "S"], "zero"),
}
"""Quantities of a leaf that are inputs, by whether its joint turns."""
GEOMETRY = {"W": "A", "R": "p*"}
"""The right half of a leaf that is a combination (Appendix B); all else is zero."""

Interval = tuple[int, int]


def logarithmic_program(
    revolute: Sequence[bool],
    end_to_end: bool = False,
    leaf: Leaf = "matrix",
    distributed: bool = True,
    tip: bool = False,
) -> Program:
    """Return the logarithmic machine of an arm.

    Parameters
    ----------
    end_to_end
        Whether the torque is taken from f and n (a dot product).
    leaf
        ``"matrix"``, leaves cost A^T z q̇; ``"free"``, they are inputs; ``"combination"``, as in Appendix B.
    distributed
        Whether V is distributed over the moment, which keeps n from falling behind f.
    tip
        Whether a tip wrench is one more leaf of the inward tree.
    """
    n = len(revolute)
    program = [step for i in range(n + 1) for step in _leaf(i, i == 0 or revolute[i - 1], leaf)]
    outward = sklansky(n + 1)
    spans = intervals(n + 1, outward)
    name = _leaf_names(revolute, leaf)
    for tier, nodes in enumerate(outward):
        for number, (left, right) in enumerate(nodes):
            l_span, r_span = spans[tier][left], spans[tier][right]
            program += _combined(
                OUTWARD_COMBINATION, l_span, r_span, name, f"outward tier {tier + 1} node {number + 1}"
            )
    for i in range(1, n + 1):
        program += [_load(i, step) for step in LOAD_STEPS]
        program += _inward_leaf(i)
    leaves = n + tip
    inward = sklansky(leaves)
    mirrored = intervals(leaves, inward)
    steps = INWARD_COMBINATION
    if not distributed:
        steps = (*(step for step in INWARD_COMBINATION if step[4] != "n"), *UNDISTRIBUTED)
    for tier, nodes in enumerate(inward):
        for number, (later, earlier) in enumerate(nodes):  # counted from the tip: `earlier` is nearer to the base
            l_span, r_span = (
                (leaves - last, leaves - first) for first, last in (mirrored[tier][earlier], mirrored[tier][later])
            )
            place = f"inward tier {tier + 1} node {number + 1}"
            program += _combined(steps, l_span, r_span, _inward_name(n), place)
    if end_to_end:
        for i, turns in enumerate(revolute, start=1):
            held = _inward_name(n)("n" if turns else "f", (i, leaves))
            program.append(Operation(f"tau[{i}]", DOT, f"zeta[{i}]", held, "tau", f"inward leaf {i}"))
    return tuple(program)


Naming = Callable[[str, Interval], str]
"""From a quantity and an interval to the name of the operation's result, or of an input."""


def _leaf_names(revolute: Sequence[bool], leaf: Leaf) -> Naming:
    def name(quantity: str, span: Interval) -> str:
        first, last = span
        if first < last or leaf == "combination":
            return f"{quantity}[{first},{last}]"
        known = LEAF_INPUTS[first == 0 or revolute[first - 1]].get(quantity)
        if known is None:
            return f"{quantity}[{first},{first}]"
        return known if known == "zero" else f"{known}[{first}]"

    return name


def _inward_name(n: int) -> Naming:
    def name(quantity: str, span: Interval) -> str:
        first, last = span
        if first < last:
            return f"{quantity}.inward[{first},{last}]"
        if first == n + 1:
            return {"V": "I", "arm": "zero"}.get(quantity, f"{quantity}[{first}]")
        return {"V": f"A[{first + 1}]", "f": f"F[{first}]", "n": f"T21[{first}]"}.get(quantity, f"arm[{first}]")

    return name


def _leaf(i: int, turns: bool, leaf: Leaf) -> list[Operation]:
    """Return the operations of leaf i, the base being leaf 0."""
    if leaf == "free":
        return []
    if leaf == "matrix":
        return _plain_leaf(i, BASE_LEAF if i == 0 else ROTATIONAL_LEAF if turns else TRANSLATIONAL_LEAF)
    motion = {"w": "T1", "wd": "T3"} if turns else {"Q": "T1", "pdd": "T3"}
    if i == 0:
        motion = {"w": "base.w", "wd": "base.wd", "pdd": "base.pdd"}

    def half(quantity: str, span: Interval) -> str:
        if span == (i, i):
            return f"{quantity}[{i},{i}]"
        known = motion if span[1] < i else GEOMETRY
        return f"{known[quantity]}[{i}]" if quantity in known else ("I" if quantity == "W" else "zero")

    # the halves stand for intervals that end before link i and that begin with it
    return _combined(OUTWARD_COMBINATION, (i, i - 1), (i + 1, i), half, f"outward leaf {i}")


def _plain_leaf(i: int, steps: tuple[Step, ...]) -> list[Operation]:
    """Return a leaf that is computed from its own inputs."""
    made, place = {step[0] for step in steps}, f"outward leaf {i}"

    def named(operand: str) -> str:
        return f"{operand}[{i},{i}]" if operand in made else f"{operand}[{i}]"

    return [Operation(named(step[0]), step[1], named(step[2]), named(step[3]), step[4], place) for step in steps]


def _combined(steps: tuple[Step, ...], left: Interval, right: Interval, name: Naming, place: str) -> list[Operation]:
    """Return one combination of two intervals."""
    whole = (left[0], right[1])
    made = {step[0] for step in steps}

    def operand(text: str) -> str:
        if text.startswith("l."):
            return name(text[2:], left)
        if text.startswith("r."):
            return name(text[2:], right)
        return name(text, whole)

    assert all(text[:2] in ("l.", "r.") or text in made for step in steps for text in step[2:4])
    return [Operation(operand(step[0]), step[1], operand(step[2]), operand(step[3]), step[4], place) for step in steps]


def _load(i: int, step: Step) -> Operation:
    """Return a step of rdd, F or N of link i, from the prefixes [0, i]."""

    def named(operand: str) -> str:
        return f"{operand}[0,{i}]" if operand in ("w", "wd", "pdd") else f"{operand}[{i}]"

    return Operation(named(step[0]), step[1], named(step[2]), named(step[3]), step[4], f"outward load {i}")


def _inward_leaf(i: int) -> list[Operation]:
    """Return the leaf of link i: its moment about O_{i-1}, and its arm in the axes of O_{i+1}."""
    place = f"inward leaf {i}"
    return [
        Operation(f"T20[{i}]", VC, f"s*[{i}]", f"F[{i}]", "leaf", place),
        Operation(f"T21[{i}]", VA, f"T20[{i}]", f"N[{i}]", "leaf", place),
        Operation(f"arm[{i}]", MTV, f"A[{i + 1}]", f"p*[{i}]", "arm leaf", place),
    ]
