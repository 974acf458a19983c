"""What a model shows of itself: its main figures, one line, and a table for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bddtorque.base.shown_tables import html_table
from bddtorque.base.sizes import counted
from bddtorque.model.source import FunctionSource, QuantitySource, RobotSource, Source
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.proof.certificate import Certificate
from bddtorque.words import Format


def main_figures(
    source: Source,
    plan: Plan,
    tables: Sequence[Table],
    diagrams: Sequence[Diagram],
    certificate: Certificate,
    digest: str,
) -> dict[str, Any]:
    """Return bits, blocks, rows, nodes, bytes and bounds by name."""
    of_robot = not isinstance(source, FunctionSource)
    proved: dict[str, Any] = {"bound": list(certificate.bounds)}
    if not of_robot:
        proved = {"bound": certificate.bound, "relative_to": certificate.relative_to}
    kind = {"robot": source.name} if of_robot else {"function": source.name}
    if isinstance(source, QuantitySource):
        kind["quantity"] = source.spec.quantity
    return {
        **kind,
        "source": plan.source,
        "target": plan.target,
        "bits": source.bits,
        **plan.counts(),
        "nodes": sum(diagram.node_count for diagram in diagrams),
        "table_bytes": sum(table.stored_bytes for table in tables),
        "diagram_bytes": sum(diagram.bytes for diagram in diagrams),
        **proved,
        "faithful": certificate.faithful,
        "digest": digest,
    }


def one_line_of(source: Source, tables: Sequence[Table], certificate: Certificate) -> str:
    """Return what `repr` shows."""
    bits = "/".join(map(str, dict.fromkeys(word.bits for word in source.outputs.values())))
    what = f"model of {source.name}"
    if isinstance(source, QuantitySource):
        what = f"{source.spec.quantity} of {source.name}"
    if isinstance(source, FunctionSource):
        words = ", ".join(f"{name} {word.bits}" for name, word in source.words.items())
        what = f"function {source.name}({words} bits)"
    bound = max(certificate.bounds)
    return f"<bddtorque {what}: {bits} bits, {counted(len(tables), 'blocks')}, bound {bound:.3f} units>"


def html_of(
    source: Source,
    plan: Plan,
    tables: Sequence[Table],
    diagrams: Sequence[Diagram],
    certificate: Certificate,
    digest: str,
) -> str:
    """Return a table of words and bounds, one row per output."""
    head: tuple[str, ...]
    columns: list[tuple[Format, ...]]
    if isinstance(source, RobotSource):
        head = ("joint", "position", "velocity", "acceleration", "torque")
        columns = list(zip(*source.formats.inputs, source.formats.tau, strict=True))
    elif isinstance(source, QuantitySource):
        head, columns = ("output", "value"), [(word,) for word in source.outputs.values()]
    else:
        head, columns = ("output", *source.input_names, "value"), [(*source.inputs, source.output)]
    rows = [
        (
            proved.name,
            *(f"{word.bits} bits, {word.lsb:.4g} {word.unit}" for word in words),
            f"{proved.bound:.4f}",
            f"{proved.bound_si:.4g} {proved.unit}",
            proved.saturation,
        )
        for proved, words in zip(certificate.outputs, columns, strict=True)
    ]
    nodes = sum(diagram.node_count for diagram in diagrams)
    made = (
        f"Source {plan.source}, target {plan.target}, {len(tables)} tables, {nodes:,} diagram "
        f"nodes, digest {digest[:12]}…"
    )
    title = f"{source.name}, compiled by bddtorque"
    return html_table(title, (*head, "bound, units", "bound", "saturates"), rows, [made])
