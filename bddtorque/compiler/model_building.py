"""Make a model of a draft: tables and diagrams of all blocks, within memory, on any worker; then the proof."""

from __future__ import annotations

import resource
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.measures import format_size
from bddtorque.base.tasks import Task
from bddtorque.base.workers import NoProgress, Workers, step
from bddtorque.compiler.draft import PlanDraft, certify, check_accuracy, within_floats
from bddtorque.compiler.robot_draft import range_notes
from bddtorque.model.model import Model
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.blocks import Block, GivenBlock, output_format
from bddtorque.plan.bound import BlockFacts
from bddtorque.plan.engine import MemoryLimit, memory_needed
from bddtorque.plan.plan import Plan
from bddtorque.plan.plan_cost import BudgetError
from bddtorque.plan.reduction import reduce
from bddtorque.plan.table import Table, word_dtype
from bddtorque.plan.tabulate import memory_needed as tabulating_memory
from bddtorque.plan.tabulate import tabulate
from bddtorque.spec.chips import chip_named
from bddtorque.spec.resolve import ANY_CHIP
from bddtorque.targets.integer.integer_cost import plan_cycles
from bddtorque.targets.tables.cost import choose_forms, flash_refusal

LEAST_CODE = 0.4
"""Part of `Chip.code_per_cycle` that the code of a plan has at least: 0.6 to 1.3 on Cortex-M, 0.5 to 1 on AVR, by
`bddtorque export --c` of planar2r, scara and ur5."""
SECONDS_PER_BLOCK, SECONDS_PER_ROW = 0.05, 3e-6
"""About what a block takes on one processor; for what is shown of progress only."""


def finish_model(
    draft: PlanDraft,
    workers: Workers | None = None,
    started: float | None = None,
    notes: Sequence[str] = (),
    *,
    engine: str = "auto",
    memory: int | None = None,
    at_a_time: int = 1,
) -> Model:
    """Make the blocks of a plan, prove the bound, and return the model.

    `workers` make the blocks, and are ended; None makes them here and now. `started` is when compiling started, by
    `time.perf_counter`; `notes` are what people should know; `memory` are the bytes that all may take, those that the
    draft allows unless given, and `at_a_time` the blocks that take memory at the same time.
    """
    name, room = draft.provenance.name, draft.provenance.memory if memory is None else memory
    check_memory(draft.plan, room, at_a_time)
    planned = time.perf_counter()
    started = planned if started is None else started
    with workers or nullcontext():
        blocks = build_blocks(draft.plan, draft.table, engine, room, workers, f"compiling {name}")
    _check_flash(draft, blocks)
    told = NoProgress() if workers is None else workers.progress
    with step(told, f"proving {name}"), within_floats(draft.provenance.kind, name):
        certificate = certify(draft, blocks.facts, blocks.tables)
    check_accuracy(draft.provenance, certificate)
    robot = draft.provenance.robot if draft.provenance.is_torque else None
    wide = [] if robot is None else range_notes(robot, draft.formats)
    report = {
        "seconds": time.perf_counter() - started,
        "planning_seconds": planned - started,
        "peak_bytes": _peak_memory(),
        "engine": blocks.engine,
        "notes": [*notes, *_dust_notes(draft), *blocks.notes, *wide, *chip_notes(draft.provenance.chip)],
    }
    return Model(draft.formats, draft.provenance, draft.plan, blocks.tables, blocks.diagrams, certificate, report)


def _check_flash(draft: PlanDraft, blocks: Blocks) -> None:
    """Refuse tables that leave too little of the flash for the code, whatever form C has them in."""
    flash, chip = draft.provenance.flash, chip_named(draft.provenance.chip or ANY_CHIP)
    if flash is None:
        return
    code = round(LEAST_CODE * chip.code_per_cycle * plan_cycles(draft.plan, chip))
    try:
        choose_forms(blocks.tables, [diagram.order for diagram in blocks.diagrams], max(flash - code, 0))
    except BudgetError as problem:
        raise flash_refusal(problem.smallest, code, flash, chip) from None


def _dust_notes(draft: PlanDraft) -> list[str]:
    """Return what a plan in floats leaves out."""
    if not draft.dust:
        return []
    return [
        f"{draft.dust} summand{'s' * (draft.dust > 1)} of at most 2⁻¹⁶ of their neighbours left out as numerical dust, "
        f"charged as dropped: {max(draft.dropped):.2g} units at most"
    ]


def chip_notes(chip: str | None) -> list[str]:
    """Return what to know of planning for a chip: look-ups may be faster where nothing multiplies."""
    if chip is None or chip_named(chip).multiplier:
        return []
    return [
        f"chip '{chip}' has no fast multiplier, so tables may be faster: "
        f"`bddtorque bench FILE --chip {chip}` measures both and says which to take"
    ]


def _peak_memory() -> int:
    """Return the largest resident memory so far, of this process and of the largest worker together, in bytes."""
    factor = 1 if sys.platform == "darwin" else 1024
    return factor * sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


