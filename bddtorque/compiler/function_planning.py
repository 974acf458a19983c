"""The plan of a function: one table of all its input words, or a cascade where they are too many for one.

One table holds the correctly rounded word, so that its bound is half a unit and what is not known of the function. Its
words may go one beyond the ends of the output, which then clamps them: so the certificate knows whether it saturates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.compiler.function_words import Asked
from bddtorque.graph.graph import Graph
from bddtorque.graph.node_ranges import node_ranges
from bddtorque.graph.tracer import Number, Tracer
from bddtorque.laws.law import Law
from bddtorque.model.exhaustive import grid_values
from bddtorque.plan.blocks import Block, FunctionBlock, GivenBlock, LawBlock
from bddtorque.plan.plan import Plan, check_widths
from bddtorque.plan.table import Table
from bddtorque.plan.wires import Input, Lookup, Output, Wire
from bddtorque.planner.angles import with_angle_sums
from bddtorque.planner.budget import plan_network
from bddtorque.planner.builder import Target
from bddtorque.proof.truth import folding_errors
from bddtorque.words import Format
from bddtorque.words.argument import Argument, argument_of
from bddtorque.words.bounded import ROOM, TIE_WINDOW, ULP, Interval, IntervalArithmetic
from bddtorque.words.integer_range import Range
from bddtorque.words.rounding import half_up, nearest_words, round_half_away

Floats = npt.NDArray[np.float64]
"""Units; closer to a tie than this, rationals decide."""
WORD_SLACK = 1e-6
"""Units that a reach is taken wider: more than floats err, less than anybody minds."""
TRIED = 2048
"""Words on which a function under trace is compared with itself in floats."""


@dataclass(frozen=True)
class Draft:
    """A plan, before its tables are made.

    Attributes
    ----------
    output : the format of the output word
    relative_to : what the certificate will be relative to
    arithmetic : what constants folded in float64 can have lost, in the unit of the output
    direct : whether one table of all input words gives the output
    table : the words themselves, where they are given
    graph : the function, where it was traced
    reach : the lowest and the highest word that the output would need, where the table is clamped itself
    """

    plan: Plan
    output: Format
    relative_to: str
    arithmetic: float = 0.0
    direct: bool = True
    table: Table | None = None
    graph: Graph | None = None
    reach: tuple[int, int] | None = None


def target_of(word: Format, name: str = "y") -> Target:
    """Return what an output word means; an offset of the value is one of its centre."""
    centre = Fraction(word.centre) + word.sign * Fraction(word.offset)
    return Target(name, Fraction(word.lsb), word.lowest, word.highest, centre, word.sign)


def checked_graph(graph: Graph, names: Sequence[str], formats: Sequence[Format], where: str) -> None:
    """Refuse a graph that reads other inputs, has not one output, or has angles where none may stand."""
    if len(graph.outputs) != 1:
        raise BddTorqueError(f"{where}: one output required, {len(graph.outputs)} given")
    for name in graph.input_names:
        if name not in names:
            raise BddTorqueError(f"{where}: the inputs {', '.join(names)} required, '{name:.40}' is read")
    try:
        with_angle_sums(graph, dict(zip(names, formats, strict=True)))
    except BddTorqueError as problem:
        said = str(problem).removeprefix("plan: ")
        raise BddTorqueError(f"{where}: {said}; trace = 'float' takes any function") from None


def draft_of_graph(
    graph: Graph,
    names: Sequence[str],
    formats: Sequence[Format],
    out: Asked,
    accuracy: float,
    block_bits: int,
    target: str,
) -> Draft:
    """Return the plan of a traced function: one table if its words fit it, else a cascade of them."""
    arguments = {name: argument_of(word) for name, word in zip(names, formats, strict=True)}
    intervals = {name: each.interval() for name, each in arguments.items() if each.kind == "word"}
    ranges = node_ranges(graph, intervals)
    reach = ranges[graph.outputs[0] >> 1]
    reach = -reach if graph.outputs[0] & 1 else reach
    output = out.format(reach.low, reach.high)
    (arithmetic,) = folding_errors(graph, ranges)
    _, sums = with_angle_sums(graph, arguments)
    shifted = any(each.rest for each in sums.values())  # angles and constants together stand in cascades only
    if sum(word.bits for word in formats) <= block_bits and not shifted:
        block = _graph_block(graph, names, list(arguments.values()), target_of(output), reach)
        return Draft(
            _direct_plan(block, names, formats, output, "traced", block_bits), output, "traced", arithmetic, graph=graph
        )
    spent = arithmetic / output.lsb * ROOM
    plan = plan_network(graph, arguments, [target_of(output)], accuracy, block_bits, "terms", target, spent)
    return Draft(_sourced(plan, "traced"), output, "traced", arithmetic, direct=False, graph=graph)


def _graph_block(
    graph: Graph, names: Sequence[str], arguments: Sequence[Argument], target: Target, reach: Interval
) -> FunctionBlock:
    """Return the table of sign·f − centre."""
    tracer = Tracer()
    inputs = {name: tracer.input(f"x{k}") for k, name in enumerate(names)}
    value: Number = graph.evaluate(inputs, tracer)[0]
    centre = float(target.centre)
    value = tracer.sum(tracer.product(float(target.sign), value), -centre)
    own = tracer.graph([value], ["f"])
    intervals = {f"x{k}": argument.interval() for k, argument in enumerate(arguments)}
    found = own.evaluate(intervals, IntervalArithmetic)[0]
    plain = found if isinstance(found, Interval) else Interval(float(found), float(found))
    sharper = (reach if target.sign > 0 else -reach) - centre
    ends = max(plain.low, sharper.low), min(plain.high, sharper.high)
    low, high = nearest_words(*ends, target.lsb)
    return FunctionBlock(own, tuple(arguments), target.lsb, low, max(low, high))


def draft_of_law(law: Law, names: Sequence[str], formats: Sequence[Format], out: Asked, relative_to: str) -> Draft:
    """Return the plan of a law: one table."""
    arguments = tuple(argument_of(word) for word in formats)
    count = len(getattr(law, "around", (False,)))
    if len(arguments) != count:
        raise BddTorqueError(f"{law.kind}: {count} input words required, {len(arguments)} given")
    if law.transcendental and any(each.kind == "angle" for each in arguments):
        raise BddTorqueError(f"{law.kind}: words with a range required as inputs, an angle given")
    output = out.format(*law_range(law, formats)) if out.given is None and out.ends is None else out.format()
    target = target_of(output)
    block = LawBlock(law, arguments, target.lsb, output.lowest - 1, output.highest + 1, target.centre, target.sign)
    plan = _direct_plan(block, names, formats, output, relative_to, sum(word.bits for word in formats))
    return Draft(plan, output, relative_to, reach=words_reached(*law_range(law, formats), target))


def law_range(law: Any, formats: Sequence[Format]) -> tuple[float, float]:
    """Return the least and the greatest value of a law over all words, in floats."""
    try:
        with np.errstate(over="raise", invalid="raise"):
            values = law(*(column.reshape(-1) for column in grid_values(formats)))
    except FloatingPointError as problem:
        raise BddTorqueError(f"{law.kind}: ranges with values within float64 required, {problem}") from None
    return float(np.min(values)), float(np.max(values))


def words_reached(low: float, high: float, target: Target) -> tuple[int, int]:
    """Return words beyond which no value from low to high goes, whoever's last bits these have."""
    ends = sorted((target.sign * end - float(target.centre)) / float(target.lsb) for end in (low, high))
    return math.floor(ends[0] - WORD_SLACK), math.ceil(ends[1] + WORD_SLACK)


