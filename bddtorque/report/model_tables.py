"""Rows of tables about a model, as text: what its targets cost and what its blocks are, for a page and a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.filesize import decimal

from bddtorque.bench.target_costs import TargetCost
from bddtorque.model.model import Model
from bddtorque.plan.blocks import output_format
from bddtorque.proof.proved_bound import effective_bits

COSTS = "Cost of one state by target: * compiled, others estimated"
COST_HEADS = ("target", ">look-ups", ">sums", ">products", ">tables", ">on this PC", "microcontroller")
BLOCK_HEADS = ("block", "of", ">inputs", ">output", ">rows", ">nodes", ">widest", ">rails", ">depth")
WORDS = "Words: angles wrap, ranges saturate"
WORD_HEADS = ("word", "kind", ">bits", ">one unit", ">from", ">to", "unit")
"""Names of columns; those that begin with ``>`` hold numbers."""


def effective_bits_of(model: Model) -> list[float]:
    """Return the effective bits of each output, from the closest range that is known."""
    certificate = model.certificate
    if certificate.ranges:
        return [torque.effective_bits for torque in certificate.ranges]
    return [effective_bits(output.largest, output.bound_si) for output in certificate.outputs]


def word_rows(model: Model) -> list[list[str]]:
    """Return the words of a model, one per row: ``q:shoulder``, ..."""
    rows = []
    for array in model.formats.arrays:
        for label, word in zip(array.labels, array, strict=True):
            figures = [f"{value:.6g}" for value in (word.lsb, *word.span)]
            name = f"{array.name}:{label}" if array.shape else array.name
            rows.append([name, word.kind, str(word.bits), *figures, word.unit])
    return rows


def cost_rows(costs: Iterable[TargetCost]) -> list[list[str]]:
    """Return what each target costs, one per row."""
    rows = []
    for cost in costs:
        counts = (cost.look_ups, cost.sums, cost.products)
        shown = [f"{count:,}" if cost.counted or not count else f"~{_roughly(count):,}" for count in counts]
        size = f"{'≤ ' if cost.least_bytes < cost.most_bytes else ''}{decimal(cost.most_bytes)}"
        name = f"{cost.target}{' *' * cost.counted}"
        rows.append([name, *shown, size, f"{max(cost.times_float, 1):.2g} × float", cost.chip])
    return rows


def _roughly(count: int) -> int:
    """Return a number with two digits and zeros."""
    return round(count, 2 - len(str(count))) if count > 99 else count


def block_figures(model: Model) -> list[dict[str, Any]]:
    """Return what there is to know of each block and its diagram, as plain data."""
    figures = []
    for k, (block, table, diagram) in enumerate(zip(model.plan.blocks, model.tables, model.diagrams, strict=True)):
        bits, signed = output_format(block)
        figures.append(
            {
                "block": k,
                "kind": block.kind,
                "used_by": [wire.name for wire in model.plan.wires if getattr(wire, "block", None) == k],
                "input_bits": list(block.input_widths),
                "output_bits": bits,
                "signed": signed,
                "rows": len(table.values),
                "nodes": diagram.node_count,
                "depth": diagram.depth,
                "level_widths": list(diagram.level_widths),
                "rails": list(diagram.rails),
                "order": list(diagram.order),
                "digest": table.content_key,
            }
        )
    return figures


def block_rows(figures: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return the blocks and their diagrams, one per row."""
    rows = []
    for block in figures:
        used = block["used_by"] or ["nothing"]
        more = f" and {len(used) - 1} more" if len(used) > 1 else ""
        widest = max(block["level_widths"], default=0)
        counts = (block["rows"], block["nodes"], widest, max(block["rails"]), block["depth"])
        words = ["+".join(map(str, block["input_bits"])), str(block["output_bits"])]
        shown = [f"b{block['block']}", f"{block['kind']}: {used[0]}{more}", *words]
        rows.append([*shown, *(f"{count:,}" for count in counts)])
    return rows
