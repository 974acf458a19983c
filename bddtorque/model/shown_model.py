"""Summaries of a model: its main figures, one line, and a table for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bddtorque.base.shown_text import counted, html_table

if TYPE_CHECKING:
    from bddtorque.model.model import Model


def main_figures(model: Model) -> dict[str, Any]:
    """Return bits, blocks, rows, nodes, bytes and bounds by name."""
    provenance, plan, certificate = model.provenance, model.plan, model.certificate
    what: dict[str, Any] = {provenance.kind: provenance.name}
    if provenance.quantity is not None:
        what["quantity"] = provenance.quantity.name
    return {
        **what,
        "source": plan.source,
        "target": plan.target,
        "bits": model.formats.bits,
        **plan.counts(),
        "nodes": sum(diagram.node_count for diagram in model.diagrams),
        "table_bytes": sum(table.stored_bytes for table in model.tables),
        "diagram_bytes": sum(diagram.bytes for diagram in model.diagrams),
        "bound": list(certificate.bounds),
        "relative_to": certificate.outputs[0].relative_to,
        "faithful": certificate.faithful,
        "digest": model.digest,
    }


def one_line_of(model: Model) -> str:
    """Return what `repr` shows."""
    provenance, formats = model.provenance, model.formats
    bits = "/".join(map(str, dict.fromkeys(word.bits for word in formats.results.values())))
    what = f"model of {provenance.name}"
    if provenance.quantity is None:
        words = ", ".join(f"{name} {word.bits}" for name, word in formats.words.items())
        what = f"function {provenance.name}({words} bits)"
    elif not provenance.is_torque:
        what = f"{provenance.quantity.name} of {provenance.name}"
    bound = max(model.certificate.bounds)
    return f"<bddtorque {what}: {bits} bits, {counted(len(model.tables), 'blocks')}, bound {bound:.3f} units>"


def html_of(model: Model) -> str:
    """Return a table of words and bounds, one row per output."""
    formats = model.formats
    outputs = list(formats.results.values())
    # inputs that have one word per output, such as those of a joint, or of which there is but one, stand beside it
    beside = [array for array in formats.inputs if len(array) in (1, len(outputs))]
    rows = []
    for k, (proved, word) in enumerate(zip(model.certificate.outputs, outputs, strict=True)):
        words = [*(array[k if len(array) > 1 else 0] for array in beside), word]
        rows.append(
            (
                proved.name,
                *(f"{each.bits} bits, {each.lsb:.4g} {each.unit}" for each in words),
                f"{proved.bound:.4f}",
                f"{proved.bound_si:.4g} {proved.unit}",
                proved.saturation,
            )
        )
    nodes = sum(diagram.node_count for diagram in model.diagrams)
    made = (
        f"Source {model.plan.source}, target {model.plan.target}, {len(model.tables)} tables, {nodes:,} diagram "
        f"nodes, digest {model.digest[:12]}…"
    )
    head = ("output", *(array.name for array in beside), "value", "bound, units", "bound", "saturates")
    return html_table(f"{model.provenance.title}, compiled by bddtorque", head, rows, [made])
