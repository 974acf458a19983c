"""Compiled tables in the cost model of the comparison: bit by bit through diagrams, or a word a load.

The operations are those of `building`: look-ups and additions, nothing is multiplied. A bit processor walks one output
bit of a look-up; a word processor loads the whole word from its table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bddtorque.evaluate.operations import Operation, StepCosts, operations_of
from bddtorque.evaluate.scheduling import TimedTask
from bddtorque.evaluate.spreading import tasks_of
from machines.cost_model import CostModel, Machine, by_operations

if TYPE_CHECKING:
    from bddtorque.model.model import Model


def costs_of(costs: CostModel) -> StepCosts:
    """Return what tests and additions of tables take."""
    return StepCosts(costs.test, costs.table_addition, costs.addition_bit)


def word_tasks(operations: Sequence[Operation], costs: CostModel) -> list[TimedTask]:
    """Return operations as tasks with all output bits of a look-up in one: a load, named by its word.

    An index is made of the bits that the table really reads; a look-up whose bits are all constant takes no time.
    """
    prices, task_of = costs_of(costs), {each.name: each.word for each in operations}
    durations: dict[str, float] = {}
    before: dict[str, dict[str, None]] = {}
    for each in operations:
        if each.kind == "walk":
            took = costs.loading(sum(each.widths)) if each.tests else 0.0
            durations[each.word] = max(took, durations.get(each.word, 0.0))
        else:
            durations[each.word] = prices.duration(each)
        needs = (task_of[name] for name in each.predecessors)
        before.setdefault(each.word, {}).update(dict.fromkeys(needs))
    return [TimedTask(word, took, tuple(before[word])) for word, took in durations.items()]


def table_machines(model: Model, costs: CostModel) -> list[Machine]:
    """Return a compiled model bit by bit and word by word: on one processor, spread, and piped.

    Names tell the source of the plan: "terms by bits, spread", "recursive by words, serial".
    """
    operations = operations_of(model.word_plan("a machine of tables"), model.diagrams, costs_of(costs))
    table_bits = sum(len(table.values) * table.output_bits for table in model.tables)
    diagram_bytes = sum(diagram.bytes for diagram in model.diagrams)
    source, note = model.plan.source, f"proved {max(model.certificate.bounds):.2f} units"
    by_bits = by_operations(
        f"{source} by bits", tasks_of(operations, costs_of(costs)), "bit", multiplies=False, table_bytes=diagram_bytes
    )
    by_words = by_operations(
        f"{source} by words", word_tasks(operations, costs), "word", multiplies=False, table_bytes=-(-table_bits // 8)
    )
    return [replace(each, note=note) for each in (*by_bits, *by_words)]
