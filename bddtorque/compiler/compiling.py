"""Compile a robot: the whole road from a specification to a proved model."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from os import PathLike
from typing import Any, Unpack

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.sizes import format_size
from bddtorque.compiler.origin import Origin, from_recursion, from_terms
from bddtorque.compiler.pinning import check_pinned, pinned_plan
from bddtorque.diagrams.bdd import Diagram
from bddtorque.diagrams.consing import MemoryLimit, memory_needed
from bddtorque.diagrams.forms import FORMS, lower
from bddtorque.diagrams.reduction import reduce_reported
from bddtorque.laws.joint_friction import check_reach
from bddtorque.model.model import Model
from bddtorque.plan.blocks import Block, block_key, output_format
from bddtorque.plan.bound import BlockFacts, compose
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table, word_dtype
from bddtorque.plan.tabulate import memory_needed as tabulating_memory
from bddtorque.plan.tabulate import tabulate
from bddtorque.plan.wires import Sum
from bddtorque.planner.budget import paper_extra_bits, plan_by_paper, plan_network
from bddtorque.planner.builder import Target
from bddtorque.planner.cover import summand_counts
from bddtorque.planner.extra_terms import COST, with_term
from bddtorque.proof.certificate import Certificate, Parts, TorqueBound
from bddtorque.proof.saturation import judge
from bddtorque.robots.robot import Robot
from bddtorque.spec import InputBits, Spec
from bddtorque.spec.loading import Source, spec_and_robot
from bddtorque.spec.options import CompileOptions
from bddtorque.words import Formats
from bddtorque.words.argument import Argument, argument_of
from bddtorque.words.bounded import ROOM
from bddtorque.work import Cache, NoProgress, Progress, Task, Workers, default_cache, step, usable_processors

INPUTS = ("q", "qd", "qdd")
SECONDS_A_BLOCK, SECONDS_A_ROW = 0.05, 3e-6
"""About what a block takes on one processor; for what is shown of progress only."""


def compile(
    source: Source,
    /,  # `source` is also the name of an option
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    cache: Cache | str | None = "default",
    progress: Progress | None = None,
    engine: str = "auto",
    plan: Plan | str | PathLike[str] | None = None,
    **options: Unpack[CompileOptions],
) -> Model:
    """Compile a robot into tables and diagrams, with a proved bound on every torque.

    Parameters
    ----------
    source : the name of a built-in, a spec file, a robot file, a `Spec` or a `Robot`
    workers : processes, all processors by default; with `executor`, how many blocks it is given at a time
    executor : any `concurrent.futures.Executor` to make the blocks on instead: threads, processes, a cluster
        (`bddtorque.work.cluster.connected`). The model is the same; the executor stays open
    cache : where finished blocks are kept; ``"default"``, None, or a `Cache`
    progress : told of every finished block
    engine : ``"auto"``, ``"cudd"`` or ``"autoref"``
    plan : a `Plan`, or a file that `bddtorque plan` wrote: refused unless the planner still makes this very plan
    options : `CompileOptions`, which override the spec: bits, accuracy, memory, velocity, tip, payload, ...
    """
    started = time.perf_counter()
    told = progress or NoProgress()
    pinned = None if plan is None else pinned_plan(plan)
    kept = default_cache() if isinstance(cache, str) else cache
    team = Workers(workers, executor=executor, cache=kept, progress=progress)
    spec, robot, notes = spec_and_robot(source, options)
    with step(told, f"planning {robot.name}"), within_floats(robot):
        spec, formats, origin, made = planned(spec, robot)
    if pinned is not None:
        check_pinned(pinned, made, "plan" if isinstance(plan, Plan) else str(plan))
    count = workers or usable_processors()
    check_memory(made, spec.memory, count if executor is None else 1)
    ready = time.perf_counter()
    with team:
        tasks = [
            Task(build_block, (block, engine, spec.memory // 2), name=_block_name(made, k), cost=_seconds(block))
            for k, block in enumerate(made.blocks)
        ]
        try:
            built = team.run(tasks, f"compiling {robot.name}")
        except BddTorqueError as problem:
            raise BddTorqueError(_named_blocks(str(problem), made)) from None
    whole = [restored(block, each) for block, each in zip(made.blocks, built, strict=True)]
    tables, diagrams, facts = (tuple(parts) for parts in zip(*whole, strict=True)) if whole else ((), (), ())
    with step(told, f"proving {robot.name}"), within_floats(robot):
        certificate = certify(origin, formats, made, facts, tables)
    _check_accuracy(spec, certificate)
    report = {
        "seconds": time.perf_counter() - started,
        "planning_seconds": ready - started,
        "peak_bytes": _peak_memory(),
        "engine": built[0]["engine"] if built else engine,
        "notes": [*notes, *sorted({note for each in built for note in each["notes"]})],
    }
    return Model(robot, spec, formats, made, tables, diagrams, certificate, report)


@contextmanager
def within_floats(robot: Robot) -> Iterator[None]:
    """Refuse, in one line, a robot and ranges whose torques are beyond what float64 holds."""
    try:
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            yield
    except ArithmeticError as problem:
        raise BddTorqueError(
            f"robot '{robot.name}': parameters and ranges with torques within float64 required, {problem}"
        ) from None


def planned(spec: Spec, robot: Robot) -> tuple[Spec, Formats, Origin, Plan]:
    """Return the resolved spec, its words, where the compiled function comes from, and the plan."""
    if spec.accuracy == "paper":
        return _by_paper(spec, robot)
    resolved = spec.resolve(robot)
    formats = resolved.formats(robot)
    accuracy = 1.0 if spec.accuracy == "faithful" else float(spec.accuracy)
    arguments, targets = input_arguments(formats), output_targets(formats)

    def plan_of(origin: Origin) -> Plan:
        spent = max(float_errors(origin, formats)) + (COST if robot.has_friction else 0.0)
        plan = plan_network(
            origin.graph, arguments, targets, accuracy, spec.block_bits, origin.source, spec.target, spent
        )
        return with_friction(plan, robot, formats)

    plans = [(origin, plan_of(origin)) for origin in _origins(spec, robot)]
    origin, plan = min(plans, key=lambda pair: operations(pair[1]))
    return resolved, formats, origin, plan


def _origins(spec: Spec, robot: Robot) -> list[Origin]:
    """Return what may be compiled: one source, or both for a host, which takes the cheaper."""
    if spec.source == "recursive":
        return [from_recursion(robot)]
    if spec.source == "terms":
        return [from_terms(robot)]
    try:
        separate = from_terms(robot)
    except BddTorqueError:
        return [from_recursion(robot)]
    if spec.target != "host":
        return [separate]
    both = [separate, from_recursion(robot)]
    work = [sum(origin.graph.counts().values()) for origin in both]
    # what is far more work as a graph is no less as a plan
    return [origin for origin, own in zip(both, work, strict=True) if own <= 2 * min(work)]


def operations(plan: Plan) -> int:
    """Return what a plan costs a host: look-ups, products, and parts of sums."""
    counts = plan.counts()
    parts = sum(len(wire.parts) for wire in plan.wires if isinstance(wire, Sum))
    return counts["lookups"] + counts["products"] + parts + counts["summands"]


def _by_paper(spec: Spec, robot: Robot) -> tuple[Spec, Formats, Origin, Plan]:
    """Return words and plan by the paper's rule: r + m bits for every term and, unless the spec says, every input."""
    if spec.target != "tables" or spec.source == "recursive":
        raise BddTorqueError(
            f"accuracy paper: target 'tables' and source 'terms' required, '{spec.target}' and '{spec.source}' given"
        )
    origin = from_terms(robot)
    resolved = spec.resolve(robot)
    formats = resolved.formats(robot)
    terms = summand_counts(origin.graph, input_arguments(formats))
    rubbing = [joint.friction is not None for joint in robot.joints]  # one term more each
    extra = [paper_extra_bits(count + more) for count, more in zip(terms, rubbing, strict=True)]
    if spec.input_bits is None:
        wide = tuple(bits + max(extra) for bits in formats.tau.bits)
        resolved = replace(resolved, input_bits=InputBits(wide, wide, wide))
        formats = resolved.formats(robot)
    plan = plan_by_paper(origin.graph, input_arguments(formats), output_targets(formats), extra, spec.block_bits)
    return resolved, formats, origin, with_friction(plan, robot, formats)


