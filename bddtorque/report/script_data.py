"""Data that the script of the page reads: the arm, the words, the plan and the tables, as plain data.

JavaScript counts exactly up to 2^53 in its ordinary numbers. Steps of the plan that may get beyond are marked *wide*
and run in BigInt, and their constants are text, since JSON's readers would round them.

A table of a smooth function has small differences, and one of squares or products small differences of differences. So
a table is packed as its words, their first or their second differences, whichever is smallest, modulo 2^32. Differences
of either sign are folded (0, −1, 1, −2, ... become 0, 1, 2, 3, ...), so that the upper bytes are all zero; bytes of one
significance stand together, deflated. `page/plan.js` undoes it.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import bddtorque.plan.wires as w
from bddtorque.plan.bound import known_ranges
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.report.arm_picture import View, ends_in_tip
from bddtorque.report.compared_states import ComparedStates
from bddtorque.robots.robot import Robot
from bddtorque.words.float_sine import angle_bits, sine_factors, turn_on_grid
from bddtorque.words.formats import Format
from bddtorque.words.integer_range import Range

EXACT = 1 << 53
"""Integers up to here are exact in a float64."""
MAX_DIFFERENCES = 2
BYTES_A_WORD = 4
"""Words of a block have at most 31 bits (docs/format.md)."""


def script_data(
    states: ComparedStates, packed: Sequence[Mapping[str, Any]] | None, view: View | None
) -> dict[str, Any]:
    """Return all that the script reads; without `packed` there are no tables, and no output words in the page.

    `view`: from where an arm is looked at; None for a function.
    """
    model, plan = states.model, states.model.plan
    data: dict[str, Any] = {
        "robot": None if view is None else robot_data(model.robot),
        "view": None if view is None else view.to_plain(),
        "inputs": [_format(word) for word in states.words],
        "outputs": [_format(word) for word in states.outputs],
        "start": states.start,
        "rest": states.rest,
        "truth": states.truth,
        "bounds": list(model.certificate.bounds),
        "plan": None,
        "tables": [],
        "checks": None,
    }
    if packed is not None:
        places = {name: place for place, name in enumerate(model.formats.words)}
        data["plan"] = float_plan_data(plan, places) if plan.in_floats else plan_data(plan, model.tables, places)
        data["tables"] = [_table(*pair) for pair in zip(model.tables, packed, strict=True)]
        inputs, outputs = states.checks
        data["checks"] = {"states": inputs.tolist(), "words": outputs.tolist()}
    return data


def robot_data(robot: Robot) -> dict[str, Any]:
    """Return the arm as its drawing reads it."""
    return {
        "serial": ends_in_tip(robot),
        "positions": list(range(robot.degrees_of_freedom)),  # among the input words
        "joints": [
            {
                "turns": member.turns,
                "rotation": list(map(list, member.joint.rotation)),
                "translation": list(member.joint.translation),
                "centre": list(member.link.centre_of_mass),
                "parent": member.parent,
                "drive": member.drive,
                "multiplier": member.multiplier,
                "offset": member.offset,
            }
            for member in robot.members
        ],
        "tip": {"rotation": list(map(list, robot.tip.rotation)), "translation": list(robot.tip.translation)},
    }


Places = Mapping[str, int]
"""Place of each input of a plan among the script's input words, by name."""


def plan_data(plan: Plan, tables: Sequence[Table], places: Places) -> dict[str, Any]:
    """Return the steps of a plan, each a short list that begins with its kind; `page/plan.js` reads them."""
    words = known_ranges(plan, tables)
    return {
        "wires": [_wire(plan, place, words, places) for place in range(len(plan.wires))],
        "outputs": [[*_summed(output, words), output.low, output.high] for output in plan.outputs],
    }


def float_plan_data(plan: Plan, places: Places) -> dict[str, Any]:
    """Return the steps of a plan in floats likewise; `page/floats.js` reads them."""
    return {
        "precision": plan.floats.name,
        "factors": list(sine_factors(plan.floats)),
        "wires": [_float_wire(plan, wire, places) for wire in plan.wires],
        "outputs": [[output.wire, output.low, output.high] for output in plan.outputs],
    }


def _format(word: Format) -> dict[str, Any]:
    names = ("bits", "signed", "lsb", "centre", "sign", "offset", "unit")
    return {"wraps": word.kind == "angle", **{name: getattr(word, name) for name in names}}


def _table(table: Table, packed: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "widths": list(table.input_widths),
        "bits": table.output_bits,
        "signed": table.signed,
        "bytes": table.values.itemsize,
        "key": table.content_key,
        **packed,
    }


