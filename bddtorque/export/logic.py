"""Models as logic: the tables as Berkeley PLAs, and the whole model as one netlist in BLIF.

A PLA per block is in the format of Berkeley's Espresso, for programs of logic synthesis. Inputs are the bits of a
block's words, the first word first and most significant, each from its most significant bit; outputs those of its word,
from the most significant bit, two's complement where it is signed. Rows are disjoint cubes: runs of equal words that
share their leading input bits are one row, and words that are zero are left out (``.type f``: what no row covers is 0).

A whole model as a netlist in BLIF, for programs of logic synthesis: its function can be proved by others.

Each block is a circuit ``b0``, ``b1``, ... of its own: one multiplexer per node of its diagram. The model, which stands
first, is made of them and of ripple adders. Its inputs are the bits of the input words, ``q1_0`` the least significant
one of q1; its outputs those of the output words, ``tau1_0``, ...

Gates, and words of gates: two's complement arithmetic with ripple adders, constants folded.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.files import write_whole
from bddtorque.base.version import __version__
from bddtorque.evaluate.operations import signed_digits
from bddtorque.export.c_call import model_prefix
from bddtorque.export.c_text import safe_names
from bddtorque.export.folder import with_manifest, write_folder
from bddtorque.model.applicability import require
from bddtorque.model.model import Model
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.blocks import ProductBlock, SquareBlock, output_format
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import IntegerArray, Table
from bddtorque.plan.wires import Algebra, AngleSum, Input, Lookup, Output, Product, Sum
from bddtorque.words.integer_range import Range, word_range

ZERO, ONE = "0", "1"
"""Signals that are constant; all others are names of nets."""
NOT, XOR, XOR3, MAJORITY = 0b01, 0b0110, 0b10010110, 0b11101000
MUX, MUX_INVERTED = 0b11011000, 0b01110010
"""Truth tables: bit k is the output where the inputs, the first least significant, spell k. A mux has the inputs
(choice, if 1, if 0); the inverted one negates what it gives for 1."""


class Netlist:
    """Gates of up to three inputs as ``.names`` of BLIF; equal gates are made once."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._gates: dict[tuple[tuple[str, ...], tuple[int, ...]], str] = {}
        self._nets = 0
        self._constants: dict[str, str] = {}

    def net(self) -> str:
        """Return the name of a new net."""
        self._nets += 1
        return f"n{self._nets - 1}"

    def gate(self, truth: int, *inputs: str) -> str:
        """Return the signal of a gate; constant, equal and idle inputs are folded away."""
        names = [name for name in dict.fromkeys(inputs) if name not in (ZERO, ONE)]
        places = {name: k for k, name in enumerate(names)}
        table = []
        for index in range(1 << len(names)):
            word = sum(
                (name == ONE or (name in places and index >> places[name] & 1)) << k for k, name in enumerate(inputs)
            )
            table.append(truth >> word & 1)
        for k in reversed(range(len(names))):
            if all(table[index] == table[index ^ (1 << k)] for index in range(len(table))):
                table = [value for index, value in enumerate(table) if not index >> k & 1]
                del names[k]
        if not names:
            return ONE if table[0] else ZERO
        if table == [0, 1]:
            return names[0]
        key = tuple(names), tuple(table)
        if key not in self._gates:
            self._gates[key] = net = self.net()
            rows = [format(index, f"0{len(names)}b")[::-1] for index, value in enumerate(table) if value]
            self.lines += [f".names {' '.join(names)} {net}", *(f"{row} 1" for row in rows)]
        return self._gates[key]

    def pin(self, signal: str) -> str:
        """Return a net for a signal: constants have nets of their own."""
        if signal not in (ZERO, ONE):
            return signal
        if signal not in self._constants:
            self._constants[signal] = net = self.net()
            self.lines += [f".names {net}", *(["1"] if signal == ONE else [])]
        return self._constants[signal]

    def drive(self, net: str, signal: str) -> None:
        """Let a net with a given name carry a signal."""
        if signal in (ZERO, ONE):
            self.lines += [f".names {net}", *(["1"] if signal == ONE else [])]
        else:
            self.lines += [f".names {signal} {net}", "1 1"]

    def instance(self, model: str, inputs: list[str], outputs: int) -> list[str]:
        """Return the output nets y0, y1, ... of a circuit with the inputs x0, x1, ..."""
        nets = [self.net() for _ in range(outputs)]
        ports = [f"x{k}={self.pin(signal)}" for k, signal in enumerate(inputs)]
        ports += [f"y{k}={net}" for k, net in enumerate(nets)]
        self.lines.append(" ".join([f".subckt {model}", *ports]))
        return nets