def with_friction(plan: Plan, robot: Robot, formats: Formats) -> Plan:
    """Return the plan with the friction of the joints added to their torques, a table of one velocity each."""
    for j, joint in enumerate(robot.joints):
        if joint.friction is not None:
            word = formats.qd[j]
            check_reach(joint.friction, word, f"friction of joint '{joint.name}'")
            plan = with_term(plan, j, joint.friction, f"qd{j + 1}", argument_of(word), formats.tau[j].sign)
    return plan


def input_arguments(formats: Formats) -> dict[str, Argument]:
    """Return what every input word stands for, by name: q1.., qd1.., qdd1.."""
    return {f"{kind}{j + 1}": argument_of(word) for kind in INPUTS for j, word in enumerate(getattr(formats, kind))}


def output_targets(formats: Formats) -> list[Target]:
    """Return what every torque word means."""
    return [
        Target(f"tau{j + 1}", Fraction(word.lsb), word.lowest, word.highest, Fraction(word.centre), word.sign)
        for j, word in enumerate(formats.tau)
    ]


def float_errors(origin: Origin, formats: Formats) -> list[float]:
    """Return how far the compiled function itself can be from each true torque, in units of its last bit."""
    errors = origin.errors(input_arguments(formats), [max(map(abs, word.span)) for word in formats.q])
    return [float(error) / word.lsb * ROOM for error, word in zip(errors, formats.tau, strict=True)]


