"""`FunctionModel`: a compiled function of words, with the manners of a compiled robot; NumPy and Numba are enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.plain import listed, of_type, real, table
from bddtorque.diagrams.bdd import Diagram
from bddtorque.evaluate.evaluator import OnRange
from bddtorque.graph.graph import Graph
from bddtorque.model.exhaustive import exhaustive_error
from bddtorque.model.function_evaluator import FunctionEvaluator
from bddtorque.model.stored import Stored
from bddtorque.plan.plan import Plan
from bddtorque.plan.plan_data import graph_from_plain
from bddtorque.plan.table import Table
from bddtorque.proof.function_certificate import FunctionCertificate
from bddtorque.words import Format
from bddtorque.words.formats import MOST_INPUTS
from bddtorque.words.joints import format_from_plain, format_to_plain

MEMORY = 2 * 2**30
"""Bytes that the forms of the blocks may take together."""


@dataclass(frozen=True, eq=False)
class FunctionModel(Stored):
    """A compiled function: its words, its plan, one table and one diagram a block, and what is proved of it.

    Attributes
    ----------
    name : of the function
    input_names, inputs : names and formats of the input words
    output : the format of the output word
    plan, tables, diagrams, certificate : as those of a `Model`
    accuracy : what was asked for, in units of the last bit
    graph : the function that was traced, over the names of the inputs; None for any other
    rules : how samples were read, by name; empty where there were none
    report : how compiling went; empty for a loaded model, and no part of the digest
    """

    name: str
    input_names: tuple[str, ...]
    inputs: tuple[Format, ...]
    output: Format
    plan: Plan
    tables: tuple[Table, ...]
    diagrams: tuple[Diagram, ...]
    certificate: FunctionCertificate
    accuracy: float = 1.0
    graph: Graph | None = None
    rules: dict[str, Any] = field(default_factory=dict)
    report: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def memory(self) -> int:
        """Bytes that the forms of the blocks may take together."""
        return MEMORY

    def evaluator(
        self,
        kind: str = "words",
        form: str | None = None,
        on_range: OnRange = "saturate",
        processors: int | None = None,
    ) -> FunctionEvaluator:
        """Return an evaluator with its own counts: ``"bits"``, ``"words"`` or ``"parallel"``; see `Evaluator`."""
        return FunctionEvaluator(self, kind, form, on_range, processors)

    @cached_property
    def _words(self) -> FunctionEvaluator:
        return self.evaluator("words")

    def value(self, *values: Any) -> Any:
        """Return the function at floats, one argument an input, of any shapes that go together, through the words."""
        return self._words.value(*values)

    def words(self, *words: Any) -> Any:
        """Return output words of input words, one argument an input, integers of any shapes that go together."""
        return self._words.words(*words)

    def kernel(self, kind: str = "words") -> Callable[..., int]:
        """Return a compiled function word = kernel(word, ...), for an own njit loop."""
        return (self._words if kind == "words" else self.evaluator(kind)).kernel

    def error_of(self, function: Callable[..., Any]) -> float:
        """Return the largest |compiled − clamp(function)| over every combination of input words, in units.

        The function is called with floats, or arrays of them: this is what a file of given words can be checked with.
        """
        return exhaustive_error(self, function)

    def defining(self) -> dict[str, Any]:
        """Return all that the digest covers as plain data."""
        return {
            "function": {
                "name": self.name,
                "input_names": list(self.input_names),
                "inputs": [format_to_plain(each) for each in self.inputs],
                "output": format_to_plain(self.output),
                "accuracy": self.accuracy,
                "graph": None if self.graph is None else self.graph.to_plain(),
                "rules": self.rules,
            },
            "plan": self.plan.to_plain(),
            "certificate": self.certificate.to_plain(),
            "tables": [each.content_key for each in self.tables],
        }

    def summary(self) -> dict[str, Any]:
        """Return the figures people ask for: bits, blocks, rows, nodes, bytes, bound."""
        return {
            "function": self.name,
            "source": self.plan.source,
            "bits": {
                "inputs": {name: each.bits for name, each in zip(self.input_names, self.inputs, strict=True)},
                "output": {self.output.name: self.output.bits},
            },
            **self.sizes(),
            "bound": self.certificate.bound,
            "relative_to": self.certificate.relative_to,
            "faithful": self.certificate.faithful,
            "digest": self.digest,
        }

    def __repr__(self) -> str:
        words = ", ".join(f"{name} {each.bits}" for name, each in zip(self.input_names, self.inputs, strict=True))
        return (
            f"<bddtorque function {self.name}({words} bits): {self.output.bits} bits, {len(self.tables)} blocks, "
            f"bound {self.certificate.bound:.3f} units>"
        )


@dataclass(frozen=True)
class FunctionWords:
    """What a file says of a function's words."""

    name: str
    input_names: tuple[str, ...]
    inputs: tuple[Format, ...]
    output: Format
    accuracy: float
    graph: Graph | None
    rules: dict[str, Any]


def function_words_from_plain(plain: object, where: str) -> FunctionWords:
    """Return the section ``function`` of a file; every field is checked."""
    given = table(plain, ("name", "input_names", "inputs", "output", "accuracy", "graph", "rules"), where)
    names = tuple(of_type(each, str, where) for each in listed(given["input_names"], where))
    inputs = tuple(
        format_from_plain(each, f"{where}, input {k}") for k, each in enumerate(listed(given["inputs"], where), 1)
    )
    if not 1 <= len(inputs) <= MOST_INPUTS or len(set(names)) != len(inputs) or len(names) != len(inputs):
        raise BddTorqueError(f"{where}: 1 to {MOST_INPUTS} inputs, each with a name of its own, required")
    rules = of_type(given["rules"], dict, f"{where}, rules")
    for key, value in rules.items():
        if type(value) not in (str, int, float, bool):
            raise BddTorqueError(f"{where}, rules: text and numbers required, {key!r:.40} is something else")
    graph = given["graph"]
    return FunctionWords(
        of_type(given["name"], str, where),
        names,
        inputs,
        format_from_plain(given["output"], f"{where}, output"),
        real(given["accuracy"], f"{where}, accuracy"),
        None if graph is None else graph_from_plain(graph, set(names), f"{where}, graph"),
        rules,
    )