@dataclass(frozen=True)
class NetWord:
    """A two's complement word, least significant bit first, and its range, which says how many bits it has.

    `final` says that it is rounded already.
    """

    net: Netlist
    bits: tuple[str, ...]
    range: Range
    final: bool = False

    def extended(self, width: int) -> tuple[str, ...]:
        """Return the bits of the word in so many, or in fewer where its range allows."""
        return (*self.bits, *([self.bits[-1]] * (width - len(self.bits))))[:width]

    def within(self, known: Range) -> NetWord:
        """Return the word with a range that is known of it."""
        return NetWord(self.net, self.extended(known.bits), known)

    def __add__(self, other: NetWord | int) -> NetWord:
        word = constant(self.net, other) if isinstance(other, int) else other
        return self._added(word, self.range + word.range)

    __radd__ = __add__

    def __neg__(self) -> NetWord:
        return constant(self.net, 0)._added(self, Range(-self.range.high, -self.range.low), negated=True)

    def _added(self, other: NetWord, reach: Range, negated: bool = False) -> NetWord:
        """Return the sum, or the difference, as a ripple of full adders."""
        carry, bits = ONE if negated else ZERO, []
        for a, b in zip(self.extended(reach.bits), other.extended(reach.bits), strict=True):
            second = self.net.gate(NOT, b) if negated else b
            bits.append(self.net.gate(XOR3, a, second, carry))
            if len(bits) < reach.bits:  # nobody reads the last carry
                carry = self.net.gate(MAJORITY, a, second, carry)
        return NetWord(self.net, tuple(bits), reach)

    def __mul__(self, factor: int) -> NetWord:
        """Return the word times a constant: one addition or subtraction for each digit of its non-adjacent form."""
        total = constant(self.net, 0)
        for place, digit in signed_digits(factor):
            part = NetWord(self.net, (*[ZERO] * place, *self.bits), self.range * (1 << place))
            total = total._added(part, total.range + part.range * digit, negated=digit < 0)
        return total.within(self.range * factor)

    def rounded(self, shift: int) -> NetWord:
        """Return floor(word/2^shift + 1/2)."""
        if not shift:
            return self
        return NetWord(self.net, (self + (1 << shift >> 1)).bits[shift:], self.range.rounded(shift))

    def clamped(self, low: int, high: int) -> NetWord:
        """Return the word held between two constants."""
        found = self
        for end, beyond in ((high, constant(self.net, high) + -self), (low, self + -low)):
            if beyond.range.low < 0:
                width = max(len(found.bits), Range(end, end).bits)
                pairs = zip(constant(self.net, end).extended(width), found.extended(width), strict=True)
                bits = tuple(self.net.gate(MUX, beyond.bits[-1], own, other) for own, other in pairs)
                found = NetWord(self.net, bits, Range(min(found.range.low, end), max(found.range.high, end)))
        return replace(found, range=Range(low, high), bits=found.extended(Range(low, high).bits))

    def magnitude(self) -> list[str]:
        """Return the bits of the absolute value, unsigned."""
        most = self.range.magnitude
        return list(self.signed_by(self.bits[-1]).extended(most.bit_length() + 1)[:-1])

    def signed_by(self, sign: str) -> NetWord:
        """Return the word, or its opposite where a signal is 1; the range is that of both."""
        most = self.range.magnitude
        flipped = tuple(self.net.gate(XOR, bit, sign) for bit in self.bits)
        one = NetWord(self.net, (sign, ZERO), Range(0, 1))
        return NetWord(self.net, flipped, self.range)._added(one, Range(-most, most))


def constant(net: Netlist, value: int) -> NetWord:
    """Return a constant as a word."""
    reach = Range(value, value)
    return NetWord(net, tuple(ONE if value >> k & 1 else ZERO for k in range(reach.bits)), reach)


def unsigned(net: Netlist, bits: list[str]) -> NetWord:
    """Return bits that are no two's complement as a word."""
    return NetWord(net, (*bits, ZERO), Range(0, (1 << len(bits)) - 1))


def export_blif(model: Model, path: str | PathLike[str]) -> int:
    """Write a model as one netlist in BLIF.

    Parameters
    ----------
    model
        A model for the target ``"tables"``.
    path
        The file; an existing one is replaced.

    Returns
    -------
    int
        The size of the file in bytes.

    Raises
    ------
    BddTorqueError
        The export is impossible; nothing was written.
    """
    text = blif_text(model).encode("ascii")
    write_whole(Path(path), text)
    return len(text)


