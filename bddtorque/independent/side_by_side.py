"""A plan without its roundings beside what it stands for, in any kind of number."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from fractions import Fraction
from typing import Any

from .cascade import Angles, angles_of
from .circuits import Circuit
from .fields import DegreeAlgebra, Degrees, Grid, Shape, highest
from .findings import RefusedError, require
from .float_plan import AnyPlan, word_of
from .formats import box_of
from .passes import outputs_of
from .plan import Block, Wire
from .spans import Box
from .subjects import Subject

FAR, TRUE, SUM = "difference", "truth", "sum"
Key = tuple[str, int]
"""What is looked at: how far an output is off, its true value, or a sum of the plan; and the number of that."""


def angles_beside(plan: AnyPlan, subject: Subject) -> Angles:
    """Return the angle of every wire that holds one; those that stand for numbers are none."""
    angles = angles_of(plan, subject.axes, subject.fractions)
    first = len(subject.positions)
    desired = {place for place, angle in angles.items() if any(axis >= first for axis, _ in angle.multipliers)}
    for place, wire in enumerate(plan.wires):
        if isinstance(wire, Wire) and wire.kind == "angle_sum" and wire.name in subject.numbers:
            expected = subject.numbers[wire.name]
            named = " and ".join(name for name, _ in expected)
            parts = [(word_of(plan.wires[part]), factor, shift) for part, factor, shift in wire.parts]
            found = [(word.name, word.kind, factor, shift) for word, factor, shift in parts]
            require(
                found == [(name, "input", factor, 0) for name, factor in expected]
                and (wire.constant, wire.bits) == (0, subject.words.named[expected[-1][0]].bits),
                f"plan, wire {place}: expected {'the difference of ' if len(expected) > 1 else ''}{named}",
            )
            del angles[place]
            continue
        read = {*wire.wires, *(part for part, _, _ in wire.parts)} if isinstance(wire, Wire) else {*wire.wires}
        astray = read & desired & angles.keys()
        require(not astray, f"plan, wire {place}: expected a desired position in its difference alone")
    return angles


def shapes_beside(
    plan: AnyPlan, subject: Subject, angles: Angles, wanted: Collection[int], asked: Collection[int]
) -> dict[Key, Shape]:
    """Return the monomials that there can be, and their degrees, of all outputs, and of sums and truths asked for."""
    algebra = DegreeAlgebra(len(subject.positions))
    shapes: dict[Key, Shape] = {}

    def look(place: int, value: Degrees) -> None:
        if place in wanted:
            shapes[SUM, place] = value.shape

    law = laws_beside(plan, subject, algebra)
    outputs = list(outputs_of(plan, subject.inputs(algebra), angles, algebra, law, look))
    most = subject.record.degrees(subject)
    for j, (own, true) in enumerate(zip(outputs, subject.truth(algebra), strict=True)):
        truth = true.shape
        if most is not None:
            truth = {monomial: tuple(map(min, degrees, most)) for monomial, degrees in truth.items()}
        shapes[FAR, j] = highest(highest(truth, own.shape), {(): (0,) * algebra.axes})
    return shapes | {(TRUE, j): shapes[FAR, j] for j in asked}


def values_beside(
    plan: AnyPlan, subject: Subject, angles: Angles, grid: Grid | Circuit, keys: Collection[Key]
) -> dict[Key, Any]:
    """Return what some keys name, on a grid or as terms of a circuit."""
    truth = subject.truth(grid)
    law = laws_beside(plan, subject, grid)
    found: dict[Key, Any] = {}

    def look(place: int, value: Any) -> None:
        if (SUM, place) in keys:
            found[SUM, place] = value

    outputs = outputs_of(plan, subject.inputs(grid), angles, grid, law, look)
    for j, (cascade, word) in enumerate(zip(outputs, subject.words.results, strict=True)):
        true = word.in_units(truth[j], grid)
        for place in _friction_wires(plan, j, subject):
            block = plan.blocks[word_of(plan.wires[place]).block]
            true = true + law(place, block).scaled(word.sign * block.lsb / Fraction(word.lsb))
        if (FAR, j) in keys:
            found[FAR, j] = cascade - true
        if (TRUE, j) in keys:
            found[TRUE, j] = true
        truth[j] = None
    return found


def box_beside(plan: AnyPlan, subject: Subject, positions: Sequence[int]) -> Box:
    """Return the ranges of all motions, those of laws with room, and of sliding positions on a grid as motions."""
    motions = box_of(dict(enumerate(subject.motions.values())))
    laws = {len(subject.motions) + place: (-1.0, 1.0) for place in range(len(plan.wires))}
    first = len(subject.motions) + len(plan.wires)
    words = subject.positions
    sliders = {axis: first + position for axis, position in enumerate(positions) if not words[position].angle}
    ends = {**motions.ends, **laws, **dict.fromkeys(sliders.values(), (-1.0, 1.0))}
    return Box(ends, motions.zeros, sliders)


def _friction_wires(plan: AnyPlan, joint: int, subject: Subject) -> list[int]:
    """Return the one wire that looks up the friction of a joint, if it has any."""
    law = subject.robot.joints[joint].friction if subject.record.friction else None
    if law is None:
        return []
    for place, wire in enumerate(plan.wires):
        if wire.kind == "lookup" and plan.blocks[word_of(wire).block].law == law:
            source = word_of(plan.wires[wire.wires[0]])
            if source.kind == "input" and source.name == f"qd{joint + 1}":
                return [place]
    raise RefusedError(f"plan: expected a table of the friction of joint {joint + 1}")


def laws_beside(plan: AnyPlan, subject: Subject, algebra: Any) -> Callable[[int, Block], Any]:
    """Return what stands for the table of a law: a motion of its own, which only the same law can cancel."""
    first = len(subject.motions)

    def law(place: int, block: Block) -> Any:
        wire = plan.wires[place]
        require(
            block.kind == "law" and block.centre == 0 and block.sign == 1, f"plan, wire {place}: expected a friction"
        )
        source = word_of(plan.wires[wire.wires[0]])
        names = {f"qd{j + 1}": each for j, each in enumerate(subject.arrays.get("qd", ()))}
        known = names.get(source.name) if source.kind == "input" else None
        (argument,) = block.arguments
        require(
            known is not None
            and not argument.angle
            and (argument.bits, argument.scale, argument.centre) == (known.bits, known.scale, known.middle),
            f"plan, wire {place}: expected friction of a velocity as its format has it",
        )
        most = max(abs(block.low), abs(block.high)) + 1
        return algebra.motion(first + place, Fraction(most))

    return law
