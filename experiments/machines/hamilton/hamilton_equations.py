"""HAM Table 1 as data, corrected as docs/papers_misprints.md says: rotational joints."""

from __future__ import annotations

from machines.hamilton.speculation_equations import (
    Equations,
    Recursion,
    axis_times,
    constant,
    cross,
    inertia,
    into,
    out,
    read,
    scale,
    swung,
)


def _hamilton() -> Equations:
    """Return HAM Table 1, corrected: `ac` starts from ae_{i-1} (print: ac_{i-1}), r_{i+1,ci} points back from O_i."""
    w, wd = read("w"), read("wd")
    turning, accelerating = axis_times("rate"), axis_times("acceleration")
    f_next = out(read("f", 1))
    return {
        "w": into(read("w", -1)) + turning,
        "wd": into(read("wd", -1)) + cross(into(read("w", -1)), turning) + accelerating,
        "al": into(read("al", -1)) + cross(w, turning) + accelerating,
        "ae": into(read("ae", -1)) + swung(constant("to_next"), w, wd),
        "ac": into(read("ae", -1)) + swung(constant("to_centre"), w, wd),
        "f": out(read("f", 1)) + (scale(read("ac", boxed=False), "mass") - scale(constant("gravity"), "mass")),
        "t": out(read("t", 1))
        + (
            cross(f_next, constant("back_to_centre"))
            + (inertia(read("al", boxed=False)) + cross(w, inertia(w)) - cross(read("f"), constant("to_centre")))
        ),
    }


HAMILTON = Recursion(
    "Hamilton",
    outward=("w", "wd", "al", "ae", "ac"),
    inward=("f", "t"),
    equations={"revolute": _hamilton()},
    force="f",
    moment="t",
)
"""HAM Table 1, corrected: w angular velocity, wd and al its derivative twice (they differ with old data only), ae and
ac accelerations of O_i and of the centre of mass without gravity, f and t force and moment at joint i. SI units."""

AS_PRINTED = HAMILTON.with_equation(
    "ac",
    into(read("ac", -1)) + swung(constant("to_centre"), read("w"), read("wd")),
    "Hamilton as printed",
)
"""HAM Table 1 with the printed ac_{i-1} in `ac`: wrong by as much as the torque itself."""
