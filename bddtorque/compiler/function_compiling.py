"""Compile any function of one to four words: `compile_function`."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.plain import choice
from bddtorque.base.sizes import parse_size
from bddtorque.compiler.compiling import finish_model
from bddtorque.compiler.draft import Draft
from bddtorque.compiler.function_draft import (
    BLOCK_BITS,
    Request,
    check_bits,
    draft_of_graph,
    draft_of_law,
    draft_of_values,
)
from bddtorque.compiler.function_tracing import UntraceableError, largest_off, traced
from bddtorque.compiler.function_words import asked_inputs, asked_output
from bddtorque.graph.graph import Graph
from bddtorque.laws.law import Law
from bddtorque.model.exhaustive import float_values
from bddtorque.model.model import Model
from bddtorque.model.source import FUNCTION_MEMORY
from bddtorque.work import Workers

TRACES = ("auto", "traced", "float")


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
    memory: int | str = FUNCTION_MEMORY,
    engine: str = "auto",
    target: str = "tables",
    products: str = "auto",
    chip: str | None = None,
    executor: Executor | None = None,
) -> Model:
    """Compile a function of one to four words into tables and diagrams, with a certificate.

    Parameters
    ----------
    function
        A function of as many numbers as there are inputs; a `Law` such as `Friction`; or a `Graph` of one output whose
        inputs have the names of `inputs`.
    inputs
        By name, ``{"velocity": (12, 3.0, "rad/s"), "angle": (10, "angle")}``: bits, then a range (a positive number is
        plus or minus it, or (low, high)) or ``"angle"`` (a fraction of a turn, in rad), then a unit; or a `Format`
        each.
    output
        ``(12, 5.0, "N·m")``, or ``{"torque": (12, 5.0)}``; without a range it gets that of the function.
    name
        What messages and files call it; the function's own name unless given.
    trace
        ``"traced"``: sums, products, whole powers, and sines and cosines of angles are recorded, and the bound is
        proved for the real-number function; ``"float"``: the table holds the nearest word to the float value at every
        input word, and the certificate is relative to these values; ``"auto"``: traced where that is possible.
    accuracy
        ``"faithful"``, or the largest error allowed, in units of the last bit.
    assumed_error
        How far the values of the function are off themselves, in the unit of the output; it is added to the bound, as
        assumed.
    block_bits
        Input bits of one table, at most; only a traced function may have more in all.
    memory, engine, target
        As those of `compile`.
    products
        How tables multiply two words where a traced function is a cascade of tables: ``"blocks"``, ``"squares"``,
        ``"partial"`` or ``"auto"``, as in `Spec`.
    chip
        For the target ``"integer"``, the processor whose costs words are chosen by, as in `Spec`.
    executor
        Any `concurrent.futures.Executor` to make the tables on; in this process unless given. The function itself is
        only ever called here.
    """
    started = time.perf_counter()
    team = None if executor is None else Workers(executor=executor)
    named = name or _name_of(function)
    where = f"function '{named:.60}'"
    words, out = asked_inputs(inputs, where), asked_output(output, where)
    for each in words:
        if each.ends is None and each.given is None:
            raise BddTorqueError(f"{where}, input '{each.name}' needs a range or 'angle' beside its bits")
    formats = {each.name: each.format() for each in words}
    request = Request(named, formats, out, accuracy, assumed_error, block_bits, target, products=products, chip=chip)
    choice(trace, TRACES, f"{where}, trace")
    allowed = parse_size(memory, "memory")
    draft, notes = _draft(function, request, trace)
    return finish_model(draft, team, started, notes, engine=engine, memory=allowed)


def _draft(function: Any, request: Request, trace: str) -> tuple[Draft, list[str]]:
    """Return the plan of a function, by the first way that it can be taken, and notes."""
    where = request.where
    if hasattr(function, "bounded") and hasattr(function, "to_plain"):
        check_bits(request)
        return draft_of_law(function, request, "law"), []
    if not callable(function) and not isinstance(function, Graph):
        raise BddTorqueError(f"{where} must be a function, a law or a graph, not {type(function).__name__}")
    why_not = ""
    if isinstance(function, Graph) or trace != "float":
        try:
            graph = function if isinstance(function, Graph) else _traced_as_it_is(function, request)
            return draft_of_graph(graph, request), []
        except BddTorqueError as problem:
            if isinstance(function, Graph) or trace == "traced":
                raise
            why_not = str(problem).removeprefix(where).lstrip(":, ")
    check_bits(request, why_not)
    notes = [f"compiled from its float values; not traced: {why_not}"] if why_not else []
    return draft_of_values(float_values(function, request.inputs, where), request), notes


def _traced_as_it_is(function: Callable[..., Any], request: Request) -> Graph:
    """Return the graph of a function, or refuse; also one that does other things to numbers than under trace."""
    where = request.where
    try:
        graph = traced(function, tuple(request.inputs))
    except UntraceableError as problem:
        raise BddTorqueError(
            f"{where} can only be traced through sums, products, whole powers, sines and cosines, found {problem}"
        ) from None
    off = largest_off(function, graph, request.inputs, where)
    if off > 1e-6:
        raise BddTorqueError(
            f"{where} does not do the same under trace as with floats: {off:.3g} of its size apart, since it looks at "
            "what it is given; use trace = 'float'"
        )
    return graph


def _name_of(function: Any) -> str:
    found = getattr(function, "__name__", None) or getattr(function, "kind", None)
    return found if isinstance(found, str) and found.isprintable() and found != "<lambda>" else "function"
