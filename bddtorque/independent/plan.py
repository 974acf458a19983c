"""The plan of a file, in words or in floats: wires, blocks and outputs as docs/format.md lists them.

Every reference is checked, and that words fit where they go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from .findings import RefusedError, require
from .graph import Graph, graph_of
from .ieee import PRECISIONS, Precision
from .laws import Law, law_of
from .reading import (
    Reader,
    between,
    fields_of,
    flag,
    list_of,
    object_of,
    rational,
    real,
    row_of,
    several,
    sign,
    text,
    whole,
)  # fmt: skip

MOST = 1 << 62
MAX_INPUT_BITS, MAX_OUTPUT_BITS = 26, 31
MAX_FLOAT_WORD = 24
"""Bits of a word in a plan in floats: a float holds it exactly."""
MAX_BITS = 62
"""Bits of products and sums in a plan in words, so that 64-bit evaluation does not overflow."""
LARGEST_REST = 1 << 32
"""A constant angle in rad that the digits of π known here place on the grid of turns without a doubt."""
EXACT = ("input", "angle_sum")
"""Kinds of wires whose words are what they stand for."""
WORDS = (*EXACT, "lookup")
"""Kinds of words that both kinds of plans have."""
FLOATS = ("number", "constant", "sine", "add", "multiply", "fused")
"""Kinds of floats."""


@dataclass(frozen=True)
class Argument:
    """An input word of a block: it stands for 2π·scale·w/2^bits + centre if it is an angle, else scale·w + centre.

    It is two's complement if `signed`, else from 0 on.
    """

    angle: bool
    bits: int
    scale: Fraction
    centre: Fraction
    signed: bool = True


@dataclass(frozen=True)
class Block:
    """A truth table; which fields have a meaning depends on `kind`.

    Attributes
    ----------
    kind
        Function, product, square, law or given.
    widths
        Bits of the input words.
    low, high
        What the output word may be.
    signed
        Whether the output word is; of a product, its input words too.
    lsb
        The value of one unit, of kinds that have one, else 1.
    """

    kind: str
    widths: tuple[int, ...]
    low: int
    high: int
    signed: bool = True
    lsb: Fraction = Fraction(1)
    shift: int = 0
    graph: Graph | None = None
    law: Law | None = None
    arguments: tuple[Argument, ...] = ()
    centre: Fraction = Fraction(0)
    sign: int = 1
    table: str = ""
    error: float = 0.0

    @property
    def output_bits(self) -> int:
        """Bits of the output word."""
        return signed_bits(self.low, self.high) if self.signed else max(self.high.bit_length(), 1)


@dataclass(frozen=True)
class Wire:
    """A word or a float; which fields have a meaning depends on `kind`.

    Words are inputs, angle_sums, lookups, products and sums; floats are numbers, constants, sines, and the operations
    add, multiply and fused.

    Attributes
    ----------
    parts
        Of a sum: (wire, factor, shift).
    wires
        What any other wire reads: left, right and addend of an operation.
    signs
        Those of the two summands of a sum of floats, and of a fused operation.
    """

    kind: str
    name: str = ""
    bits: int = 0
    wraps: bool = False
    signed: bool = True
    parts: tuple[tuple[int, int, int], ...] = ()
    constant: int = 0
    shift: int = 0
    block: int = -1
    wires: tuple[int, ...] = ()
    method: str = ""
    piece_bits: int = 0
    low: int = 0
    high: int = 0
    lsb: Fraction = Fraction(1)
    constant_error: Fraction = Fraction(0)
    dropped: Fraction = Fraction(0)
    signs: tuple[int, int] = (1, 1)
    value: Fraction = Fraction(0)
    cosine: bool = False
    rest: Fraction = Fraction(0)

    @property
    def reads(self) -> tuple[int, ...]:
        """The wires that it reads."""
        return (*self.wires, *(part for part, _, _ in self.parts))


@dataclass(frozen=True)
class Plan:
    """All of it; outputs are sums, or one float each, that are clamped to low..high and rounded.

    `precision` is None where the plan is in words.
    """

    source: str
    target: str
    block_bits: int
    precision: Precision | None
    wires: tuple[Wire, ...]
    blocks: tuple[Block, ...]
    outputs: tuple[Wire, ...]

    def bits_of(self, wire: int) -> int:
        """Return the width of a wire's two's complement word."""
        return _bits(self.wires[wire], self.blocks)

    def word(self, wire: int) -> Wire:
        """Return a wire that is a word."""
        if self.wires[wire].kind in FLOATS:
            raise RefusedError("plan: expected a word where there is a float")
        return self.wires[wire]


def signed_bits(low: int, high: int) -> int:
    """Return how many bits two's complement needs for low to high."""
    return max((-low - 1).bit_length() if low < 0 else 0, max(high, 0).bit_length()) + 1


