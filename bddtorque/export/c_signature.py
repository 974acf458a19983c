"""`CSignature`: how an exported function is called, arrays of words in and one array of words out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from bddtorque.base.errors import BddTorqueError
from bddtorque.export.c_call import CCall
from bddtorque.export.c_names import safe_names
from bddtorque.model.model import Model
from bddtorque.words.formats import Format

COUNTS = {"in": "INPUTS", "out": "OUTPUTS"}
"""What the macro of the size of an array is called; those of other arrays have the name of the array."""


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
        wide = max(word.bits for word in chain(own.words.values(), outputs))
        if wide > bits:
            raise BddTorqueError(f"words of {wide} bits do not fit --io {bits}: use --io 32")
        per_joint = {array.name for array in own.arrays if robot is not None and array.labels == robot.joint_names}
        name = "" if quantity is None else quantity.name
        return cls(formats, names, result, outputs, labels, frozenset(per_joint), name, bits, register)

    @property
    def type(self) -> str:
        """The C type of a word."""
        return f"int{self.bits}_t"

    @property
    def function(self) -> str:
        """What the name of the function from words to words ends with."""
        return f"{self.quantity}_words".removeprefix("_")

    @property
    def float_function(self) -> str:
        """What the name of the function from floats to floats ends with."""
        return self.quantity or "value"

    @property
    def plan_names(self) -> list[str]:
        """What the plan calls all input words."""
        return [*chain.from_iterable(self.names.values())]

    @property
    def inputs(self) -> list[Format]:
        """The formats of all input words."""
        return [*chain.from_iterable(self.arrays.values())]

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
        counted = COUNTS.get(array, f"{array.upper()}_WORDS")
        return f"{prefix.upper()}_{'JOINTS' if array in self.per_joint else counted}"

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
