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

from .cascade import Angles, angles_of
from .circuits import Circuit
from .fields import DegreeAlgebra, Degrees, Grid, Shape, highest, joined
from .findings import RefusedError, require
from .float_plan import AnyPlan, word_of
from .formats import box_of
from .harmonics import WaveAlgebra, Waves
from .nearby import SURE, compare_nearby
from .passes import outputs_of
from .peaks import enclosed, enclosed_by_boxes, largest, noise, within
from .plan import Block, Wire
from .spans import Box, Span
from .subjects import RUBBING, TIP, Subject

LARGE = 60_000_000
"""Grid points times monomials: beyond so many, circuits of floats are compared first (`nearby`), which is faster."""
MOST_NUMBERS = 150_000_000
"""Grid points times monomials that are worked through: eight turning joints in one torque take 120 million."""
TRUE = -1_000_000
"""Less the number of an output: where its true value is kept."""
AT_ONCE = 1_000_000
"""Beyond so many, the grid is worked through in slices, so that memory stays small."""


@dataclass(frozen=True)
class Comparison:
    """What was found: for each torque how far the cascade is off, in units; from what, and how; the ranges asked for.

    `noise` is how far it would be off at least, as far as floats can tell.
    """

    differences: list[float]
    noise: list[float]
    how: str
    reaches: dict[int, Span]
    truths: dict[int, Span]


Spans = Mapping[int, Span]


def compare(plan: AnyPlan, subject: Subject, wanted: Spans, asked: Spans, limits: list[float]) -> Comparison:
    """Compare the plan with the arm.

    Parameters
    ----------
    wanted
        Sums whose range is asked for as well, in their units, and what it is hoped to stay within.
    asked
        Outputs whose true range is asked for, in units, and what it is hoped to stay within.
    limits
        For each torque, in units, what the difference is hoped to stay below: beyond, it is looked at more closely.
    """
    if subject.quantity in TIP:
        return _compare_exactly(plan, subject, wanted, asked, limits)
    joints = range(len(subject.positions))
    angles = _angles(plan, subject)
    shapes = _shapes(plan, subject, angles, wanted, asked)
    degrees = [[each[axis] for shape in shapes.values() for each in shape.values()] for axis in joints]
    grid = Grid([2 * max(each, default=0) + 1 for each in degrees])
    sizes = [
        (math.prod(n for n, degree in zip(grid.points, each, strict=True) if degree), each)
        for shape in shapes.values()
        for each in shape.values()
    ]
    size = sum(each for each, _ in sizes)
    if size > LARGE and plan.target == "float":
        try:
            near = _compare_nearby(plan, subject, angles, asked)
            if size > MOST_NUMBERS or all(within(near.truths[j], span) for j, span in asked.items()):
                return near
        except RefusedError:  # it may leave terms out, which a grid can show
            if size > MOST_NUMBERS:
                raise
    require(
        size <= MOST_NUMBERS,
        f"not proved, nor shown to be wrong: a plan in words is compared with the dynamics on a grid, which needs "
        f"{size:,} numbers here, more than {MOST_NUMBERS:,}; target 'float' needs none",
        "dynamics",
    )
    # the axis that most depends on
    axis = max(joints, key=lambda axis: sum(each for each, degrees in sizes if degrees[axis]))
    slices = range(grid.points[axis]) if size > AT_ONCE else (None,)
    found = [
        _slice(plan, subject, angles, Grid(grid.points, None if k is None else (axis, k)), wanted, asked)
        for k in slices
    ]
    whole = found[0]
    if len(found) > 1:
        whole = {key: joined([part.pop(key) for part in found], axis, shapes[key]) for key in [*whole]}
    box = _box(plan, subject)
    rounding = [noise(whole[-1 - j], box) for j in range(len(limits))]
    differences = [largest(whole.pop(-1 - j), box, limit) for j, limit in enumerate(limits)]
    by = enclosed_by_boxes if subject.quantity == "torque" else enclosed
    truths = {j: by(whole.pop(TRUE - j), box, span) for j, span in asked.items()}
    reaches = {place: enclosed(field, box, wanted[place]) for place, field in whole.items()}
    monomials = {monomial for shape in shapes.values() for monomial in shape}
    points = max(each for each, _ in sizes)
    how = f"Newton-Euler, everywhere ({points:,} positions of a grid, {len(monomials)} products of motions)"
    return Comparison(differences, rounding, how, reaches, truths)