def _bits(wire: Wire, blocks: Sequence[Block]) -> int:
    if wire.kind in EXACT:
        return wire.bits + (not wire.signed)
    if wire.kind == "lookup":
        block = blocks[wire.block]
        return block.output_bits + (not block.signed)
    return signed_bits(wire.low, wire.high)


def plan_of(plain: Any) -> Plan:
    """Return the plan of a header."""
    floats = isinstance(plain, dict) and plain.get("target") == "float"
    own = "precision" if floats else "block_bits"
    given = object_of(plain, ("source", "target", own, "wires", "blocks", "outputs"), "plan")
    require(not floats or given["precision"] in PRECISIONS, f"plan, precision: expected {' or '.join(PRECISIONS)}")
    listed = {key: list_of(given[key], f"plan, {key}") for key in ("blocks", "wires", "outputs")}
    blocks = tuple(block_of(block, f"plan, block {k}") for k, block in enumerate(listed["blocks"]))
    for k, block in enumerate(blocks if floats else ()):
        require(
            block.kind in ("law", "function") and len(block.widths) == 1,
            f"plan, block {k}: expected a law or a function of one word",
        )
    wires: list[Wire] = []
    for k, plain_wire in enumerate(listed["wires"]):
        wires.append(_wire_of(plain_wire, wires, blocks, floats, f"plan, wire {k}"))
    outputs = []
    for k, plain_output in enumerate(listed["outputs"]):
        where = f"plan, output {k}"
        output = Wire("sum", **_fields(plain_output, _output_readers(wires), where))
        if floats:
            part, factor, _ = output.parts[0] if len(output.parts) == 1 else (0, 0, 0)
            added = any((output.constant, output.constant_error, output.shift, output.dropped))
            require(factor == 1 and not added, f"{where}: expected one float, and nothing added to it")
            require(wires[part].kind in FLOATS, f"{where}: expected a float, but wire {part} is a word")
            output = replace(output, parts=(), wires=(part,))
        outputs.append(output)
    source, target = text(given["source"], "plan, source"), text(given["target"], "plan, target")
    block_bits = 0 if floats else between(1, 64)(given["block_bits"], "plan, block_bits")
    precision = PRECISIONS[given["precision"]] if floats else None
    return Plan(source, target, block_bits, precision, tuple(wires), blocks, tuple(outputs))


def _fields(plain: Any, readers: dict[str, Reader], where: str) -> dict[str, Any]:
    """Return the values of a wire or a block, whose low is at most its high."""
    fields = fields_of(plain, readers, where)
    if "low" in fields:
        low, high = fields["low"], fields["high"]
        require(low <= high, f"{where}: expected low at most high, got {low} and {high}")
    return fields


def _unit(plain: Any, where: str) -> Fraction:
    unit = rational(plain, where)
    require(unit > 0, f"{where}: expected a unit above 0")
    return unit


def _error(plain: Any, where: str) -> Fraction:
    error = rational(plain, where)
    require(error >= 0, f"{where}: expected errors of at least 0")
    return error


def argument_of(plain: Any, where: str) -> Argument:
    """Return one argument of a block."""
    kind, bits, scale, centre = row_of(text, between(1, MAX_INPUT_BITS), rational, rational)(plain, where)
    require(kind in ("angle", "word", "unsigned"), f"{where}: expected an angle or a word as argument")
    argument = Argument(kind == "angle", bits, scale, centre, kind != "unsigned")
    require(
        not argument.angle or _is_float(argument.scale), f"{where}: expected a multiple of an angle that is a float"
    )
    return argument


def _is_float(number: Fraction) -> bool:
    return abs(number) < 1 << 53 and Fraction(float(number)) == number


def _plain(plain: Any, where: str) -> Any:
    """Return what is read later, as it is."""
    return plain


