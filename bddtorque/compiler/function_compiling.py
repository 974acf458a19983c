"""Compile any function of one to four words: `compile_function`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.sizes import parse_size
from bddtorque.compiler.compiling import build_block, check_memory, reduce_block, restored
from bddtorque.compiler.function_planning import (
    Draft,
    checked_graph,
    draft_of_graph,
    draft_of_law,
    draft_of_values,
    largest_off,
)
from bddtorque.compiler.function_tracing import UntraceableError, traced
from bddtorque.compiler.function_words import Asked, asked_inputs, asked_output
from bddtorque.graph.graph import Graph
from bddtorque.laws.law import Law
from bddtorque.model.exhaustive import float_values
from bddtorque.model.function_evaluator import words_of
from bddtorque.model.function_model import MEMORY, FunctionModel
from bddtorque.plan.blocks import GivenBlock
from bddtorque.plan.bound import BlockFacts, compose
from bddtorque.plan.table import Table
from bddtorque.proof.certificate import Parts, Saturation
from bddtorque.proof.function_certificate import FunctionCertificate
from bddtorque.words import Format
from bddtorque.words.argument import argument_of
from bddtorque.words.bounded import ROOM
from bddtorque.work import Task, run
from bddtorque.work.lending import check_executor

BLOCK_BITS, MOST_BLOCK_BITS = 20, 26
"""Input bits of one table, by default and at most."""
TRACES = ("auto", "traced", "float")
_NOTHING = "function"


@dataclass(frozen=True)
class Options:
    """What a caller chooses besides the function and its words."""

    accuracy: float
    assumed_error: float
    block_bits: int
    memory: int
    engine: str
    target: str


def compile_function(
    function: Callable[..., Any] | Graph | Law,
    *,
    inputs: Any,
    output: Any,
    name: str | None = None,
    trace: str = "auto",
    accuracy: float | str = "faithful",
    assumed_error: float = 0.0,
    block_bits: int = BLOCK_BITS,
    memory: int | str = MEMORY,
    engine: str = "auto",
    target: str = "tables",
    executor: Executor | None = None,
) -> FunctionModel:
    """Compile a function of one to four words into tables and diagrams, with a certificate.

    Parameters
    ----------
    function : a function of as many numbers as there are inputs; a `Law` such as `Friction`; or a `Graph` of one output
        whose inputs have the names of `inputs`
    inputs : by name, ``{"velocity": (12, 3.0, "rad/s"), "angle": (10, "angle")}``: bits, then a range (a positive
        number is plus or minus it, or (low, high)) or ``"angle"`` (a fraction of a turn, in rad), then a unit; or a
        `Format` each
    output : ``(12, 5.0, "N·m")``, or ``{"torque": (12, 5.0)}``; without a range it gets that of the function
    name : what messages and files call it; the function's own name unless given
    trace : ``"traced"``: sums, products, whole powers, and sines and cosines of angles are recorded, and the bound is
        proved for the real-number function; ``"float"``: the table holds the nearest word to the float value at every
        input word, and the certificate is relative to these values; ``"auto"``: traced where that is possible
    accuracy : ``"faithful"``, or the largest error allowed, in units of the last bit
    assumed_error : how far the values of the function are off themselves, in the unit of the output; it is added to the
        bound, as assumed
    block_bits : input bits of one table, at most; only a traced function may have more in all
    memory, engine, target : as those of `compile`
    executor : any `concurrent.futures.Executor` to make the tables on; in this process unless given. The function
        itself is only ever called here
    """
    started = time.perf_counter()
    check_executor(executor)
    named = name or _name_of(function)
    where = f"function '{named:.60}'"
    words, out = asked_inputs(inputs, where), asked_output(output, where)
    for each in words:
        if each.ends is None and each.given is None:
            raise BddTorqueError(f"{where}, input '{each.name}': a range or 'angle' required, bits alone given")
    formats = tuple(each.format() for each in words)
    names = tuple(each.name for each in words)
    options = checked_options(where, accuracy, assumed_error, block_bits, memory, engine, target)
    if trace not in TRACES:
        raise BddTorqueError(f"{where}, trace: {', '.join(TRACES)} required, {trace!r:.40} given")
    draft, notes = _draft(function, names, formats, out, options, trace, where)
    return finished(named, names, formats, draft, options, where, started, notes, executor=executor)


def checked_options(
    where: str,
    accuracy: float | str,
    assumed_error: float,
    block_bits: int,
    memory: int | str,
    engine: str,
    target: str,
) -> Options:
    """Return the options of a compilation, or refuse."""
    wanted = 1.0 if accuracy == "faithful" else accuracy
    if isinstance(wanted, str | bool) or not 0.5 < wanted < math.inf:
        raise BddTorqueError(
            f"{where}, accuracy: 'faithful' or more than 0.5 units required (rounding takes that), {accuracy!r} given"
        )
    if isinstance(assumed_error, bool) or not 0 <= assumed_error < math.inf:
        raise BddTorqueError(f"{where}, assumed_error: at least 0 required, {assumed_error!r:.40} given")
    if type(block_bits) is not int or not 2 <= block_bits <= MOST_BLOCK_BITS:
        raise BddTorqueError(f"{where}, block_bits: 2 to {MOST_BLOCK_BITS} required, {block_bits!r:.40} given")
    if target not in ("tables", "host"):
        raise BddTorqueError(f"{where}, target: 'tables' or 'host' required, {target!r:.40} given")
    return Options(float(wanted), float(assumed_error), block_bits, parse_size(memory, "memory"), engine, target)


def check_bits(
    names: Sequence[str], formats: Sequence[Format], options: Options, where: str, why_not: str = ""
) -> None:
    """Refuse more input bits than one table may have, with what would do."""
    total = sum(word.bits for word in formats)
    if total <= options.block_bits:
        return
    given = " + ".join(f"{name} {word.bits}" for name, word in zip(names, formats, strict=True))
    share, rest = divmod(options.block_bits, len(formats))
    fewer = ", ".join(str(share + (k < rest)) for k in range(len(formats)))
    more = f"block_bits = {total} or " if total <= MOST_BLOCK_BITS else ""
    raise BddTorqueError(
        f"{where}: at most {options.block_bits} input bits together required for one table, {total} given ({given}): "
        f"{more}{fewer} bits would do"
        + (f"; it would be taken apart if it could be traced: {why_not}" if why_not else "")
    )


def _draft(
    function: Any,
    names: tuple[str, ...],
    formats: tuple[Format, ...],
    out: Asked,
    options: Options,
    trace: str,
    where: str,
) -> tuple[Draft, list[str]]:
    """Return the plan of a function, by the first way that it can be taken."""
    if hasattr(function, "bounded") and hasattr(function, "to_plain"):
        check_bits(names, formats, options, where)
        return draft_of_law(function, names, formats, out, "law"), []
    if not callable(function) and not isinstance(function, Graph):
        raise BddTorqueError(f"{where}: a function, a law or a graph required, {type(function).__name__} given")
    why_not = ""
    if isinstance(function, Graph) or trace != "float":
        try:
            graph = function if isinstance(function, Graph) else traced_as_it_is(function, names, formats, where)
            checked_graph(graph, names, formats, where)
            return draft_of_graph(graph, names, formats, out, options.accuracy, options.block_bits, options.target), []
        except BddTorqueError as problem:
            if isinstance(function, Graph) or trace == "traced":
                raise
            why_not = str(problem).removeprefix(f"{where}: ")
    check_bits(names, formats, options, where, why_not)
    notes = [f"compiled from its float values; not traced: {why_not}"] if why_not else []
    values = float_values(function, names, formats, where)
    return draft_of_values(values, names, formats, out), notes


def traced_as_it_is(function: Callable[..., Any], names: Sequence[str], formats: Sequence[Format], where: str) -> Graph:
    """Return the graph of a function, or refuse; also one that does other things to numbers than under trace."""
    try:
        graph = traced(function, names)
    except UntraceableError as problem:
        raise BddTorqueError(
            f"{where}: sums, products, whole powers, sines and cosines required under trace, {problem} found"
        ) from None
    off = largest_off(function, graph, names, formats)
    if off > 1e-6:
        raise BddTorqueError(
            f"{where}: the same under trace as with floats required, {off:.3g} of its size apart: it looks at what it "
            "is given; trace = 'float' would do"
        )
    return graph


def finished(
    name: str,
    names: tuple[str, ...],
    formats: tuple[Format, ...],
    draft: Draft,
    options: Options,
    where: str,
    started: float,
    notes: Sequence[str] = (),
    spread: float = 0.0,
    rules: dict[str, Any] | None = None,
    executor: Executor | None = None,
) -> FunctionModel:
    """Make the tables of a plan, reduce them, prove the bound, and return the model."""
    check_memory(draft.plan, options.memory, 1)
    built = _built(draft, options, where, executor)
    whole = [restored(block, each) for block, each in zip(draft.plan.blocks, built, strict=True)]
    tables, diagrams, facts = (tuple(parts) for parts in zip(*whole, strict=True)) if whole else ((), (), ())
    certificate = certify_function(draft, names, formats, tables, facts, options.assumed_error, spread)
    if certificate.parts.total >= options.accuracy:
        raise BddTorqueError(
            f"{where}: below {options.accuracy:g} units required, {certificate.parts.total:.4g} proved: fewer output "
            "bits, or a larger accuracy, would do"
        )
    report = {
        "seconds": time.perf_counter() - started,
        "engine": built[0]["engine"] if built else options.engine,
        "notes": [*notes, *sorted({note for each in built for note in each["notes"]})],
    }
    return FunctionModel(
        name,
        names,
        formats,
        draft.output,
        draft.plan,
        tables,
        diagrams,
        certificate,
        options.accuracy,
        draft.graph,
        rules or {},
        report,
    )


def _built(draft: Draft, options: Options, where: str, executor: Executor | None) -> list[dict[str, Any]]:
    """Return every table with its diagram, made here or on an executor."""
    how = options.engine, options.memory // 2
    tasks = [
        Task(reduce_block, (block, draft.table, block.error, *how), name=f"table {k + 1}")
        if isinstance(block, GivenBlock)
        else Task(build_block, (block, *how), name=f"table {k + 1}", cost=1 << sum(block.input_widths))
        for k, block in enumerate(draft.plan.blocks)
    ]
    if executor is None:
        return [task() for task in tasks]
    try:
        keyed = [(task.key, task) for task in tasks]
    except TypeError as problem:  # a law of the caller's own may hold anything
        raise BddTorqueError(f"{where}: a law of plain data required for an executor, {problem}") from None
    return run([task for _, task in keyed], executor=executor)


def certify_function(
    draft: Draft,
    names: Sequence[str],
    formats: tuple[Format, ...],
    tables: Sequence[Table],
    facts: Sequence[BlockFacts],
    assumed_error: float,
    spread: float,
) -> FunctionCertificate:
    """Return what the blocks' errors amount to."""
    scales = {name: argument_of(word).scale for name, word in zip(names, formats, strict=True)}
    (bound,) = compose(draft.plan, scales, facts)
    word = draft.output
    parts = Parts(
        bound.dropped,
        bound.constants,
        bound.tables,
        bound.products,
        bound.sums,
        bound.final_rounding,
        draft.arithmetic / word.lsb * ROOM,
    )
    reach = (bound.low, bound.high) if draft.reach is None else draft.reach
    ends = sorted(
        word.sign * (word.centre + end * word.lsb) + word.offset
        for end in (reach[0] - parts.total, reach[1] + parts.total)
    )
    low, high = ends
    saturation, witness = _saturation(draft, formats, tables, bound.low, bound.high)
    assumed = assumed_error / word.lsb * ROOM if assumed_error else 0.0
    return FunctionCertificate(
        word.name, word.unit, word.lsb, draft.relative_to, parts, assumed, spread, low, high, saturation, witness
    )


def _saturation(
    draft: Draft, formats: tuple[Format, ...], tables: Sequence[Table], low: float, high: float
) -> tuple[Saturation, tuple[int, ...] | None]:
    """Return whether the output can leave its range: known of one table, else by the reach of its sum."""
    output = draft.plan.outputs[0]
    if math.floor(low + 0.5) >= output.low and math.floor(high + 0.5) <= output.high:
        return "cannot", None
    if draft.direct:
        beyond = np.flatnonzero((tables[0].values < output.low) | (tables[0].values > output.high))
        return ("can", words_of(formats, int(beyond[0]))) if len(beyond) else ("cannot", None)
    return "not excluded", None


def _name_of(function: Any) -> str:
    found = getattr(function, "__name__", None) or getattr(function, "kind", None)
    return found if isinstance(found, str) and found.isprintable() and found != "<lambda>" else _NOTHING
