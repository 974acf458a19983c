"""Distance of a plan without its roundings from the true outputs, for every position and every motion.

Both are polynomials in the motions whose coefficients are trigonometric polynomials in the positions. So is their
difference, which is therefore known everywhere once it is known on a grid (`fields`).

Traced functions, and what is no more than a product of poses, are compared wave by wave, in rationals: a term is a
product of input words, each from −1 to 1, and a sine or cosine of a whole combination of angles. Products of waves
become sums of waves, so that equal functions have equal terms.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from .cascade import Angles, angles_of, unrounded
from .circuits import Circuit, Term
from .enclosures import Ball
from .fields import DegreeAlgebra, Field, Grid, Shape, highest, joined
from .findings import RefusedError, require, work
from .formats import Format, box_of
from .graph import Angle, short
from .ieee import up
from .laws import Friction
from .nearby import SURE, compare_nearby
from .peaks import common, enclosed, enclosed_by_boxes, noise, within
from .plan import Block, Plan
from .ranges import Box, Span, Terms, add_term
from .subjects import Subject
from .tables import Facts

FAR, TRUE, SUM, PLAN = "difference", "truth", "sum", "plan"
Key = tuple[str, int]
"""Distance of an output from its true value, that value, a sum of the plan, an output of it; and the number of that."""
Spans = Mapping[Key, Span]
LARGE = 60_000_000
"""Grid points times monomials: beyond so many, circuits of floats are compared first (`nearby`), which is faster."""
MAX_NUMBERS = 150_000_000
"""Grid points times monomials that are worked through: eight turning joints in one torque take 120 million."""
NOISY = 4
"""Times the rounding of floats on a grid: what a difference is too large by may be nothing else."""
AT_ONCE = 1_000_000
"""Beyond so many, the grid is worked through in slices, so that memory stays small."""


@dataclass(frozen=True)
class Comparison:
    """Ranges of all that was asked for, in units, and how they were shown.

    `noise` is how far each output would be off at least, as far as floats can tell.
    """

    ranges: dict[Key, Span]
    noise: dict[int, float]
    how: tuple[str, ...]

    def __or__(self, other: Comparison) -> Comparison:
        how = tuple(dict.fromkeys(self.how + other.how))
        return Comparison(self.ranges | other.ranges, self.noise | other.noise, how)

    def difference(self, output: int) -> float:
        """Return how far an output can be from the truth, in units."""
        return max(map(abs, self.ranges[FAR, output]))


def compare(plan: Plan, subject: Subject, facts: Sequence[Facts], wanted: Spans) -> Comparison:
    """Compare a plan with what it stands for: the differences of all outputs, true outputs and sums.

    Both are written down once, as terms of a circuit. Ranges are looked at more closely where they leave what is
    wanted. Ends of a true range that are known are not asked for.
    """
    pair, known = (
        _Pair(plan, subject, facts, wanted),
        {j: _known_units(subject, j) for kind, j in wanted if kind == TRUE},
    )
    asked = dict(wanted)
    for j, (least, most) in known.items():
        low, high = wanted[TRUE, j]
        asked[TRUE, j] = -math.inf if least >= low else low, math.inf if most <= high else high
    found = _compare_in_waves(pair, asked) if subject.record.in_rationals else _compare_on_grids(pair, asked)
    found.ranges.update({(TRUE, j): common(span, found.ranges[TRUE, j]) for j, span in known.items()})
    return found


def _known_units(subject: Subject, place: int) -> Span:
    """Return what is known of an output apart from the plan, in units of its word."""
    word = subject.words.results[place]
    low, high = sorted(word.sign * end for end in subject.record.known_span(subject, place))
    zero, unit = word.sign * word.middle, Fraction(word.lsb)
    return (
        -up((zero - Fraction(low)) / unit) if math.isfinite(low) else low,
        up((Fraction(high) - zero) / unit) if math.isfinite(high) else high,
    )


def _compare_on_grids(pair: _Pair, wanted: Spans) -> Comparison:
    """Compare part by part, and again in rationals where the floats of a grid are too coarse."""
    found = Comparison({}, {}, ())
    for positions, shapes in _parts(pair.shapes()):
        found |= _compare_part(pair, sorted(positions) or [0], shapes, wanted)
    if not any(block.law is not None for block in pair.plan.blocks):
        for j in range(len(pair.plan.outputs)):
            if 0.0 < found.difference(j) - wanted[FAR, j][1] <= NOISY * found.noise[j]:
                with suppress(RefusedError):  # too many waves
                    found |= _compare_in_waves(pair, {(FAR, j): wanted[FAR, j]})
    return found


def _parts(shapes: dict[Key, Shape]) -> list[tuple[set[int], dict[Key, Shape]]]:
    """Return the shapes in parts that share no position, and the positions of each: the legs of a robot, for one."""
    parts: list[tuple[set[int], dict[Key, Shape]]] = []
    for key, shape in shapes.items():
        positions, own = {k for degrees in shape.values() for k, degree in enumerate(degrees) if degree}, {key: shape}
        apart = []
        for others, part in parts:
            if positions.isdisjoint(others):
                apart.append((others, part))
            else:
                positions, own = positions | others, part | own
        parts = [*apart, (positions, own)]
    return parts


def _compare_part(pair: _Pair, positions: list[int], shapes: dict[Key, Shape], wanted: Spans) -> Comparison:
    """Compare some outputs, on a grid of the positions that they depend on."""
    shapes = {
        key: {monomial: tuple(degrees[k] for k in positions) for monomial, degrees in shape.items()}
        for key, shape in shapes.items()
    }
    axes, every = range(len(positions)), [degrees for shape in shapes.values() for degrees in shape.values()]
    points = [2 * max(degrees[axis] for degrees in every) + 1 for axis in axes]
    sizes = [math.prod(n for n, degree in zip(points, degrees, strict=True) if degree) for degrees in every]
    size = sum(sizes)
    if size > LARGE and pair.plan.precision:
        try:
            near = _compare_nearby(pair, shapes)
            truths = [key for key in shapes if key[0] == TRUE]
            if size > MAX_NUMBERS or all(within(near.ranges[key], wanted[key]) for key in truths):
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
    axis = max(axes, key=lambda axis: sum(n for n, degrees in zip(sizes, every, strict=True) if degrees[axis]))
    slices = range(points[axis]) if size > AT_ONCE else (None,)
    grids = (Grid(points, positions, None if k is None else (axis, k)) for k in slices)
    terms = {key: pair.terms[key] for key in shapes}
    found = [pair.circuit.values(terms, grid) for grid in grids]
    whole = found[0]
    if len(found) > 1:
        whole = {key: joined([part.pop(key) for part in found], axis, shapes[key]) for key in [*whole]}
    box = pair.box(positions)
    rounding = {j: noise(field, box) for (kind, j), field in whole.items() if kind == FAR}
    ranges = {key: _range(pair.subject, key, whole.pop(key), box, wanted[key]) for key in [*whole]}
    monomials = {monomial for shape in shapes.values() for monomial in shape}
    how = f"{max(sizes):,} positions of a grid, {len(monomials)} products of motions"
    return Comparison(ranges, rounding, (how,))


def _range(subject: Subject, key: Key, field: Field, box: Box, wanted: Span) -> Span:
    """Return a range of a field; that of a true torque may have been proved by boxes."""
    found = -math.inf, math.inf
    if key[0] == TRUE and subject.record.by_boxes and not subject.run_time:
        found = enclosed_by_boxes(field, box, wanted)
    return found if within(found, wanted) else common(found, enclosed(field, box, wanted))


def _compare_in_waves(pair: _Pair, wanted: Spans) -> Comparison:
    """Compare wave by wave in rationals what is no more than a product of poses, or too close for floats."""
    terms = {key: pair.terms[key] for key in wanted}
    words = dict(enumerate(pair.subject.motions.values()))
    words |= {-1 - axis: word for axis, word in enumerate(pair.subject.positions)}
    ranges = ranges_in_waves(pair.circuit, terms, words, wanted)
    return Comparison(ranges, {j: 0.0 for kind, j in wanted if kind == FAR}, ("wave by wave, in rationals",))


def _compare_nearby(pair: _Pair, keys: Collection[Key]) -> Comparison:
    """Compare circuits where a grid would be too large (`nearby`); plans that leave terms out have none that agrees."""
    circuit, terms = pair.circuit.cone({key: pair.terms[key] for key in keys})
    outputs = [j for kind, j in terms if kind == FAR]
    found = compare_nearby(circuit, [terms[FAR, j].place for j in outputs])
    differences = dict(zip(outputs, found.differences, strict=True))
    ranges = {(FAR, j): (-difference, difference) for j, difference in differences.items()}
    ranges |= {key: found.range(term) for key, term in terms.items() if key[0] == TRUE}
    how = (
        f"{len(circuit.nodes):,} operations, by constants nearby that agree at {found.points} random points: a false "
        f"one would pass with a probability of at most 2^-{SURE}"
    )
    return Comparison(ranges, differences, (how,))


@dataclass(frozen=True)
class _Pair:
    """A plan without its roundings beside what it stands for, operation by operation, as far as is wanted."""

    plan: Plan
    subject: Subject
    facts: Sequence[Facts]
    wanted: Spans
    circuit: Circuit = field(default_factory=Circuit)

    @cached_property
    def angles(self) -> Angles:
        """The angle of every wire that holds one; those that stand for numbers are none."""
        plan, subject = self.plan, self.subject
        angles = angles_of(plan, subject.axes, subject.fractions)
        first = len(subject.positions)
        desired = {place for place, angle in angles.items() if any(axis >= first for axis, _ in angle.multipliers)}
        for place, wire in enumerate(plan.wires):
            if wire.kind == "angle_sum" and wire.name in subject.numbers:
                expected = subject.numbers[wire.name]
                named = " and ".join(name for name, _ in expected)
                parts = [(plan.word(part), factor, shift) for part, factor, shift in wire.parts]
                summands = [(word.name, word.kind, factor, shift) for word, factor, shift in parts]
                require(
                    summands == [(name, "input", factor, 0) for name, factor in expected]
                    and (wire.constant, wire.bits) == (0, subject.words.named[expected[-1][0]].bits),
                    f"plan, wire {place}: expected {'the difference of ' if len(expected) > 1 else ''}{named}",
                )
                del angles[place]
                continue
            astray = {*wire.reads} & desired & angles.keys()
            require(not astray, f"plan, wire {place}: expected a desired position in its difference alone")
        return angles

    @cached_property
    def terms(self) -> dict[Key, Term]:
        """Terms of all that is wanted, and of the outputs of the plan."""
        subject, circuit = self.subject, self.circuit
        truth, terms = subject.truth(circuit, self._viscous), dict[Key, Term]()

        def look(place: int, value: Term) -> None:
            if (SUM, place) in self.wanted:
                terms[SUM, place] = value

        outputs = unrounded(self.plan, subject.inputs(circuit), self.angles, circuit, self._law, look)
        for j, (cascade, word) in enumerate(zip(outputs, subject.words.results, strict=True)):
            true = word.in_units(truth[j], circuit)
            place = self._frictions[j][0] if self._frictions else None
            if place is not None:
                block = self.plan.blocks[self.plan.wires[place].block]
                true = true + self._law(place, block).scaled(word.sign * block.lsb / Fraction(word.lsb))
            terms[PLAN, j], terms[TRUE, j], terms[FAR, j] = cascade, true, cascade - true
        return terms

    def shapes(self) -> dict[Key, Shape]:
        """Return the monomials that there can be in what is wanted, and their degrees."""
        subject, numbers = self.subject, DegreeAlgebra(len(self.subject.positions))
        written = {key: term for key, term in self.terms.items() if key[0] != FAR}
        found = {key: degrees.shape for key, degrees in self.circuit.values(written, numbers).items()}
        most = subject.record.degrees(subject)
        for j in range(len(self.plan.outputs)):
            truth = found[TRUE, j]
            if most is not None:
                truth = {monomial: tuple(map(min, degrees, most)) for monomial, degrees in truth.items()}
            found[FAR, j] = highest(highest(truth, found[PLAN, j]), {(): (0,) * numbers.axes})
        return {key: found[FAR, key[1]] if key[0] == TRUE else found[key] for key in self.wanted}

    def box(self, positions: Sequence[int]) -> Box:
        """Return the ranges of all motions, those of laws, and of sliding positions on a grid as motions."""
        count, words = len(self.subject.motions), self.subject.positions
        motions, first = box_of(dict(enumerate(self.subject.motions.values()))), count + len(self.plan.wires)
        sliders = {axis: first + position for axis, position in enumerate(positions) if not words[position].angle}
        laws = {count + k: self._law_ends(k) for k, wire in enumerate(self.plan.wires) if wire.kind == "lookup"}
        return Box({**motions.ends, **laws, **dict.fromkeys(sliders.values(), (-1.0, 1.0))}, motions.zeros, sliders)

    def _law_ends(self, place: int) -> Span:
        """Return what a look-up is within, over `_law_size` of its block."""
        block = self.plan.wires[place].block
        size, (low, high) = _law_size(self.plan.blocks[block]), self.facts[block].reach
        return math.nextafter(low / size, -math.inf), math.nextafter(high / size, math.inf)

    @cached_property
    def _frictions(self) -> list[tuple[int | None, Fraction]]:
        """The wire that looks up the friction of each joint, if any does, and the viscous part beside it."""
        lookups = [(place, wire) for place, wire in enumerate(self.plan.wires) if wire.kind == "lookup"]
        tables = {
            (word.name, self.plan.blocks[wire.block].law): place
            for place, wire in lookups
            if (word := self.plan.word(wire.wires[0])).kind == "input"
        }
        found: list[tuple[int | None, Fraction]] = []
        for j, joint in enumerate(self.subject.robot.joints if self.subject.record.friction else (), 1):
            law, viscous = joint.friction, Fraction(0)
            if isinstance(law, Friction) and (f"qd{j}", law) not in tables:
                viscous, law = Fraction(law.viscous), law.dry
            place = None if law is None else tables.get((f"qd{j}", law))
            require(law is None or place is not None, f"plan: expected a table of the friction of joint {j}")
            found.append((place, viscous))
        return found

    @property
    def _viscous(self) -> list[Fraction]:
        return [viscous for _, viscous in self._frictions]

    def _law(self, place: int, block: Block) -> Term:
        """Return what stands for the table of a law: a motion of its own, which only the same law can cancel."""
        velocities = {f"qd{j}": velocity for j, velocity in enumerate(self.subject.arrays.get("qd", ()), 1)}
        friction = block.kind == "law" and block.centre == 0 and block.sign == 1
        require(friction, f"plan, wire {place}: expected a friction")
        word = self.plan.word(self.plan.wires[place].wires[0])
        known = velocities.get(word.name) if word.kind == "input" else None
        (argument,) = block.arguments
        require(
            known is not None
            and not argument.angle
            and argument.signed
            and (argument.bits, argument.scale, argument.centre) == (known.bits, known.scale, known.middle),
            f"plan, wire {place}: expected friction of a velocity as its format has it",
        )
        return self.circuit.motion(len(self.subject.motions) + place, Fraction(_law_size(block)))


def _law_size(block: Block) -> int:
    """Return what the values of a law cannot exceed, in units."""
    return max(abs(block.low), abs(block.high)) + 1


WaveKey = tuple[tuple[int, ...], Angle | None, bool]
"""Words that are multiplied, by number; the angle of a wave or None; whether it is a sine."""
MAX_TERMS = 20_000
MAX_FACTORS = 1000
"""Words that are multiplied with each other."""
RATIONAL = 1000
"""Floats that take as long as a product of two terms."""


class Waves(Terms):
    """A sum of terms with rational coefficients."""

    __slots__ = ()

    def __init__(self, terms: dict[WaveKey, Fraction]) -> None:
        super().__init__({key: factor for key, factor in terms.items() if factor})
        require(len(self.terms) <= MAX_TERMS, f"the function has more than {MAX_TERMS:,} waves")

    def __mul__(self, other: Waves) -> Waves:
        total: dict[WaveKey, Fraction] = {}
        require(len(self.terms) * len(other.terms) <= 50 * MAX_TERMS, "the function has too many waves")
        work(RATIONAL * len(self.terms) * len(other.terms))
        for first, a in self.terms.items():
            for second, b in other.terms.items():
                for key, factor in _product(first, second):
                    add_term(total, key, short(a * b) * factor)
        return Waves(total)

    def enclosed(self, words: Mapping[int, Format], wanted: Span) -> Span:
        """Return a range for all words, by number: that of all terms together, or closer, as `peaks` has it."""
        low = high = Fraction(0)
        for (numbers, angle, _), factor in self.terms.items():
            ends = [factor]
            for number, power in Counter(numbers).items():
                word = words[number]
                least, top = (Fraction(end, word.size) ** power for end in (word.lowest, word.highest))
                own = (Fraction(0), max(least, top)) if power % 2 == 0 else (least, top)
                ends = [one * other for one in ends for other in own]
            ends += [-each for each in ends] if angle is not None else []
            low, high = low + min(ends), high + max(ends)
        found = -up(-low), up(high)
        if wanted[0] <= found[0] and found[1] <= wanted[1]:
            return found
        return enclosed(self._field(words), box_of(words), wanted)

    def _field(self, words: Mapping[int, Format]) -> Field:
        """Return the sum on a grid of the angles, with rounded coefficients."""
        turning = {axis for _, angle, _ in self.terms if angle is not None for axis, _ in angle.multipliers}
        axes = range(max(turning, default=0) + 1)
        degrees = [1 + 2 * max(map(abs, of), default=0) for of in (self._multipliers(axis) for axis in axes)]
        grid = Grid(degrees)
        total = Field({})
        for (numbers, angle, sine), factor in self.terms.items():
            wave = grid.number(Fraction(1)) if angle is None else grid.wave(angle, not sine)
            total = total + wave * grid.number(factor) * Field({numbers: Ball(1.0)})
        return total

    def _multipliers(self, axis: int) -> list[int]:
        return [dict(angle.multipliers).get(axis, 0) for _, angle, _ in self.terms if angle is not None]


def ranges_in_waves(
    circuit: Circuit, terms: Mapping[Key, Term], words: Mapping[int, Format], wanted: Mapping[Key, Span]
) -> dict[Key, Span]:
    """Return the ranges of terms over all words, by number."""
    waves = circuit.values(terms, WaveAlgebra())
    return {key: each.enclosed(words, wanted[key]) for key, each in waves.items()}


class WaveAlgebra:
    """Waves as the `Numbers` of circuits; a sliding position of axis k has the number −1 − k."""

    @staticmethod
    def number(value: Fraction) -> Waves:
        """Return a constant."""
        return Waves({((), None, False): value})

    @staticmethod
    def motion(number: int, factor: Fraction) -> Waves:
        """Return a word times a factor."""
        return Waves({((number,), None, False): factor})

    def position(self, axis: int, low: int, high: int) -> Waves:
        """Return the word of a sliding joint."""
        return self.motion(-1 - axis, Fraction(high + 1))

    @staticmethod
    def wave(angle: Angle, cosine: bool) -> Waves:
        """Return the sine or cosine of an angle."""
        key, sign = _canonical((), angle, not cosine)
        return Waves({key: Fraction(sign)}) if sign else Waves({})


def _canonical(words: tuple[int, ...], angle: Angle, sine: bool) -> tuple[WaveKey, int]:
    """Return the one key of a wave, and its sign; 0 where it is nothing."""
    angle, sine, sign = angle.canonical(sine)
    if angle == Angle():
        return (words, None, False), 0 if sine else sign
    return (words, angle, sine), sign


def _product(first: WaveKey, second: WaveKey) -> list[tuple[WaveKey, Fraction]]:
    words = tuple(sorted(first[0] + second[0]))
    require(len(words) <= MAX_FACTORS, f"expected products of at most {MAX_FACTORS:,} words")
    a, b = first[1], second[1]
    if a is None or b is None:
        return [((words, b if a is None else a, second[2] if a is None else first[2]), Fraction(1))]
    # cos a·cos b = (cos(a − b) + cos(a + b))/2, and so on
    half, sine = Fraction(1, 2), first[2] != second[2]
    plus = a.plus(b), -half if first[2] and second[2] else half
    minus = a.plus(b.times(-1)), -half if second[2] and not first[2] else half
    keys = [(*_canonical(words, angle, sine), factor) for angle, factor in (plus, minus)]
    return [(key, factor * sign) for key, sign, factor in keys if sign]
