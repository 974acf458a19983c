"""`Target`: what plans are made for. Each target is one record, in the `__init__` of its folder.

A law of one input word that is added to an output is one more table and one more summand. The table is in a unit that
divides the output's own by a power of two, so that its factor is whole and exact; all that it costs is the rounding of
its words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.graph import Graph
from bddtorque.plan.blocks import LawBlock
from bddtorque.plan.fields import MAX_BITS
from bddtorque.plan.plan import Plan, check_widths
from bddtorque.plan.wires import Input, Lookup, Wire
from bddtorque.targets.builder import OutputFormat
from bddtorque.words.argument import Argument
from bddtorque.words.bounded import Bounded
from bddtorque.words.law import Law
from bddtorque.words.rounding import nearest_words

Item = TypeVar("Item")
Made = TypeVar("Made")
FINER = 7
"""Bits that the words of a term are finer than those of the output, at least."""
COST = 2.0 ** -(FINER + 1) * (1 + 1e-6)
"""Units of the output that a term can cost: half a unit of its own words."""


@dataclass(frozen=True)
class LawTerm:
    """A law of input words that is added to an output: friction, of one word."""

    output: int
    law: Law
    names: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of its one word."""
        (name,) = self.names
        return name


class PlanOptions(Protocol):
    """Options of a specification, or of a request for a function, that planners read."""

    @property
    def target(self) -> str:
        """The target of the plan."""

    @property
    def block_bits(self) -> int:
        """Input bits of one table, at most."""

    @property
    def products(self) -> str:
        """Method by which tables multiply two words; ``"auto"`` by default."""

    @property
    def chip(self) -> str | None:
        """The processor whose cycles are counted."""

    @property
    def precision(self) -> str | None:
        """The precision of floats; None for the one that is enough."""


class PlanTask(NamedTuple):
    """Task of a planner: outputs of some words, each within `accuracy` units of its last bit."""

    options: PlanOptions
    arguments: Mapping[str, Argument]  # what the words of the inputs stand for
    outputs: Sequence[OutputFormat]
    accuracy: float
    laws: Sequence[LawTerm] = ()  # what is added to outputs


@dataclass(frozen=True)
class TracedOutputs:
    """A graph that may be compiled."""

    source: str  # "terms" or "recursive"; "traced" for a function
    graph: Graph  # of all outputs
    errors: tuple[float, ...]  # how far each output can be from the true one, in units of its last bit


class Planned(NamedTuple):
    """A plan, and how far what it computes can be from the true outputs, in units of their last bits."""

    plan: Plan
    errors: tuple[float, ...]  # of the graph that it is made from
    dropped: tuple[float, ...] = ()  # by dust that a plan in floats leaves out
    dust: int = 0  # how many summands that is


@dataclass(frozen=True)
class Target:
    """Target of plans: how they are made, and what is asked of those who use one."""

    name: str
    about: str  # one line for people
    options: frozenset[str]  # keys that it takes, of those that not every target takes
    plan_graph: Callable[[PlanTask, TracedOutputs], Plan]  # the plan of one graph, laws left out
    plan: Callable[[PlanTask, Sequence[TracedOutputs]], Planned]  # of several graphs, the plan that costs least
    made_of_tables: bool = False  # whether nothing is multiplied; separate terms are then tried before the recursion
    compares_terms: bool = False  # whether separate terms of an arm of few joints are tried after the recursion
    only_traced: bool = False  # whether functions that cannot be traced, which are one table, are refused


def plan_each(make: Callable[[Item], Made], items: Iterable[Item]) -> list[Made]:
    """Return what is made of each item, without those that are refused; raise the first refusal if all are."""
    made: list[Made] = []
    refusals: list[BddTorqueError] = []
    for item in items:
        try:
            made.append(make(item))
        except BddTorqueError as refusal:
            refusals.append(refusal)
    if not made:
        raise refusals[0]
    return made


def spent_by(task: PlanTask, trace: TracedOutputs) -> float:
    """Return what a graph and the laws that are added to it can cost an output, in units."""
    return max(trace.errors) + (COST if task.laws else 0.0)


def plan_with_laws(
    target_plan: Callable[[PlanTask, TracedOutputs], Plan], task: PlanTask, trace: TracedOutputs
) -> Planned:
    """Return the plan of a graph with laws added to its outputs."""
    plan = with_laws(target_plan(task, trace), task.laws, task.arguments, task.outputs)
    return Planned(plan, trace.errors)


def with_laws(
    plan: Plan, laws: Sequence[LawTerm], arguments: Mapping[str, Argument], outputs: Sequence[OutputFormat]
) -> Plan:
    """Return a plan with laws added to its outputs, one table of an input word each."""
    for law in laws:
        plan = with_term(plan, law.output, law.law, law.name, arguments[law.name], outputs[law.output].sign)
    return plan


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
    source = Input.of(name, argument)
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