@dataclass(frozen=True)
class Blocks:
    """Blocks of a plan, made: a table, a diagram and proved facts each; who built them, and notes."""

    tables: tuple[Table, ...]
    diagrams: tuple[Diagram, ...]
    facts: tuple[BlockFacts, ...]
    engine: str
    notes: tuple[str, ...]


def build_blocks(
    plan: Plan, table: Table | None, engine: str, memory: int, workers: Workers | None, what: str = "compiling"
) -> Blocks:
    """Make every block, on the workers or, without any, here and now; `table` is that of a `GivenBlock`."""
    tasks = [
        Task(build_block, (block, table, engine, memory // 2), name=_block_name(plan, k), cost=_seconds(block))
        for k, block in enumerate(plan.blocks)
    ]
    built = [task() for task in tasks] if workers is None else workers.run(_with_keys(tasks), what)
    restored = [_restore(block, plain) for block, plain in zip(plan.blocks, built, strict=True)]
    tables, diagrams, facts = zip(*restored, strict=True) if restored else ((), (), ())
    notes = sorted({note for each in built for note in each["notes"]})
    builders = Counter(each["engine"] for each in built)
    said = ", ".join(f"{name} ({count} of {len(built)} diagrams)" for name, count in builders.items())
    return Blocks(tables, diagrams, facts, said if len(builders) > 1 else "".join(builders) or engine, tuple(notes))


def _with_keys(tasks: list[Task]) -> list[Task]:
    """Return the tasks, each with its key made: a law of the caller's own may hold anything."""
    try:
        return [task for task in tasks if task.key]
    except TypeError as problem:
        raise BddTorqueError(f"a law must be plain data to be sent to a worker: {problem}") from None


def build_block(block: Block, given: Table | None, engine: str, memory: int) -> dict[str, Any]:
    """Tabulate a block and reduce it; a pure function on plain data, for any worker.

    `reduce` checks the diagram on every entry, since it is stored. Lowered forms are made and checked where they run,
    and all of them by `verify`.
    """
    if isinstance(block, GivenBlock) and given is not None:
        table, error = given, block.error
    else:
        table, facts = tabulate(block)
        error = facts.error
    try:
        reduction = reduce(table, engine, memory_limit=memory)
    except MemoryLimit as problem:
        raise BddTorqueError(
            f"memory: a block of {sum(block.input_widths)} input bits ({_rows(block):,} rows of "
            f"{table.output_bits} bits) does not fit: memory above {_in_mib(2 * memory)}, of which half is for one "
            f"block, block_bits below {sum(block.input_widths)} or fewer bits would work: {problem}"
        ) from None
    return {
        "values": np.asarray(table.values),
        **reduction.diagram.arrays(),
        "error": error,
        "engine": reduction.engine,
        "notes": list(reduction.notes),
    }


def _restore(block: Block, built: dict[str, Any]) -> tuple[Table, Diagram, BlockFacts]:
    """Return table, diagram and facts of a block from what `build_block` returned."""
    bits, signed = output_format(block)
    table = Table(built["values"], block.input_widths, bits, signed)
    diagram = Diagram.from_arrays(built["level"], built["low"], built["high"], built["roots"], built["order"], signed)
    return table, diagram, BlockFacts(built["error"], int(table.values.min()), int(table.values.max()))


def check_memory(plan: Plan, memory: int, at_a_time: int) -> None:
    """Refuse a plan whose tables and the work on them would not fit the memory budget, before anything is made."""
    kept = sum(_rows(block) * word_dtype(*output_format(block)).itemsize for block in plan.blocks)
    needs = [
        max(tabulating_memory(block), memory_needed(sum(block.input_widths), output_format(block)[0]))
        for block in plan.blocks
    ]
    if not needs:
        return
    largest = max(range(len(needs)), key=needs.__getitem__)
    beside = sorted(needs)[-at_a_time:]
    total = kept + sum(beside)
    if total > memory:
        block = plan.blocks[largest]
        alone = kept + needs[largest]
        fewer = f"workers = 1 (it takes {_in_mib(alone)}), " if alone <= memory else ""
        enough = _in_mib(max(total, 2 * needs[largest]))  # half of it is for one block
        raise BddTorqueError(
            f"memory of {format_size(memory)} is less than the {_in_mib(total)} needed ({_in_mib(kept)} for all "
            f"tables, {_in_mib(sum(beside))} to make {len(beside)} at a time): the largest, block {largest} "
            f"'{_block_name(plan, largest)}', has {sum(block.input_widths)} input bits ({_rows(block):,} rows, "
            f'{_in_mib(needs[largest])} to make); use {fewer}memory = "{enough}", block_bits below '
            f"{sum(block.input_widths)} or fewer bits",
            option="memory",
        )


def _in_mib(size: int) -> str:
    return format_size(-(-size // 2**20) * 2**20)


def _seconds(block: Block) -> float:
    """Return about how long one processor works on a block."""
    return SECONDS_PER_BLOCK + SECONDS_PER_ROW * _rows(block)


def _rows(block: Block) -> int:
    return 1 << sum(block.input_widths)


def _block_name(plan: Plan, block: int) -> str:
    return next(wire.name for wire in plan.wires if getattr(wire, "block", None) == block)
