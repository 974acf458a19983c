"""The baseline F: the recursion of a robot in float32, customised for it, with a sine table; nothing is proved of it.

It takes the same words, tests and clamps them in the same way, and gives words. Sines of angle words come from a
quarter wave of floats; where an angle is not a word, or not turned by quarters, from libm.
"""

from __future__ import annotations

import math

import numpy as np

from bddtorque.dynamics.graph import Graph, Op
from bddtorque.dynamics.robot_trace import trace_torques
from bddtorque.export.c_helpers import used_helpers
from bddtorque.export.c_inputs import take_inputs
from bddtorque.export.c_interface import Interface
from bddtorque.export.c_sums import Value
from bddtorque.export.c_text import ConstantArray, integer, real, unsigned
from bddtorque.model.model import Model
from bddtorque.words.formats import Format
from bddtorque.words.integer_range import word_range

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
MOST_TABLE_BITS = 14
QUARTER = math.pi / 2


def float_files(model: Model, interface: Interface, rom: str) -> dict[str, str]:
    """Return ``baseline.h`` and ``baseline.c``: the torques of a robot in float32; `rom` says where tables lie."""
    writer = _Writer(trace_torques(model.robot), model.formats.words)
    values = {name: Value(f"w_{name}", word_range(32), 32) for name in model.formats.words}
    lines = [*take_inputs(interface, values), *writer.lines()]
    for k, (reference, word) in enumerate(zip(writer.graph.outputs, interface.outputs, strict=True)):
        scale, centre = word.sign / word.lsb, (word.sign * word.offset + word.centre) / word.lsb
        rest = f" - {_float(centre)}" if centre else ""
        lines.append(f"    const float r{k} = {writer.take(reference)} * {_float(scale)}{rest};")
        rounded = f"(int32_t)((r{k} < 0.0f) ? r{k} - 0.5f : r{k} + 0.5f)"
        ends = ", ".join(integer(end, 32) for end in word_range(word.bits))
        lines.append(f"    {interface.result}[{k}] = ({interface.type})clamped32({rounded}, {ends});")
    used = [f"    (void){value.name};" for value in values.values()]
    call = interface.call("baseline")
    body = "\n".join([*lines, *used])
    function = f"{call.prototype}\n{{\n    int outside = 0;\n{body}\n    return outside;\n}}\n"
    includes = '#include "baseline.h"\n#include <math.h>\n'
    code = "\n".join([*writer.tables(), function])
    return {
        "baseline.h": f"#include <stdint.h>\n{call.prototype};\n",
        "baseline.c": "\n".join([includes, rom, used_helpers(code, interface), code]),
    }


def _float(value: float) -> str:
    return real(float(np.float32(value)), "f")


class _Writer:
    """Writes the nodes of a graph as floats v<k>."""

    def __init__(self, graph: Graph, words: dict[str, Format]) -> None:
        self.graph, self.words = graph, words
        self.bits: set[int] = set()

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
        if node.op is not Op.INPUT or reference & 1:
            return None
        word = self.words[node.name]
        quarters = (rest + word.offset) / QUARTER
        if word.kind != "angle" or abs(quarters - round(quarters)) > 1e-9 or word.bits > MOST_TABLE_BITS:
            return None
        return word, f"w_{node.name}", round(quarters)

    def lines(self) -> list[str]:
        """Return the statements of all nodes that are read."""
        texts = {}
        for k, node in enumerate(self.graph.nodes):
            match node.op:
                case Op.CONSTANT:
                    continue
                case Op.INPUT:
                    word = self.words[node.name]
                    rest = word.sign * word.centre + word.offset if word.kind == "range" else word.offset
                    added = f" + {_float(rest)}" if rest else ""
                    text = f"(float)w_{node.name} * {_float(word.sign * word.lsb)}{added}"
                case Op.SUM:
                    text = f"{self.take(node.left)} + {self.take(node.right)}"
                case Op.PRODUCT:
                    text = f"{self.take(node.left)} * {self.take(node.right)}"
                case _:
                    text = self._turned(node.left, node.op)
            texts[k] = f"    const float v{k} = {text};"
        # an angle that only tables read, and what is made of it, are no floats
        read = {k for text in texts.values() for k in self._read(text)} | {each >> 1 for each in self.graph.outputs}
        while unread := {k for k in texts if k not in read}:
            for k in unread:
                del texts[k]
            read = {k for text in texts.values() for k in self._read(text)} | {each >> 1 for each in self.graph.outputs}
        return list(texts.values())

    @staticmethod
    def _read(text: str) -> set[int]:
        words = text.partition(" = ")[2].replace("(", " ").replace(")", " ").replace("-", " ").replace(";", " ").split()
        return {int(word[1:]) for word in words if word[0] == "v" and word[1:].isdigit()}

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
        texts = []
        for bits in sorted(self.bits):
            turn = 1 << bits
            wave = np.cos(2 * np.pi * np.arange(turn // 4 + 1) / turn).astype(np.float32)
            wave[-1] = 0.0
            texts.append(ConstantArray(f"cosines_{bits}", "float", wave).text())
            sizes = {"mask": turn - 1, "half": turn // 2, "turn": turn, "quarter": turn // 4}
            texts.append(TABLE.format(bits=bits, **{name: unsigned(size) for name, size in sizes.items()}))
        return texts
