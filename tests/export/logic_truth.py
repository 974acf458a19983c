"""The 2R arm as logic, made from its equations alone: term tables rounded from floats, and sums of their words.

Nothing here comes from the package but the interface: input words of a few bits (a turn; ±1 rad/s; ±1 rad/s²), torque
words of 4 bits (±200 and ±100 N·m), and the rule of the Boolean/BDD paper: a term has two bits more than a torque, and
the sum of the terms is rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

BITS, EXTRA = 4, 2
WORDS = ("q1", "q2", "qd1", "qd2", "qdd1", "qdd2")
RANGES = {"tau1": 200.0, "tau2": 100.0}
G = 9.81
TERMS: dict[str, list[tuple[tuple[str, ...], Callable[..., float]]]] = {
    "tau1": [
        (("q2", "qdd1"), lambda q2, a: (15.75 + 10 * math.cos(q2)) * a),
        (("q2", "qdd2"), lambda q2, a: (4 + 5 * math.cos(q2)) * a),
        (("q2", "qd2"), lambda q2, v: -5 * math.sin(q2) * v * v),
        (("q2", "qd1", "qd2"), lambda q2, v1, v2: -10 * math.sin(q2) * v1 * v2),
        (("q1",), lambda q1: 6.75 * G * math.cos(q1)),
        (("q1", "q2"), lambda q1, q2: 5 * G * math.cos(q1 + q2)),
    ],
    "tau2": [
        (("q2", "qdd1"), lambda q2, a: (4 + 5 * math.cos(q2)) * a),
        (("qdd2",), lambda a: 9 * a),
        (("q2", "qd1"), lambda q2, v: 5 * math.sin(q2) * v * v),
        (("q1", "q2"), lambda q1, q2: 5 * G * math.cos(q1 + q2)),
    ],
}
"""Of each torque: the input words of a term, and its value (N·m) at what they stand for."""
WIDTH = BITS + EXTRA
"""Of a term's word; no term leaves it, and four bits more hold every sum."""


def value(name: str, word: int, bits: int) -> float:
    """Return what an input word stands for."""
    return (2.0 if name.startswith("qd") else 2 * math.pi) * word / (1 << bits)


def entries(torque: str, term: int, bits: int) -> list[tuple[int, int]]:
    """Return (index, word) of a term's table; the index is its input words joined, the first most significant."""
    names, function = TERMS[torque][term]
    unit = 2 * RANGES[torque] / (1 << WIDTH)
    found = []
    for index, patterns in enumerate(product(range(1 << bits), repeat=len(names))):
        words = [pattern - (1 << bits) if pattern >> (bits - 1) else pattern for pattern in patterns]
        exact = function(*(value(name, word, bits) for name, word in zip(names, words, strict=True))) / unit
        rounded = int(math.copysign(math.floor(abs(exact) + 0.5 + 1e-12), exact))  # ties away from zero
        found.append((index, rounded))
    return found


def verilog(bits: int) -> str:
    """Return the arm for input words of so many bits in Verilog, with ports of one bit each."""
    inputs = [f"{name}_{bit}" for name in WORDS for bit in range(bits)]
    outputs = [f"{name}_{bit}" for name in RANGES for bit in range(BITS)]
    lines = [
        f"module gold({', '.join([f'input {name}' for name in inputs] + [f'output {name}' for name in outputs])});"
    ]
    for name in WORDS:
        joined = ", ".join(f"{name}_{bit}" for bit in reversed(range(bits)))
        lines.append(f"  wire [{bits - 1}:0] {name} = {{{joined}}};")
    for torque, terms in TERMS.items():
        for k, (names, _) in enumerate(terms):
            lines += [f"  reg signed [{WIDTH - 1}:0] {torque}_{k}t;", f"  always @* case ({{{', '.join(names)}}})"]
            size = bits * len(names)
            lines += [f"    {size}'d{index}: {torque}_{k}t = {word};" for index, word in entries(torque, k, bits)]
            lines.append("  endcase")
        total = " + ".join(f"{torque}_{k}t" for k in range(len(terms)))
        lines += [
            f"  wire signed [9:0] {torque}_sum = {total};",
            f"  wire signed [9:0] {torque}_word = ({torque}_sum + 10'sd2) >>> {EXTRA};",
            f"  wire [3:0] {torque} = {torque}_word > 7 ? 4'd7 : {torque}_word < -8 ? 4'd8 : {torque}_word[3:0];",
            *(f"  assign {torque}_{bit} = {torque}[{bit}];" for bit in range(BITS)),
        ]
    return "\n".join([*lines, "endmodule", ""])


def blif(bits: int) -> str:
    """Return the arm for input words of so many bits in BLIF: tables as sums of minterms, sums by ripple carry."""
    inputs = [f"{name}_{bit}" for name in WORDS for bit in range(bits)]
    outputs = [f"{name}_{bit}" for name in RANGES for bit in range(BITS)]
    lines = [".model gold", f".inputs {' '.join(inputs)}", f".outputs {' '.join(outputs)}", ".names no"]
    for torque, terms in TERMS.items():
        for k, (names, _) in enumerate(terms):
            table, size = entries(torque, k, bits), bits * len(names)
            pins = " ".join(f"{name}_{bit}" for name in names for bit in reversed(range(bits)))
            for bit in range(WIDTH):
                rows = [f"{index:0{size}b} 1" for index, word in table if word >> bit & 1]
                lines += [f".names {pins} {torque}t{k}_{bit}" if rows else f".names {torque}t{k}_{bit}", *rows]
        # the rounding comes first, as a word of its own: 2
        lines += [f".names {torque}s0_1", "1"]
        sums = [f"{torque}s0_1" if bit == 1 else "no" for bit in range(10)]
        for k in range(len(terms)):
            carry, after = "no", []
            for bit in range(10):
                one, other = sums[bit], f"{torque}t{k}_{min(bit, WIDTH - 1)}"
                total, over = f"{torque}s{k + 1}_{bit}", f"{torque}c{k + 1}_{bit}"
                lines += [f".names {one} {other} {carry} {total}", "100 1", "010 1", "001 1", "111 1"]
                lines += [f".names {one} {other} {carry} {over}", "11- 1", "1-1 1", "-11 1"]
                after.append(total)
                carry = over
            sums = after
        sign, top = sums[9], sums[EXTRA + BITS - 1]
        between = " ".join(sums[EXTRA + BITS - 1 : 9])
        count = 9 - (EXTRA + BITS - 1)
        lines += [
            f".names {sign} {between} {torque}high",
            *(f"0{'-' * j}1{'-' * (count - 1 - j)} 1" for j in range(count)),
        ]
        lines += [
            f".names {sign} {between} {torque}low",
            *(f"1{'-' * j}0{'-' * (count - 1 - j)} 1" for j in range(count)),
        ]
        for bit in range(BITS - 1):
            lines += [f".names {torque}high {torque}low {sums[EXTRA + bit]} {torque}_{bit}", "1-- 1", "-01 1"]
        lines += [f".names {torque}high {torque}low {top} {torque}_{BITS - 1}", "-1- 1", "0-1 1"]
    return "\n".join([*lines, ".end", ""])
