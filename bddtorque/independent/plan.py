"""The plan of a file: wires, blocks and outputs as docs/format.md lists them, every reference checked."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .findings import RefusedError, require
from .graph import Graph, graph_of
from .laws import Law, law_of
from .reading import flag, list_of, object_of, rational, real, text, whole

MOST = 1 << 62
MAX_INPUT_BITS, MAX_OUTPUT_BITS = 26, 31


@dataclass(frozen=True)
class Argument:
    """What an input word of a block stands for: 2π·scale·w/2^bits + centre for an angle, else scale·w + centre."""

    angle: bool
    bits: int
    scale: Fraction
    centre: Fraction


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
    signed: bool
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
    """A word; which fields have a meaning depends on `kind`: input, angle_sum, lookup, product or sum.

    `parts` holds (wire, factor, shift); `wires` what a look-up or a product reads.
    """

    kind: str
    name: str
    bits: int = 0
    wraps: bool = False
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


@dataclass(frozen=True)
class Plan:
    """All of it; outputs are sums that are clamped to low..high."""

    source: str
    target: str
    block_bits: int
    wires: tuple[Wire, ...]
    blocks: tuple[Block, ...]
    outputs: tuple[Wire, ...]

    def bits_of(self, wire: int) -> int:
        """Return the width of a wire's two's complement word."""
        each = self.wires[wire]
        if each.kind in ("input", "angle_sum"):
            return each.bits
        if each.kind == "lookup":
            block = self.blocks[each.block]
            return block.output_bits + (not block.signed)
        return signed_bits(each.low, each.high)


def signed_bits(low: int, high: int) -> int:
    """Return how many bits two's complement needs for low to high."""
    return max((-low - 1).bit_length() if low < 0 else 0, max(high, 0).bit_length()) + 1


def plan_of(plain: Any) -> Plan:
    """Return the plan of a header."""
    given = object_of(plain, ("source", "target", "block_bits", "wires", "blocks", "outputs"), "plan")
    blocks = tuple(
        block_of(each, f"plan, block {k}") for k, each in enumerate(list_of(given["blocks"], "plan, blocks"))
    )
    wires = tuple(
        wire_of(each, k, len(blocks), f"plan, wire {k}")
        for k, each in enumerate(list_of(given["wires"], "plan, wires"))
    )
    outputs = tuple(
        _output(each, len(wires), f"plan, output {k}")
        for k, each in enumerate(list_of(given["outputs"], "plan, outputs"))
    )
    return Plan(
        text(given["source"], "plan, source"),
        text(given["target"], "plan, target"),
        whole(given["block_bits"], 1, 64, "plan, block_bits"),
        wires,
        blocks,
        outputs,
    )


def argument_of(plain: Any, where: str) -> Argument:
    """Return one argument of a block."""
    kind, bits, scale, centre = list_of(plain, where, 4)
    require(kind in ("angle", "word"), f"{where}: expected an angle or a word as argument")
    made = Argument(
        kind == "angle", whole(bits, 1, MAX_INPUT_BITS, where), rational(scale, where), rational(centre, where)
    )
    require(not made.angle or _is_float(made.scale), f"{where}: expected a multiple of an angle that is a float")
    return made


def _is_float(number: Fraction) -> bool:
    return abs(number) < 1 << 53 and Fraction(float(number)) == number


def block_of(plain: Any, where: str) -> Block:
    """Return one block."""
    kind = plain.get("kind") if isinstance(plain, dict) else None
    if kind == "square":
        bits = whole(object_of(plain, ("kind", "bits"), where)["bits"], 2, 17, where)
        return Block("square", (bits,), 0, 1 << (2 * bits - 4), False)
    if kind == "product":
        given = object_of(plain, ("kind", "widths", "signed", "shift", "low", "high"), where)
        widths = tuple(whole(each, 1, MAX_INPUT_BITS, where) for each in list_of(given["widths"], where, 2))
        shift = whole(given["shift"], 0, 62, where)
        block = Block("product", widths, *ends_of(given, where), flag(given["signed"], where), shift=shift)
    elif kind == "function":
        given = object_of(plain, ("kind", "graph", "arguments", "lsb", "low", "high"), where)
        arguments = tuple(argument_of(each, where) for each in list_of(given["arguments"], where))
        graph = graph_of(given["graph"], tuple(f"x{k}" for k in range(len(arguments))), where)
        widths = tuple(each.bits for each in arguments)
        block = Block(
            "function", widths, *ends_of(given, where), True, unit_of(given, where), graph=graph, arguments=arguments
        )
    elif kind == "law":
        given = object_of(plain, ("kind", "law", "arguments", "lsb", "low", "high", "centre", "sign"), where)
        arguments = tuple(argument_of(each, where) for each in list_of(given["arguments"], where))
        block = Block(
            "law",
            tuple(each.bits for each in arguments),
            *ends_of(given, where),
            True,
            unit_of(given, where),
            law=law_of(given["law"], len(arguments), where),
            arguments=arguments,
            centre=rational(given["centre"], where),
            sign=whole(given["sign"], -1, 1, where),
        )
        require(block.sign != 0, f"{where}: expected a sign of 1 or -1")
        rubbing = block.law is not None and block.law.real_valued
        require(not (rubbing and any(each.angle for each in arguments)), f"{where}: expected friction of no angle")
    elif kind == "given":
        given = object_of(plain, ("kind", "widths", "lsb", "low", "high", "table", "error"), where)
        widths = tuple(whole(each, 1, MAX_INPUT_BITS, where) for each in list_of(given["widths"], where))
        error = real(given["error"], where)
        require(error >= 0, f"{where}: expected an error of at least 0")
        key = text(given["table"], where)
        block = Block("given", widths, *ends_of(given, where), True, unit_of(given, where), table=key, error=error)
    else:
        raise RefusedError(f"{where}: expected a known kind of block, got {kind!r:.40}")
    require(
        1 <= sum(block.widths) <= MAX_INPUT_BITS and block.output_bits <= MAX_OUTPUT_BITS,
        f"{where}: expected 1 to {MAX_INPUT_BITS} input bits and at most {MAX_OUTPUT_BITS} output bits",
    )
    return block