def blif_text(model: Model) -> str:
    """Return the netlist of a model."""
    require(model, "diagrams", "a netlist")
    plan, net = model.plan, Netlist()
    places = {name: place for place, name in enumerate(model.formats.words)}
    inputs = sorted(plan.inputs, key=lambda wire: places[wire.name])
    of_function = model.provenance.robot is None
    ends = list(model.formats.results) if of_function else [output.name for output in plan.outputs]
    safe = safe_names([*(wire.name for wire in inputs), *ends])
    names = dict(zip((wire.name for wire in inputs), safe, strict=False))
    circuit = _Circuit(plan, net, names)
    words = plan.evaluate(circuit)
    driven: list[str] = []
    for name, output, word in zip(safe[len(inputs) :], plan.outputs, model.formats.results.values(), strict=True):
        for k, bit in enumerate(output.evaluate(circuit, words).clamped(output.low, output.high).bits[: word.bits]):
            driven.append(f"{name}_{k}")
            net.drive(driven[-1], bit)
    starts = [f"{names[wire.name]}_{k}" for wire in inputs for k in range(wire.bits)]
    top = model_prefix(model)
    blocks = [_block_text(k, diagram) for k, diagram in enumerate(model.diagrams) if k in circuit.used]
    head = f"# written by bddtorque {__version__}; digest {model.digest}"
    return "\n".join([head, *_model_lines(f"{top}_words", starts, driven, net.lines), *blocks])


def _block_text(block: int, diagram: Diagram) -> str:
    """Return the circuit of a block: inputs x0 (most significant), x1, ...; outputs y0 (least significant), y1, ..."""
    net = Netlist()
    nodes = [ZERO]
    columns = (array[1:].tolist() for array in (diagram.level, diagram.low, diagram.high))
    for level, low, high in zip(*columns, strict=True):
        truth = MUX_INVERTED if high & 1 else MUX
        nodes.append(net.gate(truth, f"x{diagram.order[level]}", nodes[high >> 1], nodes[low >> 1]))
    for bit, root in enumerate(diagram.roots.tolist()):
        net.drive(f"y{bit}", net.gate(NOT, nodes[root >> 1]) if root & 1 else nodes[root >> 1])
    inputs = [f"x{k}" for k in range(diagram.input_bits)]
    return "\n".join(_model_lines(f"b{block}", inputs, [f"y{k}" for k in range(diagram.output_bits)], net.lines))


def _model_lines(name: str, inputs: Sequence[str], outputs: Sequence[str], lines: Sequence[str]) -> list[str]:
    return [f".model {name}", f".inputs {' '.join(inputs)}", f".outputs {' '.join(outputs)}", *lines, ".end\n"]


class _Circuit(Algebra[NetWord]):
    """Computes in gates; `used` are the blocks that are instanced."""

    def __init__(self, plan: Plan, net: Netlist, names: dict[str, str]) -> None:
        self.plan, self.net, self.names = plan, net, names
        self.used: set[int] = set()

    def input(self, wire: Input) -> NetWord:
        bits = tuple(f"{self.names[wire.name]}_{k}" for k in range(wire.bits))
        return NetWord(self.net, bits if wire.signed else (*bits, ZERO), wire.words)

    def table(self, wire: Lookup, words: Sequence[NetWord]) -> NetWord:
        block = self.plan.blocks[wire.block]
        widths = block.input_widths
        bits = [word.extended(width) for word, width in zip(words, widths, strict=True)]
        return NetWord(self.net, tuple(self._look_up(wire.block, bits)), Range(block.low, block.high))

    def wrapped(self, total: NetWord, wire: AngleSum) -> NetWord:
        return NetWord(self.net, total.extended(wire.bits), word_range(wire.bits))

    def rounded(self, exact: NetWord, wire: Product | Sum | Output) -> NetWord:
        if isinstance(exact, int):  # an output of no summands
            exact = constant(self.net, exact)
        found = exact if exact.final else exact.rounded(wire.shift)
        return found if isinstance(wire, Output) else found.within(Range(wire.low, wire.high))

    def product(self, wire: Product, left: NetWord, right: NetWord) -> NetWord:
        if wire.block < 0:
            raise BddTorqueError(
                f"BLIF: product '{wire.name:.40}' has no table, and nothing is multiplied in a netlist: compile with "
                'target = "tables"'
            )
        block, reach = self.plan.blocks[wire.block], left.range * right.range
        if isinstance(block, SquareBlock):
            squares = [self._square(wire.block, word, block.bits) for word in (left + right, left + -right)]
            return (squares[0] + -squares[1]).within(reach)
        if isinstance(block, ProductBlock) and block.signed:
            bits = [word.extended(width) for word, width in zip((left, right), block.widths, strict=True)]
            return NetWord(self.net, tuple(self._look_up(wire.block, bits)), Range(block.low, block.high), final=True)
        return self._partial_products(wire, left, right).within(reach)

    def _partial_products(self, wire: Product, left: NetWord, right: NetWord) -> NetWord:
        """Return a product from tables of a few bits by a few: magnitudes, then the sign."""
        width = wire.piece_bits
        total = constant(self.net, 0)
        pieces = [
            [tuple((bits + [ZERO] * width)[k : k + width]) for k in range(0, len(bits), width)]
            for bits in (left.magnitude(), right.magnitude())
        ]
        for i, one in enumerate(pieces[0]):
            for j, other in enumerate(pieces[1]):
                part = self._look_up(wire.block, [one, other])
                total = total + unsigned(self.net, [*[ZERO] * (width * (i + j)), *part])
        return total.signed_by(self.net.gate(XOR, left.bits[-1], right.bits[-1]))

    def _square(self, block: int, word: NetWord, width: int) -> NetWord:
        return unsigned(self.net, self._look_up(block, [word.extended(width)]))

    def _look_up(self, block: int, words: Sequence[tuple[str, ...]]) -> list[str]:
        """Return the output bits of a block, least significant first; the first word is the most significant."""
        self.used.add(block)
        index = [bit for word in words for bit in reversed(word)]
        return self.net.instance(f"b{block}", index, output_format(self.plan.blocks[block])[0])


