"""Make the table and the diagram of every block of a plan, within memory, on any worker."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.sizes import format_size
from bddtorque.base.tasks import Task
from bddtorque.base.workers import Workers
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.blocks import Block, GivenBlock, block_key, output_format
from bddtorque.plan.bound import BlockFacts
from bddtorque.plan.diagram_memory import MemoryLimit, memory_needed
from bddtorque.plan.plan import Plan
from bddtorque.plan.reduction import reduce
from bddtorque.plan.table import Table, word_dtype
from bddtorque.plan.tabulate import memory_needed as tabulating_memory
from bddtorque.plan.tabulate import tabulate

SECONDS_PER_BLOCK, SECONDS_PER_ROW = 0.05, 3e-6
"""About what a block takes on one processor; for what is shown of progress only."""


@dataclass(frozen=True)
class Blocks:
    """Blocks of a plan, made: a table, a diagram and proved facts each; who built them, and notes."""

    tables: tuple[Table, ...]
    diagrams: tuple[Diagram, ...]
    facts: tuple[BlockFacts, ...]
    engine: str
    notes: tuple[str, ...]


def build_blocks(
    plan: Plan, given: Table | None, engine: str, memory: int, team: Workers | None, what: str = "compiling"
) -> Blocks:
    """Make every block, on the workers or, without any, here and now; `given` is the table of a `GivenBlock`."""
    tasks = [
        Task(build_block, (block, given, engine, memory // 2), name=_block_name(plan, k), cost=_seconds(block))
        for k, block in enumerate(plan.blocks)
    ]
    try:
        built = [task() for task in tasks] if team is None else team.run(_keyed(tasks), what)
    except BddTorqueError as problem:
        raise BddTorqueError(_with_block_names(str(problem), plan)) from None
    restored = [_restored(block, each) for block, each in zip(plan.blocks, built, strict=True)]
    tables, diagrams, facts = zip(*restored, strict=True) if restored else ((), (), ())
    notes = sorted({note for each in built for note in each["notes"]})
    builders = Counter(each["engine"] for each in built)
    said = ", ".join(f"{name} ({count} of {len(built)} diagrams)" for name, count in builders.items())
    return Blocks(tables, diagrams, facts, said if len(builders) > 1 else "".join(builders) or engine, tuple(notes))


def _keyed(tasks: list[Task]) -> list[Task]:
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
            f"memory: block {block_key(block)} of {sum(block.input_widths)} input bits ({_rows(block):,} rows of "
            f"{table.output_bits} bits) does not fit: memory above {_rounded(2 * memory)}, of which half is for one "
            f"block, block_bits below {sum(block.input_widths)} or fewer bits would work: {problem}"
        ) from None
    return {
        "values": np.asarray(table.values),
        **reduction.diagram.arrays(),
        "error": error,
        "engine": reduction.engine,
        "notes": list(reduction.notes),
    }


def _restored(block: Block, built: dict[str, Any]) -> tuple[Table, Diagram, BlockFacts]:
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
            f"memory of {format_size(memory)} is less than the {_rounded(total)} needed ({_rounded(kept)} for all "
            f"tables, {_rounded(sum(beside))} to make {len(beside)} at a time): the largest, block {largest} "
            f"'{_block_name(plan, largest)}', has {sum(block.input_widths)} input bits ({_rows(block):,} rows, "
            f'{_rounded(needs[largest])} to make); use {fewer}memory = "{enough}", block_bits below '
            f"{sum(block.input_widths)} or fewer bits",
            option="memory",
        )


def _rounded(size: int) -> str:
    return format_size(-(-size // 2**20) * 2**20)


def _seconds(block: Block) -> float:
    """Return about how long one processor works on a block."""
    return SECONDS_PER_BLOCK + SECONDS_PER_ROW * _rows(block)


def _rows(block: Block) -> int:
    return 1 << sum(block.input_widths)


def _with_block_names(message: str, plan: Plan) -> str:
    """Return a message of a worker, who knows a block by its key alone, with the block's place and name instead."""
    for k, key in enumerate(plan.keys):
        if key in message:
            message = message.replace(key, f"{k} '{_block_name(plan, k)}'")
    return message


def _block_name(plan: Plan, block: int) -> str:
    return next(wire.name for wire in plan.wires if getattr(wire, "block", None) == block)
