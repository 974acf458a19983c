"""One state through the cascade, word by word, as docs/format.md defines it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .float_plan import AnyPlan
from .plan import Plan, Wire


def run(plan: Plan, tables: list[Any], inputs: dict[str, int]) -> list[int]:
    """Return every output before it is clamped; `inputs` are words by name, which must be within their format."""
    words: list[int] = []
    for wire in plan.wires:
        if wire.kind in ("input", "angle_sum", "lookup"):
            words.append(run_word(plan, wire, tables, inputs, words))
        elif wire.kind == "product":
            words.append(_shifted(words[wire.wires[0]] * words[wire.wires[1]], wire.shift))
        else:
            words.append(_summed(wire, words))
    return [_summed(output, words) for output in plan.outputs]


def run_word(
    plan: AnyPlan, wire: Wire, tables: list[Any], inputs: dict[str, int], words: Sequence[int] | dict[int, int]
) -> int:
    """Return an input word, a sum of angles, or an entry of a table; `words` are those before, by wire."""
    if wire.kind == "input":
        return inputs[wire.name]
    if wire.kind == "angle_sum":
        total = sum(multiplier * (words[part] << shift) for part, multiplier, shift in wire.parts) + wire.constant
        half = 1 << (wire.bits - 1)
        return (total + half) % (2 * half) - half
    index = 0
    for width, source in zip(plan.blocks[wire.block].widths, wire.wires, strict=True):
        index = (index << width) | (words[source] % (1 << width))
    return int(tables[wire.block][index])


def _summed(wire: Wire, words: list[int]) -> int:
    return _shifted(sum(factor * words[part] for part, factor, _ in wire.parts) + wire.constant, wire.shift)


def _shifted(value: int, shift: int) -> int:
    return value + ((1 << shift) >> 1) >> shift
