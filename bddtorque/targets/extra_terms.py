"""One more term of an output: a law of one input word, as one more table and one more summand.

The table is in a unit that divides the output's own by a power of two, so that its factor is whole and exact; all that
it costs is the rounding of its words.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.plan.blocks import LawBlock
from bddtorque.plan.fields import MAX_BITS
from bddtorque.plan.plan import Plan, check_widths
from bddtorque.plan.wires import Input, Lookup, Wire
from bddtorque.words.argument import Argument
from bddtorque.words.bounded import Bounded
from bddtorque.words.law import Law
from bddtorque.words.rounding import nearest_words

FINER = 7
"""Bits that the words of a term are finer than those of the output, at least."""
COST = 2.0 ** -(FINER + 1) * (1 + 1e-6)
"""Units of the output that a term can cost: half a unit of its own words."""


@dataclass(frozen=True)
class LawTerm:
    """A law of one input word that is added to an output: friction."""

    output: int
    law: Law
    name: str


def with_term(plan: Plan, output: int, law: Law, name: str, argument: Argument, sign: int) -> Plan:
    """Return the plan with `law` of the input word `name` added to an output, whose word counts with `sign`."""
    if argument.bits > plan.block_bits:
        raise BddTorqueError(
            f"plan: a term of {name} needs {argument.bits} input bits and block_bits is {plan.block_bits}: raise "
            "block_bits or lower input_bits"
        )
    changed = plan.outputs[output]
    finer = max(0, FINER - changed.shift)
    shift = changed.shift + finer
    parts = tuple((wire, factor << finer) for wire, factor in changed.parts)
    coarser = shift - FINER
    lsb = changed.lsb / (1 << FINER)
    block = _block(law, argument, lsb)
    wires: list[Wire] = list(plan.wires)
    source = Input(name, argument.bits, argument.kind == "angle")
    if source not in wires:
        wires.append(source)
    blocks = plan.blocks if block in plan.blocks else (*plan.blocks, block)
    wires.append(Lookup(f"{law.kind}({name})", blocks.index(block), (wires.index(source),)))
    parts = (*parts, (len(wires) - 1, sign << coarser if sign > 0 else -(1 << coarser)))
    joined = replace(changed, parts=parts, constant=changed.constant << finer, shift=shift)
    outputs = (*plan.outputs[:output], joined, *plan.outputs[output + 1 :])
    grown = replace(plan, wires=tuple(wires), blocks=blocks, outputs=outputs)
    check_widths(grown)
    return grown


def _block(law: Law, argument: Argument, lsb: Fraction) -> LawBlock:
    """Return the table of a law over all words, with the range that it has: nothing is clamped."""
    found = argument.bounded(argument.words())
    if not isinstance(found, Bounded):
        raise BddTorqueError(f"plan: a term of kind {law.kind} must be of a word with a range, got an angle")
    value = law.bounded([found])
    low, high = float(np.min(value.value - value.radius)), float(np.max(value.value + value.radius))
    if Fraction(max(abs(low), abs(high))) >= lsb * (1 << MAX_BITS):
        raise BddTorqueError(f"plan: a term of kind {law.kind} is too large for its torque: use a wider range")
    return LawBlock(law, (argument,), lsb, *nearest_words(low, high, lsb))
