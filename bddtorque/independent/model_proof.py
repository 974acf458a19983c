"""The proof of a model, step by step: of a quantity of a robot, and of a function alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .bounds import OutputBound
from .certificate import (
    Stated,
    allowed_difference,
    check_difference,
    check_names,
    check_parts,
    closer_range,
    fits,
    most_arithmetic,
    outputs_stated,
    witness_words,
)
from .findings import Finding, require
from .float_plan import AnyPlan
from .formats import Words, words_of
from .functions import FunctionSource
from .passes import check_words, compared, compose_errors, range_findings, run_state
from .plan import Wire
from .robot_source import RobotSource
from .tables import Facts
from .truth import Wanted

MAX_LISTED = 8
"""Outputs whose figures are listed within a line."""
Source = RobotSource | FunctionSource


def model_findings(header: dict[str, Any], plan: AnyPlan, tables: list[Any], facts: list[Facts]) -> Iterator[Finding]:
    """Yield what was found of a model after its tables: words, ranges, the truth, certificate, saturation."""
    words, stated = words_of(header["words"]), outputs_stated(header["certificate"])
    _check_plan(plan, words, stated)
    kind = FunctionSource if "function" in header else RobotSource
    source: Source = kind(header, plan, words, stated, facts)
    yield Finding("words", True, source.said_of_words)
    yield Finding("widths", True, check_words(plan))
    composition = compose_errors(plan, facts, source.axes)
    limits = [allowed_difference(*pair) for pair in zip(stated, composition.outputs, strict=True)]
    triples = zip(stated, composition.outputs, words.results, strict=True)
    asked = {j: span for j, each in enumerate(triples) if (span := closer_range(*each)) is not None}
    comparison = source.compare(Wanted(composition.unproved, asked, limits))
    differences = [comparison.differences[j] for j in range(len(stated))]
    yield Finding("ranges", True, range_findings(plan, composition, comparison.reaches))
    for each, bound, difference in zip(stated, composition.outputs, differences, strict=True):
        check_difference(each, bound, difference, _where(each), source.step)
    yield true_finding(source.step, source.compared_with, differences, comparison.how)
    for j, (each, bound) in enumerate(zip(stated, composition.outputs, strict=True)):
        word = words.results[j]
        arithmetic = most_arithmetic(comparison.noise[j], bound, word, source.points, source.skew)
        check_parts(each, bound, arithmetic, differences[j], _where(each))
        source.check_range(each, bound, word, _where(each), comparison.truths.get(j))
        require(
            source.accuracy is None or each.total < source.accuracy,
            f"{_where(each)}: expected a bound below {source.accuracy} units, as was asked for",
        )
    rows = map(_row, stated, composition.outputs, differences)
    yield Finding("certificate", True, source.said_of_figures, tuple(rows))
    for j, each in enumerate(stated):
        near = source.reach(each, composition.outputs[j], words.results[j])
        output = plan.outputs[j]
        _check_saturation(each, fits(near, output.low, output.high), source.direct)
        if each.witness is not None:
            state = dict(zip(words.named, witness_words(each, words.inputs, _where(each)), strict=True))
            total = run_state(plan, tables, state)[j]
            require(not output.low <= total <= output.high, f"{_where(each)}: expected a witness that leaves the range")
    yield Finding("saturation", True, ", ".join(f"{each.name} {each.saturation}" for each in stated))


def _where(stated: Stated) -> str:
    return f"certificate, '{stated.name:.40}'"


def _check_plan(plan: AnyPlan, words: Words, stated: list[Stated]) -> None:
    """Refuse a plan that reads or makes other words than those of the file, and a certificate of others."""
    for place, wire in enumerate(plan.wires):
        if isinstance(wire, Wire) and wire.kind == "input":
            word = words.named.get(wire.name)
            require(
                word is not None and (word.bits, word.angle) == (wire.bits, wire.wraps),
                f"plan, wire {place}: expected an input as its format has it",
            )
    require(len(plan.outputs) == len(words.results), f"plan: expected {len(words.results)} outputs")
    require(len(stated) == len(words.results), "certificate: expected every output")
    for j, (label, word, each) in enumerate(zip(words.labels, words.results, stated, strict=True)):
        made, where = plan.outputs[j], f"plan, output {j}"
        require((made.low, made.high) == (word.lowest, word.highest), f"{where}: expected the ends of its word")
        require(made.lsb == word.lsb and not word.angle, f"{where}: expected the unit of its word")
        check_names(each, label, word, _where(each))


def true_finding(step: str, truth: str, differences: list[float], how: Sequence[str]) -> Finding:
    """Return how far the outputs are from the truth, in units: in one line, where there are few of them."""
    if not truth:
        return Finding(step, True, "; ".join(how))
    listed = ", ".join(f"{each:.2g}" for each in differences)
    few = len(differences) <= MAX_LISTED
    within = listed if few else f"{max(differences):.2g}"
    said = f"the cascade without roundings is within {within} units of {truth}, everywhere"
    rows = () if few else (f"output by output: {listed}",)
    return Finding(step, True, f"{said} ({'; '.join(how)})", rows)


def _row(stated: Stated, bound: OutputBound, difference: float) -> str:
    """Return what the file states of one output beside what was proved of it here."""
    said = f"{stated.name}: {compared(stated, bound, difference)}"
    if stated.parts["dropped"] and bound.proved is not None:
        said += f"; dropped {stated.parts['dropped']:.3g} in the file, at most {difference:.3g} found"
    return said + (f"; {stated.assumed:.4g} of the bound is assumed" if stated.assumed else "")


def _check_saturation(stated: Stated, inside: bool, direct: bool) -> None:
    """Refuse what is said on saturation if the range excludes it; one table of all inputs knows what it does."""
    expected = ("cannot",) if inside else ("can",) if direct else ("can", "not excluded")
    where = f"{_where(stated)}, saturation"
    require(stated.saturation in expected, f"{where}: expected {' or '.join(expected)}, got {stated.saturation}")
    require(
        (stated.saturation == "can") == (stated.witness is not None),
        f"{where}: expected a witness where it can saturate, and nowhere else",
    )
