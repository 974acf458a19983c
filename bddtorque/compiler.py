"""Compile a robot: the whole road from a specification to a proved model."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from fractions import Fraction
from os import PathLike
from typing import Any

import numpy as np

from bddtorque.certificate import Certificate, Parts, TorqueBound
from bddtorque.diagrams.bdd import Diagram
from bddtorque.diagrams.consing import memory_needed
from bddtorque.diagrams.forms import FORMS, lower
from bddtorque.diagrams.reduction import reduce_reported
from bddtorque.diagrams.table import Table, word_dtype
from bddtorque.dynamics.terms import Terms, terms_of
from bddtorque.errors import BddTorqueError
from bddtorque.model import Model
from bddtorque.plan.bound import ROOM, BlockFacts, compose
from bddtorque.plan.budget import paper_extra_bits, plan_by_paper, plan_within
from bddtorque.plan.cover import Target, summand_counts
from bddtorque.plan.plan import Block, Plan, output_format
from bddtorque.plan.tabulate import memory_needed as tabulating_memory
from bddtorque.plan.tabulate import tabulate
from bddtorque.robots import load_robot
from bddtorque.robots.model import Robot
from bddtorque.saturation import judge
from bddtorque.sizes import format_size
from bddtorque.spec import Spec, load_spec
from bddtorque.trace.terms import trace_terms
from bddtorque.words import Formats, JointFormats
from bddtorque.words.argument import Argument, argument_of
from bddtorque.words.truth import torque_errors
from bddtorque.work import Cache, Progress, Task, Workers, default_cache, usable_processors

INPUTS = ("q", "qd", "qdd")


def compile(
    source: str | PathLike[str] | Spec | Robot,
    /,  # `source` is also the name of an option
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    cache: Cache | str | None = "default",
    progress: Progress | None = None,
    engine: str = "auto",
    **options: Any,
) -> Model:
    """Compile a robot into tables and diagrams, with a proved bound on every torque.

    Parameters
    ----------
    source : the name of a built-in, a spec file, a robot file, a `Spec` or a `Robot`
    workers, executor : processes (all processors by default), or any `concurrent.futures.Executor`
    cache : where finished blocks are kept; ``"default"``, None, or a `Cache`
    progress : told of every finished block
    engine : ``"auto"``, ``"cudd"`` or ``"autoref"``
    options : override the spec: bits, input_bits, accuracy, block_bits, memory, source, target, velocity, ...
    """
    started = time.perf_counter()
    spec, robot = _spec_and_robot(source, options)
    if spec.target == "host":
        raise BddTorqueError("target: 'tables' required, 'host' is not built yet")
    if spec.source == "recursive":
        raise BddTorqueError("source: 'terms' or 'auto' required, 'recursive' is not built yet")
    terms = terms_of(robot)
    spec, formats = _words(spec, robot, terms)
    plan = make_plan(spec, terms, formats)
    count = workers or usable_processors()
    check_memory(plan, spec.memory, 1 if executor else count)
    planned = time.perf_counter()
    kept = default_cache() if isinstance(cache, str) else cache
    with Workers(workers, executor=executor, cache=kept, progress=progress) as team:
        tasks = [
            Task(build_block, (block, engine, spec.memory // 2), name=_block_name(plan, k), cost=_rows(block))
            for k, block in enumerate(plan.blocks)
        ]
        built = team.run(tasks, f"compiling {robot.name}")
    tables, diagrams, facts = (tuple(each) for each in zip(*map(_restored, plan.blocks, built), strict=True))
    certificate = certify(robot, terms, formats, plan, facts, tables)
    report = {
        "seconds": time.perf_counter() - started,
        "planning_seconds": planned - started,
        "peak_bytes": _peak_memory(),
        "engine": built[0]["engine"],
        "notes": sorted({note for each in built for note in each["notes"]}),
    }
    return Model(robot, spec, formats, plan, tables, diagrams, certificate, report)


def make_plan(spec: Spec, terms: Terms, formats: Formats) -> Plan:
    """Return the plan of a robot's terms for the words of a resolved spec."""
    graph = trace_terms(terms)
    arguments = input_arguments(formats)
    targets = output_targets(formats)
    if spec.accuracy == "paper":
        extra = [paper_extra_bits(count) for count in summand_counts(graph, arguments)]
        return plan_by_paper(graph, arguments, targets, extra, spec.block_bits)
    accuracy = 1.0 if spec.accuracy == "faithful" else float(spec.accuracy)
    return plan_within(graph, arguments, targets, accuracy, spec.block_bits)


def input_arguments(formats: Formats) -> dict[str, Argument]:
    """Return what every input word stands for, by name: q1.., qd1.., qdd1.."""
    return {f"{kind}{j + 1}": argument_of(word) for kind in INPUTS for j, word in enumerate(getattr(formats, kind))}


def output_targets(formats: Formats) -> list[Target]:
    """Return what every torque word means."""
    return [
        Target(f"tau{j + 1}", Fraction(word.lsb), word.lowest, word.highest, Fraction(word.centre), word.sign)
        for j, word in enumerate(formats.tau)
    ]


