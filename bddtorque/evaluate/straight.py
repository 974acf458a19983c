"""Straight-line code in 64-bit integers: a plan as functions of its own, every wire a local variable.

    states(arrays, out, table, counts)  one state after another
    bare(arrays, out, table)            the same, counting nothing: what a kernel runs

It serves words that outgrow a float, and tables without any product. A word out of range is looked for in a way that
costs next to nothing, and only then clamped and counted. The statements of a large plan are cut into functions of
bounded size (`statements`): they run a little slower, and are compiled in seconds instead of hours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Protocol

from bddtorque.base.jit import DISABLE_JIT
from bddtorque.evaluate.code_writer import CodeWriter, Straight
from bddtorque.evaluate.input_code import angle_sums, check_inputs, clamp_outputs, load_inputs
from bddtorque.evaluate.statements import Statement, wrapped
from bddtorque.evaluate.table_pool import TablePool, Walkable, WalkPool, blocks_read, join_index
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.plan.wires import AngleSum, Input, Lookup, Output, Product, Sum
from bddtorque.words.interface import Interface


class _Word(Protocol):
    @property
    def wire(self) -> int: ...
    @property
    def bits(self) -> int: ...
    @property
    def wraps(self) -> bool: ...


def integer_statements(plan: Plan, pool: TablePool, inputs: Sequence[_Word], native: bool) -> Iterator[Statement]:
    """Yield the statements from the integers x0, x1, ... of the inputs to r0, r1, ..., torques not clamped yet."""
    for word in inputs:
        x = f"x{word.wire}"
        yield Statement(f"w{word.wire}", wrapped(x, word.bits) if word.wraps else x, (x,))
    indices = {source for wire in plan.wires if isinstance(wire, Lookup) for source in wire.wires}
    numbers = {source for wire in plan.wires if isinstance(wire, Product | Sum) for source in wire.sources}
    numbers |= {source for output in plan.outputs for source in output.sources}
    for k, wire in enumerate(plan.wires):
        match wire:
            case Lookup():
                yield Statement(f"w{k}", f"int64({pool.lookup(wire)})", pool.reads(wire))
            case Product():
                yield from _product(plan, wire, k, pool, native)
            case Sum():
                yield Statement(f"w{k}", _summed(wire), _names("w", wire.sources))
            case AngleSum() if k in numbers:  # a difference of angles
                terms = (f"{factor << shift} * x{source}" for source, factor, shift in wire.parts)
                total = wrapped(" + ".join([*terms, str(wire.constant)]), wire.bits)
                yield Statement(f"w{k}", total, _names("x", wire.sources))
                continue
            case Input() | AngleSum():
                continue
        if k in indices:
            yield Statement(f"x{k}", f"w{k}", (f"w{k}",))
    for k, output in enumerate(plan.outputs):
        yield Statement(f"r{k}", _summed(output), _names("w", output.sources))


def _product(plan: Plan, wire: Product, k: int, pool: TablePool, native: bool) -> Iterator[Statement]:
    """Yield the statements of a product: multiplied, or looked up in its block as its method says."""
    reads = left, right = f"w{wire.left}", f"w{wire.right}"
    if native:
        yield Statement(f"w{k}", _rounded(f"{left} * {right}", wire.shift), reads)
        return
    widths = plan.blocks[wire.block].input_widths
    match wire.method:
        case "blocks":
            yield Statement(f"w{k}", f"int64({pool.entry(wire.block, join_index(reads, widths))})", reads)
        case "squares":
            mask = (1 << widths[0]) - 1
            pieces = (f"int64({pool.entry(wire.block, f'({left} {sign} {right}) & {mask}')})" for sign in "+-")
            yield Statement(f"w{k}", _rounded(" - ".join(pieces), wire.shift), reads)
        case _:
            limb = wire.piece_bits
            yield Statement(f"a{k}", f"abs({left})", (left,))
            yield Statement(f"b{k}", f"abs({right})", (right,))
            counts = [-(-(plan.bits_of(each)) // limb) for each in (wire.left, wire.right)]
            limbs = []
            for i, j in product(range(counts[0]), range(counts[1])):
                index = join_index([f"a{k} >> {i * limb}", f"b{k} >> {j * limb}"], widths)
                limbs.append(f"(int64({pool.entry(wire.block, index)}) << {(i + j) * limb})")
            yield Statement(f"p{k}", " + ".join(limbs), (f"a{k}", f"b{k}"))
            signed = f"(-p{k} if ({left} < 0) != ({right} < 0) else p{k})"
            yield Statement(f"w{k}", _rounded(signed, wire.shift), (f"p{k}", *reads))


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


def _names(kind: str, wires: Iterable[int]) -> tuple[str, ...]:
    return tuple(f"{kind}{wire}" for wire in dict.fromkeys(wires))


def _power(factor: int) -> int:
    """Return how often a factor can be halved."""
    return (factor & -factor).bit_length() - 1


def _times(factor: int, word: str) -> str:
    return word if factor == 1 else f"-{word}" if factor == -1 else f"{factor} * {word}"


def _rounded(expression: str, shift: int) -> str:
    return f"({expression} + {1 << (shift - 1)}) >> {shift}" if shift else f"({expression})"


HEADER = '''"""A compiled plan, written by bddtorque; made anew whenever it is missing."""
from numba import int64, njit
from numba.extending import intrinsic
import numpy as np

from bddtorque.evaluate.llvm_code import clamp_to_int64, emitted
from bddtorque.evaluate.pointers import array_at, space_of

real = np.float64
'''


def straight(
    plan: Plan,
    formats: Interface,
    tables: Sequence[Table],
    directory: Path,
    native: bool = True,
    forms: Sequence[Walkable] = (),
) -> Straight:
    """Return the straight-line code of a plan: with `native` products, from tables alone, or from diagrams in `forms`.

    It is compiled when first called: in seconds, or a minute and more for the largest plans, unless that was done
    before and kept in `directory`.
    """
    if forms and not DISABLE_JIT:
        walks = WalkPool(plan, forms)
        module = StraightSource(plan, formats, walks, native=False).module(directory)
        return Straight(module.states, module.bare, walks.descriptor(), kept=walks)
    native = native and not forms
    pool = TablePool(plan, blocks_read(plan, native))
    module = StraightSource(plan, formats, pool, native).module(directory)
    return Straight(module.states, module.bare, pool.values(tables))


class StraightSource(CodeWriter):
    """The module of a plan."""

    def __init__(self, plan: Plan, formats: Interface, pool: TablePool, native: bool) -> None:
        super().__init__(plan, formats, HEADER)
        body = list(integer_statements(plan, pool, self.inputs, native))
        self.write_state(body, list(angle_sums(plan, pool)))
        for name, counting in (("states", True), ("bare", False)):
            load = [*load_inputs(self.inputs), *check_inputs(self.inputs, counting)]
            self.add_states(name, counting, load, list(clamp_outputs(plan)))
