"""A plan as text: what a person reads, and what a change of the planner shows as a diff."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence

import bddtorque.plan.wires as w
from bddtorque.base.shown_text import counted
from bddtorque.dynamics.graph import Graph, Op
from bddtorque.plan.blocks import Block, FunctionBlock, GivenBlock, LawBlock, ProductBlock, RealBlock, output_format
from bddtorque.plan.bound import OutputBound, PlanErrors, planned_facts
from bddtorque.plan.plan import Plan
from bddtorque.plan.plan_cost import Candidate, wide_operations
from bddtorque.targets.tables.cost import block_candidates, product_candidates
from bddtorque.words.bounded import TINY

MAX_PARTS = 6
"""Summands shown of one sum; the rest is counted."""
FLOAT_BOUND_PARTS = ("constants", "tables", "arithmetic", "final_rounding")
"""Parts of the bound of an output of a plan in floats."""
TREE_DEPTH = 3
"""Levels shown below the summands of an output."""


def plan_text(
    plan: Plan, title: str, bounds: Sequence[OutputBound], most_words: int | None = None, width: int | None = None
) -> str:
    """Return the whole plan: a summary, the tables and their forms, the products, the words, the tree of each output.

    In floats it is a summary, the tables, every operation with what is proved of it, and the bound of each output.
    With `most_words`, a plan of more words leaves out their list and says how many there are. With `width`, the table
    of forms is folded into so many columns of text.
    """
    words = len(plan.wires)
    shown = most_words is None or words <= most_words
    listed = (_operations if plan.in_floats else _wires)(plan) if shown else [f"  {words:,}, not listed here"]
    if plan.in_floats:
        return "\n".join(
            [
                *_summary(plan, title, bounds),
                *(["", "Tables of friction", *block_lines(plan)] if plan.blocks else []),
                "",
                "Operations (wire, kind, what it is, range of the true number, error of its float)",
                *listed,
                "",
                "Outputs",
                *_float_outputs(plan, bounds),
                "",
            ]
        )
    return "\n".join(
        [
            *_summary(plan, title, bounds),
            "",
            "Tables",
            *block_lines(plan),
            "",
            "Forms of each table, * taken: bytes/cycles of loads that wait for one another, both at most",
            *_forms(plan, width),
            "",
            "Products",
            *_methods(plan),
            "",
            "Words (wire, kind, bits, one unit, what it is)",
            *listed,
            "",
            *_left_out(plan),
            "Outputs",
            *_outputs(plan),
            "",
        ]
    )


def _summary(plan: Plan, title: str, bounds: Sequence[OutputBound]) -> Iterator[str]:
    counts = plan.counts()
    own = f"{plan.floats.name} precision" if plan.in_floats else f"block_bits {plan.block_bits}"
    yield f"{title}: source {plan.source}, target {plan.target}, {own}"
    yield "  " + ", ".join(counted(count, name) for name, count in counts.items())
    if plan.in_floats:
        yield "  bound, units: " + ", ".join(f"{bound.total:.4f}" for bound in bounds)
        return
    widths = inner_widths(plan)
    yield f"  bits per word: median {statistics.median(widths):g}, widest {max(widths)}"
    yield "    " + ", ".join(f"{count} of {bits}" for bits, count in sorted(Counter(widths).items()))
    yield "  bound before tables are made, units: " + ", ".join(f"{bound.total:.4f}" for bound in bounds)


def inner_widths(plan: Plan) -> list[int]:
    """Return the bits of every word that the plan rounds: tables and sums; products are exact or finer than these."""
    return [plan.bits_of(k) for k, wire in enumerate(plan.wires) if isinstance(wire, w.Lookup | w.Sum)] or [0]


def block_lines(plan: Plan) -> Iterator[str]:
    """Give a line for each table: its words, rows, readers and function."""
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
    if isinstance(block, LawBlock):
        return f"({block.law.formula()}) / {float(block.lsb):.6g}"
    if isinstance(block, GivenBlock):
        return f"given words / {float(block.lsb):.6g}"
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


def _forms(plan: Plan, width: int | None) -> Iterator[str]:
    """Show the forms of each block in a line, under their names, and what was chosen why."""
    found = [block_candidates(block) for block in plan.blocks]
    most = max(map(len, found), default=1)
    side_by_side = most if width is None else max(1, (width - 8) // 18)
    for first in range(0, most, side_by_side):
        parts = [candidates[first : first + side_by_side] for candidates in found]
        for names in dict.fromkeys(tuple(each.name for each in part) for part in parts):
            yield f"  {'':6}" + "".join(f"{name:>18}" for name in names)
        for k, part in enumerate(parts):
            shown = (f"{_mark(each)}{each.bytes:,}/{each.cost}" for each in part)
            yield f"  b{k:<5}" + "".join(f"{each:>18}" for each in shown)
    chosen: dict[tuple[str, str], list[int]] = {}
    for k, candidates in enumerate(found):
        for each in candidates:
            if each.chosen:
                chosen.setdefault((each.name, each.reason), []).append(k)
    yield from (f"  {name} for {_places(blocks)}: {reason}" for (name, reason), blocks in chosen.items())


def _places(blocks: Sequence[int]) -> str:
    """Return blocks by name, runs of them as first to last."""
    runs: list[list[int]] = []
    for block in blocks:
        if runs and block == runs[-1][-1] + 1:
            runs[-1].append(block)
        else:
            runs.append([block])
    return ", ".join(f"b{run[0]}" if len(run) == 1 else f"b{run[0]} to b{run[-1]}" for run in runs)


def _methods(plan: Plan) -> Iterator[str]:
    """Count the products by method and width, and show for the widest of each method what it was chosen from."""
    products = [wire for wire in plan.wires if isinstance(wire, w.Product)]
    if not products:
        yield "  none"
    for method in dict.fromkeys(wire.method for wire in products):
        own = [wire for wire in products if wire.method == method]
        widths = {wire: (plan.bits_of(wire.left), plan.bits_of(wire.right)) for wire in own}
        widest = max(own, key=lambda wire: (sum(widths[wire]), max(widths[wire])))
        counts = sorted(Counter(max(pair) for pair in widths.values()).items())
        yield f"  {len(own)} by {method}, wider word: " + ", ".join(f"{count} of {bits} bits" for bits, count in counts)
        if method == "native":
            yield f"  the widest has {widths[widest][0]}×{widths[widest][1]} bits"
            yield from _wide_operations(plan)
            continue
        yield f"  ways to multiply the widest, {widths[widest][0]}×{widths[widest][1]} bits:"
        for each in product_candidates(plan, widest):
            loads = f"{each.loads}/{each.depth}"
            yield f"   {_mark(each)} {each.name:8} {each.bytes:>13,} bytes {loads:>6} loads  {each.reason}"


def _wide_operations(plan: Plan) -> Iterator[str]:
    """List what 32-bit registers do not hold."""
    wide = wide_operations(plan)
    if not wide:
        yield "  every product and every sum fits 32 bits"
        return
    names = _first([f"{name} {bits}" for name, bits in wide])
    yield f"  {len(wide)} products and sums need more than 32 bits: {names}"


def _first(items: Sequence[str], between: str = ", ") -> str:
    """Return the first few of some items, and how many more there are."""
    more = f" and {len(items) - MAX_PARTS} more" if len(items) > MAX_PARTS else ""
    return between.join(items[:MAX_PARTS]) + more


def _mark(candidate: Candidate) -> str:
    return "*" if candidate.chosen else " "


def _wires(plan: Plan) -> Iterator[str]:
    for k, wire in enumerate(plan.wires):
        bits = plan.bits_of(k)
        match wire:
            case w.Input(name=name):
                yield f"  w{k:<4} input     {bits:>3}  {name}"
            case w.AngleSum():
                terms = " ".join(f"{factor:+d}·w{source}" for source, factor, _ in wire.parts)
                yield f"  w{k:<4} angle     {bits:>3}  {wire.name}: {terms}" + (
                    f" {wire.constant:+d}" if wire.constant else ""
                )
            case w.Lookup():
                block = plan.blocks[wire.block]
                unit = f"{float(block.lsb):.4g}" if isinstance(block, RealBlock) else "1"
                sources = ", ".join(f"w{source}" for source in wire.wires)
                yield f"  w{k:<4} table     {bits:>3}  {unit:>10}  {wire.name}: b{wire.block}[{sources}]"
            case w.Product():
                shift = f" >> {wire.shift}" if wire.shift else ""
                yield f"  w{k:<4} product   {bits:>3}  w{wire.left}·w{wire.right}{shift} by {wire.method}"
            case w.Sum():
                yield f"  w{k:<4} sum       {bits:>3}  {float(wire.lsb):>10.4g}  {wire.name}: {_parts(wire)}"


def _parts(each: w.Sum | w.Output) -> str:
    shown = _first([f"{factor:+d}·w{wire}" for wire, factor in each.parts], " ")
    constant = f" {each.constant:+d}" if each.constant else ""
    return f"({shown}{constant}) >> {each.shift}"


def _left_out(plan: Plan) -> Iterator[str]:
    """List the terms that the error budget dropped, if any, of each sum the largest first."""
    wires: list[tuple[int, w.Sum | w.Output]] = [
        (k, wire) for k, wire in enumerate(plan.wires) if isinstance(wire, w.Sum)
    ]
    wires += [(-1 - k, output) for k, output in enumerate(plan.outputs)]
    lines = []
    for key, wire in wires:
        exact = plan.exact.get(key)
        if exact is not None and exact.names:
            sizes = [abs(factor) * size for factor, size in exact.dropped]
            names = [exact.names[k] for k in sorted(range(len(exact.names)), key=lambda k: -sizes[k])]
            lines.append(f"  {wire.name:8} {float(wire.dropped):.2g}: {_first(names)}")
    if lines:
        yield from ("Left out as too small to matter (sum, charged to it in its units, terms)", *lines, "")


def _outputs(plan: Plan) -> Iterator[str]:
    told: set[int] = set()
    for output in plan.outputs:
        yield f"  {output.name}: one unit {float(output.lsb):.6g}, {output.low} to {output.high}: {_parts(output)}"
        yield from _tree(plan, output.sources, 2, told)


def _tree(plan: Plan, wires: Sequence[int], depth: int, told: set[int]) -> Iterator[str]:
    """Show what words are made of, a few levels deep: one line for all leaves, then a branch for each of the others.

    Inputs and tables are leaves, since their names say what they are of, and so is what was told before.
    """
    branches = [wire for wire in wires if isinstance(plan.wires[wire], w.Product | w.Sum) and wire not in told]
    leaves = [wire for wire in wires if wire not in branches]
    if leaves:
        yield "  " * depth + _first([f"w{wire} {plan.wires[wire].name}" for wire in leaves])
    for wire in branches[: None if depth == 2 else MAX_PARTS]:
        node = plan.wires[wire]
        yield f"{'  ' * depth}w{wire} {node.kind} {node.name} ({plan.bits_of(wire)} bits)"
        if depth < TREE_DEPTH + 2:
            told.add(wire)
            yield from _tree(plan, node.sources, depth + 1, told)
    if depth > 2 and len(branches) > MAX_PARTS:
        yield f"{'  ' * depth}and {len(branches) - MAX_PARTS} more"


def _operations(plan: Plan) -> Iterator[str]:
    known = plan.evaluate(PlanErrors(plan, {}, planned_facts(plan.blocks)))
    for k, (wire, proved) in enumerate(zip(plan.wires, known, strict=True)):
        line = f"  w{k:<4} {wire.kind:9} {_operation(plan, wire)}"
        if isinstance(wire, w.Input | w.AngleSum | w.Lookup | w.Number | w.Constant):
            yield line
        else:
            low, high = (0.0 if abs(end) <= TINY else end for end in (proved.range.low, proved.range.high))
            yield f"{line:<44} {low:>11.4g} to {high:<11.4g} ±{proved.error:.2g}"


def _operation(plan: Plan, wire: w.Wire) -> str:
    match wire:
        case w.Input():
            return f"{wire.name}, {wire.bits} bits"
        case w.AngleSum():
            terms = " ".join(f"{factor << shift:+d}·w{source}" for source, factor, shift in wire.parts)
            return f"{terms}, {wire.bits} bits" + (f" {wire.constant:+d}" if wire.constant else "")
        case w.Lookup():
            return f"b{wire.block}[{', '.join(f'w{source}' for source in wire.wires)}]"
        case w.Number():
            return f"w{wire.word}"
        case w.Constant():
            return f"{plan.floats.nearest(wire.value):.9g}"
        case w.Sine():
            rest = f" {float(wire.rest):+.9g}" if wire.rest else ""
            return f"{'cos' if wire.cosine else 'sin'}(w{wire.word}{rest})"
        case w.Add():
            return f"w{wire.left} {_sign(wire.sign)} w{wire.right}"
        case w.Multiply():
            return f"w{wire.left}·w{wire.right}"
        case w.Fused():
            minus = "-" if wire.product_sign < 0 else ""
            return f"{minus}w{wire.left}·w{wire.right} {_sign(wire.addend_sign)} w{wire.addend}"
        case _:
            raise TypeError(f"a plan in floats has no wire of kind '{wire.kind}'")


def _sign(sign: int) -> str:
    return "+" if sign > 0 else "-"


def _float_outputs(plan: Plan, bounds: Sequence[OutputBound]) -> Iterator[str]:
    for output, bound in zip(plan.outputs, bounds, strict=True):
        parts = ", ".join(f"{name.replace('_', ' ')} {getattr(bound, name):.3g}" for name in FLOAT_BOUND_PARTS)
        yield f"  {output.name}: w{output.wire} in units of {float(output.lsb):.6g}, {output.low} to {output.high}"
        yield f"    bound {bound.total:.4f} units: {parts}"