def certify(
    robot: Robot,
    terms: Terms,
    formats: Formats,
    plan: Plan,
    facts: Sequence[BlockFacts],
    tables: Sequence[Table],
) -> Certificate:
    """Return what the blocks' proved errors amount to, torque by torque."""
    arguments = input_arguments(formats)
    bounds = compose(plan, {name: argument.scale for name, argument in arguments.items()}, facts)
    reach = np.array([max(map(abs, word.span)) for word in formats.q])
    motion = {
        name: argument.interval().magnitude
        for name, argument in arguments.items()
        if not name.removeprefix("q").isdigit()
    }
    model_errors = torque_errors(terms, reach, motion)
    verdicts = judge(robot, formats, plan, tables, [(bound.low, bound.high) for bound in bounds])
    torques = []
    for j, (word, bound, verdict) in enumerate(zip(formats.tau, bounds, verdicts, strict=True)):
        arithmetic = float(model_errors[j]) / word.lsb * ROOM
        parts = Parts(
            bound.dropped,
            bound.constants,
            bound.tables,
            bound.products,
            bound.sums,
            bound.final_rounding,
            arithmetic,
        )
        # a word off by its bound, on either side, is still within the range stated
        ends = sorted(
            word.sign * (word.centre + end * word.lsb) for end in (bound.low - parts.total, bound.high + parts.total)
        )
        torques.append(TorqueBound(robot.joints[j].name, word.unit, word.lsb, parts, ends[0], ends[1], *verdict))
    return Certificate(tuple(torques))


def build_block(block: Block, engine: str, memory: int) -> dict[str, Any]:
    """Tabulate a block, reduce it and check every lowered form; a pure function on plain data, for any worker."""
    table, facts = tabulate(block)
    reduction = reduce_reported(table, engine, memory_limit=memory)
    for form in FORMS:
        lower(form, table, reduction.diagram.order, memory)
    return {
        "values": np.asarray(table.values),
        **reduction.diagram.arrays(),
        "error": facts.error,
        "engine": reduction.engine,
        "notes": list(reduction.notes),
    }


def _restored(block: Block, built: dict[str, Any]) -> tuple[Table, Diagram, BlockFacts]:
    bits, signed = output_format(block)
    table = Table(built["values"], block.input_widths, bits, signed)
    diagram = Diagram.from_arrays(built["level"], built["low"], built["high"], built["roots"], built["order"], signed)
    return table, diagram, BlockFacts(built["error"], int(table.values.min()), int(table.values.max()))


def check_memory(plan: Plan, memory: int, workers: int) -> None:
    """Refuse a plan whose tables and the work on them would not fit the memory budget, before anything is made."""
    kept = sum(_rows(block) * word_dtype(*output_format(block)).itemsize for block in plan.blocks)
    needs = [
        max(tabulating_memory(block), memory_needed(sum(block.input_widths), output_format(block)[0]))
        for block in plan.blocks
    ]
    largest = max(range(len(needs)), key=needs.__getitem__)
    total = kept + sum(sorted(needs)[-workers:])
    if total > memory:
        block = plan.blocks[largest]
        raise BddTorqueError(
            f"memory: {format_size(-(-total // 2**20) * 2**20)} required, {format_size(memory)} given: block "
            f"'{_block_name(plan, largest)}' has {sum(block.input_widths)} input bits ({_rows(block):,} rows); "
            "a smaller block_bits, fewer bits, fewer workers or a larger memory would do"
        )


def _rows(block: Block) -> int:
    return 1 << sum(block.input_widths)


def _block_name(plan: Plan, block: int) -> str:
    return next(wire.name for wire in plan.wires if getattr(wire, "block", None) == block)


def _spec_and_robot(source: str | PathLike[str] | Spec | Robot, options: dict[str, Any]) -> tuple[Spec, Robot]:
    if isinstance(source, Robot):
        return Spec(robot=source.name).with_options(**options), source
    if not isinstance(source, str | PathLike | Spec):
        raise BddTorqueError(f"compile: a name, a file, a Spec or a Robot required, {type(source).__name__} given")
    spec = source if isinstance(source, Spec) else load_spec(source)
    spec = spec.with_options(**options)
    return spec, load_robot(spec.robot_source)


def _words(spec: Spec, robot: Robot, terms: Terms) -> tuple[Spec, Formats]:
    """Return the resolved spec and its formats; the paper's rule widens the inputs to r + m bits."""
    resolved = spec.resolve(robot)
    formats = resolved.formats(robot)
    if spec.accuracy == "paper" and spec.input_bits is None:
        counts = summand_counts(trace_terms(terms), input_arguments(formats))
        extra = max(paper_extra_bits(count) for count in counts)
        q, qd, qdd = (_widened(each, extra) for each in formats.inputs)
        formats = Formats(formats.joint_names, q, qd, qdd, formats.tau)
    return resolved, formats


def _widened(formats: JointFormats, extra: int) -> JointFormats:
    return JointFormats(formats.name, tuple(replace(each, bits=each.bits + extra) for each in formats))


def _peak_memory() -> int:
    """Return the largest resident memory so far, of this process and of the largest worker together, in bytes."""
    factor = 1 if sys.platform == "darwin" else 1024
    return factor * sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
