"""How far the cascade without its roundings is from the true torque, for every position and every motion.

Both are polynomials in the motions whose coefficients are trigonometric polynomials in the positions. So is their
difference, which is therefore known everywhere once it is known on a grid (`fields`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .cascade import angles_of
from .dynamics import State, torque_changes, torques
from .fields import DegreeAlgebra, Degrees, Field, Grid, Shape, highest, joined
from .findings import RefusedError, require
from .float_plan import AnyPlan, word_of
from .formats import Format, box_of
from .graph import Angle
from .passes import outputs_of
from .peaks import enclosed, largest, noise
from .plan import Block
from .robots import Robot
from .spans import Box, Span

MOST_NUMBERS = 60_000_000
"""Grid points times monomials that are worked through: beyond, memory and time would run out."""
AT_ONCE = 1_000_000
"""Beyond so many, the grid is worked through in slices, so that memory stays small."""
SECOND = 2
"""Degree of a torque in each position, rotations being true ones."""


@dataclass(frozen=True)
class Words:
    """The formats of an arm, joint by joint."""

    q: list[Format]
    qd: list[Format]
    qdd: list[Format]
    tau: list[Format]


@dataclass(frozen=True)
class Comparison:
    """What was found: for each torque how far the cascade is off, in units; the grid; the ranges asked for.

    `noise` is how far it would be off at least, as far as floats can tell.
    """

    differences: list[float]
    noise: list[float]
    points: int
    monomials: int
    reaches: dict[int, Span]


def compare(plan: AnyPlan, robot: Robot, words: Words, wanted: Mapping[int, Span], limits: list[float]) -> Comparison:
    """Compare the plan with the arm.

    Parameters
    ----------
    wanted : sums whose range is asked for as well, in their units, and what it is hoped to stay within
    limits : for each torque, in units, what the difference is hoped to stay below: beyond, it is looked at more closely
    """
    joints = range(len(robot.joints))
    axes = {f"q{j + 1}": j for j in joints}
    angles = angles_of(plan, axes)
    shapes = _shapes(plan, robot, words, angles, wanted)
    degrees = [[each[axis] for shape in shapes.values() for each in shape.values()] for axis in joints]
    grid = Grid([2 * max(each, default=0) + 1 for each in degrees])
    sizes = [
        (math.prod(n for n, degree in zip(grid.points, each, strict=True) if degree), each)
        for shape in shapes.values()
        for each in shape.values()
    ]
    size = sum(each for each, _ in sizes)
    require(size <= MOST_NUMBERS, f"the comparison needs {size:,} numbers, more than {MOST_NUMBERS:,}", "dynamics")
    # the axis that most depends on
    axis = max(joints, key=lambda axis: sum(each for each, degrees in sizes if degrees[axis]))
    slices = range(grid.points[axis]) if size > AT_ONCE else (None,)
    found = [
        _slice(plan, robot, words, angles, Grid(grid.points, None if k is None else (axis, k)), wanted) for k in slices
    ]
    whole = found[0]
    if len(found) > 1:
        whole = {key: joined([part.pop(key) for part in found], axis, shapes[key]) for key in [*whole]}
    box = _box(plan, words)
    changes = torque_changes(robot, *([each.largest for each in row] for row in (words.q, words.qd, words.qdd)))
    units = [change / word.lsb * (1 + 1e-15) for change, word in zip(changes, words.tau, strict=True)]
    rounding = [noise(whole[-1 - j], box) + change for j, change in enumerate(units)]
    differences = [
        largest(whole.pop(-1 - j), box, limit - change) + change
        for j, (limit, change) in enumerate(zip(limits, units, strict=True))
    ]
    reaches = {place: enclosed(field, box, wanted[place]) for place, field in whole.items()}
    monomials = {monomial for shape in shapes.values() for monomial in shape}
    return Comparison(differences, rounding, max(each for each, _ in sizes), len(monomials), reaches)


def _shapes(
    plan: AnyPlan, robot: Robot, words: Words, angles: dict[int, Angle], wanted: Mapping[int, Span]
) -> dict[int, Shape]:
    """Return the monomials there can be in each difference, as −1 − j, and each sum that is wanted, and their degrees.

    Rotations are true ones on the grid: by Lagrange and Uicker a torque is then of the second degree in every position,
    and of as much more as there are followers.
    """
    algebra = DegreeAlgebra(len(robot.joints))
    most = [0] * len(robot.joints)
    for member in robot.members:
        most[member.drive] += SECOND * (abs(int(member.multiplier)) if member.joint.revolute else 1)
    shapes: dict[int, Shape] = {}

    def look(place: int, value: Degrees) -> None:
        if place in wanted:
            shapes[place] = value.shape

    law = _laws(plan, robot, words, algebra)
    outputs = list(outputs_of(plan, _inputs(words, algebra), angles, algebra, law, look))
    for j, (own, true) in enumerate(zip(outputs, torques(robot, _state(robot, words, algebra), algebra), strict=True)):
        truth = {monomial: tuple(map(min, degrees, most)) for monomial, degrees in true.shape.items()}
        shapes[-1 - j] = highest(highest(truth, own.shape), {(): (0,) * algebra.axes})
    return shapes


def _slice(
    plan: AnyPlan, robot: Robot, words: Words, angles: dict[int, Angle], grid: Grid, wanted: Mapping[int, Span]
) -> dict[int, Field]:
    """Return, on a grid, the difference of every torque j as −1 − j, and the sums that are wanted by their place."""
    taus: list[Any] = torques(robot, _state(robot, words, grid), grid)
    law = _laws(plan, robot, words, grid)
    found: dict[int, Field] = {}

    def look(place: int, value: Field) -> None:
        if place in wanted:
            found[place] = value

    outputs = outputs_of(plan, _inputs(words, grid), angles, grid, law, look)
    for j, (cascade, word) in enumerate(zip(outputs, words.tau, strict=True)):
        # a torque of value v has the word (sign·(v − offset) − centre)/lsb
        unit = Fraction(word.lsb)
        true = taus[j].scaled(word.sign / unit) + grid.number(-word.sign * word.middle / unit)
        for place in _friction_wires(plan, j, robot):
            block = plan.blocks[word_of(plan.wires[place]).block]
            true = true + law(place, block).scaled(word.sign * block.lsb / unit)
        found[-1 - j] = cascade - true
        taus[j] = None
    return found


def _box(plan: AnyPlan, words: Words) -> Box:
    """Return the ranges of all motions, those of laws with room."""
    motions = box_of(dict(enumerate([*words.qd, *words.qdd])))
    laws = {2 * len(words.qd) + place: (-1.0, 1.0) for place in range(len(plan.wires))}
    return Box({**motions.ends, **laws}, motions.zeros)


def _inputs(words: Words, algebra: Any) -> dict[str, Any]:
    """Return the words that are no angles: motions are 2^(bits − 1) times a number; sliding positions go to and fro."""
    n = len(words.q)
    found = {}
    for j in range(n):
        half = {name: Fraction(1 << (each[j].bits - 1)) for name, each in _motions(words)}
        if not words.q[j].angle:
            low, high = words.q[j].lowest, words.q[j].highest
            found[f"q{j + 1}"] = algebra.slide(j, Fraction(high - low, 2)) + algebra.number(Fraction(low + high, 2))
        found[f"qd{j + 1}"] = algebra.motion(j, half["qd"])
        found[f"qdd{j + 1}"] = algebra.motion(n + j, half["qdd"])
    return found


def _motions(words: Words) -> list[tuple[str, list[Format]]]:
    return [("qd", words.qd), ("qdd", words.qdd)]


def _state(robot: Robot, words: Words, algebra: Any) -> State:
    """Return where the members of the tree stand, and how they move."""
    inputs = _inputs(words, algebra)

    def values(name: str, formats: list[Format], moved: bool) -> list[Any]:
        found = []
        for member in robot.members:
            word = formats[member.drive]
            if word.angle:
                found.append(algebra.number(Fraction(0)))
                continue
            rest = member.multiplier * word.middle + (Fraction(0) if moved else member.offset)
            found.append(
                inputs[f"{name}{member.drive + 1}"].scaled(member.multiplier * word.scale) + algebra.number(rest)
            )
        return found

    angles = []
    for member in robot.members:
        word, factor = words.q[member.drive], int(member.multiplier)
        rest = factor * Fraction(word.offset) + member.offset
        angles.append(Angle(((member.drive, factor * word.sign),), Fraction(0), rest) if word.angle else Angle())
    return State(
        values("q", words.q, moved=False),
        [algebra.sine(each) for each in angles],
        [algebra.cosine(each) for each in angles],
        values("qd", words.qd, moved=True),
        values("qdd", words.qdd, moved=True),
    )


def _friction_wires(plan: AnyPlan, joint: int, robot: Robot) -> list[int]:
    """Return the one wire that looks up the friction of a joint, if it has any."""
    law = robot.joints[joint].friction
    if law is None:
        return []
    for place, wire in enumerate(plan.wires):
        if wire.kind == "lookup" and plan.blocks[word_of(wire).block].law == law:
            source = word_of(plan.wires[wire.wires[0]])
            if source.kind == "input" and source.name == f"qd{joint + 1}":
                return [place]
    raise RefusedError(f"plan: expected a table of the friction of joint {joint + 1}")


def _laws(plan: AnyPlan, robot: Robot, words: Words, algebra: Any) -> Callable[[int, Block], Any]:
    """Return what stands for the table of a law: a motion of its own, which only the same law can cancel."""
    first = 2 * len(robot.joints)

    def law(place: int, block: Block) -> Any:
        wire = plan.wires[place]
        require(
            block.kind == "law" and block.centre == 0 and block.sign == 1, f"plan, wire {place}: expected a friction"
        )
        source = word_of(plan.wires[wire.wires[0]])
        names = {f"qd{j + 1}": each for j, each in enumerate(words.qd)}
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
