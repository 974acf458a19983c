"""The cascade without its roundings: every wire as the real function that its word approximates, in units of the word.

Tables give the exact function over its unit, shifts divide and round nothing. What is left is a sum of products, which
can be compared with the truth: factors that were rounded to whole numbers, and terms that were left out, show there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from .findings import RefusedError, require
from .float_plan import AnyPlan, bits_of
from .graph import Angle, evaluate
from .plan import Block, Plan, Wire

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


def angles_of(plan: AnyPlan, axes: dict[str, int], fractions: Fractions | None = None) -> Angles:
    """Return the angle of every wire that holds one: inputs that wrap, numbered by `axes`, and sums of them."""
    found = Angles(fractions or {})
    for place, wire in enumerate(plan.wires):
        if not isinstance(wire, Wire):
            continue
        if wire.kind == "input" and wire.wraps:
            found[place] = Angle(((axes[wire.name], 1),))
        elif wire.kind == "angle_sum":
            total = Angle(turns=Fraction(wire.constant, 1 << wire.bits) % 1)
            for part, multiplier, shift in wire.parts:
                require(part in found, f"plan, wire {place}: expected a sum of angles alone")
                whole = Fraction(multiplier * 2**shift << bits_of(plan.wires[part], plan.blocks), 1 << wire.bits)
                require(whole.denominator == 1, f"plan, wire {place}: expected whole multiples of angles")
                total = total.plus(found[part].times(int(whole)))
            found[place] = total
    return found


def arguments_of(plan: AnyPlan, wire: Wire, angles: Angles, words: dict[int, Any], algebra: Any) -> dict[str, Any]:
    """Return what the words of a look-up stand for; they must be exact: inputs and sums of angles."""
    block = plan.blocks[wire.block]
    require(len(block.arguments) == len(wire.wires), f"'{wire.name:.40}': expected as many words as arguments")
    values: dict[str, Any] = {}
    for k, (argument, source) in enumerate(zip(block.arguments, wire.wires, strict=True)):
        read = plan.wires[source]
        exact = isinstance(read, Wire) and read.kind in ("angle_sum", "input") and read.bits == argument.bits
        require(exact, f"'{wire.name:.40}': expected inputs of the block's width")
        require((source in angles) == argument.angle, f"'{wire.name:.40}': expected angles where the block has them")
        if argument.angle:
            turned = angles.multiple(source, argument.scale, f"'{wire.name:.40}'")
            values[f"x{k}"] = turned.plus(Angle(rest=argument.centre))
        else:
            values[f"x{k}"] = words[source].scaled(argument.scale) + algebra.number(argument.centre)
    return values


def unrounded(
    plan: Plan,
    inputs: dict[str, Any],
    angles: Angles,
    algebra: Any,
    opaque: Callable[[int, Block], Any],
    look: Callable[[int, Any], None] = lambda place, value: None,
) -> Iterable[Any]:
    """Yield the outputs, one after another, as numbers of an algebra.

    Parameters
    ----------
    inputs
        By name, the words that are no angles.
    opaque
        What a table that is no graph stands for, by wire and block.
    look
        Is shown every sum, with its place.
    """
    last = _last_uses(plan)
    words: dict[int, Any] = {}
    for place, wire in enumerate(plan.wires):
        if place in angles:
            continue
        if wire.kind in ("input", "angle_sum"):  # a difference of angles may stand for a number
            require(wire.name in inputs, f"plan, wire {place}: expected an input of the formats")
            words[place] = inputs[wire.name]
        elif wire.kind == "lookup":
            block = plan.blocks[wire.block]
            if block.graph is not None:
                values = arguments_of(plan, wire, angles, words, algebra)
                words[place] = evaluate(block.graph, values, algebra).scaled(1 / block.lsb)
            else:
                words[place] = opaque(place, block)
        elif wire.kind == "product":
            left, right = (words.get(source) for source in wire.wires)
            if left is None or right is None:
                raise RefusedError(f"plan, wire {place}: expected a product of numbers, not angles")
            words[place] = (left * right).scaled(Fraction(1, 1 << wire.shift))
        else:
            words[place] = summed(wire, words, algebra)
            look(place, words[place])
        for done in last.get(place, ()):
            words.pop(done, None)
    for output in plan.outputs:
        yield summed(output, words, algebra)


def summed(wire: Wire, words: dict[int, Any], algebra: Any) -> Any:
    """Return a sum or an output, not rounded."""
    step = 1 << wire.shift
    total = algebra.number(Fraction(wire.constant, step))
    for part, factor, _ in wire.parts:
        require(part in words, f"'{wire.name:.40}': expected a sum of numbers, not angles")
        total = total + words[part].scaled(Fraction(factor, step))
    return total


def _last_uses(plan: Plan) -> dict[int, list[int]]:
    """Return, by wire, the wires that nobody reads after it."""
    last: dict[int, int] = {}
    for place, wire in enumerate(plan.wires):
        for source in (*wire.wires, *(part for part, _, _ in wire.parts)):
            last[source] = place
    for output in plan.outputs:
        for part, _, _ in output.parts:
            last[part] = len(plan.wires)
    freed: dict[int, list[int]] = {}
    for source, place in last.items():
        freed.setdefault(place, []).append(source)
    return freed
