"""`Target`: what plans are made for. Each target is one record, in the `__init__` of its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from bddtorque.dynamics.graph import Graph
from bddtorque.plan.plan import Plan
from bddtorque.targets.builder import OutputFormat
from bddtorque.targets.extra_terms import COST, LawTerm, with_term
from bddtorque.words.argument import Argument


class PlanOptions(Protocol):
    """What of a specification, or of a request for a function, a planner reads."""

    @property
    def block_bits(self) -> int:
        """Input bits of one table, at most."""

    @property
    def products(self) -> str:
        """How tables multiply two words; ``"auto"`` by default."""

    @property
    def chip(self) -> str | None:
        """The processor whose cycles are counted."""

    @property
    def precision(self) -> str | None:
        """The precision of floats; None for the one that is enough."""


class Planner(Protocol):
    """Plans one graph; `spent` is what it can be off itself, for each output, in units of its last bit."""

    def __call__(
        self,
        options: PlanOptions,
        graph: Graph,
        arguments: Mapping[str, Argument],
        outputs: Sequence[OutputFormat],
        accuracy: float,
        source: str,
        spent: Sequence[float],
    ) -> Plan:
        """Return a plan whose bound is below `accuracy` units for every output."""


@dataclass(frozen=True)
class TracedOutputs:
    """A graph that may be compiled."""

    source: str  # "terms" or "recursive"
    graph: Graph  # of all outputs
    errors: tuple[float, ...]  # how far each output can be from the true one, in units of its last bit


class Planned(NamedTuple):
    """A plan, and how far what it computes can be from the true outputs, in units of their last bits."""

    plan: Plan
    errors: tuple[float, ...]  # of the graph that it is made from
    dropped: tuple[float, ...] = ()  # by dust that a plan in floats leaves out
    dust: int = 0  # how many summands that is


class TracePlanner(Protocol):
    """Plans outputs that may be computed by one of several graphs, with laws added to them."""

    def __call__(
        self,
        options: PlanOptions,
        accuracy: float,
        arguments: Mapping[str, Argument],
        outputs: Sequence[OutputFormat],
        traces: Sequence[TracedOutputs],
        laws: Sequence[LawTerm],
    ) -> Planned:
        """Return the plan of the graph that costs least."""


@dataclass(frozen=True)
class Target:
    """What plans are made for: how they are made, and what is asked of those who use one."""

    name: str
    about: str  # one line for people
    options: frozenset[str]  # keys that it takes, of those that not every target takes
    plan_graph: Planner
    plan: TracePlanner
    made_of_tables: bool = False  # whether nothing is multiplied; separate terms are then tried before the recursion
    compares_terms: bool = False  # whether separate terms of an arm of few joints are tried after the recursion
    only_traced: bool = False  # whether functions that cannot be traced, which are one table, are refused


def spent_by(trace: TracedOutputs, laws: Sequence[LawTerm]) -> list[float]:
    """Return what a graph and the laws that are added to it cost each output, in units."""
    return [error + (COST if laws else 0.0) for error in trace.errors]


def with_laws(
    plan: Plan, laws: Sequence[LawTerm], arguments: Mapping[str, Argument], outputs: Sequence[OutputFormat]
) -> Plan:
    """Return a plan with laws added to its outputs, one table of an input word each."""
    for law in laws:
        plan = with_term(plan, law.output, law.law, law.name, arguments[law.name], outputs[law.output].sign)
    return plan
