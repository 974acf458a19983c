"""How far the cascade without its roundings is from the true torque, for every position and every motion.

Both are polynomials in the motions whose coefficients are trigonometric polynomials in the positions. So is their
difference, which is therefore known everywhere once it is known on a grid (`fields`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from operator import mul

from .cascade import Angles
from .circuits import Circuit, run
from .fields import Field, Grid, Shape, joined
from .findings import RefusedError, require
from .float_plan import AnyPlan
from .graph import Angle
from .harmonics import WaveAlgebra, Waves
from .ieee import up
from .nearby import SURE, compare_nearby
from .peaks import common, enclosed, enclosed_by_boxes, largest, noise, within
from .side_by_side import FAR, SUM, TRUE, Key, angles_beside, box_beside, shapes_beside, values_beside
from .spans import Box, Span
from .subjects import Subject

LARGE = 60_000_000
"""Grid points times monomials: beyond so many, circuits of floats are compared first (`nearby`), which is faster."""
MAX_NUMBERS = 150_000_000
"""Grid points times monomials that are worked through: eight turning joints in one torque take 120 million."""
NOISY = 4
"""Times the rounding of floats on a grid that a difference may be nothing else."""
AT_ONCE = 1_000_000
"""Beyond so many, the grid is worked through in slices, so that memory stays small."""


@dataclass(frozen=True)
class Comparison:
    """What was found: by output how far the cascade is off, in units; from what, and how; the ranges asked for.

    `noise` is how far it would be off at least, as far as floats can tell.
    """

    differences: dict[int, float]
    noise: dict[int, float]
    how: tuple[str, ...]
    reaches: dict[int, Span]
    truths: dict[int, Span]

    def __or__(self, other: Comparison) -> Comparison:
        return Comparison(
            self.differences | other.differences,
            self.noise | other.noise,
            tuple(dict.fromkeys(self.how + other.how)),
            self.reaches | other.reaches,
            self.truths | other.truths,
        )


Spans = Mapping[int, Span]


@dataclass(frozen=True)
class Wanted:
    """What is asked for beside the differences, and what each of these is hoped to stay within.

    Attributes
    ----------
    reaches
        Sums whose range is asked for, in their units.
    truths
        Outputs whose true range is asked for, in units.
    limits
        For each output, in units, what the difference is hoped to stay below: beyond, it is looked at more closely.
    """

    reaches: Spans
    truths: Spans
    limits: list[float]


def compare(plan: AnyPlan, subject: Subject, wanted: Wanted) -> Comparison:
    """Compare the plan with the arm; where ends of a range that is asked for are known, they are not asked for."""
    known = {j: _known_units(subject, j) for j in wanted.truths}
    open_ = {
        j: (-math.inf if known[j][0] >= low else low, math.inf if known[j][1] <= high else high)
        for j, (low, high) in wanted.truths.items()
    }
    found = _compare_unknown(plan, subject, replace(wanted, truths=open_))
    return replace(found, truths={j: common(known[j], span) for j, span in found.truths.items()})


def _known_units(subject: Subject, place: int) -> Span:
    """Return what is known of an output apart from the plan, in units of its word."""
    word = subject.words.results[place]
    low, high = sorted(word.sign * end for end in subject.record.known_span(subject, place))
    zero, unit = word.sign * word.middle, Fraction(word.lsb)
    return (
        -up((zero - Fraction(low)) / unit) if math.isfinite(low) else low,
        up((Fraction(high) - zero) / unit) if math.isfinite(high) else high,
    )


def _compare_unknown(plan: AnyPlan, subject: Subject, wanted: Wanted) -> Comparison:
    """Do what `compare` does, with nothing known of the outputs."""
    angles = angles_beside(plan, subject)
    outputs = range(len(subject.words.results))
    if subject.record.in_rationals:
        keys = [*((FAR, j) for j in outputs), *((TRUE, j) for j in wanted.truths), *((SUM, k) for k in wanted.reaches)]
        return _compare_in_waves(plan, subject, angles, keys, wanted)
    shapes = shapes_beside(plan, subject, angles, wanted.reaches, wanted.truths)
    parts = _parts(shapes)
    found = reduce(
        Comparison.__or__, (_compare_part(plan, subject, angles, sorted(at) or [0], part, wanted) for at, part in parts)
    )
    if any(block.law is not None for block in plan.blocks):
        return found
    for j in outputs:  # where the floats of a grid are too coarse
        if wanted.limits[j] < found.differences[j] <= NOISY * found.noise[j]:
            with suppress(RefusedError):  # too many waves
                found = found | _compare_in_waves(plan, subject, angles, [(FAR, j)], wanted)
    return found


def _parts(shapes: dict[Key, Shape]) -> list[tuple[set[int], dict[Key, Shape]]]:
    """Return the shapes in parts that share no position, and the positions of each: the legs of a robot, for one."""
    parts: list[tuple[set[int], dict[Key, Shape]]] = []
    for key, shape in shapes.items():
        positions, own = {k for each in shape.values() for k, degree in enumerate(each) if degree}, {key: shape}
        apart = []
        for others, part in parts:
            if positions.isdisjoint(others):
                apart.append((others, part))
            else:
                positions, own = positions | others, part | own
        parts = [*apart, (positions, own)]
    return parts


def _compare_part(
    plan: AnyPlan, subject: Subject, angles: Angles, positions: list[int], shapes: dict[Key, Shape], wanted: Wanted
) -> Comparison:
    """Compare some outputs, on a grid of the positions that they depend on."""
    shapes = {
        key: {monomial: tuple(each[k] for k in positions) for monomial, each in shape.items()}
        for key, shape in shapes.items()
    }
    axes = range(len(positions))
    points = [2 * max(each[axis] for shape in shapes.values() for each in shape.values()) + 1 for axis in axes]
    sizes = [
        (math.prod(n for n, degree in zip(points, each, strict=True) if degree), each)
        for shape in shapes.values()
        for each in shape.values()
    ]
    size = sum(each for each, _ in sizes)
    asked = {j: span for j, span in wanted.truths.items() if (TRUE, j) in shapes}
    if size > LARGE and plan.target == "float":
        try:
            near = _compare_nearby(plan, subject, angles, shapes)
            if size > MAX_NUMBERS or all(within(near.truths[j], span) for j, span in asked.items()):
                return near
        except RefusedError:  # it may leave terms out, which a grid can show
            if size > MAX_NUMBERS:
                raise
    require(
        size <= MAX_NUMBERS,
        f"not proved, nor shown to be wrong: a plan in words is compared with the dynamics on a grid, which needs "
        f"{size:,} numbers here, more than {MAX_NUMBERS:,}; target 'float' needs none",
        "dynamics",
    )
    # the axis that most depends on
    axis = max(axes, key=lambda axis: sum(each for each, degrees in sizes if degrees[axis]))
    slices = range(points[axis]) if size > AT_ONCE else (None,)
    grids = (Grid(points, positions, None if k is None else (axis, k)) for k in slices)
    found = [values_beside(plan, subject, angles, grid, shapes) for grid in grids]
    whole = found[0]
    if len(found) > 1:
        whole = {key: joined([part.pop(key) for part in found], axis, shapes[key]) for key in [*whole]}
    box = box_beside(plan, subject, positions)
    outputs = [j for kind, j in whole if kind == FAR]
    rounding = {j: noise(whole[FAR, j], box) for j in outputs}
    differences = {j: largest(whole.pop((FAR, j)), box, wanted.limits[j]) for j in outputs}
    truths = {j: _true_range(subject, whole.pop((TRUE, j)), box, span) for j, span in asked.items()}
    reaches = {place: enclosed(field, box, wanted.reaches[place]) for (_, place), field in whole.items()}
    monomials = {monomial for shape in shapes.values() for monomial in shape}
    most = max(each for each, _ in sizes)
    how = f"{most:,} positions of a grid, {len(monomials)} products of motions"
    return Comparison(differences, rounding, (how,), reaches, truths)


def _true_range(subject: Subject, field: Field, box: Box, wanted: Span) -> Span:
    """Return the range of a true output: that of a torque may have been proved by boxes."""
    found = -math.inf, math.inf
    if subject.record.by_boxes and not subject.run_time:
        found = enclosed_by_boxes(field, box, wanted)
    return found if within(found, wanted) else common(found, enclosed(field, box, wanted))


def _compare_in_waves(
    plan: AnyPlan, subject: Subject, angles: Angles, keys: Collection[Key], wanted: Wanted
) -> Comparison:
    """Compare wave by wave in rationals what is no more than a product of poses, or too close for floats."""
    circuit, algebra, first = Circuit(), WaveAlgebra(), len(subject.positions)
    circuit, terms = circuit.cone(values_beside(plan, subject, angles, circuit, keys))
    words = dict(enumerate((*subject.positions, *subject.motions.values())))
    leaves: dict[int, Waves] = {}
    for place, node in enumerate(circuit.nodes):
        if node.kind == "constant":
            leaves[place] = algebra.number(circuit.constants[node.left])
        elif node.kind == "motion":  # a word, over the ends of its range
            number = first + node.variable if node.variable >= 0 else -1 - node.variable
            leaves[place] = algebra.motion(number, Fraction(-words[number].lowest))
        elif node.kind == "wave":
            rest = circuit.constants[node.left] if node.left >= 0 else Fraction(0)
            leaves[place] = (algebra.cosine if node.cosine else algebra.sine)(node.angle.plus(Angle(rest=rest)))
    nodes = run(circuit, leaves, mul)
    found = {key: nodes[term.place].scaled(Fraction(term.sign)) for key, term in terms.items() if term.place >= 0}
    nothing = algebra.number(Fraction(0))
    differences = {j: found.get((FAR, j), nothing).largest(words, wanted.limits[j]) for kind, j in keys if kind == FAR}
    truths, reaches = (
        {j: found.get((kind, j), nothing).enclosed(words, spans[j]) for own, j in keys if own == kind}
        for kind, spans in ((TRUE, wanted.truths), (SUM, wanted.reaches))
    )
    how = f"{max((len(each.terms) for each in nodes), default=0):,} waves in rationals"
    return Comparison(differences, dict.fromkeys(differences, 0.0), (how,), reaches, truths)


def _compare_nearby(plan: AnyPlan, subject: Subject, angles: Angles, keys: Collection[Key]) -> Comparison:
    """Compare circuits where a grid would be too large (`nearby`); plans that leave terms out have none that agrees."""
    circuit = Circuit()
    circuit, terms = circuit.cone(values_beside(plan, subject, angles, circuit, keys))
    outputs = [j for kind, j in terms if kind == FAR]
    found = compare_nearby(circuit, [terms[FAR, j].place for j in outputs])
    differences = dict(zip(outputs, found.differences, strict=True))
    truths = {j: found.range(terms[TRUE, j]) for j in outputs if (TRUE, j) in terms}
    how = (
        f"{len(circuit.nodes):,} operations, by constants nearby that agree at {found.points} random points: a false "
        f"one would pass with a probability of at most 2^-{SURE}"
    )
    return Comparison(differences, differences, (how,), {}, truths)
