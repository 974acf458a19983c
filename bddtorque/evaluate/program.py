"""`Program`: a plan with its blocks in chosen forms, as plain arrays that one compiled kernel runs.

A wire is a register. Instructions are rows of integers; what is of variable length (parts of a sum, words of an index)
stands in `operands`, rows of three.

    op         dst  a          b      c          d      e       f          g
    INPUT      dst  array      column bits       wraps  first   last  count (a word not from first to last is counted)
    ANGLE_SUM  dst  first      count  bits       constant                  operands (register, multiplier, shift)
    LOOKUP     dst  first      count  block                                operands (register, bits, -)
    PRODUCT    dst  left       right  shift      block  method  bits of the block's first word
    SUM        dst  first      count  constant   shift                     operands (register, factor, -)
    OUTPUT     out  first      count  constant   shift  lowest  highest    operands (register, factor, -)

A product that has one table of both its words is a LOOKUP. A block is a row as well: its form, and where its arrays
begin and end (or what else is to be known of it) in pools that all blocks share.

    form      a       b    c          d           e       f           g
    DENSE     values  end  mask
    BITS      roots   end  positions  successors  signed
    LOCKSTEP  roots   end  positions  successors  signed  input bits  output bits
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError, unknown
from bddtorque.evaluate.state_arrays import StateArrays
from bddtorque.plan.forms import Bits, Dense, Form, Lockstep
from bddtorque.plan.plan import Plan
from bddtorque.plan.wires import AngleSum, Input, Lookup, Product, Sum
from bddtorque.words.formats import limits
from bddtorque.words.interface import Interface

INPUT, ANGLE_SUM, LOOKUP, PRODUCT, SUM, OUTPUT = range(6)
METHODS = ("partial", "squares")
LIMBS, SQUARES = range(2)
COLUMNS = 9
DENSE, BITS, LOCKSTEP = range(3)
BLOCK_COLUMNS = 8

POOLS: dict[str, Any] = {"values": np.int32, "positions": np.int8, "successors": np.uint32, "roots": np.int32}
"""The pools, and the type of each."""

Integers = npt.NDArray[np.int64]
Array = npt.NDArray[Any]


class Program(NamedTuple):
    """Arrays that the kernel reads; Numba takes the tuple as it is.

    Attributes
    ----------
    code
        (instructions, 9) int64.
    operands
        (m, 3) int64.
    blocks
        (blocks, 8) int64: form and where its arrays lie in the pools below.
    values
        int32, entries of tables.
    positions
        int8, the bit that each node, or each level, tests.
    successors
        uint32, what follows on each value of the bits tested: two edges a node, or a row a step.
    roots
        int32, where the walks of output bits begin.
    """

    code: Integers
    operands: Integers
    blocks: Integers
    values: npt.NDArray[np.int32]
    positions: npt.NDArray[np.int8]
    successors: npt.NDArray[np.uint32]
    roots: npt.NDArray[np.int32]


def assemble(plan: Plan, formats: Interface, forms: Sequence[Form]) -> Program:
    """Return the program of a plan whose blocks are in the given forms."""
    arrays = StateArrays(formats)
    code: list[list[int]] = []
    operands: list[tuple[int, int, int]] = []
    for register, wire in enumerate(plan.wires):
        first = len(operands)
        match wire:
            case Input():
                code.append([INPUT, register, *_input(wire, arrays)])
            case AngleSum(bits=bits, parts=parts):
                operands += parts
                code.append([ANGLE_SUM, register, first, len(parts), bits, wire.constant])
            case Lookup(block=block, wires=wires):
                widths = plan.blocks[block].input_widths
                operands += [(source, width, 0) for source, width in zip(wires, widths, strict=True)]
                code.append([LOOKUP, register, first, len(wires), block])
            case Product(method="blocks", block=block):
                widths = plan.blocks[block].input_widths
                operands += [(wire.left, widths[0], 0), (wire.right, widths[1], 0)]
                code.append([LOOKUP, register, first, 2, block])
            case Product():
                size = plan.blocks[wire.block].input_widths[0]
                sources = (wire.left, wire.right)
                code.append([PRODUCT, register, *sources, wire.shift, wire.block, METHODS.index(wire.method), size])
            case Sum(parts=parts):
                operands += [(source, factor, 0) for source, factor in parts]
                code.append([SUM, register, first, len(parts), wire.constant, wire.shift])
    for place, output in enumerate(plan.outputs):
        first = len(operands)
        operands += [(register, sign, 0) for register, sign in output.parts]
        ends = (output.low, output.high)
        code.append([OUTPUT, place, first, len(output.parts), output.constant, output.shift, *ends])
    return Program(
        np.array([row + [0] * (COLUMNS - len(row)) for row in code], dtype=np.int64).reshape(-1, COLUMNS),
        np.array(operands, dtype=np.int64).reshape(-1, 3),
        *block_pools(forms),
    )


def _input(wire: Input, arrays: StateArrays) -> list[int]:
    """Return array, column, bits, whether it wraps, the words beyond which it counts as out of range, and where."""
    place = arrays.places.get(wire.name)
    if place is None:
        raise BddTorqueError(unknown("input word of the plan", wire.name, arrays.places))
    word = arrays.words[place.word]
    if word.bits != wire.bits or (word.kind == "angle") != wire.wraps:
        raise BddTorqueError(f"program: input {wire.name} must be as its format has it, got {wire.bits} bits")
    return [place.array, place.column, wire.bits, int(wire.wraps), *limits(word), place.word]


class _Pools:
    """Arrays of all forms, one after another."""

    def __init__(self) -> None:
        self.parts: dict[str, list[Array]] = {name: [] for name in POOLS}
        self.lengths = dict.fromkeys(POOLS, 0)

    def put(self, pool: str, array: Array) -> tuple[int, int]:
        """Add an array to a pool and return where it begins and ends."""
        self.parts[pool].append(array.astype(POOLS[pool]))
        start = self.lengths[pool]
        self.lengths[pool] += len(array)
        return start, self.lengths[pool]

    def joined(self, pool: str) -> Array:
        """Return one array; an empty pool keeps a zero, so that every address is real."""
        return np.concatenate(self.parts[pool] or [np.zeros(1, POOLS[pool])])


def block_pools(forms: Sequence[Form]) -> tuple[Array, ...]:
    """Return the rows of blocks in these forms, and the pools they read, in the order of `Program`."""
    pools = _Pools()
    rows = [_block_row(pools, form) for form in forms]
    table = np.array([row + [0] * (BLOCK_COLUMNS - len(row)) for row in rows], dtype=np.int64)
    return table.reshape(-1, BLOCK_COLUMNS), *map(pools.joined, POOLS)


def _block_row(pools: _Pools, form: Form) -> list[int]:
    """Put the arrays of a form into the pools and return what the kernel must know of them."""
    match form:
        case Dense(values=values):
            if values.dtype.itemsize > 4:
                raise BddTorqueError(f"program: words must have at most 32 bits, got a block of {values.dtype}")
            return [DENSE, *pools.put("values", values), len(values) - 1]
        case Bits() | Lockstep():
            ends = pools.put("roots", form.roots)
            tests, follows = pools.put("positions", form.positions)[0], pools.put("successors", form.successors)[0]
            row = [BITS, *ends, tests, follows, int(form.signed)]
            if isinstance(form, Lockstep):
                row = [LOCKSTEP, *row[1:], len(form.positions), form.output_bits]
            return row
        case _:
            raise BddTorqueError(f"program: forms must be among those that the kernel knows, got '{form.name}'")