def _compare_exactly(plan: AnyPlan, subject: Subject, wanted: Spans, asked: Spans, limits: list[float]) -> Comparison:
    """Compare wave by wave in rationals what is no more than a product of poses."""
    algebra, words = WaveAlgebra(), dict(enumerate(subject.positions))
    reaches: dict[int, Span] = {}

    def look(place: int, value: Waves) -> None:
        if place in wanted:
            reaches[place] = value.enclosed(words, wanted[place])

    differences, truths, most = [], {}, 0
    law = _laws(plan, subject, algebra)
    outputs = outputs_of(plan, subject.inputs(algebra), _angles(plan, subject), algebra, law, look)
    for j, (own, true, word) in enumerate(zip(outputs, subject.truth(algebra), subject.outputs, strict=True)):
        units = true.scaled(word.sign / Fraction(word.lsb)) + algebra.number(
            -word.sign * word.middle / Fraction(word.lsb)
        )
        differences.append((own - units).largest(words, limits[j]))
        most = max(most, len(own.terms), len(units.terms))
        if j in asked:
            most_entry = subject.largest_entry(j) / word.lsb * (1 + 1e-15)
            inside = asked[j][0] <= -most_entry and most_entry <= asked[j][1]
            truths[j] = (-most_entry, most_entry) if inside else units.enclosed(words, asked[j])
    how = f"the robot's kinematics, in rationals ({most:,} waves)"
    return Comparison(differences, [0.0] * len(differences), how, reaches, truths)


def _compare_nearby(plan: AnyPlan, subject: Subject, angles: Angles, asked: Spans) -> Comparison:
    """Compare circuits where a grid would be too large (`nearby`); plans that leave terms out have none that agrees."""
    circuit, outputs = Circuit(), range(len(subject.outputs))
    terms = _slice(plan, subject, angles, circuit, {}, asked)
    found = compare_nearby(circuit, [terms[-1 - j].place for j in outputs])
    truths = {j: found.range(terms[TRUE - j]) for j in asked}
    how = (
        f"Newton-Euler, everywhere (of {len(circuit.nodes):,} operations, by constants nearby that agree at "
        f"{found.points} random points: a false one would pass with a probability of at most 2^-{SURE})"
    )
    return Comparison(found.differences, found.differences, how, {}, truths)


def _angles(plan: AnyPlan, subject: Subject) -> Angles:
    """Return the angle of every wire that holds one; differences that stand for numbers are none."""
    angles = angles_of(plan, subject.axes, subject.fractions)
    first = len(subject.positions)
    desired = {place for place, angle in angles.items() if any(axis >= first for axis, _ in angle.multipliers)}
    for place, wire in enumerate(plan.wires):
        if isinstance(wire, Wire) and wire.kind == "angle_sum" and wire.name in subject.differences:
            ahead, behind = subject.differences[wire.name]
            parts = [(word_of(plan.wires[part]), factor, shift) for part, factor, shift in wire.parts]
            found = [(word.name, word.kind, factor, shift) for word, factor, shift in parts]
            require(
                found == [(ahead, "input", 1, 0), (behind, "input", -1, 0)]
                and (wire.constant, wire.bits) == (0, subject.words[behind].bits),
                f"plan, wire {place}: expected the difference of {ahead} and {behind}",
            )
            del angles[place]
            continue
        read = {*wire.wires, *(part for part, _, _ in wire.parts)} if isinstance(wire, Wire) else {*wire.wires}
        astray = read & desired & angles.keys()
        require(not astray, f"plan, wire {place}: expected a desired position in its difference alone")
    return angles


