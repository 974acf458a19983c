"""`Plan`: the cascade. Wires carry words; blocks are truth tables; sums join the words of each output.

Everything here is exact integers and rationals: a plan says what is computed, to the last bit, and how many units each
rounding may cost. It knows nothing of robots.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from bddtorque.base.html_table import html_table
from bddtorque.graph.graph import Graph
from bddtorque.plan.data_blocks import GivenBlock, LawBlock
from bddtorque.words.argument import Argument


@dataclass(frozen=True)
class FunctionBlock:
    """A truth table of a real function, rounded once: nearest word, ties away from zero.

    Attributes
    ----------
    graph : the function; inputs x0, x1, ...; one output
    arguments : what the words of x0, x1, ... stand for
    lsb : the value of one unit of the output word
    low, high : a sound range of the output word
    """

    graph: Graph
    arguments: tuple[Argument, ...]
    lsb: Fraction
    low: int
    high: int

    @property
    def input_widths(self) -> tuple[int, ...]:
        """Bits of each input word."""
        return tuple(argument.bits for argument in self.arguments)

    @property
    def kind(self) -> str:
        """``"function"``."""
        return "function"

    def to_plain(self) -> dict[str, Any]:
        """Return what defines the table, for files and content keys."""
        return {
            "kind": self.kind,
            "graph": self.graph.to_plain(),
            "arguments": [argument.to_plain() for argument in self.arguments],
            "lsb": str(self.lsb),
            "low": self.low,
            "high": self.high,
        }


@dataclass(frozen=True)
class ProductBlock:
    """A truth table of a product of two words, floor(x·y/2^shift + 1/2).

    Signed words are two's complement; unsigned ones serve as the limbs of wider products.
    """

    widths: tuple[int, int]
    signed: bool
    shift: int
    low: int
    high: int

    @property
    def input_widths(self) -> tuple[int, ...]:
        """Bits of each input word."""
        return self.widths

    @property
    def kind(self) -> str:
        """``"product"``."""
        return "product"

    def to_plain(self) -> dict[str, Any]:
        """Return what defines the table, for files and content keys."""
        return {
            "kind": self.kind,
            "widths": list(self.widths),
            "signed": self.signed,
            "shift": self.shift,
            "low": self.low,
            "high": self.high,
        }


@dataclass(frozen=True)
class SquareBlock:
    """A truth table of quarter squares, ⌊x²/4⌋ of a signed word."""

    bits: int

    @property
    def input_widths(self) -> tuple[int, ...]:
        """Bits of the input word."""
        return (self.bits,)

    @property
    def kind(self) -> str:
        """``"square"``."""
        return "square"

    @property
    def low(self) -> int:
        """The lowest output word."""
        return 0

    @property
    def high(self) -> int:
        """The highest output word, that of the lowest input word."""
        return 1 << (2 * self.bits - 4) if self.bits > 1 else 0

    def to_plain(self) -> dict[str, Any]:
        """Return what defines the table, for files and content keys."""
        return {"kind": self.kind, "bits": self.bits}


RealBlock = FunctionBlock | LawBlock | GivenBlock
"""Tables of real functions, whose words have a unit and an error; those of products are exact."""
Block = RealBlock | ProductBlock | SquareBlock


def signed_bits(low: int, high: int) -> int:
    """Return the bits of a two's complement word that holds low to high."""
    return max((-low - 1).bit_length() if low < 0 else 0, high.bit_length() if high > 0 else 0) + 1


def output_format(block: Block) -> tuple[int, bool]:
    """Return the output bits of a block, and whether the word is signed."""
    if isinstance(block, SquareBlock) or (isinstance(block, ProductBlock) and not block.signed):
        return max(block.high.bit_length(), 1), False
    return signed_bits(block.low, block.high), True


