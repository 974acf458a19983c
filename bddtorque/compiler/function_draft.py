"""The plan of a function: one table of all its input words, or a cascade where they are too many for one.

One table holds the correctly rounded word, so that its bound is half a unit and what is not known of the function. Its
words may go one beyond the ends of the output, which then clamps them: so the certificate knows whether it saturates.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.plain import choice, real, whole
from bddtorque.compiler.draft import PlanDraft, target_of
from bddtorque.compiler.function_words import RequestedWord
from bddtorque.dynamics.graph import Graph
from bddtorque.dynamics.node_ranges import folding_errors, output_ranges
from bddtorque.dynamics.tracer import Number, Tracer
from bddtorque.model.exhaustive import grid_values
from bddtorque.model.model import Model
from bddtorque.model.provenance import Provenance
from bddtorque.plan.blocks import Block, FunctionBlock, GivenBlock, LawBlock
from bddtorque.plan.plan import Plan, check_widths
from bddtorque.plan.table import Table
from bddtorque.plan.wires import Input, Lookup, Output, Wire
from bddtorque.spec.field_values import as_chip, as_target
from bddtorque.targets import TARGETS
from bddtorque.targets.angles import with_angle_sums
from bddtorque.targets.builder import OutputFormat
from bddtorque.targets.target import PlanTask, TracedOutputs
from bddtorque.targets.target_plans import check_options
from bddtorque.words.argument import Argument, argument_of, intervals
from bddtorque.words.bounded import ROUND_UP, TIE_WINDOW, ULP, Interval
from bddtorque.words.formats import Format
from bddtorque.words.integer_range import Range
from bddtorque.words.interface import Interface, word_number
from bddtorque.words.law import Law
from bddtorque.words.rounding import half_up, nearest_words, round_half_away

Floats = npt.NDArray[np.float64]
BLOCK_BITS, MAX_BLOCK_BITS = 20, 26
"""Input bits of one table, by default and at most."""
PRODUCTS = ("auto", "blocks", "squares", "partial")
WORD_SLACK = 1e-6
"""Units that a reach is taken wider: more than floats err, less than anybody minds."""


@dataclass(frozen=True)
class Request:
    """Request for a compiled function."""

    name: str  # of the function
    inputs: Mapping[str, Format]  # formats of the input words, by name
    output: RequestedWord  # the output word, perhaps with a range still to be found
    accuracy: float | str = "faithful"  # "faithful", or the largest error allowed, in units
    assumed_error: float = 0.0  # how far the values of the function are off themselves, in the unit of the output
    block_bits: int = BLOCK_BITS  # input bits of one table, at most
    target: str = "tables"  # "tables", "integer" or "float"
    where: str = ""  # what messages start with; by default the name
    # rules, spread: how samples were read, and how far those of the same words lie apart
    rules: Mapping[str, Any] = field(default_factory=dict)
    spread: float = 0.0
    products: str = "auto"  # how tables multiply two words, as in `Spec`; for cascades of a traced function
    chip: str | None = None  # for the target "integer": the processor whose costs words are chosen by
    precision: ClassVar[None] = None  # for the target "float": the one that is enough

    def __post_init__(self) -> None:
        object.__setattr__(self, "where", self.where or f"function '{self.name:.60}'")
        accuracy = 1.0 if self.accuracy == "faithful" else self.accuracy
        if isinstance(accuracy, str | bool) or not 0.5 < accuracy < math.inf:
            raise BddTorqueError(
                f"{self.where}, accuracy must be 'faithful' or above 0.5 units (rounding takes that), got {accuracy!r}"
            )
        real(self.assumed_error, f"{self.where}, assumed_error", low=0)
        whole(self.block_bits, 2, MAX_BLOCK_BITS, f"{self.where}, block_bits")
        object.__setattr__(self, "target", as_target(self.target, f"{self.where}, target"))
        choice(self.products, PRODUCTS, f"{self.where}, products")
        if self.chip is not None:
            as_chip(self.chip, f"{self.where}, chip")
        chosen = {"products": self.products != "auto", "chip": self.chip is not None}
        check_options(self.target, [key for key, given in chosen.items() if given], lambda _: "", f"{self.where}: ")
        object.__setattr__(self, "accuracy", float(accuracy))

    @property
    def bits(self) -> int:
        """Input bits in all."""
        return sum(word.bits for word in self.inputs.values())

    @cached_property
    def arguments(self) -> dict[str, Argument]:
        """Meaning of the input words, by name."""
        return {name: argument_of(word) for name, word in self.inputs.items()}

    def draft(
        self,
        plan: Plan,
        output: Format,
        relative_to: str,
        arithmetic: float = 0.0,
        graph: Graph | None = None,
        *,
        direct: bool = True,
        reach: tuple[int, int] | None = None,
    ) -> PlanDraft:
        """Return a plan as the draft of this function; `arithmetic` is in the unit of the output."""
        formats = Interface(
            tuple(word_number(name, word) for name, word in self.inputs.items()), (word_number(output.name, output),)
        )
        rules = dict(self.rules)
        if self.products != "auto":
            rules["products"] = self.products
        if self.chip is not None:
            rules["chip"] = self.chip
        provenance = Provenance(self.name, float(self.accuracy), graph=graph, rules=rules)
        errors, assumed = (arithmetic / output.lsb * ROUND_UP,), self.assumed_error / output.lsb * ROUND_UP
        return PlanDraft(formats, provenance, plan, errors, relative_to, direct, None, reach, assumed, self.spread)


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
    source, plan, stated = model.provenance, model.plan, model.certificate
    (word,) = model.formats.results.values()
    out = RequestedWord(word.name, word.bits, None, word.unit, word)
    request = Request(
        source.name, model.formats.words, out, source.accuracy, 0.0, plan.block_bits or BLOCK_BITS,
        plan.target,
        rules={name: rule for name, rule in source.rules.items() if name not in ("products", "chip")},
        spread=stated.spread, products=source.rules.get("products", "auto"), chip=source.chip,
    )  # fmt: skip
    block = plan.blocks[0] if len(plan.blocks) == 1 else None
    if source.graph is not None and stated.relative_to == "traced":
        draft, how = draft_of_graph(source.graph, request), "the graph in the file"
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
        plan = _direct_plan(block, request, output, "traced", request.block_bits)
        return request.draft(plan, output, "traced", arithmetic, graph)
    task = PlanTask(request, arguments, [target], float(request.accuracy))
    plan = planner.plan_graph(task, TracedOutputs("traced", graph, (arithmetic / output.lsb * ROUND_UP,)))
    return request.draft(plan, output, "traced", arithmetic, graph, direct=False)


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
    plan = _direct_plan(block, request, output, relative_to, request.bits)
    return request.draft(plan, output, relative_to, reach=words_reached(*ends, target))


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
    return request.draft(_direct_plan(block, request, output, "float", request.bits), output, "float")


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


def _direct_plan(block: Block, request: Request, output: Format, source: str, block_bits: int) -> Plan:
    """Return the plan of one table."""
    wires: list[Wire] = [Input(name, word.bits, word.kind == "angle") for name, word in request.inputs.items()]
    count, target = len(wires), target_of(output, "y")
    wires.append(Lookup(output.name, 0, tuple(range(count))))
    made = Output("y", ((count, 1),), 0, Fraction(0), 0, target.low, target.high, target.lsb)
    plan = Plan(tuple(wires), (block,), (made,), source, request.target, block_bits)
    check_widths(plan, f"function '{output.name:.40}'")
    return plan
