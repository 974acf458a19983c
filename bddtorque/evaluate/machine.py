"""The machine that runs a program: one compiled kernel for every table plan.

It allocates nothing, releases the GIL, holds no state and reads no word it has not masked or clamped, so that no input,
however wild, reads outside a table. The helpers are compiled into the kernel, which counts no references: that would
cost more than the work.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bddtorque.base.jit import inlined, njit_inlined_by_llvm, njit_without_refcounts
from bddtorque.evaluate.pointers import array_at, space_of, word_at
from bddtorque.evaluate.program import (
    ANGLE_SUM,
    BLOCK_COLUMNS,
    COLUMNS,
    DENSE,
    INPUT,
    LIMBS,
    LOCKSTEP,
    LOOKUP,
    OUTPUT,
    PRODUCT,
    SUM,
    Program,
)
from bddtorque.plan.forms.lockstep import walk_lanes
from bddtorque.words.kernels import half_up_shift

Array = Any
"""Integer arrays; Numba knows which."""
PROGRAM = 2
"""Place at which the program begins in the descriptor of `run_program`."""
HIGH = np.int64(2**62)
"""In the place of words that int64 cannot hold: higher than any word."""
LARGEST = np.int64(2**63 - 1)
"""Keeps magnitudes and shifts within 63 bits, so that loops end whatever a plan promised of its words."""


@njit_without_refcounts
def run_states(program: Program, arrays: Any, out: Array, registers: Array, counts: Array) -> None:
    """Run N states: words in, output words out.

    Parameters
    ----------
    arrays
        The input arrays, (N, n) each, of any integer type.
    out
        (N, outputs) int64.
    registers
        Scratch space, one int64 a wire.
    counts
        (input words,) int64: increased where a word was out of range.
    """
    code, operands, blocks = program.code, program.operands, program.blocks
    values, positions = program.values, program.positions
    successors, roots = program.successors, program.roots
    for state in range(out.shape[0]):
        for line in range(len(code)):
            op, target = code[line, 0], code[line, 1]
            if op == LOOKUP:
                index = np.int64(0)
                for k in range(code[line, 2], code[line, 2] + code[line, 3]):
                    width = operands[k, 1]
                    index = (index << width) | (registers[operands[k, 0]] & ((np.int64(1) << width) - 1))
                block = code[line, 4]
                registers[target] = look_up(blocks, values, positions, successors, roots, block, index)
            elif op == PRODUCT:
                left, right = registers[code[line, 2]], registers[code[line, 3]]
                shift, block, method, size = code[line, 4], code[line, 5], code[line, 6], code[line, 7]
                if method == LIMBS:  # magnitudes, piece by piece from one table of unsigned products, then the sign
                    a, b = abs(left) & LARGEST, abs(right) & LARGEST
                    mask = (np.int64(1) << size) - 1
                    exact, high = np.int64(0), np.int64(0)
                    while high < 63 and a >> high:
                        low = np.int64(0)
                        while low < 63 and b >> low:
                            index = (((a >> high) & mask) << size) | ((b >> low) & mask)
                            piece = look_up(blocks, values, positions, successors, roots, block, index)
                            exact += piece << (high + low)
                            low += size
                        high += size
                    if (left < 0) != (right < 0):
                        exact = -exact
                    registers[target] = half_up_shift(exact, shift)
                else:  # quarter squares: ⌊(a+b)²/4⌋ − ⌊(a−b)²/4⌋
                    mask = (np.int64(1) << size) - 1
                    exact = np.int64(0)
                    for sign in (1, -1):
                        index = (left + sign * right) & mask
                        square = look_up(blocks, values, positions, successors, roots, block, index)
                        exact += sign * square
                    registers[target] = half_up_shift(exact, shift)
            elif op == INPUT:
                bits = code[line, 4]
                word, beyond = word_at(arrays, code[line, 2], state, code[line, 3])
                if code[line, 5]:
                    word = wrapped(word, bits)
                elif beyond:
                    word = HIGH
                low, high = code[line, 6], code[line, 7]
                if (word < low or word > high) if low <= high else (word < low and word > high):
                    counts[code[line, 8]] += 1
                half = np.int64(1) << (bits - 1)
                registers[target] = min(max(word, -half), half - 1)
            elif op == ANGLE_SUM:
                total = np.int64(0)
                for k in range(code[line, 2], code[line, 2] + code[line, 3]):
                    total += operands[k, 1] * (registers[operands[k, 0]] << operands[k, 2])
                registers[target] = wrapped(total + code[line, 5], code[line, 4])
            elif op == SUM:
                total = code[line, 4]
                for k in range(code[line, 2], code[line, 2] + code[line, 3]):
                    total += operands[k, 1] * registers[operands[k, 0]]
                registers[target] = half_up_shift(total, code[line, 5])
            elif op == OUTPUT:
                total = code[line, 4]
                for k in range(code[line, 2], code[line, 2] + code[line, 3]):
                    total += operands[k, 1] * registers[operands[k, 0]]
                out[state, target] = min(max(half_up_shift(total, code[line, 5]), code[line, 6]), code[line, 7])


@inlined
def program_at(descriptor: Array, place: Any) -> Program:
    """Return the program whose arrays lie where a descriptor says from a place on: an address and a length for each."""
    return Program(
        array_at(descriptor[place], (descriptor[place + 1], COLUMNS), np.int64),
        array_at(descriptor[place + 2], (descriptor[place + 3], 3), np.int64),
        array_at(descriptor[place + 4], (descriptor[place + 5], BLOCK_COLUMNS), np.int64),
        array_at(descriptor[place + 6], (descriptor[place + 7],), np.int32),
        array_at(descriptor[place + 8], (descriptor[place + 9],), np.int8),
        array_at(descriptor[place + 10], (descriptor[place + 11],), np.uint32),
        array_at(descriptor[place + 12], (descriptor[place + 13],), np.int32),
    )


def program_descriptor(program: Program, registers: int, address: int = 0) -> Array:
    """Return what `run_program` reads: the number of registers and their address, if they are not to lie on the stack.

    Then follows where the arrays lie. The caller keeps all of them.
    """
    where = [number for array in program for number in (array.ctypes.data, len(array))]
    return np.array([registers, address, *where], dtype=np.int64)


@njit_without_refcounts
def run_program(arrays: Any, out: Array, descriptor: Array, counts: Array) -> None:
    """Run N states of the program in a descriptor."""
    registers = array_at(descriptor[1] if descriptor[1] else space_of(descriptor[0]), (descriptor[0],), np.int64)
    run_states(program_at(descriptor, PROGRAM), arrays, out, registers, counts)


@inlined
def wrapped(word: Any, bits: Any) -> Any:
    """Return a word kept to `bits` bits, two's complement."""
    half = np.int64(1) << (bits - 1)
    return ((word + half) & (2 * half - 1)) - half


