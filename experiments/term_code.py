"""The other ways to compute a term that `term_times.py` compares, as C from words to a word; and times on this PC."""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bddtorque.dynamics.graph import Graph, Op
from bddtorque.export.c_call import CCall
from bddtorque.export.c_term import TermFunction
from bddtorque.export.folder import MANIFEST

REPEATS = 2000


def write_folder(folder: Path, term: TermFunction, includes: str, body: str) -> Path:
    """Write a folder of C with a function f of the term's words, which returns the term's word."""
    folder.mkdir(parents=True, exist_ok=True)
    call = term.call("f")
    (folder / "f.h").write_text(f"#include <stdint.h>\n{call.prototype};\n")
    (folder / "f.c").write_text(f'{includes}#include "f.h"\n\n{call.prototype}\n{{\n{body}}}\n')
    (folder / MANIFEST).write_text(json.dumps({"call": call.to_plain()}))
    return folder


def float_code(graph: Graph, term: TermFunction, folder: Path) -> Path:
    """Write a graph in float32 with the sines of libm: what a processor without a floating-point unit emulates."""
    words = dict(zip(term.inputs.values(), term.formats, strict=True))
    lines = []

    def take(reference: int) -> str:
        return f"{'-' if reference & 1 else ''}v{reference >> 1}"

    for k, node in enumerate(graph.nodes):
        match node.op:
            case Op.INPUT:
                word = words[node.name]
                rest = word.sign * word.centre + word.offset
                value = f"(float){node.name} * {_real(word.sign * word.lsb)}{f' + {_real(rest)}' if rest else ''}"
            case Op.CONSTANT:
                value = _real(node.value)
            case Op.SUM:
                value = f"{take(node.left)} + {take(node.right)}"
            case Op.PRODUCT:
                value = f"{take(node.left)} * {take(node.right)}"
            case _:
                value = f"{'sinf' if node.op is Op.SINE else 'cosf'}({take(node.left)})"
        lines.append(f"    const float v{k} = {value};\n")
    unit = _real(term.torque.sign / float(term.output.lsb))
    lines.append(f"    const float r = ({take(graph.outputs[0])}) * {unit};\n\n")
    lines.append(f"    return ({term.result})(r < 0.0f ? r - 0.5f : r + 0.5f);\n")
    return write_folder(folder, term, "#include <math.h>\n", "".join(lines))


def fixed_code(letter: str, term: TermFunction, folder: Path) -> Path:
    """Write a term of the 2R arm as an engineer would tune it: tables of 16-bit sines, products, shifts by bytes."""
    lsb, bits = float(term.output.lsb), term.formats[0].bits
    size, half = 1 << bits, 1 << (bits - 1)
    word = "int8_t" if bits <= 8 else "int16_t"
    if letter == "c":  # 9 q̈2
        factor = round(9 / half / lsb * 65536)
        body = f"    return ({term.result})(((int32_t)qdd2 * {factor} + 32768) >> 16);\n"
        return write_folder(folder, term, "", body)
    if letter == "b":  # 6.75 g cos q1: one cosine serves all terms, so that its scale is its own
        factor = round(6.75 * 9.81 / lsb / 16384 * 65536)
        table = [round(16384 * math.cos(2 * math.pi * k / size)) for k in range(size)]
        place = f"(uint16_t)q1 & {size - 1}u"
        body = f"    return ({term.result})(((int32_t)turn[{place}] * {factor} + 32768) >> 16);\n"
    else:  # ∓5 sin q2 q̇²: the square with 14 bits, the table such that three whole bytes are left over
        scale = (-5 if letter == "a" else 5) / lsb * 1024
        table = [round(scale * math.sin(2 * math.pi * k / size)) for k in range(size)]
        speed, shift = ("qd2" if letter == "a" else "qd1"), 2 * bits - 16
        square = f"(int16_t)({word})v * ({word})v" if bits <= 8 else "(int32_t)v * v"
        moved = f"({square}) >> {shift}" if shift > 0 else f"({square}) << {-shift}" if shift else square
        body = (
            f"    const {word} v = ({word}){speed};\n    const int16_t u = (int16_t)({moved});\n\n"
            f"    return ({term.result})(((int32_t)turn[(uint16_t)q2 & {size - 1}u] * u + 8388608) >> 24);\n"
        )
    rom = "#ifndef BDDTORQUE_ROM\n#define BDDTORQUE_ROM\n#endif\n#include <stdint.h>\n"
    numbers = ", ".join(map(str, table))
    return write_folder(folder, term, f"{rom}static const BDDTORQUE_ROM int16_t turn[{size}] = {{{numbers}}};\n", body)


def _real(value: float) -> str:
    return f"{float(np.float32(value))!r}f"


CLOCK = """\
#include <stdio.h>
#include <time.h>
#include "%s"
int32_t in[%d], out[%d];
__attribute__((noinline)) static void call(void) { %s }
int main(void)
{
    while (fread(in, sizeof in, 1, stdin) == 1) {
        double best = 1e9;
        int round, k;
        for (round = 0; round < 7; round++) {
            struct timespec begun, ended;
            clock_gettime(CLOCK_MONOTONIC, &begun);
            for (k = 0; k < %d; k++) { call(); __asm__ volatile("" ::: "memory"); }
            clock_gettime(CLOCK_MONOTONIC, &ended);
            double taken = (double)(ended.tv_sec - begun.tv_sec) * 1e9 + (double)(ended.tv_nsec - begun.tv_nsec);
            best = taken < best * %d ? taken / %d : best;
        }
        printf("%%ld %%.3f\\n", (long)out[0], best);
    }
    return 0;
}
"""


@dataclass(frozen=True, eq=False)
class OnThisMachine:
    """A run of a folder of C here: words and nanoseconds of a call (N,)."""

    words: Any
    net: Any
    flash: int = 0


def time_here(folder: Path, states: Any) -> OnThisMachine:
    """Compile a folder for this machine and time it on each state, repeated; the best of seven rounds."""
    call = CCall.read(folder)
    main = folder / "clock.c"
    main.write_text(
        CLOCK % (call.header, call.inputs, call.outputs, call.statement, REPEATS, REPEATS, REPEATS), encoding="ascii"
    )
    program = folder / "clock"
    sources = [str(folder / name) for name in call.sources]
    subprocess.run(["cc", "-O2", f"-I{folder}", "-o", str(program), str(main), *sources, "-lm"], check=True)
    given = np.ascontiguousarray(states, "=i4").tobytes()
    told = subprocess.run([program], input=given, capture_output=True, check=True).stdout.decode().split()
    return OnThisMachine(np.array(told[::2], np.int64)[:, None], np.array(told[1::2], float))


def true_words(graph: Graph, term: TermFunction, states: Any) -> Any:
    """Return the real value of a term at states (N, inputs), in units of its word."""
    words = zip(term.inputs.values(), term.formats, states.T, strict=True)
    values = {name: word.dequantise(column) for name, word, column in words}
    value: Callable[..., Any] = graph.evaluate
    return np.asarray(value({name: values[name] for name in graph.input_names})[0]) * (
        term.torque.sign / float(term.output.lsb)
    )
