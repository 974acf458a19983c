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


def multiplexers(name: str, pins: list[str], column: list[int], made: dict[tuple[str, str, str], str]) -> list[str]:
    """Return a function given by its truth table as a tree of multiplexers that ends in a net; equal ones once."""
    lines: list[str] = []
    nets = ["yes" if value else "no" for value in column]
    for pin in reversed(pins):
        joined = []
        for low, high in zip(nets[::2], nets[1::2], strict=True):
            if low != high and (pin, low, high) not in made:
                made[pin, low, high] = f"m{len(made)}"
                lines += [f".names {pin} {high} {low} {made[pin, low, high]}", "11- 1", "0-1 1"]
            joined.append(low if low == high else made[pin, low, high])
        nets = joined
    return [*lines, f".names {nets[0]} {name}", "1 1"]


def blif(bits: int) -> str:
    """Return the arm for input words of so many bits in BLIF: tables as multiplexers, sums by ripple carry."""
    inputs = [f"{name}_{bit}" for name in WORDS for bit in range(bits)]
    outputs = [f"{name}_{bit}" for name in RANGES for bit in range(BITS)]
    lines = [".model gold", f".inputs {' '.join(inputs)}", f".outputs {' '.join(outputs)}"]
    lines += [".names no", ".names yes", "1"]
    made: dict[tuple[str, str, str], str] = {}
    for torque, terms in TERMS.items():
        for k, (names, _) in enumerate(terms):
            words = [word for _, word in entries(torque, k, bits)]
            pins = [f"{name}_{bit}" for name in names for bit in reversed(range(bits))]
            for bit in range(WIDTH):
                lines += multiplexers(f"{torque}t{k}_{bit}", pins, [word >> bit & 1 for word in words], made)
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
