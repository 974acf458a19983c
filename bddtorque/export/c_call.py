"""Calls of an exported function: from C (`CSignature`), and from a program that tries it (`CCall`).

The manifest of a folder has the call, and the program is written from that.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from bddtorque.base.errors import BddTorqueError, one_line
from bddtorque.export.c_text import safe_names
from bddtorque.export.folder import MANIFEST, fill, template
from bddtorque.model.model import Model
from bddtorque.words.formats import Format

AVR_MAIN = """
int main(void)
{
    __asm__ volatile (".global mark\\n.set mark, %0" :: "n" (_SFR_MEM_ADDR(GPIOR0))); /* where the emulator looks */
    for (;;) { GPIOR0 = 1; call(); GPIOR0 = 2; }
}
"""


@dataclass(frozen=True)
class CCall:
    """The function of a folder, and one call of it from words to words."""

    header: str  # declares the function
    sources: tuple[str, ...]  # what is compiled
    prototype: str  # of the function, as the header has it
    statement: str  # a call that reads `in` and writes `out`, arrays of words
    # inputs, outputs: words of these
    inputs: int
    outputs: int
    # word, result: the C types of the words of `in` and of `out`; the same where `result` is empty
    word: str = "int32_t"
    result: str = ""

    @property
    def dtype(self) -> str:
        """NumPy's name of a word of `in`, least significant byte first."""
        return _dtype(self.word)

    @property
    def result_dtype(self) -> str:
        """NumPy's name of a word of `out`, least significant byte first."""
        return _dtype(self.result or self.word)

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for a manifest, under its key ``call``."""
        plain = asdict(self)
        if self.result in ("", self.word):
            del plain["result"]
        return plain

    @classmethod
    def read(cls, folder: Path) -> CCall:
        """Return what the manifest of a folder says."""
        try:
            plain = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["call"]
            return cls(**{**plain, "sources": tuple(plain["sources"])})
        except (OSError, ValueError, KeyError, TypeError) as problem:
            raise BddTorqueError(
                one_line(
                    f"{folder}: there must be a {MANIFEST} with the key 'call', as bddtorque export writes ({problem})"
                )
            ) from None

    def call_text(self) -> str:
        """Return a function ``call`` that calls it with the words of arrays."""
        return fill(
            template("call.c"),
            header=self.header,
            word=self.word,
            result=self.result or self.word,
            inputs=self.inputs,
            outputs=self.outputs,
            statement=self.statement,
        )

    def main_text(self, avr: bool) -> str:
        """Return a program that calls the function for ever; on AVR each call stands between two marks."""
        text = self.call_text()
        if avr:
            return f"#include <avr/io.h>\n{text}{AVR_MAIN}"
        return f"{text}\nvoid _start(void) {{ for (;;) call(); }}\n"

    def stub_text(self) -> str:
        """Return a function that does nothing, so that what is around it can be told apart."""
        return f'#include "{self.header}"\n\n{self.prototype}\n{{\n    return 0;\n}}\n'


COUNTS = {"in": "INPUTS", "out": "OUTPUTS"}
"""Names of the macros of array sizes; those of other arrays have the name of the array."""


@dataclass(frozen=True)
class CSignature:
    """Arrays that go in and the array that comes out, as parameters of a C function."""

    # the formats of the words of each input array, by its name
    arrays: Mapping[str, tuple[Format, ...]] = field(default_factory=dict)
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # what the plan calls them
    # result, outputs: the output array, and its formats
    result: str = "tau"
    outputs: tuple[Format, ...] = ()
    # what the words of each array are called in C, by the array
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    per_joint: frozenset[str] = frozenset()  # arrays that have one word per joint
    quantity: str = ""  # what is computed of a robot; empty for a function
    bits: int = 32  # of the C type of all words: 16 or 32
    register: int = 32  # bits that the chip computes with at once

    @classmethod
    def of(cls, model: Model, bits: int, register: int) -> CSignature:
        """Return how a model is called with words of 16 or 32 bits.

        The numbers of a function are one array ``in``; several output arrays are one array ``out``, side by side.
        """
        own, robot, quantity = model.formats, model.provenance.robot, model.provenance.quantity
        formats = {array.name: array.words for array in own.inputs}
        names = {array.name: array.word_names for array in own.inputs}
        labels = {array.name: _labels(array.labels) for array in own.inputs}
        if all(array.shape == () for array in own.inputs):
            formats, names = {"in": tuple(own.words.values())}, {"in": own.word_names}
            labels = {"in": _labels(own.word_names)}
        alone = len(own.outputs) == 1 and own.outputs[0].shape
        result, outputs = own.outputs[0].name if alone else "out", tuple(own.results.values())
        labels[result] = _labels(list(own.results))
        arrays = [*formats.values(), outputs]
        wide = max(word.bits + (_mixed(words) and not word.signed) for words in arrays for word in words)
        if wide > bits:
            raise BddTorqueError(f"words of {wide} bits do not fit --io {bits}: use --io 32")
        per_joint = {array.name for array in own.arrays if robot is not None and array.labels == robot.joint_names}
        name = "" if quantity is None else quantity.name
        return cls(formats, names, result, outputs, labels, frozenset(per_joint), name, bits, register)

    @property
    def types(self) -> list[str]:
        """The C types of the words of all arrays, each once."""
        return list(dict.fromkeys(map(self.type_of, (*self.arrays, self.result))))

    def type_of(self, array: str) -> str:
        """Return the C type of the words of an array: unsigned if all of them are."""
        words = self.outputs if array == self.result else self.arrays[array]
        unsigned = bool(words) and not any(word.signed for word in words)
        return f"{'u' * unsigned}int{self.bits}_t"

    @property
    def function(self) -> str:
        """The end of the name of the function from words to words."""
        return f"{self.quantity}_words".removeprefix("_")

    @property
    def float_function(self) -> str:
        """The end of the name of the function from floats to floats."""
        return self.quantity or "value"

    @property
    def plan_names(self) -> list[str]:
        """The names of all input words in the plan."""
        return [*chain.from_iterable(self.names.values())]

    @property
    def inputs(self) -> list[Format]:
        """The formats of all input words."""
        return [*chain.from_iterable(self.arrays.values())]

    def prototype(self, prefix: str, name: str = "", kind: str = "", sizes: bool = False) -> str:
        """Return what the function is declared as; or another, of other numbers. With `sizes`, in plain numbers."""
        given = [(f"const {kind or self.type_of(array)} ", array, len(words)) for array, words in self.arrays.items()]
        given.append((f"{kind or self.type_of(self.result)} ", self.result, len(self.outputs)))
        counted = [f"{start}{array}[{count if sizes else self.count(prefix, array)}]" for start, array, count in given]
        between = ", " if sizes else ",\n    "
        return f"int {prefix}_{name or self.function}({between.join(counted)})"

    def count(self, prefix: str, array: str) -> str:
        """Return the macro that says how many words an array has."""
        counted = COUNTS.get(array, f"{array.upper()}_WORDS")
        return f"{prefix.upper()}_{'JOINTS' if array in self.per_joint else counted}"

    def call(self, prefix: str) -> CCall:
        """Return how the function is called with all words side by side."""
        counts = [len(words) for words in self.arrays.values()]
        given = [f"in + {sum(counts[:k])}" if k else "in" for k in range(len(counts))]
        statement = f"{prefix}_{self.function}({', '.join(given)}, out);"
        prototype = self.prototype(prefix, sizes=True)
        *words, result = (*map(self.type_of, self.arrays), self.type_of(self.result))
        if len(set(words)) > 1:
            raise BddTorqueError("export: input arrays must be all signed or all unsigned")
        return CCall(
            f"{prefix}.h", (f"{prefix}.c",), prototype, statement, sum(counts), len(self.outputs), words[0], result
        )


def _mixed(words: Sequence[Format]) -> bool:
    return len({word.signed for word in words}) > 1


def _labels(names: Sequence[str]) -> tuple[str, ...]:
    """Return names as parts of macros, all different."""
    return tuple(safe_names([name.upper() for name in names]))


def _dtype(word: str) -> str:
    return f"<{'u' if word.startswith('u') else 'i'}{2 if '16' in word else 4}"
