"""A reader of .bdt files written from docs/format.md alone: nothing of bddtorque is used here."""

import json
import struct
import zlib
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
from bdt_files import ARRAYS, diagram_digest_of, digest_of, npy_of, sha256, table_key, zip_of


def read(data: bytes) -> tuple[dict[str, Any], list[dict[str, list[int]]]]:
    """Return the header and the arrays of each block, every byte and digest checked."""
    entries = {}
    place = 0
    while data[place : place + 4] == b"PK\3\4":
        crc, stored, size, name_length = struct.unpack_from("<IIIH", data, place + 14)
        name = data[place + 30 : place + 30 + name_length].decode("ascii")
        place += 30 + name_length
        entries[name] = data[place : place + size]
        assert stored == size and zlib.crc32(entries[name]) == crc
        place += size
    assert zip_of(entries) == data
    header = json.loads(entries.pop("header.json"))
    assert json.dumps(header, indent=1, ensure_ascii=False).encode() == data[41 : 41 + len(json_text(header))]
    assert header["format"] == "bddtorque model" and header["version"] == 1
    assert list(header["arrays"].items()) == [(name, sha256(entry)) for name, entry in entries.items()]
    assert header["digest"] == digest_of(header)
    assert header["diagram_digest"] == diagram_digest_of(header, entries)
    blocks = []
    for k in range(len(header["plan"]["blocks"])):
        arrays = {}
        for name, descr in ARRAYS.items():
            entry, size = entries.pop(f"blocks/{k}/{name}.npy"), int(descr[-1])
            arrays[name] = [number for (number,) in struct.iter_unpack("<h" if size == 2 else "<i", entry[128:])]
            assert npy_of(arrays[name], descr) == entry
        blocks.append(arrays)
    assert entries == {}
    return header, blocks


def json_text(header: dict[str, Any]) -> bytes:
    return json.dumps(header, indent=1, ensure_ascii=False).encode()


def widths_of(block: dict[str, Any]) -> list[int]:
    match block["kind"]:
        case "function":
            return [argument[1] for argument in block["arguments"]]
        case "product":
            return block["widths"]
        case _:
            return [block["bits"]]


def output_of(block: dict[str, Any]) -> tuple[int, bool]:
    """Return the bits of the output word and whether it is signed."""
    if block["kind"] == "square":
        return max(1, (4 ** (block["bits"] - 2)).bit_length()), False
    low, high = block["low"], block["high"]
    if block["kind"] == "product" and not block["signed"]:
        return max(1, high.bit_length()), False
    return next(bits for bits in range(1, 32) if -(2 ** (bits - 1)) <= low and high < 2 ** (bits - 1)), True


def expanded(arrays: dict[str, list[int]], signed: bool) -> list[int]:
    """Return the table of a diagram, every root followed at every index."""
    order, variables = arrays["order"], len(arrays["order"])
    values = []
    for index in range(2**variables):
        word = 0
        for bit, edge in enumerate(arrays["roots"]):
            while edge > 1:
                node = edge >> 1
                variable = order[arrays["level"][node]]
                side = arrays["high" if index >> (variables - 1 - variable) & 1 else "low"]
                edge = side[node] ^ (edge & 1)  # noqa: PLW2901 - walking
            word += edge * (-(2**bit) if signed and bit == len(arrays["roots"]) - 1 else 2**bit)
        values.append(word)
    return values


