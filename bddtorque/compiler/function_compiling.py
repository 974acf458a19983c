"""Compile any function of one to four words: `compile_function`."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.plain import choice
from bddtorque.base.sizes import parse_size
from bddtorque.base.workers import Workers
from bddtorque.compiler.compiling import finish_model
from bddtorque.compiler.draft import PlanDraft
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
from bddtorque.dynamics.graph import Graph
from bddtorque.model.exhaustive import float_values
from bddtorque.model.model import Model
from bddtorque.model.provenance import FUNCTION_MEMORY
from bddtorque.words.law import Law

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
    """Compile a function of one to four words, with a certificate.

    Parameters
    ----------
    function
        A Python function with one argument per input; a `Law` such as `Friction`; or a `Graph` with one output whose
        inputs have the names of `inputs`.
    inputs
        Input words by name, ``{"velocity": (12, 3.0, "rad/s"), "angle": (10, "angle")}``: the bits, then the range (a
        positive number for plus or minus that number, or (low, high)) or ``"angle"`` (a fraction of a turn, in rad),
        then the unit. A `Format` works too.
    output
        The output word, ``(12, 5.0, "N·m")`` or ``{"torque": (12, 5.0)}``. Without a range it gets the range of the
        function.
    name
        The name used in messages and files; by default the function's own name.
    trace
        ``"traced"``: sums, products, integer powers, and sines and cosines of angles are recorded, and the bound is
        proved for the real-number function. ``"float"``: the table holds the nearest word to the float value at every
        input word, and the certificate is relative to these values. ``"auto"``: traced if possible.
    accuracy
        ``"faithful"``, or the largest allowed error in units of the last bit.
    assumed_error
        How far the values of the function may themselves be off, in the unit of the output. It is added to the bound
        and listed as assumed.
    block_bits
        Most input bits of one table. Only a traced function may have more in total.
    memory
        Memory budget in bytes, or text such as ``"2 GiB"``.
    engine
        The decision-diagram engine, as in `compile`.
    target
        ``"tables"``, ``"integer"`` or ``"float"``, as in `Spec`.
    products
        How tables multiply two words where a traced function needs several tables: ``"blocks"``, ``"squares"``,
        ``"partial"`` or ``"auto"``, as in `Spec`.
    chip
        For the target ``"integer"``: the processor whose instruction costs the plan minimises, as in `Spec`.
    executor
        Any `concurrent.futures.Executor` that builds the tables; by default they are built in this process. The
        function itself is only called in this process.

    Returns
    -------
    Model
        The compiled function.

    Raises
    ------
    BddTorqueError
        The input is wrong, or the requested accuracy cannot be proved within the given limits.

    Examples
    --------
    >>> import bddtorque as bt
    >>> square = bt.compile_function(lambda x: x * x, inputs={"x": (8, 1.0)}, output=(8, 1.0))
    >>> square.certificate.faithful
    True
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


def _draft(function: Any, request: Request, trace: str) -> tuple[PlanDraft, list[str]]:
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
            f"{where} can only be traced through sums, products, integer powers, sines and cosines, found {problem}"
        ) from None
    off = largest_off(function, graph, request.inputs, where)
    if off > 1e-6:
        raise BddTorqueError(
            f"{where} gives other values when traced than with floats ({off:.3g} of its size apart), because it "
            "inspects its arguments; use trace = 'float'"
        )
    return graph


def _name_of(function: Any) -> str:
    found = getattr(function, "__name__", None) or getattr(function, "kind", None)
    return found if isinstance(found, str) and found.isprintable() and found != "<lambda>" else "function"
