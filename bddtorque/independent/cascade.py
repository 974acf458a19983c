"""A plan run in two ways: without its roundings, over any kind of number, and word by word for one state.

Without roundings, every wire is the real function that its word approximates, in units of the word: tables give the
exact function over its unit, shifts divide and round nothing, constants of floats are the rationals of the file and
sines are exact. What is left is a sum of products, which can be compared with the truth: factors that were rounded to
whole numbers, and terms that were left out, show there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from .findings import RefusedError, require
from .graph import Angle, evaluate
from .ieee import sine_of_word
from .plan import EXACT, FLOATS, Block, Plan, Wire

Fractions = dict[tuple[int, Fraction], int]
"""Axes that stand for a fraction of the angle of another, by that axis and the fraction, above 0."""


class Angles(dict[int, Angle]):
    """The angles of wires, and which axes stand for fractions of others."""

    def __init__(self, fractions: Fractions) -> None:
        super().__init__()
        self.fractions = fractions

    def multiple(self, wire: int, factor: Fraction, where: str) -> Angle:
        """Return a multiple of the angle of a wire: whole, or a fraction of an input word as it stands."""
        angle = self[wire]
        if factor.denominator == 1:
            return angle.times(int(factor))
        axis = self.fractions.get((angle.multipliers[0][0], abs(factor))) if angle.is_variable else None
        if axis is None:
            raise RefusedError(f"{where}: expected a fraction of an angle that some joint follows with")
        return Angle(((axis, 1 if factor > 0 else -1),))


def angles_of(plan: Plan, axes: dict[str, int], fractions: Fractions | None = None) -> Angles:
    """Return the angle of every wire that holds one: inputs that wrap, numbered by `axes`, and sums of them."""
    found = Angles(fractions or {})
    for place, wire in enumerate(plan.wires):
        if wire.kind == "input" and wire.wraps:
            found[place] = Angle(((axes[wire.name], 1),))
        elif wire.kind == "angle_sum":
            total = Angle(turns=Fraction(wire.constant, 1 << wire.bits) % 1)
            for part, multiplier, shift in wire.parts:
                require(part in found, f"plan, wire {place}: expected a sum of angles alone")
                whole = Fraction(multiplier * 2**shift << plan.bits_of(part), 1 << wire.bits)
                require(whole.denominator == 1, f"plan, wire {place}: expected whole multiples of angles")
                total = total.plus(found[part].times(int(whole)))
            found[place] = total
    return found


def arguments_of(plan: Plan, wire: Wire, angles: Angles, words: dict[int, Any], algebra: Any) -> dict[str, Any]:
    """Return what the words of a look-up stand for; they must be exact: inputs and sums of angles."""
    block = plan.blocks[wire.block]
    require(len(block.arguments) == len(wire.wires), f"'{wire.name:.40}': expected as many words as arguments")
    values: dict[str, Any] = {}
    for k, (argument, source) in enumerate(zip(block.arguments, wire.wires, strict=True)):
        read = plan.wires[source]
        exact = read.kind in EXACT and (read.bits, read.signed) == (argument.bits, argument.signed)
        require(exact, f"'{wire.name:.40}': expected inputs of the block's width and sign")
        require((source in angles) == argument.angle, f"'{wire.name:.40}': expected angles where the block has them")
        if argument.angle:
            turned = angles.multiple(source, argument.scale, f"'{wire.name:.40}'")
            values[f"x{k}"] = turned.plus(Angle(rest=argument.centre))
        else:
            values[f"x{k}"] = words[source].scaled(argument.scale) + algebra.number(argument.centre)
    return values


Opaque = Callable[[int, Block], Any]
"""The number that a table without a graph stands for, by wire and block."""


def unrounded(
    plan: Plan,
    inputs: dict[str, Any],
    angles: Angles,
    algebra: Any,
    opaque: Opaque,
    look: Callable[[int, Any], None] = lambda place, value: None,
) -> Iterator[Any]:
    """Yield the outputs, one after another, as numbers of an algebra, which records them (`circuits`).

    Parameters
    ----------
    inputs
        By name, the words that are no angles.
    look
        Is shown every sum of words, with its place.
    """
    values: dict[int, Any] = {}
    for place, wire in enumerate(plan.wires):
        if place in angles:
            continue
        if wire.kind in EXACT:  # a difference of angles may stand for a number
            require(wire.name in inputs, f"plan, wire {place}: expected an input of the formats")
            values[place] = inputs[wire.name]
        elif wire.kind == "lookup":
            block = plan.blocks[wire.block]
            if block.graph is None:
                values[place] = opaque(place, block)
            else:
                arguments = arguments_of(plan, wire, angles, values, algebra)
                values[place] = evaluate(block.graph, arguments, algebra).scaled(1 / block.lsb)
        elif wire.kind == "product":
            left, right = (values.get(factor) for factor in wire.wires)
            if left is None or right is None:
                raise RefusedError(f"plan, wire {place}: expected a product of numbers, not angles")
            values[place] = (left * right).scaled(Fraction(1, 1 << wire.shift))
        elif wire.kind == "sum":
            values[place] = _total(wire, values, algebra)
            look(place, values[place])
        else:
            values[place] = _exact_float(place, wire, values, angles, algebra)
    for output in plan.outputs:
        yield values[output.wires[0]] if plan.precision else _total(output, values, algebra)


def _exact_float(place: int, wire: Wire, values: dict[int, Any], angles: Angles, algebra: Any) -> Any:
    """Return the number that a float stands for."""
    if wire.kind == "constant":
        return algebra.number(wire.value)
    if wire.kind == "sine":
        require(wire.wires[0] in angles, f"plan, wire {place}: expected the sine of an angle")
        return algebra.wave(angles[wire.wires[0]].plus(Angle(rest=wire.rest)), wire.cosine)
    if wire.kind == "number":
        require(wire.wires[0] not in angles, f"plan, wire {place}: expected a word that is no angle")
        return values[wire.wires[0]]
    first, *others = (
        -summand if sign < 0 else summand for summand, sign in zip(_summands(wire, values), wire.signs, strict=False)
    )
    return first + others[0] if others else first


def _summands(wire: Wire, values: Any) -> list[Any]:
    """Return the summands of an operation on floats, without their signs."""
    left, right, *addend = (values[operand] for operand in wire.wires)
    return [left, right] if wire.kind == "add" else [left * right, *addend]


def _total(wire: Wire, words: dict[int, Any], algebra: Any) -> Any:
    """Return a sum or an output, not rounded."""
    step = 1 << wire.shift
    total = algebra.number(Fraction(wire.constant, step))
    for part, factor, _ in wire.parts:
        require(part in words, f"'{wire.name:.40}': expected a sum of numbers, not angles")
        total = total + words[part].scaled(Fraction(factor, step))
    return total


def run(plan: Plan, tables: list[Any], inputs: dict[str, int]) -> list[int]:
    """Return every output of one state before it is clamped, as docs/format.md defines it.

    `inputs` are words by name, which must be within their format. Floats are rationals: every operation is exact, and
    then rounded.
    """
    values: list[Any] = []
    for wire in plan.wires:
        run_wire = _run_float if wire.kind in FLOATS else _run_word
        values.append(run_wire(plan, wire, tables, inputs, values))
    if plan.precision:
        return [round(values[output.wires[0]]) for output in plan.outputs]
    return [_rounded_sum(output, values) for output in plan.outputs]


def _run_word(plan: Plan, wire: Wire, tables: list[Any], inputs: dict[str, int], values: list[Any]) -> int:
    """Return a word; `values` are those of the wires before."""
    if wire.kind == "input":
        return inputs[wire.name]
    if wire.kind == "angle_sum":
        total = sum(multiplier * (values[part] << shift) for part, multiplier, shift in wire.parts) + wire.constant
        half = 1 << (wire.bits - 1)
        return int((total + half) % (2 * half) - half)
    if wire.kind == "lookup":
        index = 0
        for width, word in zip(plan.blocks[wire.block].widths, wire.wires, strict=True):
            index = (index << width) | (values[word] % (1 << width))
        return int(tables[wire.block][index])
    if wire.kind == "product":
        return _shifted(values[wire.wires[0]] * values[wire.wires[1]], wire.shift)
    return _rounded_sum(wire, values)


def _run_float(plan: Plan, wire: Wire, tables: list[Any], inputs: dict[str, int], values: list[Any]) -> Fraction:
    """Return a float; `values` are those of the wires before."""
    precision: Any = plan.precision
    if wire.kind == "number":
        return Fraction(values[wire.wires[0]])
    if wire.kind == "sine":
        (word,) = wire.wires
        return sine_of_word(values[word], plan.bits_of(word), wire.rest, wire.cosine, precision)
    signed = [wire.value]
    if wire.kind != "constant":
        signed = [sign * summand for summand, sign in zip(_summands(wire, values), wire.signs, strict=False)]
    rounded: Fraction = precision.nearest(sum(signed, Fraction(0)))
    return rounded


def _rounded_sum(wire: Wire, words: list[int]) -> int:
    return _shifted(sum(factor * words[part] for part, factor, _ in wire.parts) + wire.constant, wire.shift)


def _shifted(value: int, shift: int) -> int:
    return value + ((1 << shift) >> 1) >> shift