def tabulated(block: dict[str, Any]) -> list[int]:
    """Return the table of a block by its definition."""
    signed = block["kind"] != "product" or block["signed"]
    words = [
        [index - (2**width if signed and index >= 2 ** (width - 1) else 0) for index in range(2**width)]
        for width in widths_of(block)
    ]
    match block["kind"]:
        case "product":
            return [shifted(x * y, block["shift"]) for x, y in product(*words)]
        case "square":
            return [x * x // 4 for x in words[0]]
    with mpmath.workdps(40):
        lsb = Fraction(block["lsb"])
        return [nearest(function(block, state) * lsb.denominator / lsb.numerator) for state in product(*words)]


def function(block: dict[str, Any], words: tuple[int, ...]) -> Any:
    inputs = {}
    for k, ((kind, bits, scale, centre), word) in enumerate(zip(block["arguments"], words, strict=True)):
        exact = Fraction(scale) * word
        unit = 2 * mpmath.pi / 2**bits if kind == "angle" else mpmath.mpf(1)
        inputs[f"x{k}"] = unit * exact.numerator / exact.denominator + rational(centre)
    values: list[Any] = []

    def at(reference: int) -> Any:
        return -values[reference >> 1] if reference & 1 else values[reference >> 1]

    for operation, left, right, name, value in block["graph"]["nodes"]:
        match operation:
            case 0:
                values.append(inputs[name])
            case 1:
                values.append(mpmath.mpf(float.fromhex(value)))
            case 2:
                values.append(at(left) + at(right))
            case 3:
                values.append(at(left) * at(right))
            case 4:
                values.append(mpmath.sin(at(left)))
            case 5:
                values.append(mpmath.cos(at(left)))
    return at(block["graph"]["outputs"][0])


def rational(text: str) -> Any:
    exact = Fraction(text)
    return mpmath.mpf(exact.numerator) / exact.denominator


def nearest(x: Any) -> int:
    """Round to nearest, ties away from zero; what is within 10^-25 of a tie is one."""
    magnitude = int(mpmath.floor(abs(x) + mpmath.mpf("0.5") + mpmath.mpf("1e-25")))
    return magnitude if x >= 0 else -magnitude


def shifted(x: int, shift: int) -> int:
    """Return floor(x/2^shift + 1/2)."""
    return (2 * x + 2**shift) >> (shift + 1)


def run(plan: dict[str, Any], tables: list[list[int]], inputs: dict[str, int]) -> list[int]:
    """Return the torque words of one state, with look-ups and sums only."""
    words: list[int] = []

    def look_up(block: int, given: list[int]) -> int:
        index = 0
        for word, width in zip(given, widths_of(plan["blocks"][block]), strict=True):
            index = index << width | word % 2**width
        return tables[block][index]

    for wire in plan["wires"]:
        match wire["kind"]:
            case "input":
                half = 2 ** (wire["bits"] - 1)
                given = inputs[wire["name"]]
                words.append((given + half) % (2 * half) - half if wire["wraps"] else max(-half, min(half - 1, given)))
            case "angle_sum":
                half = 2 ** (wire["bits"] - 1)
                total = sum(multiplier * words[k] * 2**shift for k, multiplier, shift in wire["parts"])
                words.append((total + wire["constant"] + half) % (2 * half) - half)
            case "lookup":
                words.append(look_up(wire["block"], [words[k] for k in wire["wires"]]))
            case "product":
                words.append(multiplied(wire, words[wire["left"]], words[wire["right"]], look_up))
            case "sum":
                words.append(summed(wire, words))
    return [max(output["low"], min(output["high"], summed(output, words))) for output in plan["outputs"]]


def summed(each: dict[str, Any], words: list[int]) -> int:
    return shifted(sum(factor * words[k] for k, factor in each["parts"]) + each["constant"], each["shift"])


def multiplied(wire: dict[str, Any], a: int, b: int, look_up: Any) -> int:
    block, shift = wire["block"], wire["shift"]
    match wire["method"]:
        case "block":
            return look_up(block, [a, b])
        case "squares":
            return shifted(look_up(block, [a + b]) - look_up(block, [a - b]), shift)
    size, exact = wire["limb_bits"], 0
    for i in range(64 // size):
        for j in range(64 // size):
            limbs = [abs(a) >> (i * size), abs(b) >> (j * size)]
            exact += look_up(block, limbs) << ((i + j) * size) if all(limbs) else 0
    return shifted(exact if (a < 0) == (b < 0) else -exact, shift)


def keys(header: dict[str, Any], tables: list[list[int]]) -> list[str]:
    blocks = header["plan"]["blocks"]
    return [
        table_key(values, widths_of(block), *output_of(block)) for block, values in zip(blocks, tables, strict=True)
    ]
