"""The statements of a plan in 64-bit integers: for words that outgrow a float, and for tables without any product."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from bddtorque.evaluate.table_pool import TablePool
from bddtorque.plan.plan import Plan
from bddtorque.plan.wires import AngleSum, Input, Lookup, Output, Product, Sum


class _Word(Protocol):
    @property
    def wire(self) -> int: ...
    @property
    def bits(self) -> int: ...
    @property
    def wraps(self) -> bool: ...


def integer_statements(plan: Plan, pool: TablePool, inputs: Sequence[_Word], native: bool) -> Iterator[str]:
    """Yield the statements from the integers x0, x1, ... of the inputs to r0, r1, ..., torques not clamped yet."""
    for word in inputs:
        x = f"x{word.wire}"
        yield f"w{word.wire} = {wrapped(x, word.bits) if word.wraps else x}"
    indices = {source for wire in plan.wires if isinstance(wire, Lookup) for source in wire.wires}
    numbers = {source for wire in plan.wires if isinstance(wire, Product | Sum) for source in wire.sources}
    numbers |= {source for output in plan.outputs for source in output.sources}
    for k, wire in enumerate(plan.wires):
        match wire:
            case Lookup():
                yield f"w{k} = int64({pool.lookup(wire)})"
            case Product():
                yield from _product(plan, wire, k, pool, native)
            case Sum():
                yield f"w{k} = {_summed(wire)}"
            case AngleSum() if k in numbers:  # a difference of angles
                terms = (f"{factor << shift} * x{source}" for source, factor, shift in wire.parts)
                yield f"w{k} = {wrapped(' + '.join([*terms, str(wire.constant)]), wire.bits)}"
                continue
            case Input() | AngleSum():
                continue
        if k in indices:
            yield f"x{k} = w{k}"
    for k, output in enumerate(plan.outputs):
        yield f"r{k} = {_summed(output)}"


def wrapped(expression: str, bits: int) -> str:
    """Return an expression brought to a two's complement word of so many bits."""
    half = 1 << (bits - 1)
    return f"(({expression} + {half}) & {2 * half - 1}) - {half}"


def _product(plan: Plan, wire: Product, k: int, pool: TablePool, native: bool) -> Iterator[str]:
    left, right = f"w{wire.left}", f"w{wire.right}"
    if native:
        yield f"w{k} = {_rounded(f'{left} * {right}', wire.shift)}"
        return
    start, widths = pool.places[wire.block].start, plan.blocks[wire.block].input_widths
    match wire.method:
        case "blocks":
            index = f"((({left}) & {(1 << widths[0]) - 1}) << {widths[1]}) | ({right} & {(1 << widths[1]) - 1})"
            yield f"w{k} = int64(table[{start} + ({index})])"
        case "squares":
            mask = (1 << widths[0]) - 1
            pieces = (f"int64(table[{start} + (({left} {sign} {right}) & {mask})])" for sign in "+-")
            yield f"w{k} = {_rounded(' - '.join(pieces), wire.shift)}"
        case _:
            limb, mask = wire.piece_bits, (1 << wire.piece_bits) - 1
            yield f"a{k} = abs({left})"
            yield f"b{k} = abs({right})"
            counts = [-(-(plan.bits_of(each)) // limb) for each in (wire.left, wire.right)]
            pieces = (
                f"(int64(table[{start} + ((((a{k} >> {i * limb}) & {mask}) << {limb}) | "
                f"((b{k} >> {j * limb}) & {mask}))]) << {(i + j) * limb})"
                for i in range(counts[0])
                for j in range(counts[1])
            )
            yield f"p{k} = {' + '.join(pieces)}"
            yield f"w{k} = {_rounded(f'(-p{k} if ({left} < 0) != ({right} < 0) else p{k})', wire.shift)}"


def _summed(each: Sum | Output) -> str:
    """Return a sum, shifted and rounded.

    A power of two that all factors have is taken from the shift instead. Words whose factors differ by a power of two,
    or in sign, are added before they are multiplied.
    """
    parts = [(wire, factor) for wire, factor in each.parts if factor]
    common = min([each.shift, *(_power(factor) for _, factor in parts)])
    groups: dict[int, list[tuple[int, int]]] = {}
    for wire, factor in parts:
        odd = factor >> _power(factor)
        key = -odd if -odd in groups else odd
        groups.setdefault(key, []).append((factor // key >> common, wire))
    terms = []
    for odd, words in groups.items():
        size = 1 << min(_power(factor) for factor, _ in words)
        inner = " + ".join(_times(factor // size, f"w{wire}") for factor, wire in words)
        terms.append(_times(odd * size, f"({inner})"))
    constant = (each.constant + (1 << each.shift >> 1)) >> common
    return f"({' + '.join([*terms, f'int64({constant})'])}) >> {each.shift - common}"


def _power(factor: int) -> int:
    """Return how often a factor can be halved."""
    return (factor & -factor).bit_length() - 1


def _times(factor: int, word: str) -> str:
    return word if factor == 1 else f"-{word}" if factor == -1 else f"{factor} * {word}"


def _rounded(expression: str, shift: int) -> str:
    return f"({expression} + {1 << (shift - 1)}) >> {shift}" if shift else f"({expression})"
