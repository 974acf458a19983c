"""Compile a robot, a function or samples: `compile`, `compile_function` and `compile_samples`."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from bddtorque.base.caching import Cache, cache_named
from bddtorque.base.errors import BddTorqueError
from bddtorque.base.measures import parse_size
from bddtorque.base.plain import choice, real
from bddtorque.base.system import usable_processors
from bddtorque.base.workers import NoProgress, Progress, Workers, step
from bddtorque.compiler.draft import within_floats
from bddtorque.compiler.function_draft import check_bits, draft_of_function, draft_of_law
from bddtorque.compiler.function_request import (
    BLOCK_BITS,
    Request,
    check_within_words,
    requested_inputs,
    requested_output,
    requested_samples,
)
from bddtorque.compiler.model_building import finish_model
from bddtorque.compiler.pinning import check_pinned, load_pinned
from bddtorque.compiler.robot_draft import draft_of_robot
from bddtorque.dynamics.graph import Graph
from bddtorque.model.model import Model
from bddtorque.model.provenance import FUNCTION_MEMORY
from bddtorque.spec.compile_options import CompileOptions
from bddtorque.spec.spec_files import RobotOrSpec, spec_and_robot
from bddtorque.words.law import Law
from bddtorque.words.samples import DUPLICATES, EXTRAPOLATIONS, GAPS, MERGES, law_of, merged

TRACES = ("auto", "traced", "float")


def compile(
    robot_or_spec: RobotOrSpec,
    /,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    cache: Cache | str | None = "default",
    progress: Progress | None = None,
    engine: str = "auto",
    plan: str | PathLike[str] | None = None,
    **options: Unpack[CompileOptions],
) -> Model:
    """Compile a robot into fixed-point code with a proved worst-case error for every output.

    Parameters
    ----------
    robot_or_spec
        What to compile: the name of a built-in robot, the path of a spec or robot file, a `Spec` or a `Robot`.
    workers
        Number of processes; all available processors by default. With `executor`: how many blocks to submit at a time.
    executor
        Any `concurrent.futures.Executor` that builds the blocks instead: threads, processes or a cluster
        (`bddtorque.base.cluster.connected`). The model is the same. The executor stays open.
    cache
        Where finished blocks are kept: ``"default"``, a `Cache`, or None for no cache.
    progress
        Receives a call for every finished block.
    engine
        The decision-diagram engine: ``"cudd"``, ``"autoref"``, or ``"auto"`` for the fastest one that is installed.
    plan
        A file written by `bddtorque plan -o`. It is rejected unless the planner still produces exactly this plan.
    **options
        Keys of the specification that replace those of `robot_or_spec`: bits, target, velocity, payload, ... See
        `CompileOptions`.

    Returns
    -------
    Model
        The compiled robot, with its certificate.

    Raises
    ------
    BddTorqueError
        The input is wrong, or the requested accuracy cannot be proved within the given limits.

    Examples
    --------
    >>> import bddtorque as bt
    >>> model = bt.compile("planar2r", bits=6)
    >>> model.certificate.faithful
    True
    """
    started = time.perf_counter()
    pinned = None if plan is None else load_pinned(plan)
    team = Workers(workers, executor=executor, cache=cache_named(cache), progress=progress)
    spec, robot, notes = spec_and_robot(robot_or_spec, options)
    with step(progress or NoProgress(), f"planning {robot.name}"), within_floats("robot", robot.name):
        draft = draft_of_robot(spec, robot)
    if plan is not None:
        check_pinned(pinned, draft.plan, str(plan))
    at_a_time = (workers or usable_processors()) if executor is None else 1
    return finish_model(draft, team, started, notes, engine=engine, at_a_time=at_a_time)


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
    title = name or _name_of(function)
    where = f"function '{title:.60}'"
    words, out = requested_inputs(inputs, where), requested_output(output, where)
    for word in words:
        if word.ends is None and word.given is None:
            raise BddTorqueError(f"{where}, input '{word.name}' needs a range or 'angle' beside its bits")
    formats = {word.name: word.format() for word in words}
    request = Request(title, formats, out, accuracy, assumed_error, block_bits, target, products=products, chip=chip)
    choice(trace, TRACES, f"{where}, trace")
    allowed = parse_size(memory, "memory")
    draft, notes = draft_of_function(function, request, trace)
    return finish_model(draft, team, started, notes, engine=engine, memory=allowed)


def _name_of(function: Any) -> str:
    name = getattr(function, "__name__", None) or getattr(function, "kind", None)
    return name if isinstance(name, str) and name.isprintable() and name != "<lambda>" else "function"


def compile_samples(
    samples: Any,
    *,
    inputs: Any = None,
    output: Any = None,
    duplicates: str = "mean",
    spread: float | None = None,
    merge: str = "point",
    gaps: str = "linear",
    extrapolation: str = "refuse",
    name: str | None = None,
    assumed_error: float = 0.0,
    block_bits: int = BLOCK_BITS,
    memory: int | str = FUNCTION_MEMORY,
    engine: str = "auto",
    target: str = "tables",
    chip: str | None = None,
    executor: Executor | None = None,
) -> Model:
    """Compile measured samples of a function of one to four words, with a certificate.

    The certificate is relative to the interpolant of the samples. It reports separately how much samples of the same
    point differ, and the error of the samples that you assume.

    Parameters
    ----------
    samples
        A CSV file with a header, an array (N, inputs + 1), or a pair of arrays (N, inputs) and (N,).
    inputs
        Input words as in `compile_function`, by the names of the columns; by default 12 bits over the range of the
        samples.
    output
        The output word, likewise.
    duplicates
        Several samples at one point: ``"mean"`` averages them, ``"refuse"`` rejects them.
    spread
        Reject samples at one point that differ by more than this, in the unit of the output.
    merge
        Which samples belong to one point: those with equal arguments (``"point"``) or with equal input words
        (``"word"``).
    gaps
        Values between samples: ``"linear"`` interpolates on a full grid, ``"nearest"`` takes the nearest sample (the
        distance is measured in words), ``"refuse"`` demands a sample for every combination of input words.
    extrapolation
        Words beyond the outermost samples: ``"refuse"`` rejects them, ``"hold"`` keeps the last value. Angles wrap.
    name, assumed_error, block_bits, memory, engine, target, chip, executor
        As in `compile_function`; a target must take functions that are one table.

    Returns
    -------
    Model
        The compiled function.

    Raises
    ------
    BddTorqueError
        The samples or options are wrong.
    """
    started = time.perf_counter()
    team = None if executor is None else Workers(executor=executor)
    rules: dict[str, Any] = {
        "duplicates": choice(duplicates, DUPLICATES, "samples, duplicates"),
        "merge": choice(merge, MERGES, "samples, merge"),
        "gaps": choice(gaps, GAPS, "samples, gaps"),
        "extrapolation": choice(extrapolation, EXTRAPOLATIONS, "samples, extrapolation"),
    }
    if spread is not None:
        rules["spread"] = real(spread, "samples, spread", low=0)
    words, out, read = requested_samples(samples, inputs, output)
    title = name or (Path(samples).stem if isinstance(samples, str | PathLike) else "samples")
    ends = zip(read.points.min(axis=0).tolist(), read.points.max(axis=0).tolist(), strict=True)
    formats = {word.name: word.format(*own) for word, own in zip(words, ends, strict=True)}
    request = Request(title, formats, out, "faithful", assumed_error, block_bits, target, read.where, chip=chip)
    allowed = parse_size(memory, "memory")
    check_bits(request)
    check_within_words(read, formats)
    points = merged(read, tuple(formats.values()), duplicates, merge, spread)
    law = law_of(points, tuple(formats.values()), tuple(formats), gaps, extrapolation, read.where)
    rules = {"samples": len(read.values), "points": len(points.values), **rules}
    notes = [f"{points.duplicates:,} of {len(read.values):,} samples averaged with others"] if points.duplicates else []
    draft = draft_of_law(law, replace(request, rules=rules, spread=points.spread), "samples")
    return finish_model(draft, team, started, notes, engine=engine, memory=allowed)
