"""Sines and cosines of the same angle among the wires of a plan: c² + s² = 1, of the true values."""

from __future__ import annotations

from bddtorque.graph.graph import Op
from bddtorque.plan.plan import AngleSum, FunctionBlock, Lookup, Plan
from bddtorque.words.argument import Argument

Angle = tuple[object, ...]
"""What identifies an angle, up to quarter turns: its words and what they stand for."""


def turning_of(plan: Plan, wire: int) -> tuple[Angle, bool] | None:
    """Return the angle of a wire that is ± its sine (True) or cosine (False), or None if it is neither.

    Sines are mostly cosines of a quarter turn less, from the same table: a quarter turn makes one of the other.
    """
    lookup = plan.wires[wire]
    if not isinstance(lookup, Lookup) or len(lookup.wires) != 1:
        return None
    block = plan.blocks[lookup.block]
    if not isinstance(block, FunctionBlock):
        return None
    node = block.graph.nodes[block.graph.outputs[0] >> 1]
    if node.op not in (Op.SINE, Op.COSINE) or block.graph.nodes[node.left >> 1].op is not Op.INPUT:
        return None
    (argument,) = block.arguments
    if argument.kind != "angle" or abs(argument.scale) != 1:
        return None
    words, quarters = _words(plan, lookup.wires[0], argument)
    return (*words, argument.bits, argument.scale, argument.centre), bool((quarters + (node.op is Op.SINE)) % 2)


def _words(plan: Plan, wire: int, argument: Argument) -> tuple[Angle, int]:
    """Return the words that an index is the sum of, without its whole quarter turns, and how many those are."""
    angle = plan.wires[wire]
    quarter = 1 << argument.bits >> 2
    if not isinstance(angle, AngleSum) or angle.bits != argument.bits or not quarter or angle.constant % quarter:
        return (wire,), 0
    quarters = angle.constant // quarter
    if len(angle.parts) == 1 and angle.parts[0][1:] == (1, 0):
        return (angle.parts[0][0],), quarters
    return (angle.parts,), quarters
