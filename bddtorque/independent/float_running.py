"""A plan in floats without its roundings, over any kind of number; and with them, for one state, in rationals."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from .cascade import Angles, arguments_of
from .findings import require
from .float_plan import FloatPlan, bits_of
from .graph import Angle, evaluate
from .ieee import sine_of_word
from .plan import Block, Wire
from .running import run_word


def unrounded_floats(
    plan: FloatPlan,
    inputs: dict[str, Any],
    angles: Angles,
    algebra: Any,
    opaque: Callable[[int, Block], Any],
) -> Iterable[Any]:
    """Yield the outputs, one after another, as numbers of an algebra; `inputs` and `opaque` as in `cascade.unrounded`.

    Constants are the rationals of the file and sines are exact: what is left is the real function that floats round.
    """
    last = {source: place for place, wire in enumerate(plan.wires) for source in wire.wires}
    last.update({output.wire: len(plan.wires) for output in plan.outputs})
    values: dict[int, Any] = {}
    for place, wire in enumerate(plan.wires):
        if isinstance(wire, Wire):
            if place not in angles:
                values[place] = _word(plan, wire, place, inputs, angles, algebra, opaque)
            continue
        if wire.kind == "constant":
            values[place] = algebra.number(wire.value)
        elif wire.kind == "sine":
            require(wire.wires[0] in angles, f"plan, wire {place}: expected the sine of an angle")
            angle = angles[wire.wires[0]].plus(Angle(rest=wire.rest))
            values[place] = algebra.cosine(angle) if wire.cosine else algebra.sine(angle)
        elif wire.kind == "number":
            require(wire.wires[0] not in angles, f"plan, wire {place}: expected a word that is no angle")
            values[place] = values[wire.wires[0]]
        else:
            left, right, *addend = (values[source] for source in wire.wires)
            summands = [left, right] if wire.kind == "add" else [left * right, *addend]
            signed = [-each if sign < 0 else each for each, sign in zip(summands, wire.signs, strict=False)]
            values[place] = signed[0] if len(signed) == 1 else signed[0] + signed[1]
        for source in wire.wires:
            if last[source] == place:
                values.pop(source, None)
    for output in plan.outputs:
        yield values[output.wire]


def _word(
    plan: FloatPlan, wire: Wire, place: int, inputs: dict[str, Any], angles: Angles, algebra: Any,
    opaque: Callable[[int, Block], Any],
) -> Any:  # fmt: skip
    if wire.kind == "lookup":
        block = plan.blocks[wire.block]
        if block.graph is None:
            return opaque(place, block)
        return evaluate(block.graph, arguments_of(plan, wire, angles, {}, algebra), algebra).scaled(1 / block.lsb)
    require(wire.name in inputs, f"plan, wire {place}: expected an input of the formats")
    return inputs[wire.name]


def run_floats(plan: FloatPlan, tables: list[Any], inputs: dict[str, int]) -> list[int]:
    """Return every output of one state before it is clamped; every operation is exact, and then rounded."""
    words: dict[int, int] = {}
    floats: dict[int, Fraction] = {}
    nearest = plan.precision.nearest
    for place, wire in enumerate(plan.wires):
        if isinstance(wire, Wire):
            words[place] = run_word(plan, wire, tables, inputs, words)
        elif wire.kind == "number":
            floats[place] = Fraction(words[wire.wires[0]])
        elif wire.kind == "constant":
            floats[place] = nearest(wire.value)
        elif wire.kind == "sine":
            source = wire.wires[0]
            bits = bits_of(plan.wires[source], plan.blocks)
            floats[place] = sine_of_word(words[source], bits, wire.rest, wire.cosine, plan.precision)
        else:
            left, right, *addend = (floats[source] for source in wire.wires)
            summands = [left, right] if wire.kind == "add" else [left * right, *addend]
            total = sum((sign * each for each, sign in zip(summands, wire.signs, strict=False)), Fraction(0))
            floats[place] = nearest(total)
    return [round(floats[output.wire]) for output in plan.outputs]