@njit_inlined_by_llvm
def look_up(
    blocks: Array, values: Array, positions: Array, successors: Array, roots: Array, block: Any, index: Any
) -> Any:
    """Return the word of a block at a table index, whatever form the block is in."""
    form, first, third, fourth = blocks[block, 0], blocks[block, 1], blocks[block, 3], blocks[block, 4]
    if form == DENSE:
        return np.int64(values[np.uint64(first) + np.uint64(index & third)])
    signed, count = blocks[block, 5], blocks[block, 2] - first
    if form == LOCKSTEP:
        levels, bits = blocks[block, 6], blocks[block, 7]
        walks = walk_lanes(index, positions, third, levels, successors, fourth, roots, first, count)
        return signed_word(np.int64(walks) & ((np.int64(1) << bits) - 1), bits, signed)
    one, tested, nodes, pairs = np.uint64(1), np.uint64(index), np.uint64(third), np.uint64(fourth)
    word = np.int64(0)
    for bit in range(count):
        edge = np.uint64(roots[first + bit])
        while edge > one:
            side = (tested >> np.uint64(positions[nodes + (edge >> one)])) & one
            edge = np.uint64(successors[pairs + ((edge & ~one) | side)]) ^ (edge & one)
        word |= np.int64(edge) << bit
    return signed_word(word, count, signed)


@inlined
def signed_word(word: Any, bits: Any, signed: Any) -> Any:
    """Return an unsigned word of `bits` bits as two's complement if `signed` is 1, as it is if 0."""
    return word - (((word >> (bits - 1)) & signed) << bits)
