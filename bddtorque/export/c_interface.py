"""How an exported function is called: arrays of words in, an array of words out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bddtorque.base.errors import BddTorqueError
from bddtorque.export.c_call import CCall
from bddtorque.export.c_names import safe_names
from bddtorque.model.model import Model
from bddtorque.words.formats import Format

IO_BITS = (16, 32)
"""Bits that words may be passed in."""


@dataclass(frozen=True)
class Interface:
    """What goes in and comes out."""

    # the formats of the words of each input array, by its name
    arrays: Mapping[str, tuple[Format, ...]] = field(default_factory=dict)
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # what the plan calls them
    # result, outputs: the output array, and its formats
    result: str = "tau"
    outputs: tuple[Format, ...] = ()
    # what the words of each array are called in C, by the array
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    function: str = "torque_words"  # what the name of the function ends with
    bits: int = 32  # of the C type of all words: 16 or 32
    register: int = 32  # bits that the chip computes with at once

    @classmethod
    def of(cls, model: Model, bits: int, register: int) -> Interface:
        """Return how a model is called with words of 16 or 32 bits."""
        if bits not in IO_BITS:
            raise BddTorqueError(f"io must be 16 or 32, the bits that words are passed in, got {bits!r:.40}")
        own, quantity = model.formats, model.provenance.quantity
        outputs, arrays = tuple(own.results.values()), own.outputs
        if quantity is None:
            formats, names = {"in": tuple(own.words.values())}, {"in": tuple(own.words)}
            result, function, labels = "out", "words", {"in": _labels(list(own.words))}
        else:
            formats = {array.name: array.words for array in own.inputs}
            labels = {array.name: _labels(array.labels) for array in own.inputs}
            names = {array.name: array.word_names for array in own.inputs}
            result, function = arrays[0].name if len(arrays) == 1 else "out", f"{quantity.name}_words"
        labels[result] = _labels(list(own.results))
        wide = [word for words in (*formats.values(), outputs) for word in words if word.bits > bits]
        if wide:
            raise BddTorqueError(f"words of {max(word.bits for word in wide)} bits do not fit --io {bits}: use --io 32")
        return cls(formats, names, result, outputs, labels, function, bits, register)

    @property
    def type(self) -> str:
        """The C type of a word."""
        return f"int{self.bits}_t"

    def prototype(self, prefix: str, name: str = "", kind: str = "", sizes: bool = False) -> str:
        """Return what the function is declared as; or another, of other numbers. With `sizes`, in plain numbers."""
        kind = kind or self.type
        given = [(f"const {kind} ", array, len(words)) for array, words in self.arrays.items()]
        given.append((f"{kind} ", self.result, len(self.outputs)))
        counted = [f"{start}{array}[{count if sizes else self.count(prefix, array)}]" for start, array, count in given]
        between = ", " if sizes else ",\n    "
        return f"int {prefix}_{name or self.function}({between.join(counted)})"

    def count(self, prefix: str, array: str) -> str:
        """Return the macro that says how many words an array has."""
        counted = "JOINTS" if self.function == "torque_words" else "INPUTS" if array in self.arrays else "OUTPUTS"
        if self.function not in ("torque_words", "words"):
            counted = f"{array.upper()}_WORDS"
        return f"{prefix.upper()}_{counted}"

    def call(self, prefix: str) -> CCall:
        """Return how the function is called with all words side by side."""
        counts = [len(words) for words in self.arrays.values()]
        given = [f"in + {sum(counts[:k])}" if k else "in" for k in range(len(counts))]
        statement = f"{prefix}_{self.function}({', '.join(given)}, out);"
        prototype = self.prototype(prefix, sizes=True)
        return CCall(f"{prefix}.h", (f"{prefix}.c",), prototype, statement, sum(counts), len(self.outputs), self.type)


def _labels(names: Sequence[str]) -> tuple[str, ...]:
    """Return names as parts of macros, all different."""
    return tuple(safe_names([name.upper() for name in names]))