def wire_of(plain: Any, place: int, blocks: int, where: str) -> Wire:
    """Return one wire; it reads only those before its place."""
    kind = plain.get("kind") if isinstance(plain, dict) else None
    if kind == "input":
        given = object_of(plain, ("kind", "name", "bits", "wraps"), where)
        return Wire(kind, text(given["name"], where), whole(given["bits"], 1, 32, where), flag(given["wraps"], where))
    if kind == "angle_sum":
        given = object_of(plain, ("kind", "name", "bits", "parts", "constant"), where)
        parts = []
        for each in list_of(given["parts"], where):
            wire, multiplier, shift = list_of(each, where, 3)
            parts.append(
                (whole(wire, 0, place - 1, where), whole(multiplier, -64, 64, where), whole(shift, 0, 32, where))
            )
        bits, constant = whole(given["bits"], 1, 32, where), whole(given["constant"], -(2**32), 2**32, where)
        return Wire(kind, text(given["name"], where), bits, True, tuple(parts), constant)
    if kind == "lookup":
        given = object_of(plain, ("kind", "name", "block", "wires"), where)
        wires = tuple(whole(each, 0, place - 1, where) for each in list_of(given["wires"], where))
        return Wire(kind, text(given["name"], where), block=whole(given["block"], 0, blocks - 1, where), wires=wires)
    if kind == "product":
        keys = ("kind", "name", "left", "right", "shift", "method", "block", "piece_bits", "low", "high")
        given = object_of(plain, keys, where)
        low, high = ends_of(given, where)
        method = text(given["method"], where)
        tables = (-1, -1) if method == "native" else (0, blocks - 1)  # the processor's own multiplication has none
        return Wire(
            kind,
            text(given["name"], where),
            shift=whole(given["shift"], 0, 62, where),
            block=whole(given["block"], *tables, where),
            wires=(whole(given["left"], 0, place - 1, where), whole(given["right"], 0, place - 1, where)),
            method=method,
            piece_bits=whole(given["piece_bits"], 0, 26, where),
            low=low,
            high=high,
        )
    if kind == "sum":
        keys = ("kind", "name", "parts", "constant", "shift", "low", "high", "lsb", "constant_error", "dropped")
        return _sum(object_of(plain, keys, where), place, where)
    raise RefusedError(f"{where}: expected a known kind of wire, got {kind!r:.40}")


def _output(plain: Any, wires: int, where: str) -> Wire:
    keys = ("name", "parts", "constant", "constant_error", "shift", "low", "high", "lsb", "dropped")
    return _sum(object_of(plain, keys, where), wires, where)


def _sum(given: dict[str, Any], place: int, where: str) -> Wire:
    parts = []
    for each in list_of(given["parts"], where):
        wire, factor = list_of(each, where, 2)
        parts.append((whole(wire, 0, place - 1, where), whole(factor, -MOST, MOST, where), 0))
    low, high = ends_of(given, where)
    errors = rational(given["constant_error"], where), rational(given["dropped"], where)
    require(min(errors) >= 0, f"{where}: expected errors of at least 0")
    return Wire(
        "sum",
        text(given["name"], where),
        parts=tuple(parts),
        constant=whole(given["constant"], -MOST, MOST, where),
        shift=whole(given["shift"], 0, 62, where),
        low=low,
        high=high,
        lsb=unit_of(given, where),
        constant_error=errors[0],
        dropped=errors[1],
    )


def ends_of(given: dict[str, Any], where: str) -> tuple[int, int]:
    """Return low and high."""
    low, high = (whole(given[key], -MOST, MOST, f"{where}, {key}") for key in ("low", "high"))
    require(low <= high, f"{where}: expected low at most high, got {low} and {high}")
    return low, high


def unit_of(given: dict[str, Any], where: str) -> Fraction:
    """Return lsb, which is above 0."""
    lsb = rational(given["lsb"], f"{where}, lsb")
    require(lsb > 0, f"{where}: expected a unit above 0")
    return lsb
