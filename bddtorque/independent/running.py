"""One state through the cascade, word by word, as docs/format.md defines it."""

from __future__ import annotations

from typing import Any

from .plan import Plan, Wire


def run(plan: Plan, tables: list[Any], inputs: dict[str, int]) -> list[int]:
    """Return every output before it is clamped; `inputs` are words by name, which must be within their format."""
    words: list[int] = []
    for wire in plan.wires:
        if wire.kind == "input":
            words.append(inputs[wire.name])
        elif wire.kind == "angle_sum":
            total = sum(multiplier * (words[part] << shift) for part, multiplier, shift in wire.parts) + wire.constant
            half = 1 << (wire.bits - 1)
            words.append((total + half) % (2 * half) - half)
        elif wire.kind == "lookup":
            index = 0
            for width, source in zip(plan.blocks[wire.block].widths, wire.wires, strict=True):
                index = (index << width) | (words[source] % (1 << width))
            words.append(int(tables[wire.block][index]))
        elif wire.kind == "product":
            words.append(_shifted(words[wire.wires[0]] * words[wire.wires[1]], wire.shift))
        else:
            words.append(_summed(wire, words))
    return [_summed(output, words) for output in plan.outputs]


def _summed(wire: Wire, words: list[int]) -> int:
    return _shifted(sum(factor * words[part] for part, factor, _ in wire.parts) + wire.constant, wire.shift)


def _shifted(value: int, shift: int) -> int:
    return value + ((1 << shift) >> 1) >> shift
