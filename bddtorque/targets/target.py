"""`Target`: what plans are made for. Each target is one record, in the `__init__` of its folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from bddtorque.dynamics.graph import Graph
from bddtorque.plan.plan import Plan
from bddtorque.targets.builder import OutputFormat
from bddtorque.targets.extra_terms import COST, LawTerm, with_term
from bddtorque.words.argument import Argument


class PlanOptions(Protocol):
    """Options of a specification, or of a request for a function, that planners read."""

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
