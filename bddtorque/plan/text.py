"""A plan as text: what a person reads, and what a change of the planner shows as a diff."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from bddtorque.plan.bound import OutputBound
from bddtorque.plan.cost import product_candidates
from bddtorque.plan.plan import (
    AngleSum,
    Block,
    FunctionBlock,
    Input,
    Lookup,
    Output,
    Plan,
    Product,
    ProductBlock,
    Sum,
    Wire,
    output_format,
)
from bddtorque.trace.graph import Graph, Op

MOST_PARTS = 6
"""Summands shown of one sum; the rest is counted."""


def plan_text(plan: Plan, title: str, bounds: Sequence[OutputBound]) -> str:
    """Return the whole plan: a summary, the tables, the wires, and the tree of each output."""
    return "\n".join(
        [
            *_summary(plan, title, bounds),
            "",
            "Tables",
            *_blocks(plan),
            "",
            "Products",
            *_methods(plan),
            "",
            "Words (wire, kind, bits, one unit, what it is)",
            *_wires(plan),
            "",
            "Outputs",
            *_outputs(plan),
            "",
        ]
    )


def _summary(plan: Plan, title: str, bounds: Sequence[OutputBound]) -> Iterator[str]:
    counts = plan.counts()
    widths = [plan.bits_of(k) for k, wire in enumerate(plan.wires) if isinstance(wire, Lookup | Sum)] or [0]
    yield f"{title}: source {plan.source}, target {plan.target}, block_bits {plan.block_bits}"
    yield "  " + ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())
    yield f"  bits a word: median {statistics.median(widths):g}, widest {max(widths)}"
    yield "  bound before tables are made, units: " + ", ".join(f"{bound.total:.4f}" for bound in bounds)


def _blocks(plan: Plan) -> Iterator[str]:
    for k, block in enumerate(plan.blocks):
        bits, signed = output_format(block)
        readers = sum(getattr(wire, "block", None) == k for wire in plan.wires)
        widths = "+".join(map(str, block.input_widths))
        yield (
            f"  b{k:<4}{widths:>8} -> {'s' if signed else 'u'}{bits:<3} {1 << sum(block.input_widths):>10,} rows, "
            f"read by {readers:>3}: {_function(block)}"
        )


def _function(block: Block) -> str:
    if isinstance(block, FunctionBlock):
        return f"{_expression(block.graph, block.graph.outputs[0])} / {float(block.lsb):.6g}"
    if isinstance(block, ProductBlock):
        return "x0·x1" + (f" >> {block.shift}" if block.shift else "")
    return "x0²/4"


def _expression(graph: Graph, reference: int, depth: int = 0) -> str:
    """Return a small graph as a formula; a large one is cut short."""
    node = graph.nodes[reference >> 1]
    sign = "-" if reference & 1 else ""
    if depth > 6:
        return "..."
    match node.op:
        case Op.INPUT:
            return sign + node.name
        case Op.CONSTANT:
            return f"{sign}{node.value:.6g}"
        case Op.SINE | Op.COSINE:
            name = "sin" if node.op is Op.SINE else "cos"
            return f"{sign}{name}({_expression(graph, node.left, depth + 1)})"
        case Op.PRODUCT:
            parts = (_expression(graph, each, depth + 1) for each in node.operands)
            return sign + "·".join(f"({part})" if " " in part else part for part in parts)
        case _:
            left, right = (_expression(graph, each, depth + 1) for each in node.operands)
            joined = f"{left} - {right[1:]}" if right.startswith("-") else f"{left} + {right}"
            return f"-({joined})" if sign else joined


def _methods(plan: Plan) -> Iterator[str]:
    """Count the products by method, and show for the widest of each what it was chosen from."""
    products = [wire for wire in plan.wires if isinstance(wire, Product)]
    if not products:
        yield "  none"
    for method in dict.fromkeys(wire.method for wire in products):
        own = [wire for wire in products if wire.method == method]
        widest = max(own, key=lambda wire: plan.bits_of(wire.left) + plan.bits_of(wire.right))
        widths = f"{plan.bits_of(widest.left)}×{plan.bits_of(widest.right)} bits"
        yield f"  {len(own)} by {method}; the widest, {widths}, could be had by"
        for each in product_candidates(plan, widest):
            mark = "*" if each.chosen else " "
            yield f"   {mark} {each.name:8} {each.bytes:>12,} bytes {each.loads:>3} loads  {each.reason}"


def _wires(plan: Plan) -> Iterator[str]:
    for k, wire in enumerate(plan.wires):
        bits = plan.bits_of(k)
        match wire:
            case Input(name=name):
                yield f"  w{k:<4} input     {bits:>3}  {name}"
            case AngleSum():
                terms = " ".join(f"{factor:+d}·w{source}" for source, factor, _ in wire.parts)
                yield f"  w{k:<4} angle     {bits:>3}  {wire.name}: {terms}" + (
                    f" {wire.constant:+d}" if wire.constant else ""
                )
            case Lookup():
                block = plan.blocks[wire.block]
                unit = f"{float(block.lsb):.4g}" if isinstance(block, FunctionBlock) else "1"
                sources = ", ".join(f"w{source}" for source in wire.wires)
                yield f"  w{k:<4} table     {bits:>3}  {unit:>10}  {wire.name}: b{wire.block}[{sources}]"
            case Product():
                shift = f" >> {wire.shift}" if wire.shift else ""
                yield f"  w{k:<4} product   {bits:>3}  w{wire.left}·w{wire.right}{shift} by {wire.method}"
            case Sum():
                yield f"  w{k:<4} sum       {bits:>3}  {float(wire.lsb):>10.4g}  {wire.name}: {_parts(wire)}"


def _parts(each: Sum | Output) -> str:
    shown = " ".join(f"{factor:+d}·w{wire}" for wire, factor in each.parts[:MOST_PARTS])
    more = f" and {len(each.parts) - MOST_PARTS} more" if len(each.parts) > MOST_PARTS else ""
    constant = f" {each.constant:+d}" if each.constant else ""
    return f"({shown}{more}{constant}) >> {each.shift}"


def _outputs(plan: Plan) -> Iterator[str]:
    for output in plan.outputs:
        yield f"  {output.name}: one unit {float(output.lsb):.6g}, {output.low} to {output.high}: {_parts(output)}"
        for wire, _ in output.parts[:MOST_PARTS]:
            yield from _tree(plan, wire, 2)


def _tree(plan: Plan, wire: int, depth: int) -> Iterator[str]:
    """Show what a word is made of, three levels deep."""
    node = plan.wires[wire]
    yield f"{'  ' * depth}w{wire} {node.kind} {node.name} ({plan.bits_of(wire)} bits)"
    if depth < 4:
        for source in _sources(node):
            yield from _tree(plan, source, depth + 1)


def _sources(node: Wire) -> Sequence[int]:
    match node:
        case Lookup(wires=wires):
            return wires
        case Product(left=left, right=right):
            return (left, right)
        case Sum(parts=parts):
            return [source for source, _ in parts[:MOST_PARTS]]
        case _:
            return ()