_WORD = between(1, MAX_INPUT_BITS)
_ENDS: dict[str, Reader] = {"low": between(-MOST, MOST), "high": between(-MOST, MOST)}
_VALUED: dict[str, Reader] = {"lsb": _unit, **_ENDS}
BLOCKS: dict[str, dict[str, Reader]] = {
    "square": {"bits": between(2, 17)},
    "product": {"widths": several(_WORD, 2), "signed": flag, "shift": between(0, 62), **_ENDS},
    "function": {"graph": _plain, "arguments": several(argument_of), **_VALUED},
    "law": {"law": _plain, "arguments": several(argument_of), **_VALUED, "centre": rational, "sign": sign},
    "given": {"widths": several(_WORD), **_VALUED, "table": text, "error": real},
}
"""The keys of every kind of block, after `kind`."""


def block_of(plain: Any, where: str) -> Block:
    """Return one block."""
    kind = plain.get("kind") if isinstance(plain, dict) else None
    if kind not in BLOCKS:
        raise RefusedError(f"{where}: expected a known kind of block, got {kind!r:.40}")
    fields = _fields(plain, {"kind": text, **BLOCKS[kind]}, where)
    if kind == "square":
        bits = fields["bits"]
        return Block(kind, (bits,), 0, 1 << (2 * bits - 4), signed=False)
    arguments = fields.get("arguments", ())
    if "widths" not in fields:
        fields["widths"] = tuple(argument.bits for argument in arguments)
    if kind == "function":
        fields["graph"] = graph_of(fields["graph"], tuple(f"x{k}" for k in range(len(arguments))), where)
    if kind == "law":
        fields["law"] = law_of(fields["law"], len(arguments), where)
        friction = fields["law"].real_valued
        require(not (friction and any(a.angle for a in arguments)), f"{where}: expected friction of no angle")
    block = Block(**fields)
    require(block.error >= 0, f"{where}: expected an error of at least 0")
    require(
        1 <= sum(block.widths) <= MAX_INPUT_BITS and block.output_bits <= MAX_OUTPUT_BITS,
        f"{where}: expected 1 to {MAX_INPUT_BITS} input bits and at most {MAX_OUTPUT_BITS} output bits",
    )
    return block


_SUM: dict[str, Reader] = {
    "constant": between(-MOST, MOST), "shift": between(0, 62), **_VALUED, "constant_error": _error, "dropped": _error,
}  # fmt: skip


def _place(wires: Sequence[Wire], kinds: Sequence[str] | None, expected: str) -> Reader:
    """Return a reader of places of wires that stand before, of some kinds."""

    def read(plain: Any, where: str) -> int:
        place = whole(plain, 0, len(wires) - 1, where)
        require(kinds is None or wires[place].kind in kinds, f"{where}: expected {expected}")
        return place

    return read


def _sum_readers(wires: Sequence[Wire], keys: Sequence[str]) -> dict[str, Reader]:
    """Return the keys of a sum, or of an output, in their order."""
    pairs = several(row_of(_place(wires, None, ""), between(-MOST, MOST)))
    parts = {"parts": lambda plain, where: tuple((*pair, 0) for pair in pairs(plain, where))}
    return {"name": text, **parts, **{key: _SUM[key] for key in keys}}


def _output_readers(wires: Sequence[Wire]) -> dict[str, Reader]:
    return _sum_readers(wires, ("constant", "constant_error", "shift", "low", "high", "lsb", "dropped"))


def _wire_readers(wires: list[Wire], blocks: int, floats: bool, native: bool) -> dict[str, dict[str, Reader]]:
    """Return the keys of every kind of wire, after `kind`."""
    table = between(0, blocks - 1)
    exact = _place(wires, EXACT if floats else None, "an input or a sum of angles")
    part = row_of(exact, between(-64, 64), between(0, 32))
    readers: dict[str, dict[str, Reader]] = {
        "input": {"name": text, "bits": between(1, 32), "wraps": flag},
        "angle_sum": {
            "name": text, "bits": between(1, 32), "parts": several(part), "constant": between(-(1 << 32), 1 << 32),
        },
        "lookup": {"name": text, "block": table, "wires": several(exact)},
    }  # fmt: skip
    if not floats:
        block = between(-1, -1) if native else table  # the processor's own multiplication has none
        readers["product"] = {
            "name": text, "left": exact, "right": exact, "shift": between(0, 62), "method": text, "block": block,
            "piece_bits": between(0, 26), **_ENDS,
        }  # fmt: skip
        readers["sum"] = _sum_readers(wires, ("constant", "shift", "low", "high", "lsb", "constant_error", "dropped"))
        return readers
    operands = dict.fromkeys(("left", "right", "addend"), _place(wires, FLOATS, "a float, not a word"))
    left_and_right = {key: operands[key] for key in ("left", "right")}
    return readers | {
        "number": {"word": _place(wires, WORDS, "a word")},
        "constant": {"value": rational},
        "sine": {"word": exact, "cosine": flag, "rest": _rest},
        "add": {**left_and_right, "sign": sign},
        "multiply": left_and_right,
        "fused": {**operands, "product_sign": sign, "addend_sign": sign},
    }