def _shapes(plan: AnyPlan, subject: Subject, angles: Angles, wanted: Spans, asked: Spans) -> dict[int, Shape]:
    """Return, as `_slice` does, the monomials there can be and their degrees."""
    algebra = DegreeAlgebra(len(subject.positions))
    shapes: dict[int, Shape] = {}

    def look(place: int, value: Degrees) -> None:
        if place in wanted:
            shapes[place] = value.shape

    law = _laws(plan, subject, algebra)
    outputs = list(outputs_of(plan, subject.inputs(algebra), angles, algebra, law, look))
    most = subject.degrees
    for j, (own, true) in enumerate(zip(outputs, subject.truth(algebra), strict=True)):
        truth = true.shape
        if most is not None:
            truth = {monomial: tuple(map(min, degrees, most)) for monomial, degrees in truth.items()}
        shapes[-1 - j] = highest(highest(truth, own.shape), {(): (0,) * algebra.axes})
    return shapes | {TRUE - j: shapes[-1 - j] for j in asked}


def _slice(
    plan: AnyPlan, subject: Subject, angles: Angles, grid: Grid | Circuit, wanted: Spans, asked: Spans
) -> dict[int, Any]:
    """Return, on a grid, the difference of every output j as −1 − j, sums that are wanted by their place, truths."""
    truth = subject.truth(grid)
    law = _laws(plan, subject, grid)
    found: dict[int, Any] = {}

    def look(place: int, value: Any) -> None:
        if place in wanted:
            found[place] = value

    outputs = outputs_of(plan, subject.inputs(grid), angles, grid, law, look)
    for j, (cascade, word) in enumerate(zip(outputs, subject.outputs, strict=True)):
        # a value v has the word (sign·(v − offset) − centre)/lsb
        unit = Fraction(word.lsb)
        true = truth[j].scaled(word.sign / unit) + grid.number(-word.sign * word.middle / unit)
        for place in _friction_wires(plan, j, subject):
            block = plan.blocks[word_of(plan.wires[place]).block]
            true = true + law(place, block).scaled(word.sign * block.lsb / unit)
        found[-1 - j] = cascade - true
        if j in asked:
            found[TRUE - j] = true
        truth[j] = None
    return found


def _box(plan: AnyPlan, subject: Subject) -> Box:
    """Return the ranges of all motions, those of laws with room, and of sliding positions as motions."""
    motions = box_of(dict(enumerate(subject.motions.values())))
    laws = {len(subject.motions) + place: (-1.0, 1.0) for place in range(len(plan.wires))}
    first = len(subject.motions) + len(plan.wires)
    sliders = {axis: first + axis for axis, word in enumerate(subject.arrays["q"]) if not word.angle}
    ends = {**motions.ends, **laws, **dict.fromkeys(sliders.values(), (-1.0, 1.0))}
    return Box(ends, motions.zeros, sliders)


def _friction_wires(plan: AnyPlan, joint: int, subject: Subject) -> list[int]:
    """Return the one wire that looks up the friction of a joint, if it has any."""
    law = subject.robot.joints[joint].friction if subject.quantity in RUBBING else None
    if law is None:
        return []
    for place, wire in enumerate(plan.wires):
        if wire.kind == "lookup" and plan.blocks[word_of(wire).block].law == law:
            source = word_of(plan.wires[wire.wires[0]])
            if source.kind == "input" and source.name == f"qd{joint + 1}":
                return [place]
    raise RefusedError(f"plan: expected a table of the friction of joint {joint + 1}")


def _laws(plan: AnyPlan, subject: Subject, algebra: Any) -> Callable[[int, Block], Any]:
    """Return what stands for the table of a law: a motion of its own, which only the same law can cancel."""
    first = len(subject.motions)

    def law(place: int, block: Block) -> Any:
        wire = plan.wires[place]
        require(
            block.kind == "law" and block.centre == 0 and block.sign == 1, f"plan, wire {place}: expected a friction"
        )
        source = word_of(plan.wires[wire.wires[0]])
        names = {f"qd{j + 1}": each for j, each in enumerate(subject.arrays.get("qd", []))}
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
