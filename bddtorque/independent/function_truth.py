"""The function of a file: traced, a law, samples or given words; its words, and the distance of its plan from it."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from .bounds import OutputBound
from .cascade import angles_of, unrounded
from .certificate import FUNCTIONS, Claim, Stated
from .circuits import Circuit, Term
from .comparison import FAR, SUM, Comparison, Key, Spans, ranges_in_waves
from .enclosures import Ball
from .findings import require
from .formats import Format, Words
from .graph import Angle, evaluate, graph_of
from .plan import Argument, Plan
from .ranges import Span
from .reading import object_of, real, text
from .robot_truth import check_products
from .tables import Facts, index_words

SLACK = 1e-6
"""Units that the range of a law is taken wider, as docs/format.md says."""
MAX_INPUTS = 4


class FunctionTruth:
    """A function of words: one number comes out, and the truth stands in the file, unless its words were given."""

    step = "function"
    points, skew, sizes = 1.0, 0.0, (0.0,)

    def __init__(
        self, header: dict[str, Any], plan: Plan, words: Words, stated: list[Stated], facts: list[Facts]
    ) -> None:
        given = object_of(header["function"], ("name", "accuracy", "graph", "rules"), "function")
        text(given["name"], "function")
        numbers = not any(array.shape for array in (*words.inputs, *words.outputs))
        require(
            numbers and len(words.inputs) <= MAX_INPUTS and len(words.outputs) == 1,
            f"words: expected 1 to {MAX_INPUTS} numbers as inputs of a function, and one that comes out",
        )
        require(
            all(array.labels == (array.name,) for array in (*words.inputs, *words.outputs))
            and words.labels == [words.results[0].name],
            "words: expected numbers with their own names as labels",
        )
        self.graph, self.plan, self.inputs, self.output = given["graph"], plan, words.named, words.results[0]
        self.relative_to, self.accuracy = stated[0].relative_to, real(given["accuracy"], "function")
        require(self.accuracy > 0.5, "function, accuracy: expected more than 0.5 units")
        require(self.relative_to in FUNCTIONS, "certificate: expected it to be that of a function")
        _check_rules(given["rules"], plan, self.relative_to)
        traced = self.relative_to == "traced"
        require((self.graph is not None) == traced, "function: expected a graph where traced")
        require(plan.source == self.relative_to, "plan: expected the source that the certificate is relative to")
        self.axes = {name: k for k, (name, word) in enumerate(self.inputs.items()) if word.angle}
        self.compared_with = "the graph in the file" if traced else ""
        self.said_of_words = f"function, words and plan agree on the words of {len(self.inputs)} inputs"
        self.said_of_figures = (
            "composed from the error that is stated"
            if self.relative_to == "float"
            else "every figure follows from the file"
        )

    def compare(self, wanted: Spans) -> Comparison:
        """Return how far the plan without roundings is from the function."""
        ranges, how = {(FAR, 0): (0.0, 0.0)}, "in rationals"
        if self.relative_to == "traced":
            ranges = self._traced(wanted)
        else:
            how = _direct(self.plan, self.inputs, self.output, self.relative_to)
        return Comparison(ranges, {0: 0.0}, (how,))

    @property
    def direct(self) -> bool:
        """Tell if one table gives the output, so that it knows whether it saturates."""
        output = self.plan.outputs[0]
        of_words = all(wire.kind in ("input", "lookup") for wire in self.plan.wires)
        return of_words and len(self.plan.blocks) == 1 and output.shift == 0

    @staticmethod
    def reach(claim: Claim) -> OutputBound:
        """Return the range that decides on saturation: that of the plan."""
        return claim.found

    def check_range(self, claim: Claim, truth: Span | None) -> None:
        """Refuse a range that does not follow from the plan, the law, or the words that were given."""
        if self.relative_to == "float":
            _check_given_range(claim.stated, claim.found, claim.word)
            return
        if self.relative_to in ("law", "samples"):
            low, high = _reach_of_law(self.plan, self.inputs, claim.word)
            claim = replace(claim, found=replace(claim.found, low=low, high=high))
        claim.check_range()

    def _traced(self, wanted: Spans) -> dict[Key, Span]:
        """Return the ranges asked for, in units, and of the distance of the plan from the graph, in rationals."""
        circuit, values = Circuit(), dict[str, Any]()
        words = {name: circuit.motion(k, Fraction(word.size)) for k, (name, word) in enumerate(self.inputs.items())}
        for k, (name, word) in enumerate(self.inputs.items()):
            if word.angle:
                values[name] = Angle(((k, word.sign),), Fraction(0), Fraction(word.offset))
                del words[name]
            else:
                values[name] = words[name].scaled(word.scale) + circuit.number(word.middle)
        true = evaluate(graph_of(self.graph, tuple(self.inputs), "function"), values, circuit)
        terms: dict[Key, Term] = {}

        def look(place: int, value: Term) -> None:
            if (SUM, place) in wanted:
                terms[SUM, place] = value

        def opaque(place: int, block: Any) -> Any:
            require(False, f"plan, wire {place}: expected a table of a traced function")

        (found,) = unrounded(self.plan, words, angles_of(self.plan, self.axes), circuit, opaque, look)
        terms[FAR, 0] = found - self.output.in_units(true, circuit)
        return ranges_in_waves(circuit, terms, dict(enumerate(self.inputs.values())), wanted)


def _check_rules(rules: Any, plan: Plan, relative_to: str) -> None:
    """Refuse rules that are no text and numbers, and a plan of another kind than they ask for."""
    require(
        isinstance(rules, dict) and all(type(each) in (str, int, float, bool) for each in rules.values()),
        "function: expected rules as text and numbers",
    )
    require("chip" not in rules or plan.target == "integer", "function: expected a chip only for integers")
    if plan.precision:
        require(relative_to == "traced", "plan: expected a traced function")
        return
    require(plan.target in ("tables", "integer"), "plan: expected target tables or integer")
    require(
        all(sum(block.widths) <= plan.block_bits for block in plan.blocks),
        "plan: expected tables of at most block_bits",
    )
    check_products(rules, plan, "function")


def _direct(plan: Plan, inputs: dict[str, Format], output: Format, relative_to: str) -> str:
    """Refuse a plan that is not one table of all inputs, given out as it is; return what that shows."""
    lookup = [wire for wire in plan.wires if wire.kind != "input"]
    require(len(plan.blocks) == 1 and len(lookup) == 1 and lookup[0].kind == "lookup", "plan: expected one table")
    read = tuple(plan.wires[each].name for each in lookup[0].wires)
    require(read == tuple(inputs), "plan: expected a table of all inputs, in order")
    planned, block = plan.outputs[0], plan.blocks[0]
    summed = planned.parts, planned.constant, planned.shift
    require(summed == (((plan.wires.index(lookup[0]), 1, 0),), 0, 0), "plan: expected the table as the output")
    require(block.lsb == planned.lsb, "plan: expected a table in units of the output")
    if relative_to == "float":
        require(block.kind == "given", "plan: expected given words")
        return "one table of given words: only the function itself can tell whether they are right"
    require(block.law is not None, "plan: expected the table of a law")
    expected = tuple(
        Argument(True, word.bits, Fraction(word.sign), Fraction(word.offset))
        if word.angle
        else Argument(False, word.bits, word.scale, word.middle, word.signed)
        for word in inputs.values()
    )
    require(block.arguments == expected, "plan: expected the input words as the formats have them")
    # sign·f − centre, as the word of value v is (sign·(v − offset) − centre)/lsb
    require(
        (block.sign, block.centre) == (output.sign, output.sign * output.middle), "plan: expected the output's word"
    )
    require(
        (block.low, block.high) == (output.lowest - 1, output.highest + 1),
        "plan: expected a table that ends one word beyond the output",
    )
    return "one table of the law in the file, which is what the certificate is relative to"


def _check_given_range(stated: Stated, found: OutputBound, output: Format) -> None:
    """Refuse a range that does not hold every given word; one beyond an end of the output stands for all beyond it."""
    words = (found.low, found.high, output.lowest - 1, output.highest + 1)
    values = [output.sign * (output.centre + word * output.lsb) + output.offset for word in words]
    (low, high), (least, most) = sorted(values[:2]), sorted(values[2:])
    require(
        stated.low <= stated.high and min(stated.low, most) <= low and high <= max(stated.high, least),
        "certificate: expected a range that holds every word",
    )


def _reach_of_law(plan: Plan, inputs: dict[str, Format], output: Format) -> tuple[int, int]:
    """Return the words that the law would need over all input words, in floats, as docs/format.md says."""
    law: Any = plan.blocks[0].law
    axes = []
    for word in inputs.values():
        words = index_words(word.bits, word.signed)
        axes.append(word.sign * (word.centre + words * word.lsb) + word.offset)
    grid = [each.reshape(-1) for each in np.meshgrid(*axes, indexing="ij")]
    values = law.values([Ball(each) for each in grid]).value
    centre = float(output.sign * output.middle)
    ends = sorted((output.sign * float(end) - centre) / output.lsb for end in (np.min(values), np.max(values)))
    return math.floor(ends[0] - SLACK), math.ceil(ends[1] + SLACK)
