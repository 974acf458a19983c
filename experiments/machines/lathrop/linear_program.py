"""Lathrop's linear machine as a program of vector operations: LAT Table 4.

T7[3] is T7 of link 3. Inputs of link i: A[i], p*[i], r*[i], s*[i], J[i], mass[i], zeta[i], T1[i] = z q̇, T3[i] = z q̈; of
the ends: w[0], wd[0], pdd[0], f[n+1], n[n+1], A[n+1] = I. T-numbers are Lathrop's; what he has no number for (sliding
joints) has a name that says what it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from machines.lathrop.arm import ArmState
from machines.lathrop.linear import base_link
from machines.lathrop.vector_program import DOT, MTV, MV, SV, TWICE, VA, VC, Operation, Primitive, Program
from machines.vectors import IDENTITY, Z_AXIS, ZERO, scaled

Step = tuple[str, Primitive, str, str, str]
"""Result, primitive, operands, group; without link numbers."""

ROTATIONAL_STEPS: tuple[Step, ...] = (
    ("T2", VA, "w-", "T1", "w"),
    ("w", MTV, "A", "T2", "w"),
    ("T4", VC, "w-", "T1", "wd"),
    ("T5", VA, "T3", "T4", "wd"),
    ("T6", VA, "T5", "wd-", "wd"),
    ("wd", MTV, "A", "T6", "wd"),
)
TRANSLATIONAL_STEPS: tuple[Step, ...] = (
    ("w", MTV, "A", "w-", "w"),
    ("wd", MTV, "A", "wd-", "wd"),
    ("slide", MTV, "A", "T1", "pdd"),  # zeta q̇
    ("slide_twice", TWICE, "slide", "slide", "pdd"),
    ("coriolis", VC, "w", "slide_twice", "pdd"),
    ("slide_change", MTV, "A", "T3", "pdd"),  # zeta q̈
    ("sliding", VA, "coriolis", "slide_change", "pdd"),
)
CARRIED_STEPS: tuple[Step, ...] = (
    ("T7", VC, "w", "p*", "pdd"),
    ("T8", VC, "w", "T7", "pdd"),
    ("T9", VC, "wd", "p*", "pdd"),
    ("T10", VA, "T8", "T9", "pdd"),
    ("T11", MTV, "A", "pdd-", "pdd"),
)
LOAD_STEPS: tuple[Step, ...] = (
    ("T12", VC, "w", "r*", "rdd"),
    ("T13", VC, "w", "T12", "rdd"),
    ("T14", VC, "wd", "r*", "rdd"),
    ("T15", VA, "T13", "T14", "rdd"),
    ("rdd", VA, "T15", "pdd", "rdd"),
    ("F", SV, "mass", "rdd", "F"),
    ("T16", MV, "J", "w", "N"),
    ("T17", VC, "w", "T16", "N"),
    ("T18", MV, "J", "wd", "N"),
    ("N", VA, "T17", "T18", "N"),
)
INWARD_STEPS: tuple[Step, ...] = (
    ("T19", MV, "A+", "f+", "f"),
    ("f", VA, "F", "T19", "f"),
    ("T20", VC, "s*", "F", "n"),
    ("T21", VA, "T20", "N", "n"),
    ("T22", VC, "p*", "T19", "n"),
    ("T23", VA, "T21", "T22", "n"),
    ("T24", MV, "A+", "n+", "n"),
    ("n", VA, "T23", "T24", "n"),
)


def outward_steps(rotational: bool) -> tuple[Step, ...]:
    """Return what one outward node does (LAT Table 4): 22 operations for a rotational joint."""
    if rotational:
        return (*ROTATIONAL_STEPS, *CARRIED_STEPS, ("pdd", VA, "T10", "T11", "pdd"), *LOAD_STEPS)
    carried = (("carried", VA, "T10", "T11", "pdd"), ("pdd", VA, "carried", "sliding", "pdd"))
    return (*TRANSLATIONAL_STEPS, *CARRIED_STEPS, *carried, *LOAD_STEPS)


def linear_program(revolute: Sequence[bool], end_to_end: bool = False, base_node: bool = False) -> Program:
    """Return LAT Table 4 for all links of an arm: outward nodes 1 to n, inward nodes n to 1.

    End to end, T1 and T3 are formed (SV) from qd[i] and qdd[i], and the torque is taken (zeta · n, or zeta · f); else
    z q̇ and z q̈ are inputs and the machine ends with f and n: the two conventions of LAT eq. (5) and eq. (1). With
    `base_node` the base is one more outward node, 0, as if a rotational joint joined it to the world.
    """
    program: list[Operation] = []
    links = list(enumerate(revolute, start=1))
    for i, turns in [(0, True), *links] if base_node else links:
        if end_to_end:
            inputs: tuple[Step, ...] = (("T1", SV, "qd", "z", "T1"), ("T3", SV, "qdd", "z", "T3"))
            program += [_at(i, step, "outward") for step in inputs]
        program += [_at(i, step, "outward") for step in outward_steps(turns)]
    for i, turns in reversed(links):
        program += [_at(i, step, "inward") for step in INWARD_STEPS]
        if end_to_end:
            program.append(_at(i, ("tau", DOT, "zeta", "n" if turns else "f", "tau"), "inward"))
    return tuple(program)


def _at(link: int, step: Step, sweep: str) -> Operation:
    """Return a step at a link; w- is of the link before, f+ of the link after."""
    result, primitive, left, right, group = step

    def named(operand: str) -> str:
        if operand == "z":
            return "z"
        shift = {"-": -1, "+": 1}.get(operand[-1], 0)
        return f"{operand.rstrip('+-')}[{link + shift}]"

    return Operation(f"{result}[{link}]", primitive, named(left), named(right), group, f"{sweep} {link}")


def program_inputs(state: ArmState) -> dict[str, Any]:
    """Return what the programs of both forms read, for one state: everything that is known before the first step."""
    arm, n = state.arm, state.arm.joints
    w, wd, pdd = base_link(state)
    inputs: dict[str, Any] = {"z": Z_AXIS, "zero": ZERO, "I": IDENTITY, f"A[{n + 1}]": IDENTITY}
    inputs |= {"w[0]": w, "wd[0]": wd, "pdd[0]": pdd}
    inputs |= {f"base.{name}[0]": each for name, each in zip(("w", "wd", "pdd"), state.base, strict=True)}
    inputs |= {"A[0]": state.rotation[0], "p*[0]": state.arm_vector[0]}
    inputs |= {f"f[{n + 1}]": state.tip.force, f"n[{n + 1}]": state.tip.moment}
    for i in range(1, n + 1):
        inputs |= {
            f"A[{i}]": state.rotation[i],
            f"p*[{i}]": state.arm_vector[i],
            f"s*[{i}]": state.centre_arm[i],
            f"r*[{i}]": arm.centre[i - 1],
            f"J[{i}]": arm.inertia[i - 1],
            f"mass[{i}]": arm.mass[i - 1],
            f"zeta[{i}]": arm.axis[i - 1],
            f"qd[{i}]": state.velocity[i - 1],
            f"qdd[{i}]": state.acceleration[i - 1],
            f"T1[{i}]": scaled(state.velocity[i - 1], Z_AXIS),
            f"T3[{i}]": scaled(state.acceleration[i - 1], Z_AXIS),
        }
    return inputs
