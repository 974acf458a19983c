"""`NamedArrays`: the words of a quantity of a robot, by the arrays that people give and get."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError, unknown
from bddtorque.base.plain import listed, name_of, table, whole
from bddtorque.base.shown_tables import text_table
from bddtorque.words.formats import Format
from bddtorque.words.joints import JointFormats, format_from_plain

MOST_WORDS = 4096
"""Words of one array in a file: more than any robot has."""


@dataclass(frozen=True)
class WordArray:
    """One array of words: a sequence of `Format`, indexed by number or label.

    Attributes
    ----------
    name
        The name of the array: ``"q"``, ``"position"``, ...
    shape
        The shape of one state.
    labels
        Names of its words, all different: joints, ``"x"``, ``"M1_2"``, ...
    words
        Their formats, in C order; for a symmetric matrix only those on and above the diagonal.
    """

    name: str
    shape: tuple[int, ...]
    labels: tuple[str, ...]
    words: tuple[Format, ...]

    def __post_init__(self) -> None:
        n = self.shape[0]
        if len(self.words) not in (math.prod(self.shape), n * (n + 1) // 2 if self.shape == (n, n) else 0):
            raise BddTorqueError(f"array {self.name} of shape {self.shape} has {len(self.words)} words")
        if len(set(self.labels)) != len(self.words) or len(self.labels) != len(self.words):
            raise BddTorqueError(f"array {self.name}: {len(self.words)} words must have a label each, all different")

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[Format]:
        return iter(self.words)

    def __getitem__(self, word: int | str) -> Format:
        if not isinstance(word, str):
            return self.words[word]
        if word not in self.labels:
            raise BddTorqueError(unknown(f"word of {self.name}", word, self.labels))
        return self.words[self.labels.index(word)]

    def quantise(self, values: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the nearest words of values (words,) or (N, words); see `Format.quantise`."""
        return self._joined.quantise(values)

    def dequantise(self, words: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the values of words (words,) or (N, words); see `Format.dequantise`."""
        return self._joined.dequantise(words)

    @property
    def _joined(self) -> JointFormats:
        return JointFormats(self.name, self.words, self.labels)

    @cached_property
    def _triangle(self) -> npt.NDArray[np.int64]:
        """The places (n·n,) of the entries of a symmetric matrix among the words of its upper triangle."""
        places = np.zeros(self.shape, dtype=np.int64)
        above = np.triu_indices(self.shape[0])
        places[above] = np.arange(len(above[0]))
        return np.maximum(places, places.T).reshape(-1)

    def shaped(self, columns: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return columns (N, words) as arrays (N, *shape)."""
        entries = columns if len(self) == math.prod(self.shape) else columns[:, self._triangle]
        return entries.reshape(len(columns), *self.shape)

    def to_plain(self) -> dict[str, Any]:
        """Return plain data, fit for JSON."""
        words = [word.to_plain() for word in self.words]
        return {"name": self.name, "shape": list(self.shape), "labels": list(self.labels), "words": words}


@dataclass(frozen=True)
class NamedArrays:
    """The words that go into a quantity and come out of it."""

    inputs: tuple[WordArray, ...]
    outputs: tuple[WordArray, ...]

    def __getitem__(self, name: str) -> WordArray:
        for array in (*self.inputs, *self.outputs):
            if array.name == name:
                return array
        raise BddTorqueError(unknown("array", name, [array.name for array in (*self.inputs, *self.outputs)]))

    def __getattr__(self, name: str) -> WordArray:
        if name.startswith("_") or name in ("inputs", "outputs"):
            raise AttributeError(name)
        try:
            return self[name]
        except BddTorqueError as problem:
            raise AttributeError(str(problem)) from None

    def __str__(self) -> str:
        rows = [
            (array.name, label, f"{word.bits}", f"{word.lsb:.6g} {word.unit}", *(f"{end:.6g}" for end in word.span))
            for array in (*self.inputs, *self.outputs)
            for label, word in zip(array.labels, array, strict=True)
        ]
        return text_table("Words", ("array", "word", "bits", "unit of the last bit", "from", "to"), rows)

    @property
    def words(self) -> dict[str, Format]:
        """The input words, by the names that plans have for them: q1, q2, ..."""
        return {f"{array.name}{k}": word for array in self.inputs for k, word in enumerate(array, 1)}

    def grouped(self, words: Mapping[str, Any]) -> dict[str, list[Any]]:
        """Return what is given for the input words, by the names that plans have for them, as a list per array."""
        return {array.name: [words[f"{array.name}{k}"] for k in range(1, len(array) + 1)] for array in self.inputs}

    @property
    def results(self) -> dict[str, Format]:
        """The output words, by their labels."""
        return dict(chain.from_iterable(zip(array.labels, array, strict=True) for array in self.outputs))

    def to_plain(self) -> dict[str, Any]:
        """Return plain data, fit for JSON."""
        return {side: [array.to_plain() for array in getattr(self, side)] for side in ("inputs", "outputs")}


def named_arrays_from_plain(plain: object, where: str) -> NamedArrays:
    """Return what `NamedArrays.to_plain` wrote; every key and type is checked."""
    given = table(plain, ("inputs", "outputs"), where)
    sides = [
        tuple(_array_from_plain(each, f"{where}, {side}[{k}]") for k, each in enumerate(listed(given[side], where)))
        for side in ("inputs", "outputs")
    ]
    arrays = NamedArrays(*sides)
    if not arrays.inputs or not arrays.outputs:
        raise BddTorqueError(f"{where} must have arrays that go in and arrays that come out")
    return arrays


def _array_from_plain(plain: object, where: str) -> WordArray:
    given = table(plain, ("name", "shape", "labels", "words"), where)
    shape = tuple(whole(size, 1, MOST_WORDS, f"{where}, shape") for size in listed(given["shape"], where))
    labels = tuple(name_of(label, f"{where}, labels") for label in listed(given["labels"], where))
    words = (format_from_plain(each, f"{where}, word {k}") for k, each in enumerate(listed(given["words"], where)))
    if not 1 <= len(shape) <= 2 or math.prod(shape) > MOST_WORDS:
        raise BddTorqueError(f"{where}: the shape must be that of a vector or a matrix, got {list(shape)}")
    return WordArray(name_of(given["name"], f"{where}, name"), shape, labels, tuple(words))