def export_pla(model: Model, directory: str | PathLike[str], force: bool = False) -> list[str]:
    """Write every table of a model as a Berkeley PLA: ``b0.pla``, ``b1.pla``, ..., one per block.

    Parameters
    ----------
    model
        A model for the target ``"tables"``.
    directory
        The folder, created if needed; an earlier export there is replaced.
    force
        Write into a folder that holds other files; these are kept.

    Returns
    -------
    list of str
        The names of the files.

    Raises
    ------
    BddTorqueError
        The export is impossible; nothing was written.
    """
    require(model, "diagrams", "a PLA")
    files = {f"b{k}.pla": pla_text(table, f"b{k}") for k, table in enumerate(model.tables)}
    write_folder(Path(directory), with_manifest(files, model.digest, ""), force)
    return list(files)


def pla_text(table: Table, name: str, words: Sequence[str] = ()) -> str:
    """Return a table as a PLA; `name` stands in its first line, `words` name the inputs (x0, x1, ... unless given)."""
    words = words or [f"x{k}" for k in range(len(table.input_widths))]
    widths = zip(words, table.input_widths, strict=True)
    inputs = [f"{word}_{bit}" for word, bits in widths for bit in reversed(range(bits))]
    outputs = [f"y_{bit}" for bit in reversed(range(table.output_bits))]
    rows = cubes(table)
    kind = "two's complement" if table.signed else "unsigned"
    lines = [
        f"# {name}: {len(table.values)} entries, words of {table.output_bits} bits, {kind}",
        f".i {len(inputs)}",
        f".o {len(outputs)}",
        f".ilb {' '.join(inputs)}",
        f".ob {' '.join(outputs)}",
        ".type f",
        f".p {len(rows)}",
        *rows,
        ".e",
    ]
    return "\n".join(lines) + "\n"


def cubes(table: Table) -> list[str]:
    """Return the rows of a PLA: input bits, of which the last may be open, and the output bits."""
    values = table.values.astype(np.int64)
    size, mask = table.input_bits, (1 << table.output_bits) - 1
    levels, merged = [np.ones(len(values), np.bool_)], values
    while len(merged) > 1:
        alike = levels[-1].reshape(-1, 2).all(axis=1) & (merged[0::2] == merged[1::2])
        levels.append(alike)
        merged = merged[0::2]
    found: list[tuple[int, int]] = []
    for free, alike in enumerate(levels):
        largest = alike if free == size else alike & ~np.repeat(levels[free + 1], 2)
        starts: IntegerArray = np.flatnonzero(largest) << free
        found += [(start, free) for start in starts[values[starts] != 0].tolist()]
    return [
        f"{format(start, f'0{size}b')[: size - free]}{'-' * free} {int(values[start]) & mask:0{table.output_bits}b}"
        for start, free in sorted(found)
    ]
