"""Straight-line code: a plan as one function of its own, every wire a local variable. What a PC runs fastest.

The source holds nothing but numbers and names of our own making, whatever file the plan came from. It is written to a
real file in the cache (Numba keeps compiled code only for functions that stand in one), named by its own content, and
compiled once; tables are handed to it as one array.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.diagrams.table import Table
from bddtorque.evaluate.program import QUANTITIES, limits
from bddtorque.plan.plan import AngleSum, Input, Lookup, Output, Plan, Product, Sum
from bddtorque.words import Formats

HEADER = '''"""A compiled plan, written by bddtorque; made anew whenever it is missing."""
from numba import int64, njit


@njit(cache=True, nogil=True, error_model="numpy")
'''


def table_pool(tables: Sequence[Table], used: Sequence[int]) -> tuple[npt.NDArray[np.int32], dict[int, int]]:
    """Return the tables that are read, one after another, and where each begins."""
    starts, parts, length = {}, [np.zeros(1, np.int32)], 1
    for block in used:
        starts[block] = length
        parts.append(tables[block].values.astype(np.int32))
        length += len(parts[-1])
    return np.concatenate(parts), starts


def blocks_read(plan: Plan, native: bool) -> list[int]:
    """Return the blocks that straight-line code looks up; with native products, only those of functions."""
    found = {wire.block for wire in plan.wires if isinstance(wire, Lookup)}
    if not native:
        found |= {wire.block for wire in plan.wires if isinstance(wire, Product)}
    return sorted(found)


def source_of(plan: Plan, formats: Formats, starts: dict[int, int], native: bool) -> str:
    """Return the module, with one function `states(q, qd, qdd, tau, table, counts)` on arrays (N, n)."""
    lines = [line for k in range(len(plan.wires)) for line in _wire(plan, formats, k, starts, native)]
    lines += [line for k, output in enumerate(plan.outputs) for line in _output(k, output)]
    body = "\n".join(f"        {line}" for line in lines)
    return f"{HEADER}def states(q, qd, qdd, tau, table, counts):\n    for s in range(q.shape[0]):\n{body}\n"


def _wire(plan: Plan, formats: Formats, k: int, starts: dict[int, int], native: bool) -> Iterator[str]:
    wire = plan.wires[k]
    match wire:
        case Input():
            yield from _input(wire, formats, k)
        case AngleSum():
            terms = " + ".join(f"{factor << shift} * w{source}" for source, factor, shift in wire.parts)
            yield f"w{k} = {_wrapped(f'{terms} + {wire.constant}', wire.bits)}"
        case Lookup():
            widths = plan.blocks[wire.block].input_widths
            index, shift = [], sum(widths)
            for source, width in zip(wire.wires, widths, strict=True):
                shift -= width
                index.append(f"((w{source} & {(1 << width) - 1}) << {shift})")
            yield f"w{k} = int64(table[{starts[wire.block]} + ({' | '.join(index)})])"
        case Product():
            yield from _product(plan, wire, k, starts, native)
        case Sum():
            yield f"w{k} = {_rounded(_summed(wire), wire.shift)}"


def _input(wire: Input, formats: Formats, k: int) -> Iterator[str]:
    kind = wire.name.rstrip("0123456789")
    joint = int(wire.name.removeprefix(kind)) - 1
    half = 1 << (wire.bits - 1)
    low, high = limits(getattr(formats, kind)[joint])
    place = QUANTITIES.index(kind)
    yield f"x{k} = int64({kind}[s, {joint}] | {kind}[s, {joint}])"  # floats have no `|` and are refused
    if wire.wraps:
        yield f"x{k} = {_wrapped(f'x{k}', wire.bits)}"
    else:  # an unsigned word that int64 cannot hold is as high as any; of other words the compiler leaves nothing here
        yield f"if x{k} < 0 and {kind}[s, {joint}] > 0:"
        yield f"    x{k} = {1 << 62}"
    if low > high or not (wire.wraps and low == -half and high == half - 1):
        outside = f"x{k} < {low} {'and' if low > high else 'or'} x{k} > {high}"
        yield f"if {outside}:"
        yield f"    counts[{place}, {joint}] += 1"
    yield f"w{k} = x{k}" if wire.wraps else f"w{k} = min(max(x{k}, {-half}), {half - 1})"


def _product(plan: Plan, wire: Product, k: int, starts: dict[int, int], native: bool) -> Iterator[str]:
    left, right = f"w{wire.left}", f"w{wire.right}"
    if native:
        yield f"w{k} = {_rounded(f'{left} * {right}', wire.shift)}"
        return
    start, widths = starts[wire.block], plan.blocks[wire.block].input_widths
    match wire.method:
        case "block":
            index = f"((({left}) & {(1 << widths[0]) - 1}) << {widths[1]}) | ({right} & {(1 << widths[1]) - 1})"
            yield f"w{k} = int64(table[{start} + ({index})])"
        case "squares":
            mask = (1 << widths[0]) - 1
            pieces = (f"int64(table[{start} + (({left} {sign} {right}) & {mask})])" for sign in "+-")
            yield f"w{k} = {_rounded(' - '.join(pieces), wire.shift)}"
        case _:
            limb, mask = wire.limb_bits, (1 << wire.limb_bits) - 1
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


def _output(k: int, output: Output) -> Iterator[str]:
    yield f"tau[s, {k}] = min(max({_rounded(_summed(output), output.shift)}, {output.low}), {output.high})"


def _summed(each: Sum | Output) -> str:
    terms = [f"{factor} * w{wire}" if factor != 1 else f"w{wire}" for wire, factor in each.parts]
    return " + ".join([*terms, f"int64({each.constant})"])


def _rounded(expression: str, shift: int) -> str:
    return f"({expression} + {1 << (shift - 1)}) >> {shift}" if shift else f"({expression})"


def _wrapped(expression: str, bits: int) -> str:
    half = 1 << (bits - 1)
    return f"(({expression} + {half}) & {2 * half - 1}) - {half}"


def compiled(source: str, directory: Path) -> Callable[..., None]:
    """Return `states` of a module, from its file in `directory`; written there if it is missing."""
    name = f"plan_{hashlib.sha256(source.encode()).hexdigest()[:24]}"
    if name in sys.modules:
        return sys.modules[name].states  # type: ignore[no-any-return]
    path = _written(source, directory, name)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    function: Callable[..., None] = module.states
    return function


def _written(source: str, directory: Path, name: str) -> Path:
    """Return the file with exactly this source: an altered one is replaced, and an unusable folder by a private one."""
    for wanted in (directory, None):
        try:
            # a new folder that nobody else can have prepared
            folder = wanted or Path(tempfile.mkdtemp(prefix="bddtorque-"))
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            path = folder / f"{name}.py"
            if not path.exists() or path.read_text() != source:
                with tempfile.NamedTemporaryFile("w", dir=folder, delete=False) as file:
                    file.write(source)
                Path(file.name).replace(path)
            return path
        except OSError:
            continue
    raise OSError("no folder to write compiled plans to")


def straight_states(
    plan: Plan, formats: Formats, tables: Sequence[Table], native: bool, directory: Path
) -> tuple[Callable[..., Any], npt.NDArray[np.int32]]:
    """Return the compiled function states(q, qd, qdd, tau, table, counts) of a plan, and the array for `table`."""
    pool, starts = table_pool(tables, blocks_read(plan, native))
    return compiled(source_of(plan, formats, starts, native), directory), pool
