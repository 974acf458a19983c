"""The plan of a function: one table of all its input words, or a cascade where they are too many for one.

One table holds the correctly rounded word, so that its bound is half a unit and what is not known of the function. Its
words may go one beyond the ends of the output, which then clamps them: so the certificate knows whether it saturates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.compiler.draft import PlanDraft, target_of
from bddtorque.compiler.function_request import (
    BLOCK_BITS,
    MAX_BLOCK_BITS,
    Request,
    RequestedWord,
    UntraceableError,
    largest_off,
    traced,
)
from bddtorque.dynamics.graph import Graph
from bddtorque.dynamics.node_ranges import folding_errors, output_ranges
from bddtorque.dynamics.tracer import Number, Tracer
from bddtorque.model.exhaustive import float_values, grid_values
from bddtorque.model.model import Model
from bddtorque.plan.blocks import Block, FunctionBlock, GivenBlock, LawBlock
from bddtorque.plan.plan import Plan, check_widths
from bddtorque.plan.table import Table
from bddtorque.plan.wires import Input, Lookup, Output, Wire
from bddtorque.targets import TARGETS
from bddtorque.targets.angles import with_angle_sums
from bddtorque.targets.builder import OutputFormat
from bddtorque.targets.target import PlanTask, TracedOutputs
from bddtorque.words.argument import Argument, intervals
from bddtorque.words.bounded import ROUND_UP, TIE_WINDOW, ULP, Interval
from bddtorque.words.formats import Format
from bddtorque.words.integer_range import Range
from bddtorque.words.law import Law
from bddtorque.words.rounding import half_up, nearest_words, round_half_away

Floats = npt.NDArray[np.float64]
WORD_SLACK = 1e-6
"""Units that a reach is taken wider: more than floats err."""


def check_bits(request: Request, why_not: str = "") -> None:
    """Refuse more input bits than one table may have, with what would do; and tables where none are asked for."""
    if TARGETS[request.target].only_traced:
        reason = f": {why_not}" if why_not else ""
        raise BddTorqueError(
            f"{request.where}: target '{request.target}' takes functions that can be traced, others are tables"
            f"{reason}: use target = 'tables' or 'integer'"
        )
    total, most = request.bits, request.block_bits
    if total <= most:
        return
    given = " + ".join(f"{name} {word.bits}" for name, word in request.inputs.items())
    share, rest = divmod(most, len(request.inputs))
    fewer = ", ".join(str(share + (k < rest)) for k in range(len(request.inputs)))
    more = f"block_bits = {total} or " if total <= MAX_BLOCK_BITS else ""
    raise BddTorqueError(
        f"{request.where} has {total} input bits ({given}), and one table takes at most {most} together: use "
        f"{more}{fewer} bits" + (f"; it was not split into smaller tables, because it {why_not}" if why_not else "")
    )


def draft_again(model: Model) -> tuple[PlanDraft, str]:
    """Return the plan of a compiled function made anew from what its file holds, and what it was made from.

    What was only stated is as stated: how samples were read, their spread, the error that was assumed.
    """
    known, plan, stated = model.provenance, model.plan, model.certificate
    (word,) = model.formats.results.values()
    out = RequestedWord(word.name, word.bits, None, word.unit, word)
    request = Request(
        known.name, model.formats.words, out, known.accuracy, 0.0, plan.block_bits or BLOCK_BITS,
        plan.target,
        rules={name: rule for name, rule in known.rules.items() if name not in ("products", "chip")},
        spread=stated.spread, products=known.rules.get("products", "auto"), chip=known.chip,
    )  # fmt: skip
    block = plan.blocks[0] if len(plan.blocks) == 1 else None
    if known.graph is not None and stated.relative_to == "traced":
        draft, how = draft_of_graph(known.graph, request), "the graph in the file"
    elif isinstance(block, LawBlock) and stated.relative_to in ("law", "samples"):
        draft, how = draft_of_law(block.law, request, stated.relative_to), f"the {block.law.kind} in the file"
    elif isinstance(block, GivenBlock) and stated.relative_to == "float":
        draft, how = draft_of_given(block, request, word), "the words in the file"
    else:
        relative_to = stated.relative_to
        raise BddTorqueError(
            f"{request.where}: the plan does not compute what the certificate is relative to ({relative_to})"
        )
    return replace(draft, assumed=stated.assumed), how


def draft_of_graph(graph: Graph, request: Request) -> PlanDraft:
    """Return the plan of a traced function: one table if its words fit it, else a cascade of them."""
    arguments = request.arguments
    _, sums = _checked_angles(graph, request)
    (reach,) = output_ranges(graph, intervals(arguments))
    output = request.output.format(reach.low, reach.high)
    target = target_of(output, "y")
    (arithmetic,) = folding_errors(graph, intervals(arguments))
    planner = TARGETS[request.target]
    shifted = any(each.rest for each in sums.values())  # angles and constants together stand in cascades only
    if planner.made_of_tables and request.bits <= request.block_bits and not shifted:
        block = _graph_block(graph, arguments, target, reach)
        plan = _one_table(block, request, output, "traced", request.block_bits)
        return request.draft(plan, output, arithmetic, graph, direct=True)
    task = PlanTask(request, arguments, [target], float(request.accuracy))
    plan = planner.plan_graph(task, TracedOutputs("traced", graph, (arithmetic / output.lsb * ROUND_UP,)))
    return request.draft(plan, output, arithmetic, graph)


def _checked_angles(graph: Graph, request: Request) -> Any:
    """Return a graph's sums of angles, or refuse it: other inputs, not one output, or angles where none may stand."""
    if len(graph.outputs) != 1:
        raise BddTorqueError(f"{request.where} must have one output, got {len(graph.outputs)}")
    for name in graph.input_names:
        if name not in request.inputs:
            raise BddTorqueError(f"{request.where} has the inputs {', '.join(request.inputs)}, but reads '{name:.40}'")
    try:
        rewritten, sums = with_angle_sums(graph, request.inputs)
        if any(each.fractional for each in sums.values()):
            raise BddTorqueError("an angle may be multiplied by integers only, because its words wrap")
        return rewritten, sums
    except BddTorqueError as problem:
        said = str(problem).removeprefix("plan: ")
        raise BddTorqueError(f"{request.where}: {said}; trace = 'float' takes any function") from None


