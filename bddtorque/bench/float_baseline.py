"""The baseline F: what a model computes in float32, customised for it, with a sine table; nothing is proved of it.

It takes the same words, tests and clamps them in the same way, and gives words. Sines of angle words come from a
quarter wave of floats; where an angle is not a word, or not turned by quarters, from libm.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from bddtorque.bench.peers import GraphWriter
from bddtorque.compiler.origin import TrueGraph
from bddtorque.dynamics.graph import Node, Op
from bddtorque.export.c_call import CSignature
from bddtorque.export.c_source import used_helpers
from bddtorque.export.c_steps import take_inputs
from bddtorque.export.c_sums import Value
from bddtorque.export.c_text import ConstantArray, HelperCalls, integer, real, unsigned
from bddtorque.model.model import Model
from bddtorque.words.integer_range import word_range
from bddtorque.words.interface import Interface

TABLE = """\
static inline float cosine_{bits}(uint16_t word)
{{
    uint16_t place = (uint16_t)(word & {mask});

    if (place > {half}) {{
        place = (uint16_t)({turn} - place);
    }}
    return (place > {quarter}) ? -cosines_{bits}[{half} - place] : cosines_{bits}[place];
}}
"""
MAX_TABLE_BITS = 14
QUARTER = math.pi / 2


def float_files(model: Model, baseline: TrueGraph, signature: CSignature, rom: str) -> dict[str, str]:
    """Return ``baseline.h`` and ``baseline.c``: a model's function in float32; `rom` says where tables lie."""
    writer = _CWriter(baseline, model.formats)
    values = {name: Value(f"w_{name}", word_range(32), 32) for name in model.formats.words}
    calls, kind = HelperCalls({"clamped32"}), signature.type_of(signature.result)
    lines = [*take_inputs(signature, values, calls), *(f"    {line}" for line in writer.statements())]
    for k, word in enumerate(signature.outputs):
        scale, centre = word.sign / word.lsb, (word.sign * word.offset + word.centre) / word.lsb
        rest = f" - {writer.constant(centre)}" if centre else ""
        lines.append(f"    {writer.statement.format(f'r{k}', f'{writer.output(k)} * {writer.constant(scale)}{rest}')}")
        rounded = f"(int32_t)((r{k} < 0.0f) ? r{k} - 0.5f : r{k} + 0.5f)"
        ends = ", ".join(integer(end, 32) for end in (word.lowest, word.highest))
        lines.append(f"    {signature.result}[{k}] = ({kind})clamped32({rounded}, {ends});")
    used = [f"    (void){value.name};" for value in values.values()]
    call = signature.call("baseline")
    body = "\n".join([*lines, *used])
    function = f"{call.prototype}\n{{\n    int outside = 0;\n{body}\n    return outside;\n}}\n"
    includes = '#include "baseline.h"\n#include <math.h>\n'
    code = "\n".join([*writer.tables(), function])
    return {
        "baseline.h": f"#include <stdint.h>\n{call.prototype};\n",
        "baseline.c": "\n".join([includes, rom, used_helpers(calls, signature), code]),
    }


class _CWriter(GraphWriter):
    """Writes C."""

    word = "w_{name}"
    factor = "(uint32_t){factor} * (uint32_t){text}"
    wrapped = "wrapped32({total}, {bits}u)"
    cast = "(float){}"
    choice = "({condition} ? {first} : {second})"
    statement = "const float {} = {};"

    def __init__(self, baseline: TrueGraph, formats: Interface) -> None:
        super().__init__(baseline.graph, formats, baseline.laws)
        self.bits: set[int] = set()
        self.arrays: list[ConstantArray] = []

    def constant(self, value: float) -> str:
        return real(float(np.float32(value)), "f")

    def table(self, values: Any) -> str:
        self.arrays.append(ConstantArray(f"law_{len(self.arrays)}", "float", values.astype(np.float32)))
        return self.arrays[-1].name

    def tabled_angle(self, node: Node) -> tuple[str, float] | None:
        """Return the word of an angle and the quarters that are added to it."""
        name, rest = self.angle(node) or ("", 0.0)
        if not name or self.words[name].bits > MAX_TABLE_BITS:
            return None
        quarters = (rest + self.words[name].centre) / QUARTER
        return (name, round(quarters)) if abs(quarters - round(quarters)) <= 1e-9 else None

    def sine(self, k: int, node: Node) -> Iterator[str]:
        angle = self.tabled_angle(node)
        if angle is None:
            yield self.statement.format(f"v{k}", f"{'sinf' if node.op is Op.SINE else 'cosf'}({self.take(node.left)})")
            return
        name, quarters = angle
        word = self.words[name]
        self.bits.add(word.bits)
        turned = int(quarters - (node.op is Op.SINE)) % 4
        place = f"(uint16_t){'-' if word.scale < 0 else ''}{word.text}"
        if turned:
            place = f"(uint16_t)({place} + {unsigned(turned << (word.bits - 2))})"
        yield self.statement.format(f"v{k}", f"cosine_{word.bits}({place})")

    def tables(self) -> list[str]:
        """Return the tables, and the functions that read them."""
        texts = [array.text() for array in self.arrays]
        for bits in sorted(self.bits):
            turn = 1 << bits
            wave = np.cos(2 * np.pi * np.arange(turn // 4 + 1) / turn).astype(np.float32)
            wave[-1] = 0.0
            texts.append(ConstantArray(f"cosines_{bits}", "float", wave).text())
            sizes = {"mask": turn - 1, "half": turn // 2, "turn": turn, "quarter": turn // 4}
            texts.append(TABLE.format(bits=bits, **{name: unsigned(size) for name, size in sizes.items()}))
        return texts