def draft_of_values(values: Floats, names: Sequence[str], formats: Sequence[Format], out: Asked) -> Draft:
    """Return the plan of a table of given values, one an entry in the order of the index."""
    output = out.format(float(values.min()), float(values.max()))
    target = target_of(output)
    words, error = rounded_values(values, target)
    low, high = int(words.min()), int(words.max())
    bits = Range(low, high).bits
    table = Table(words, tuple(word.bits for word in formats), bits, True)
    block = GivenBlock(table.input_widths, target.lsb, low, high, table.content_key, error)
    reach = words_reached(float(values.min()), float(values.max()), target)
    return replace(draft_of_given(block, names, formats, output), table=table, reach=reach)


def draft_of_given(block: GivenBlock, names: Sequence[str], formats: Sequence[Format], output: Format) -> Draft:
    """Return the plan of a table that is given."""
    block = replace(block, widths=tuple(word.bits for word in formats), lsb=Fraction(output.lsb))
    return Draft(_direct_plan(block, names, formats, output, "float", sum(block.widths)), output, "float")


def rounded_values(values: Floats, target: Target) -> tuple[npt.NDArray[np.int64], float]:
    """Return the nearest words of float values, ties away from zero, at most one beyond the ends of the output.

    And the largest error in values; what is close to a tie is decided in rationals.
    """
    unit, centre = float(target.lsb), float(target.centre)
    units = (target.sign * values - centre) / unit
    radius = 4 * ULP * (np.abs(values) + abs(centre)) / unit
    units = np.clip(units, target.low - 1, target.high + 1)
    words = round_half_away(units)
    for place in np.flatnonzero(np.abs(units - words) + np.maximum(radius, TIE_WINDOW) >= 0.5).tolist():
        exact = (target.sign * Fraction(float(values[place])) - target.centre) / target.lsb
        nearest = half_up(abs(exact)) * (1 if exact >= 0 else -1)
        words[place] = min(max(nearest, target.low - 1), target.high + 1)
    error = float((np.abs(units - words) + radius).max()) * unit * ROOM
    return words, error


def _direct_plan(
    block: Block, names: Sequence[str], formats: Sequence[Format], output: Format, source: str, block_bits: int
) -> Plan:
    """Return the plan of one table."""
    wires: list[Wire] = [
        Input(name, word.bits, word.kind == "angle") for name, word in zip(names, formats, strict=True)
    ]
    wires.append(Lookup(output.name, 0, tuple(range(len(names)))))
    target = target_of(output)
    made = Output("y", ((len(names), 1),), 0, Fraction(0), 0, target.low, target.high, target.lsb)
    plan = Plan(tuple(wires), (block,), (made,), source, "tables", block_bits)
    check_widths(plan, f"function '{output.name:.40}'")
    return plan


def _sourced(plan: Plan, source: str) -> Plan:
    return Plan(plan.wires, plan.blocks, plan.outputs, source, plan.target, plan.block_bits)


def largest_off(function: Callable[..., Any], graph: Graph, names: Sequence[str], formats: Sequence[Format]) -> float:
    """Return how far a function and its trace are apart on some words, relative to the largest value among them."""
    rng = np.random.default_rng(0)
    states: Mapping[str, Floats] = {
        name: word.dequantise(
            np.concatenate(([word.lowest, word.highest, 0], rng.integers(word.lowest, word.highest, TRIED)))
        )
        for name, word in zip(names, formats, strict=True)
    }
    in_floats = np.array(
        [float(function(*row)) for row in zip(*(states[name].tolist() for name in names), strict=True)]
    )
    under_trace = np.broadcast_to(graph.evaluate(states)[0], in_floats.shape)
    size = max(float(np.abs(in_floats).max()), float(np.abs(under_trace).max()), 1e-300)
    off = np.abs(in_floats - under_trace).max() / size
    return float(off) if math.isfinite(off) else math.inf
