"""A whole model as a netlist in BLIF, for programs of logic synthesis: its function can be proved by others.

Each block is a circuit ``b0``, ``b1``, ... of its own: one multiplexer per node of its diagram. The model, which stands
first, is made of them and of ripple adders. Its inputs are the bits of the input words, ``q1_0`` the least significant
one of q1; its outputs those of the output words, ``tau1_0``, ...
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.version import __version__
from bddtorque.base.writing import write_whole
from bddtorque.export.c_names import prefix_of, safe_names
from bddtorque.export.netlist import MUX, MUX_INVERTED, NOT, XOR, ZERO, Netlist, Word, constant, unsigned
from bddtorque.model.model import Model
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.blocks import ProductBlock, SquareBlock, output_format
from bddtorque.plan.plan import Plan
from bddtorque.plan.wires import Algebra, AngleSum, Input, Lookup, Output, Product, Sum
from bddtorque.words.integer_range import Range, word_range


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
    plan, net = model.word_plan("a netlist"), Netlist()
    places = {name: place for place, name in enumerate(model.formats.words)}
    inputs = sorted(plan.inputs, key=lambda wire: places[wire.name])
    of_function = model.provenance.kind == "function"
    ends = list(model.formats.results) if of_function else [output.name for output in plan.outputs]
    safe = safe_names([*(wire.name for wire in inputs), *ends])
    names = dict(zip((wire.name for wire in inputs), safe, strict=False))
    circuit = _Circuit(plan, net, names)
    words = plan.evaluate(circuit)
    driven: list[str] = []
    for name, output in zip(safe[len(inputs) :], plan.outputs, strict=True):
        for k, bit in enumerate(output.evaluate(circuit, words).clamped(output.low, output.high).bits):
            driven.append(f"{name}_{k}")
            net.drive(driven[-1], bit)
    starts = [f"{names[wire.name]}_{k}" for wire in inputs for k in range(wire.bits)]
    top = prefix_of(model.name)
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


class _Circuit(Algebra[Word]):
    """Computes in gates; `used` are the blocks that are instanced."""

    def __init__(self, plan: Plan, net: Netlist, names: dict[str, str]) -> None:
        self.plan, self.net, self.names = plan, net, names
        self.used: set[int] = set()

    def input(self, wire: Input) -> Word:
        return Word(self.net, tuple(f"{self.names[wire.name]}_{k}" for k in range(wire.bits)), word_range(wire.bits))

    def table(self, wire: Lookup, words: Sequence[Word]) -> Word:
        block = self.plan.blocks[wire.block]
        widths = block.input_widths
        bits = [word.extended(width) for word, width in zip(words, widths, strict=True)]
        return Word(self.net, tuple(self._look_up(wire.block, bits)), Range(block.low, block.high))

    def wrapped(self, total: Word, wire: AngleSum) -> Word:
        return Word(self.net, total.extended(wire.bits), word_range(wire.bits))

    def rounded(self, exact: Word, wire: Product | Sum | Output) -> Word:
        if isinstance(exact, int):  # an output of no summands
            exact = constant(self.net, exact)
        found = exact if exact.final else exact.rounded(wire.shift)
        return found if isinstance(wire, Output) else found.within(Range(wire.low, wire.high))

    def product(self, wire: Product, left: Word, right: Word) -> Word:
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
            return Word(self.net, tuple(self._look_up(wire.block, bits)), Range(block.low, block.high), final=True)
        return self._partial_products(wire, left, right).within(reach)

    def _partial_products(self, wire: Product, left: Word, right: Word) -> Word:
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

    def _square(self, block: int, word: Word, width: int) -> Word:
        return unsigned(self.net, self._look_up(block, [word.extended(width)]))

    def _look_up(self, block: int, words: Sequence[tuple[str, ...]]) -> list[str]:
        """Return the output bits of a block, least significant first; the first word is the most significant."""
        self.used.add(block)
        index = [bit for word in words for bit in reversed(word)]
        return self.net.instance(f"b{block}", index, output_format(self.plan.blocks[block])[0])