def certify(
    origin: Origin, formats: Formats, plan: Plan, facts: Sequence[BlockFacts], tables: Sequence[Table]
) -> Certificate:
    """Return what the blocks' proved errors amount to, torque by torque."""
    robot, arguments = origin.robot, input_arguments(formats)
    bounds = compose(plan, {name: argument.scale for name, argument in arguments.items()}, facts)
    verdicts = judge(robot, formats, plan, tables, [(bound.low, bound.high) for bound in bounds])
    torques = []
    spent = float_errors(origin, formats)
    for j, (word, bound, verdict) in enumerate(zip(formats.tau, bounds, verdicts, strict=True)):
        parts = Parts(
            bound.dropped,
            bound.constants,
            bound.tables,
            bound.products,
            bound.sums,
            bound.final_rounding,
            spent[j],
        )
        # a word off by its bound, on either side, is still within the range stated
        ends = sorted(
            word.sign * (word.centre + end * word.lsb) for end in (bound.low - parts.total, bound.high + parts.total)
        )
        torques.append(TorqueBound(robot.joints[j].name, word.unit, word.lsb, parts, ends[0], ends[1], *verdict))
    return Certificate(tuple(torques))


def _check_accuracy(spec: Spec, certificate: Certificate) -> None:
    """Refuse a model whose proof, with all that the plan could not know, is above what the spec promises."""
    if spec.accuracy == "paper":
        return
    allowed = 1.0 if spec.accuracy == "faithful" else float(spec.accuracy)
    for torque in certificate.torques:
        if torque.bound >= allowed:
            raise BddTorqueError(
                f"accuracy of joint '{torque.joint}': below {allowed:g} units required, {torque.bound:.4g} proved, of "
                f"which float arithmetic behind the tables takes {torque.parts.arithmetic:.2g}: fewer bits would do"
            )


def build_block(block: Block, engine: str, memory: int) -> dict[str, Any]:
    """Tabulate a block, reduce it and check every lowered form; a pure function on plain data, for any worker."""
    table, facts = tabulate(block)
    return reduce_block(block, table, facts.error, engine, memory)


def reduce_block(block: Block, table: Table, error: float, engine: str, memory: int) -> dict[str, Any]:
    """Reduce the table of a block and check every lowered form; `error` is what is proved of its words."""
    try:
        reduction = reduce_reported(table, engine, memory_limit=memory)
        for form in FORMS:
            lower(form, table, reduction.diagram.order, memory)
    except MemoryLimit as problem:
        raise BddTorqueError(
            f"memory: block {block_key(block)} of {sum(block.input_widths)} input bits ({_rows(block):,} rows of "
            f"{table.output_bits} bits) does not fit: memory above {_rounded(2 * memory)}, of which half is for one "
            f"block, block_bits below {sum(block.input_widths)} or fewer bits would do: {problem}"
        ) from None
    return {
        "values": np.asarray(table.values),
        **reduction.diagram.arrays(),
        "error": error,
        "engine": reduction.engine,
        "notes": list(reduction.notes),
    }


def restored(block: Block, built: dict[str, Any]) -> tuple[Table, Diagram, BlockFacts]:
    """Return table, diagram and facts of a block from what `build_block` returned."""
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
    if not needs:
        return
    largest = max(range(len(needs)), key=needs.__getitem__)
    beside = sorted(needs)[-workers:]
    total = kept + sum(beside)
    if total > memory:
        block = plan.blocks[largest]
        alone = kept + needs[largest]
        fewer = f"workers = 1 (it takes {_rounded(alone)}), " if alone <= memory else ""
        enough = _rounded(max(total, 2 * needs[largest]))  # half of it is for one block
        raise BddTorqueError(
            f"memory: {_rounded(total)} required ({_rounded(kept)} for all tables, {_rounded(sum(beside))} to make "
            f"{len(beside)} at a time), {format_size(memory)} given: the largest, block {largest} "
            f"'{_block_name(plan, largest)}', has {sum(block.input_widths)} input bits ({_rows(block):,} rows, "
            f'{_rounded(needs[largest])} to make); {fewer}memory = "{enough}", block_bits below '
            f"{sum(block.input_widths)} or fewer bits would do"
        )


def _rounded(size: int) -> str:
    return format_size(-(-size // 2**20) * 2**20)


def _seconds(block: Block) -> float:
    """Return about how long one processor works on a block."""
    return SECONDS_A_BLOCK + SECONDS_A_ROW * _rows(block)


def _rows(block: Block) -> int:
    return 1 << sum(block.input_widths)


def _named_blocks(message: str, plan: Plan) -> str:
    """Return a message of a worker, who knows a block by its key alone, with the block's place and name instead."""
    for k, key in enumerate(plan.keys):
        if key in message:
            message = message.replace(key, f"{k} '{_block_name(plan, k)}'")
    return message


def _block_name(plan: Plan, block: int) -> str:
    return next(wire.name for wire in plan.wires if getattr(wire, "block", None) == block)


def _peak_memory() -> int:
    """Return the largest resident memory so far, of this process and of the largest worker together, in bytes."""
    factor = 1 if sys.platform == "darwin" else 1024
    return factor * sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