def block_key(block: Block) -> str:
    """Return the content key of a block: equal blocks have equal tables."""
    text = json.dumps(block.to_plain(), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Input:
    """An input word: which quantity of which joint, whether it wraps, and its bits."""

    name: str
    bits: int
    wraps: bool

    kind: Literal["input"] = "input"


@dataclass(frozen=True)
class AngleSum:
    """A wrapping sum of angle words: Σ multiplier·(word << shift) + constant, kept to `bits` bits."""

    name: str
    bits: int
    parts: tuple[tuple[int, int, int], ...]
    """(wire, multiplier, shift) of each angle word."""
    constant: int = 0
    """Turns a sine into a cosine: a quarter of a turn less."""

    kind: Literal["angle_sum"] = "angle_sum"


@dataclass(frozen=True)
class Lookup:
    """The output word of a block at the words of some wires."""

    name: str
    block: int
    wires: tuple[int, ...]

    kind: Literal["lookup"] = "lookup"


Method = Literal["block", "limbs", "squares", "native"]
"""How a product is taken: see `Product`."""


@dataclass(frozen=True)
class Product:
    """floor(left·right/2^shift + 1/2), exact, and rounded once.

    Below it lies one way to get it, with tables alone:

    - ``block``: one table of both words, rounding included;
    - ``limbs``: magnitudes, piece by piece from one unsigned table of `limb_bits` by `limb_bits`, added, then the sign;
    - ``squares``: quarter squares, ab = ⌊(a+b)²/4⌋ − ⌊(a−b)²/4⌋, from one table of one word;
    - ``native``: the machine's own multiplication; evaluators that may not use it take limbs.

    All give the same words, so that any may replace another.
    """

    name: str
    left: int
    right: int
    shift: int
    method: Method
    block: int
    limb_bits: int
    low: int
    high: int
    """`limb_bits` is 0 where the method is neither limbs nor native."""

    kind: Literal["product"] = "product"


@dataclass(frozen=True)
class Sum:
    """floor((Σ factor·word + constant)/2^shift + 1/2): ordinary arithmetic, exact, and rounded once.

    Attributes
    ----------
    parts : (wire, whole factor) of each summand
    lsb : the value of one unit of the result
    constant_error : how far rounded factors and constants can move the result, in its units
    dropped : what was left out as too small to matter, in its units
    """

    name: str
    parts: tuple[tuple[int, int], ...]
    constant: int
    shift: int
    low: int
    high: int
    lsb: Fraction
    constant_error: Fraction = Fraction(0)
    dropped: Fraction = Fraction(0)

    kind: Literal["sum"] = "sum"


Wire = Input | AngleSum | Lookup | Product | Sum


@dataclass(frozen=True)
class Output:
    """One output word: clamp(floor((Σ factor·word + constant)/2^shift + 1/2)); fields as in `Sum`."""

    name: str
    parts: tuple[tuple[int, int], ...]
    constant: int
    constant_error: Fraction
    shift: int
    low: int
    high: int
    lsb: Fraction
    dropped: Fraction = Fraction(0)


@dataclass(frozen=True)
class Plan:
    """The cascade: wires in the order they are computed, the blocks they look up, the outputs they make."""

    wires: tuple[Wire, ...]
    blocks: tuple[Block, ...]
    outputs: tuple[Output, ...]
    source: str
    target: str
    block_bits: int

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The content keys of the blocks."""
        return tuple(block_key(block) for block in self.blocks)

    def bits_of(self, wire: int) -> int:
        """Return the width of a wire's two's complement word."""
        match self.wires[wire]:
            case Input() | AngleSum() as word:
                return word.bits
            case Lookup(block=index):
                bits, signed = output_format(self.blocks[index])
                return bits if signed else bits + 1
            case Product(low=low, high=high) | Sum(low=low, high=high):
                return signed_bits(low, high)

    def counts(self) -> dict[str, int]:
        """Return how many wires of each kind, blocks, table rows and summands there are."""
        kinds = [wire.kind for wire in self.wires]
        return {
            "inputs": kinds.count("input"),
            "angle_sums": kinds.count("angle_sum"),
            "lookups": kinds.count("lookup"),
            "products": kinds.count("product"),
            "sums": kinds.count("sum"),
            "blocks": len(self.blocks),
            "rows": sum(1 << sum(block.input_widths) for block in self.blocks),
            "summands": sum(len(output.parts) for output in self.outputs),
        }

    def __repr__(self) -> str:
        counts = self.counts()
        return (
            f"<bddtorque plan: source {self.source}, target {self.target}, {counts['lookups']:,} lookups in "
            f"{counts['blocks']:,} blocks of {counts['rows']:,} rows, {counts['products']:,} products>"
        )

    def _repr_html_(self) -> str:
        rows = [(name.replace("_", " "), f"{count:,}") for name, count in self.counts().items()]
        rows += [(f"summands of {output.name}", f"{len(output.parts):,}") for output in self.outputs]
        title = f"Plan from source {self.source} for target {self.target}, blocks of at most {self.block_bits} bits"
        return html_table(title, (), rows)

    def to_plain(self) -> dict[str, Any]:
        """Return the plan as plain data for JSON, in an order that is always the same."""
        return {
            "source": self.source,
            "target": self.target,
            "block_bits": self.block_bits,
            "wires": [_wire_to_plain(wire) for wire in self.wires],
            "blocks": [block.to_plain() for block in self.blocks],
            "outputs": [
                {
                    "name": output.name,
                    "parts": [list(part) for part in output.parts],
                    "constant": output.constant,
                    "constant_error": str(output.constant_error),
                    "shift": output.shift,
                    "low": output.low,
                    "high": output.high,
                    "lsb": str(output.lsb),
                    "dropped": str(output.dropped),
                }
                for output in self.outputs
            ],
        }


def _wire_to_plain(wire: Wire) -> dict[str, Any]:
    plain: dict[str, Any] = {"kind": wire.kind}
    for field in wire.__dataclass_fields__:
        value = getattr(wire, field)
        value = str(value) if isinstance(value, Fraction) else value
        plain[field] = [list(part) for part in value] if field == "parts" else value
    if "wires" in plain:
        plain["wires"] = list(plain["wires"])
    return plain