def _wire(plan: Plan, place: int, words: Sequence[Range], places: Places) -> list[Any]:
    match plan.wires[place]:
        case w.Product() as product:
            return _product(product, words)
        case w.Sum() as total:
            return ["sum", *_summed(total, words)]
        case wire:
            return _word_wire(wire, lambda source: words[source].magnitude, places)


def _word_wire(wire: w.Wire, magnitude: Callable[[int], int], places: Places) -> list[Any]:
    """Return a wire that plans of both kinds have, given the largest magnitude of the words it reads."""
    match wire:
        case w.Input(name=name, bits=bits, wraps=wraps):
            return ["input", places[name], bits, int(wraps), int(wire.signed)]
        case w.AngleSum(bits=bits, parts=parts, constant=constant):
            reach = abs(constant) + sum(abs(factor << shift) * magnitude(source) for source, factor, shift in parts)
            wide = reach >= EXACT // 2
            factors = [[source, _number(factor << shift, wide)] for source, factor, shift in parts]
            return ["angle", int(wide), bits, _number(constant, wide), factors]
        case w.Lookup(block=block, wires=wires):
            return ["lookup", block, list(wires)]
        case _:
            raise TypeError(f"only plans of one kind have wires of kind '{wire.kind}'")


def _float_wire(plan: Plan, wire: w.Wire, places: Places) -> list[Any]:
    match wire:
        case w.Number(word=word):
            return ["number", word]
        case w.Constant(value=value):
            return ["constant", plan.floats.nearest(value)]
        case w.Sine(word=word, cosine=cosine, rest=rest):
            bits, turn = plan.bits_of(word), turn_on_grid(rest, plan.floats)
            return ["sine", word, int(cosine), bits, angle_bits(bits, turn, plan.floats), str(turn)]
        case w.Add(left=left, right=right, sign=sign):
            return ["add", left, right, sign]
        case w.Multiply(left=left, right=right):
            return ["multiply", left, right]
        case w.Fused():
            return ["fused", *wire.sources, wire.product_sign, wire.addend_sign]
        case _:
            return _word_wire(wire, lambda source: plan.range_of(source).magnitude, places)


def _product(wire: w.Product, words: Sequence[Range]) -> list[Any]:
    left, right = words[wire.left].magnitude, words[wire.right].magnitude
    wide = max(left * right + (1 << wire.shift), left, right) >= EXACT
    return ["product", int(wide), wire.method, wire.left, wire.right, wire.shift, wire.block, wire.piece_bits]


def _summed(each: w.Sum | w.Output, words: Sequence[Range]) -> list[Any]:
    """Return whether a sum is wide, its shift, its constant and its parts."""
    sizes = [abs(factor) * words[wire].magnitude for wire, factor in each.parts]
    factors = [abs(factor) for _, factor in each.parts]
    wide = max([sum(sizes) + abs(each.constant) + (1 << each.shift), *factors]) >= EXACT
    parts = [[wire, _number(factor, wide)] for wire, factor in each.parts]
    return [int(wide), each.shift, _number(each.constant, wide), parts]


def _number(value: int, wide: bool) -> int | str:
    return str(value) if wide else value


def pack(table: Table) -> dict[str, Any]:
    """Return a table in the way that takes the fewest bytes, as plain data for JSON.

    Returns
    -------
    rows : how many words there are
    differences : how often neighbours were subtracted: 0, 1 or 2
    planes : bytes a word that are kept; those above are zero
    data : deflated bytes (zlib), the least significant byte of every word first, in base 64
    """
    words = table.values.astype(np.int64)
    tried = []
    for differences in range(MAX_DIFFERENCES + 1):
        folded = _folded(words)
        planes = max(1, -(-int(folded.max()).bit_length() // 8))
        tried.append((zlib.compress(_planes(folded, planes), 9), planes, differences))
        words = np.diff(words, prepend=np.int64(0))
    data, planes, differences = min(tried, key=lambda each: len(each[0]))
    encoded = base64.b64encode(data).decode("ascii")
    return {"rows": len(words), "differences": differences, "planes": planes, "data": encoded}


def _folded(words: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return differences, brought to 32 bits, as numbers of at least 0: twice as large, odd ones for negative ones."""
    held = words.astype(np.int32).astype(np.int64)
    return np.asarray((held << 1) ^ (held >> 63)) & 0xFFFFFFFF


def _planes(folded: npt.NDArray[np.int64], planes: int) -> bytes:
    as_bytes = np.ascontiguousarray(folded.astype("<u4")).view(np.uint8).reshape(-1, BYTES_A_WORD)
    return np.ascontiguousarray(as_bytes[:, :planes].T).tobytes()