def _rest(plain: Any, where: str) -> Fraction:
    rest = rational(plain, where)
    require(abs(rest) <= LARGEST_REST, f"{where}: expected a constant angle of at most {LARGEST_REST} rad")
    return rest


def _wire_of(plain: Any, wires: list[Wire], blocks: tuple[Block, ...], floats: bool, where: str) -> Wire:
    """Return one wire; it reads only those before it."""
    kind: Any = plain.get("kind") if isinstance(plain, dict) else None
    readers = _wire_readers(wires, len(blocks), floats, kind == "product" and plain.get("method") == "native")
    if kind not in readers:
        raise RefusedError(f"{where}: expected a known kind of wire, got {kind!r:.40}")
    unsigned: dict[str, Reader] = {"signed": flag} if kind == "input" and "signed" in plain else {}
    fields = _fields(plain, {"kind": text, **readers[kind], **unsigned}, where)
    wrong = unsigned and (fields["signed"] or fields["wraps"])
    require(not wrong, f"{where}: expected signed only of a word that does not wrap, as false")
    operands = tuple(fields.pop(key) for key in ("word", "left", "right", "addend") if key in fields)
    first, last = fields.pop("product_sign", 1), fields.pop("addend_sign", 1)
    wire = Wire(
        **{"wires": operands, "wraps": kind == "angle_sum", "signs": (first, fields.pop("sign", last)), **fields}
    )
    if floats and kind in WORDS:
        if kind == "lookup":
            widths = tuple(wires[place].bits for place in wire.wires)
            require(widths == blocks[wire.block].widths, f"{where}: expected a word as wide as the table has it")
        bits = _bits(wire, blocks)
        require(bits <= MAX_FLOAT_WORD, f"{where}: expected a word of at most {MAX_FLOAT_WORD} bits")
    return wire


def check_widths(plan: Plan) -> str:
    """Refuse words that do not fit: look-ups, products with their tables, sums and products; say what was found."""
    if plan.precision:  # refused when it was read
        return f"no word needs more than {MAX_FLOAT_WORD} bits: a float holds it"
    for place, wire in enumerate(plan.wires):
        where = f"plan, wire {place} ('{wire.name:.40}')"
        if wire.kind == "lookup":
            block = plan.blocks[wire.block]
            read = [(plan.wires[place], place) for place in wire.wires]
            widths = tuple(source.bits if source.kind in EXACT else plan.bits_of(place) for source, place in read)
            require(block.kind not in ("product", "square"), f"{where}: expected a table of a function")
            require(widths == block.widths, f"{where}: expected words of {block.widths} bits, got {widths}")
        elif wire.kind == "product":
            bits = plan.bits_of(wire.wires[0]), plan.bits_of(wire.wires[1])
            require(sum(bits) <= MAX_BITS, f"{where}: expected a product of at most {MAX_BITS} bits")
            if plan.target == "integer":
                require(wire.method == "native" and not wire.piece_bits, f"{where}: expected a native product")
            else:
                fits = wire.block >= 0 and _serves(plan.blocks[wire.block], wire, bits)
                require(fits, f"{where}: expected a table that serves the product")
    for total in (*(wire for wire in plan.wires if wire.kind == "sum"), *plan.outputs):
        most = abs(total.constant) + sum(abs(factor) << (plan.bits_of(part) - 1) for part, factor, _ in total.parts)
        require(most.bit_length() <= MAX_BITS, f"'{total.name:.40}': expected a sum of at most {MAX_BITS} bits")
    return f"no product and no sum needs more than {MAX_BITS} bits"


def _serves(block: Block, wire: Wire, bits: tuple[int, int]) -> bool:
    """Tell if a table gives the products of words of these widths."""
    piece = wire.piece_bits
    if wire.method == "blocks":
        fits = bits[0] <= block.widths[0] and bits[1] <= block.widths[1] if block.kind == "product" else False
        return fits and block.signed and block.shift == wire.shift and not piece
    if wire.method == "partial":
        return block.kind == "product" and not block.signed and block.shift == 0 and block.widths == (piece, piece)
    return wire.method == "squares" and block.kind == "square" and max(bits) < block.widths[0] and not piece
