"""The baseline F: what a model computes in float32, customised for it, with a sine table; nothing is proved of it.

It takes the same words, tests and clamps them in the same way, and gives words. Sines of angle words come from a
quarter wave of floats; where an angle is not a word, or not turned by quarters, from libm.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from bddtorque.bench.baseline import Baseline
from bddtorque.dynamics.graph import Op
from bddtorque.export.c_inputs import take_inputs
from bddtorque.export.c_signature import CSignature
from bddtorque.export.c_source import used_helpers
from bddtorque.export.c_sums import Value
from bddtorque.export.c_text import ConstantArray, integer, real, unsigned
from bddtorque.model.model import Model
from bddtorque.targets.extra_terms import LawTerm
from bddtorque.words.formats import Format
from bddtorque.words.friction import Friction
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


def float_files(model: Model, baseline: Baseline, signature: CSignature, rom: str) -> dict[str, str]:
    """Return ``baseline.h`` and ``baseline.c``: a model's function in float32; `rom` says where tables lie."""
    writer = _CWriter(baseline, model.formats)
    values = {name: Value(f"w_{name}", word_range(32), 32) for name in model.formats.words}
    lines = [*take_inputs(signature, values), *writer.lines()]
    for k, word in enumerate(signature.outputs):
        scale, centre = word.sign / word.lsb, (word.sign * word.offset + word.centre) / word.lsb
        rest = f" - {_float(centre)}" if centre else ""
        lines.append(f"    const float r{k} = {writer.output(k)} * {_float(scale)}{rest};")
        rounded = f"(int32_t)((r{k} < 0.0f) ? r{k} - 0.5f : r{k} + 0.5f)"
        ends = ", ".join(integer(end, 32) for end in word_range(word.bits))
        lines.append(f"    {signature.result}[{k}] = ({signature.type})clamped32({rounded}, {ends});")
    used = [f"    (void){value.name};" for value in values.values()]
    call = signature.call("baseline")
    body = "\n".join([*lines, *used])
    function = f"{call.prototype}\n{{\n    int outside = 0;\n{body}\n    return outside;\n}}\n"
    includes = '#include "baseline.h"\n#include <math.h>\n'
    code = "\n".join([*writer.tables(), function])
    return {
        "baseline.h": f"#include <stdint.h>\n{call.prototype};\n",
        "baseline.c": "\n".join([includes, rom, used_helpers(code, signature), code]),
    }


def _float(value: float) -> str:
    return real(float(np.float32(value)), "f")


class _CWriter:
    """Writes the nodes of a graph as floats v<k>."""

    def __init__(self, baseline: Baseline, formats: Interface) -> None:
        self.graph, self.laws, self.formats, self.words = baseline.graph, baseline.laws, formats, formats.words
        self.bits: set[int] = set()
        self.arrays: list[ConstantArray] = []

    def take(self, reference: int) -> str:
        """Return a value with its sign."""
        node = self.graph.nodes[reference >> 1]
        value = _float(node.value) if node.op is Op.CONSTANT else f"v{reference >> 1}"
        return f"(-{value})" if reference & 1 else value

    def angle(self, reference: int) -> tuple[Format, str, int] | None:
        """Return the word of an angle and the quarters that are added to it; None if it is anything else."""
        node, rest = self.graph.nodes[reference >> 1], 0.0
        if node.op is Op.SUM:
            for mine, other in ((node.left, node.right), (node.right, node.left)):
                constant = self.graph.nodes[other >> 1]
                if constant.op is Op.CONSTANT and not mine & 1:
                    node, rest = self.graph.nodes[mine >> 1], constant.value * (-1 if other & 1 else 1)
                    break
        if node.op is not Op.INPUT or reference & 1 or node.name not in self.words:
            return None
        word = self.words[node.name]
        quarters = (rest + word.offset) / QUARTER
        if word.kind != "angle" or abs(quarters - round(quarters)) > 1e-9 or word.bits > MAX_TABLE_BITS:
            return None
        return word, f"w_{node.name}", round(quarters)

    def read(self) -> set[int]:
        """Return the nodes that are floats: an angle that only tables read, and what is made of it, are not."""
        read, waiting = set(), [reference >> 1 for reference in self.graph.outputs]
        while waiting:
            k = waiting.pop()
            node = self.graph.nodes[k]
            if k in read or node.op is Op.CONSTANT:
                continue
            read.add(k)
            if node.op in (Op.SUM, Op.PRODUCT):
                waiting += [node.left >> 1, node.right >> 1]
            elif node.op is not Op.INPUT and self.angle(node.left) is None:
                waiting.append(node.left >> 1)
        return read

    def lines(self) -> Iterator[str]:
        """Yield the statements of all nodes that are read."""
        for k in sorted(self.read()):
            node = self.graph.nodes[k]
            match node.op:
                case Op.INPUT:
                    text = self.value(node.name)
                case Op.SUM:
                    text = f"{self.take(node.left)} + {self.take(node.right)}"
                case Op.PRODUCT:
                    text = f"{self.take(node.left)} * {self.take(node.right)}"
                case _:
                    text = self._turned(node.left, node.op)
            yield f"    const float v{k} = {text};"

    def value(self, name: str) -> str:
        """Return what an input word, or one derived from them, stands for."""
        if name in self.words:
            word, text = self.words[name], f"w_{name}"
            scale, centre = word.sign * word.lsb, word.sign * word.centre + word.offset
        else:
            (derived,) = [each for each in self.formats.derived if each.name == name]
            total = " + ".join(f"(uint32_t){factor} * (uint32_t)w_{part}" for part, factor in derived.parts)
            text = f"wrapped32({total}, {derived.argument.bits}u)"
            scale, centre = float(derived.argument.scale), 0.0
        return f"(float){text} * {_float(scale)}{f' + {_float(centre)}' if centre else ''}"

    def output(self, k: int) -> str:
        """Return an output, with the laws that are added to it."""
        total = [self.take(self.graph.outputs[k])]
        total += [self._law(term) for term in self.laws if term.output == k]
        return total[0] if len(total) == 1 else f"({' + '.join(total)})"

    def _law(self, term: LawTerm) -> str:
        """Return a law of one word: arithmetic if it can be, or a table of all words."""
        word, law, value = self.words[term.name], term.law, f"({self.value(term.name)})"
        if isinstance(law, Friction) and law.static is None:
            forward, backward = law.coulomb  # type: ignore[misc]
            still = _float(law.standstill)
            dry = f"{value} < -{still} ? {_float(-backward)} : 0.0f"
            return f"({value} * {_float(law.viscous)} + ({value} > {still} ? {_float(forward)} : {dry}))"
        half = 1 << (word.bits - 1)
        values = np.asarray(law(word.dequantise(np.arange(-half, half)))).astype(np.float32)
        self.arrays.append(ConstantArray(f"law_{len(self.arrays)}", "float", values))
        return f"{self.arrays[-1].name}[w_{term.name} + {half}]"

    def _turned(self, reference: int, op: Op) -> str:
        found = self.angle(reference)
        if found is None:
            return f"{'sinf' if op is Op.SINE else 'cosf'}({self.take(reference)})"
        word, name, quarters = found
        self.bits.add(word.bits)
        quarters = (quarters - (op is Op.SINE)) % 4
        place = f"(uint16_t){'-' if word.sign < 0 else ''}{name}"
        if quarters:
            place = f"(uint16_t)({place} + {unsigned(quarters << (word.bits - 2))})"
        return f"cosine_{word.bits}({place})"

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
