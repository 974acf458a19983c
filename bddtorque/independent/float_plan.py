"""A plan in floats: wires, blocks and outputs as docs/format.md lists them, every reference checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .findings import RefusedError, require
from .ieee import PRECISIONS, Precision
from .plan import Block, Plan, Wire, block_of, ends_of, signed_bits, unit_of, wire_of
from .reading import flag, list_of, object_of, rational, text, whole

MAX_WORD_BITS = 24
LARGEST_REST = 1 << 32
"""A constant angle in rad that the digits of π known here place on the grid of turns without a doubt."""
WORDS = ("input", "angle_sum", "lookup")
KEYS = {
    "number": ("word",),
    "constant": ("value",),
    "sine": ("word", "cosine", "rest"),
    "add": ("left", "right", "sign"),
    "multiply": ("left", "right"),
    "fused": ("left", "right", "addend", "product_sign", "addend_sign"),
}
"""The keys of every kind of float, after `kind`."""
OUTPUT_KEYS = ("name", "parts", "constant", "constant_error", "shift", "low", "high", "lsb", "dropped")


@dataclass(frozen=True)
class FloatWire:
    """A float; which fields have a meaning depends on `kind`.

    Attributes
    ----------
    kind
        Number, constant, sine, add, multiply or fused.
    wires
        What it reads: the word of a number or a sine; left, right and addend of an operation.
    signs
        Of a sum and a fused operation: those of its two summands.
    value
        Of a constant.
    cosine, rest
        Of a sine.
    """

    kind: str
    wires: tuple[int, ...] = ()
    signs: tuple[int, int] = (1, 1)
    value: Fraction = Fraction(0)
    cosine: bool = False
    rest: Fraction = Fraction(0)


@dataclass(frozen=True)
class FloatOutput:
    """A float, clamped to low..high and rounded."""

    name: str
    wire: int
    low: int
    high: int
    lsb: Fraction


@dataclass(frozen=True)
class FloatPlan:
    """All of it."""

    source: str
    precision: Precision
    wires: tuple[Wire | FloatWire, ...]
    blocks: tuple[Block, ...]
    outputs: tuple[FloatOutput, ...]
    target: str = "float"


def float_plan_of(plain: Any) -> FloatPlan:
    """Return the plan in floats of a header."""
    given = object_of(plain, ("source", "target", "precision", "wires", "blocks", "outputs"), "plan")
    require(given["target"] == "float", "plan: expected target float")
    require(given["precision"] in tuple(PRECISIONS), f"plan, precision: expected {' or '.join(PRECISIONS)}")
    blocks = tuple(
        block_of(each, f"plan, block {k}") for k, each in enumerate(list_of(given["blocks"], "plan, blocks"))
    )
    for k, block in enumerate(blocks):
        require(
            block.kind in ("law", "function") and len(block.widths) == 1,
            f"plan, block {k}: expected a law or a function of one word",
        )
    wires: list[Wire | FloatWire] = []
    for k, each in enumerate(list_of(given["wires"], "plan, wires")):
        wires.append(_wire(each, wires, blocks, f"plan, wire {k}"))
    outputs = []
    for k, each in enumerate(list_of(given["outputs"], "plan, outputs")):
        where = f"plan, output {k}"
        made = object_of(each, OUTPUT_KEYS, where)
        (part,) = list_of(made["parts"], where, 1)
        wire, factor = list_of(part, where, 2)
        added = [made[key] for key in ("constant", "constant_error", "shift", "dropped")]
        require((factor, added) == (1, [0, "0", 0, "0"]), f"{where}: expected one float, and nothing added to it")
        place = _float(wire, wires, where)
        outputs.append(FloatOutput(text(made["name"], where), place, *ends_of(made, where), unit_of(made, where)))
    precision = PRECISIONS[given["precision"]]
    return FloatPlan(text(given["source"], "plan, source"), precision, tuple(wires), blocks, tuple(outputs))


def _wire(plain: Any, wires: Sequence[Wire | FloatWire], blocks: tuple[Block, ...], where: str) -> Wire | FloatWire:
    kind = plain.get("kind") if isinstance(plain, dict) else None
    if kind in WORDS:
        word = wire_of(plain, len(wires), len(blocks), where)
        for source in (*word.wires, *(part for part, _, _ in word.parts)):
            require(wires[source].kind in WORDS[:2], f"{where}: expected inputs and sums of angles")
        if word.kind == "lookup":
            widths = tuple(bits_of(wires[source], blocks) for source in word.wires)
            require(widths == blocks[word.block].widths, f"{where}: expected a word as wide as the table has it")
        require(bits_of(word, blocks) <= MAX_WORD_BITS, f"{where}: expected a word of at most {MAX_WORD_BITS} bits")
        return word
    if kind not in KEYS:
        raise RefusedError(f"{where}: expected a known kind of wire, got {kind!r:.40}")
    given = object_of(plain, ("kind", *KEYS[kind]), where)
    if kind == "constant":
        return FloatWire(kind, value=rational(given["value"], where))
    if kind in ("number", "sine"):
        place = whole(given["word"], 0, len(wires) - 1, where)
        require(wires[place].kind in (WORDS if kind == "number" else WORDS[:2]), f"{where}: expected a word")
        if kind == "number":
            return FloatWire(kind, (place,))
        cosine, rest = flag(given["cosine"], where), rational(given["rest"], where)
        require(abs(rest) <= LARGEST_REST, f"{where}: expected a constant angle of at most {LARGEST_REST} rad")
        return FloatWire(kind, (place,), cosine=cosine, rest=rest)
    read = tuple(_float(given[key], wires, where) for key in ("left", "right", "addend") if key in given)
    first = _sign(given["product_sign"], where) if kind == "fused" else 1
    last = "addend_sign" if kind == "fused" else "sign"
    return FloatWire(kind, read, (first, _sign(given[last], where) if last in given else 1))


def _float(plain: Any, wires: Sequence[Wire | FloatWire], where: str) -> int:
    place = whole(plain, 0, len(wires) - 1, where)
    require(wires[place].kind not in WORDS, f"{where}: expected a float, but wire {place} is a word")
    return place


def _sign(plain: Any, where: str) -> int:
    sign = whole(plain, -1, 1, where)
    require(sign != 0, f"{where}: expected a sign of 1 or -1")
    return sign


def word_of(wire: Wire | FloatWire) -> Wire:
    """Return a wire that is a word."""
    if not isinstance(wire, Wire):
        raise RefusedError("plan: expected a word where there is a float")
    return wire


def bits_of(wire: Wire | FloatWire, blocks: Sequence[Block]) -> int:
    """Return the width of a word."""
    wire = word_of(wire)
    return signed_bits(blocks[wire.block].low, blocks[wire.block].high) if wire.kind == "lookup" else wire.bits


AnyPlan = Plan | FloatPlan
"""A plan in words, or one in floats."""
