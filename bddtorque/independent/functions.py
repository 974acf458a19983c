"""The proof of a compiled function of words, step by step."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from .balls import Ball
from .bounds import Composition, OutputBound
from .cascade import angles_of
from .certificate import (
    Stated,
    allowed_difference,
    check_difference,
    check_names,
    check_parts,
    check_range,
    fits,
    function_of,
    most_arithmetic,
    witness_words,
)
from .findings import Finding, require
from .float_plan import AnyPlan, FloatPlan
from .formats import Format, format_of
from .graph import Angle, evaluate, graph_of
from .harmonics import WaveAlgebra, Waves
from .header import check_version
from .passes import check_words, compared, compose_errors, outputs_of, range_findings, run_state
from .plan import Plan, Wire
from .reading import list_of, object_of, real, text
from .sections import check_inputs, check_products
from .spans import Span
from .tables import Facts, index_words

SLACK = 1e-6
"""Units that the range of a law is taken wider, as docs/format.md says."""


def function_findings(
    header: dict[str, Any], plan: AnyPlan, tables: list[Any], facts: list[Facts]
) -> Iterator[Finding]:
    """Yield what was found of a function after its tables: words, ranges, the function, certificate, saturation."""
    keys = ("name", "input_names", "inputs", "output", "accuracy", "graph", "rules")
    given = object_of(header["function"], keys, "function")
    check_version(header, 2 if plan.target == "float" else 1)
    names = [text(each, "function") for each in list_of(given["input_names"], "function")]
    formats = [format_of(each, "function, input") for each in list_of(given["inputs"], "function", len(names))]
    require(1 <= len(names) == len(set(names)) <= 4, "function: expected 1 to 4 inputs of different names")
    text(given["name"], "function")
    rules = given["rules"]
    require(
        isinstance(rules, dict) and all(type(each) in (str, int, float, bool) for each in rules.values()),
        "function: expected rules as text and numbers",
    )
    output, accuracy = format_of(given["output"], "function, output"), real(given["accuracy"], "function")
    require(len(plan.outputs) == 1, "plan: expected one output")
    made = plan.outputs[0]
    require((made.low, made.high) == (output.lowest, output.highest), "plan: expected the ends of the output word")
    require(made.lsb == output.lsb and not output.angle, "plan: expected the unit of the output word")
    inputs = dict(zip(names, formats, strict=True))
    check_inputs(plan, inputs)
    stated = function_of(header["certificate"])
    check_names(stated, output.name, output, "certificate")
    require((given["graph"] is not None) == (stated.relative_to == "traced"), "function: expected a graph where traced")
    require(plan.source == stated.relative_to, "plan: expected the source that the certificate is relative to")
    if isinstance(plan, FloatPlan):
        require(
            stated.relative_to == "traced" and "chip" not in rules, "plan: expected a traced function, without a chip"
        )
    else:
        require(plan.target in ("tables", "integer"), "plan: expected target tables or integer")
        require(
            all(sum(block.widths) <= plan.block_bits for block in plan.blocks),
            "plan: expected tables of at most block_bits",
        )
        check_products(rules, plan, "function")
        require("chip" not in rules or plan.target == "integer", "function: expected a chip only for integers")
    yield Finding("words", True, f"function and plan agree on the words of {len(names)} inputs")
    angles = {name: k for k, (name, word) in enumerate(inputs.items()) if word.angle}
    yield Finding("widths", True, check_words(plan))
    composition = compose_errors(plan, facts, angles)
    if stated.relative_to == "traced" or isinstance(plan, FloatPlan):
        limit = allowed_difference(stated, composition.outputs[0])
        difference, reaches = _traced(given["graph"], plan, inputs, output, composition.unproved, limit)
        said = f"the cascade without roundings is within {difference:.2g} units of the graph in the file, in rationals"
    else:
        difference, reaches, said = 0.0, {}, _direct(plan, inputs, output, stated)
    yield Finding("ranges", True, range_findings(plan, composition, reaches))
    check_difference(stated, composition.outputs[0], difference, "certificate", "function")
    yield Finding("function", True, said)
    found = composition.outputs[0]
    check_parts(stated, found, most_arithmetic(0.0, found, output), difference, "certificate")
    law = plan.blocks[0].law if stated.relative_to in ("law", "samples") else None
    if law is not None and isinstance(plan, Plan):
        low, high = _reach_of_law(plan, inputs, output)
        found = OutputBound(found.parts, low, high)
    if stated.relative_to == "float":
        _check_given_range(stated, found, output)
    else:
        check_range(stated, found, output, "certificate")
    require(accuracy > 0.5, "function, accuracy: expected more than 0.5 units")
    require(math.fsum(stated.parts.values()) < accuracy, f"certificate: expected a bound below {accuracy} units")
    require(stated.assumed >= 0 and stated.spread >= 0, "certificate: expected errors of at least 0")
    what = (
        "composed from the error that is stated"
        if stated.relative_to == "float"
        else "every figure follows from the file"
    )
    assumed = f"; {stated.assumed:.4g} of the bound is assumed" if stated.assumed else ""
    row = f"{stated.name}: {compared(stated, composition.outputs[0], difference)}{assumed}"
    yield Finding("certificate", True, what, (row,))
    _check_saturation(stated, plan, tables, inputs, composition)
    yield Finding("saturation", True, f"{stated.name} {stated.saturation}")


def _traced(
    plain: Any, plan: AnyPlan, inputs: dict[str, Format], output: Format, wanted: dict[int, Span], limit: float
) -> tuple[float, dict[int, Span]]:
    """Return how far the cascade is from the graph in units, in rationals, and the ranges asked for."""
    names, numbered = tuple(inputs), dict(enumerate(inputs.values()))
    algebra = WaveAlgebra()
    words: dict[str, Waves] = {}
    values: dict[str, Any] = {}
    axes: dict[str, int] = {}
    for k, (name, word) in enumerate(inputs.items()):
        if word.angle:
            axes[name] = k
            values[name] = Angle(((k, word.sign),), Fraction(0), Fraction(word.offset))
        else:
            words[name] = algebra.motion(k, Fraction(1 << (word.bits - 1)))
            values[name] = words[name].scaled(word.scale) + algebra.number(word.middle)
    true = evaluate(graph_of(plain, names, "function"), values, algebra)
    unit = Fraction(output.lsb)
    true = true.scaled(output.sign / unit) + algebra.number(-output.sign * output.middle / unit)
    reaches: dict[int, tuple[float, float]] = {}

    def look(place: int, value: Waves) -> None:
        if place in wanted:
            reaches[place] = value.enclosed(numbered, wanted[place])

    def opaque(place: int, block: Any) -> Any:
        require(False, f"plan, wire {place}: expected a table of a traced function")

    (found,) = outputs_of(plan, words, angles_of(plan, axes), algebra, opaque, look)
    return (found - true).largest(numbered, limit), reaches


def _direct(plan: Plan, inputs: dict[str, Format], output: Format, stated: Stated) -> str:
    """Refuse a plan that is not one table of all inputs, given out as it is; return what that shows."""
    lookup = [wire for wire in plan.wires if wire.kind != "input"]
    require(len(plan.blocks) == 1 and len(lookup) == 1 and lookup[0].kind == "lookup", "plan: expected one table")
    read = tuple(plan.wires[each].name for each in lookup[0].wires)
    require(read == tuple(inputs), "plan: expected a table of all inputs, in order")
    made, block = plan.outputs[0], plan.blocks[0]
    place = plan.wires.index(lookup[0])
    require(
        (made.parts, made.constant, made.shift) == (((place, 1, 0),), 0, 0), "plan: expected the table as the output"
    )
    require(block.lsb == made.lsb, "plan: expected a table in units of the output")
    if stated.relative_to == "float":
        require(block.kind == "given", "plan: expected given words")
        return "one table of given words: only the function itself can tell whether they are right"
    require(block.law is not None, "plan: expected the table of a law")
    for argument, word in zip(block.arguments, inputs.values(), strict=True):
        expected = (word.sign, Fraction(word.offset)) if word.angle else (word.scale, word.middle)
        require(
            (argument.angle, argument.scale, argument.centre) == (word.angle, *expected),
            "plan: expected the input words as the formats have them",
        )
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
        words = index_words(word.bits)
        axes.append(word.sign * (word.centre + words * word.lsb) + word.offset)
    grid = [each.reshape(-1) for each in np.meshgrid(*axes, indexing="ij")]
    values = law.values([Ball(each) for each in grid]).value
    centre = float(output.sign * output.middle)
    ends = sorted((output.sign * float(end) - centre) / output.lsb for end in (np.min(values), np.max(values)))
    return math.floor(ends[0] - SLACK), math.ceil(ends[1] + SLACK)


def _check_saturation(
    stated: Stated, plan: AnyPlan, tables: list[Any], inputs: dict[str, Format], composition: Composition
) -> None:
    """Refuse what is said on saturation if it is not so: one table knows, a sum only by its range."""
    output = plan.outputs[0]
    inside = fits(composition.outputs[0], output.low, output.high)
    words_alone = all(wire.kind in ("input", "lookup") for wire in plan.wires)
    direct = isinstance(output, Wire) and len(plan.blocks) == 1 and output.shift == 0 and words_alone
    expected = "cannot" if inside else "can" if direct else "not excluded"
    require(stated.saturation == expected, f"certificate, saturation: expected {expected}, got {stated.saturation}")
    require(
        (expected == "can") == (stated.witness is not None),
        "certificate: expected a witness where it can saturate, and nowhere else",
    )
    if stated.witness is not None:
        (chosen,) = witness_words(stated, [len(inputs)], "certificate, witness")
        for word, value in zip(inputs.values(), chosen, strict=True):
            require(word.lowest <= value <= word.highest, "certificate, witness: expected words of the inputs")
        total = run_state(plan, tables, dict(zip(inputs, chosen, strict=True)))[0]
        require(not output.low <= total <= output.high, "certificate: expected a witness that leaves the range")