def _graph_block(
    graph: Graph, arguments: Mapping[str, Argument], target: OutputFormat, reach: Interval
) -> FunctionBlock:
    """Return the table of sign·f − centre."""
    tracer = Tracer()
    inputs = {name: tracer.input(f"x{k}") for k, name in enumerate(arguments)}
    value: Number = graph.evaluate(inputs, tracer)[0]
    centre = float(target.centre)
    value = tracer.sum(tracer.product(float(target.sign), value), -centre)
    own = tracer.graph([value], ["f"])
    reaches = {f"x{k}": argument.interval() for k, argument in enumerate(arguments.values())}
    plain = output_ranges(own, reaches)[0]
    sharper = (reach if target.sign > 0 else -reach) - centre
    ends = max(plain.low, sharper.low), min(plain.high, sharper.high)
    low, high = nearest_words(*ends, target.lsb)
    return FunctionBlock(own, tuple(arguments.values()), target.lsb, low, max(low, high))


def draft_of_law(law: Law, request: Request, relative_to: str) -> PlanDraft:
    """Return the plan of a law: one table."""
    arguments, formats = tuple(request.arguments.values()), tuple(request.inputs.values())
    count = len(getattr(law, "around", (False,)))
    if len(arguments) != count:
        raise BddTorqueError(f"{law.kind} takes {count} input words, got {len(arguments)}")
    if law.real_valued and any(each.kind == "angle" for each in arguments):
        raise BddTorqueError(f"{law.kind} takes words with a range as inputs, got an angle")
    ends = law_range(law, formats)
    output = request.output.format(*ends)
    target = target_of(output, "y")
    block = LawBlock(law, arguments, target.lsb, output.lowest - 1, output.highest + 1, target.centre, target.sign)
    plan = _one_table(block, request, output, relative_to)
    return request.draft(plan, output, direct=True, reach=words_reached(*ends, target))


def law_range(law: Any, formats: Sequence[Format]) -> tuple[float, float]:
    """Return the least and the greatest value of a law over all words, in floats."""
    try:
        with np.errstate(over="raise", invalid="raise"):
            values = law(*(column.reshape(-1) for column in grid_values(formats)))
    except FloatingPointError as problem:
        raise BddTorqueError(f"{law.kind}: the ranges must give values within float64: {problem}") from None
    return float(np.min(values)), float(np.max(values))


def words_reached(low: float, high: float, target: OutputFormat) -> tuple[int, int]:
    """Return words beyond which no value from low to high goes, whoever's last bits these have."""
    ends = sorted((target.sign * end - float(target.centre)) / float(target.lsb) for end in (low, high))
    return math.floor(ends[0] - WORD_SLACK), math.ceil(ends[1] + WORD_SLACK)


def draft_of_values(values: Floats, request: Request) -> PlanDraft:
    """Return the plan of a table of given values, one per entry in the order of the index."""
    ends = float(values.min()), float(values.max())
    output = request.output.format(*ends)
    target = target_of(output, "y")
    words, error = rounded_values(values, target)
    low, high = int(words.min()), int(words.max())
    table = Table(words, tuple(word.bits for word in request.inputs.values()), Range(low, high).bits, True)
    block = GivenBlock(table.input_widths, target.lsb, low, high, table.content_key, error)
    return replace(draft_of_given(block, request, output), table=table, reach=words_reached(*ends, target))


def draft_of_given(block: GivenBlock, request: Request, output: Format) -> PlanDraft:
    """Return the plan of a table that is given."""
    widths = tuple(word.bits for word in request.inputs.values())
    block = replace(block, widths=widths, lsb=Fraction(output.lsb))
    return request.draft(_one_table(block, request, output, "float"), output, direct=True)


def rounded_values(values: Floats, target: OutputFormat) -> tuple[npt.NDArray[np.int64], float]:
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
    error = float((np.abs(units - words) + radius).max()) * unit * ROUND_UP
    return words, error


def _one_table(block: Block, request: Request, output: Format, relative_to: str, block_bits: int = 0) -> Plan:
    """Return the plan of one table of all input words."""
    wires: list[Wire] = [Input.of(name, argument) for name, argument in request.arguments.items()]
    count, target = len(wires), target_of(output, "y")
    wires.append(Lookup(output.name, 0, tuple(range(count))))
    outputs = (Output("y", ((count, 1),), 0, Fraction(0), 0, target.low, target.high, target.lsb),)
    plan = Plan(tuple(wires), (block,), outputs, relative_to, request.target, block_bits or request.bits)
    check_widths(plan, f"function '{output.name:.40}'")
    return plan


def draft_of_function(function: Any, request: Request, trace: str) -> tuple[PlanDraft, list[str]]:
    """Return the plan of a function, by the first way that it can be taken, and notes."""
    where = request.where
    if hasattr(function, "bounded") and hasattr(function, "to_plain"):
        check_bits(request)
        return draft_of_law(function, request, "law"), []
    if not callable(function) and not isinstance(function, Graph):
        raise BddTorqueError(f"{where} must be a function, a law or a graph, not {type(function).__name__}")
    if isinstance(function, Graph):
        return draft_of_graph(function, request), []
    why_not = ""
    if trace != "float":
        try:
            return draft_of_graph(_trace(function, request), request), []
        except BddTorqueError as problem:
            if trace == "traced":
                raise
            why_not = str(problem).removeprefix(where).lstrip(":, ")
    check_bits(request, why_not)
    notes = [f"compiled from its float values; not traced: {why_not}"] if why_not else []
    return draft_of_values(float_values(function, request.inputs, where), request), notes


def _trace(function: Callable[..., Any], request: Request) -> Graph:
    """Return the graph of a function, or refuse; also one that does other things to numbers than under trace."""
    where = request.where
    try:
        graph = traced(function, tuple(request.inputs))
    except UntraceableError as problem:
        raise BddTorqueError(
            f"{where} can only be traced through sums, products, integer powers, sines and cosines, found {problem}"
        ) from None
    off = largest_off(function, graph, request.inputs, where)
    if off > 1e-6:
        raise BddTorqueError(
            f"{where} gives other values when traced than with floats ({off:.3g} of its size apart), because it "
            "inspects its arguments; use trace = 'float'"
        )
    return graph
