"""`Interface`: the words of a model, as named arrays that go in and come out.

A model is a function from input words to output words. Its words stand in arrays (`WordArray`): ``q``, ``qd``, ``qdd``
and ``tau`` for the torques of an arm, ``jacobian`` for a Jacobian, one array of shape () for each number of a function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError, refusals_in, unknown
from bddtorque.base.plain import listed, name_of, of_type, table, whole
from bddtorque.base.shown_text import text_table
from bddtorque.words.argument import Argument, argument_of
from bddtorque.words.formats import Floats, Format, Words

MAX_WORDS = 4096
"""Words of one array in a file: more than any robot has."""
_KERNELS = "bddtorque.words.kernels"
"""Imported when first used: it takes Numba, which nothing else needs that only reads or writes words."""


@dataclass(frozen=True)
class WordArray:
    """One array of words: a sequence of `Format`, indexed by number or label.

    Attributes
    ----------
    name
        The name of the array: ``"q"``, ``"position"``, ...
    shape
        The shape of one state; () for a number.
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
        counts = [math.prod(self.shape)]
        if len(self.shape) == 2 and self.shape[0] == self.shape[1]:  # symmetric: only its upper triangle
            counts.append(self.shape[0] * (self.shape[0] + 1) // 2)
        if len(self.words) not in counts:
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

    def __str__(self) -> str:
        return text_table(f"Words of {self.name}", ("word", *_COLUMNS), list(_rows(self)))

    @property
    def bits(self) -> tuple[int, ...]:
        """Length of each word."""
        return tuple(word.bits for word in self.words)

    @property
    def lsb(self) -> Floats:
        """One unit of the last bit of each word, in its unit, shape (words,)."""
        return np.array([word.lsb for word in self.words])

    @property
    def lowest(self) -> Words:
        """The lowest integer of each word, shape (words,)."""
        return np.array([word.lowest for word in self.words], dtype=np.int64)

    @property
    def highest(self) -> Words:
        """The highest integer of each word, shape (words,)."""
        return np.array([word.highest for word in self.words], dtype=np.int64)

    @cached_property
    def word_names(self) -> tuple[str, ...]:
        """The names that plans have for the words: q1, q2, ...; that of a number is the array's own."""
        return tuple(f"{self.name}{k}" for k in range(1, len(self) + 1)) if self.shape else (self.name,)

    def quantise(self, values: npt.ArrayLike) -> Words:
        """Return the nearest words of values, shape (words,) or (N, words); see `Format.quantise`."""
        return self.quantise_counted(values)[0]

    def quantise_counted(self, values: npt.ArrayLike) -> tuple[Words, Words]:
        """Return the words, shape (words,) or (N, words), and how many values of each were out of range, (words,)."""
        given = self._columns(values)
        words, counts = zip(*(each.quantise_counted(given[..., k]) for k, each in enumerate(self.words)), strict=True)
        return np.stack(words, axis=-1), np.array(counts, dtype=np.int64)

    def dequantise(self, words: npt.ArrayLike) -> Floats:
        """Return the values of words of shape (words,) or (N, words); see `Format.dequantise`."""
        given = self._columns(words)
        return np.stack([each.dequantise(given[..., k]) for k, each in enumerate(self.words)], axis=-1)

    def held(self, words: npt.ArrayLike) -> Words:
        """Return integers of shape (words,) or (N, words) as the formats hold them: angles masked, others clamped."""
        given = self._columns(words)
        return np.stack([each.held(given[..., k]) for k, each in enumerate(self.words)], axis=-1)

    def kernel(self) -> Callable[..., int]:
        """Return a compiled function that quantises in your own `numba.njit` loop.

        ``outside = kernel(values, words)`` reads `values` (n,) in the units of the words, writes `words` (n,) and
        returns how many values were out of range. It returns the words of `quantise`, allocates nothing and releases
        the GIL. NaN, infinity and arrays of another length raise ValueError.
        """
        made: Callable[..., int] = import_module(_KERNELS).quantiser(self)
        return made

    def inverse_kernel(self) -> Callable[..., None]:
        """Return a compiled function ``kernel(words, values)`` that does what `dequantise` does; see `kernel`."""
        made: Callable[..., None] = import_module(_KERNELS).dequantiser(self)
        return made

    def shaped(self, columns: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return columns (N, words) as arrays (N, *shape)."""
        entries = columns if len(self) == math.prod(self.shape) else columns[:, self._triangle]
        return entries.reshape(len(columns), *self.shape)

    def to_plain(self) -> dict[str, Any]:
        """Return plain data, fit for JSON."""
        words = [word.to_plain() for word in self.words]
        return {"name": self.name, "shape": list(self.shape), "labels": list(self.labels), "words": words}

    @cached_property
    def _triangle(self) -> Words:
        """The places (n·n,) of the entries of a symmetric matrix among the words of its upper triangle."""
        places = np.zeros(self.shape, dtype=np.int64)
        above = np.triu_indices(self.shape[0])
        places[above] = np.arange(len(above[0]))
        return np.maximum(places, places.T).reshape(-1)

    def _columns(self, given: npt.ArrayLike) -> npt.NDArray[Any]:
        n = len(self.words)
        try:
            array = np.asarray(given)
        except ValueError:  # ragged lists
            raise BddTorqueError(f"{self.name} must have shape ({n},) or (N, {n}), got a ragged list") from None
        if array.ndim not in (1, 2) or array.shape[-1] != n:
            raise BddTorqueError(f"{self.name} must have shape ({n},) or (N, {n}), got {array.shape}")
        return array


_COLUMNS = ("bits", "unit of the last bit", "from", "to")


def _rows(array: WordArray) -> Iterator[tuple[str, ...]]:
    for label, word in zip(array.labels, array, strict=True):
        yield label, f"{word.bits}", f"{word.lsb:.6g} {word.unit}", *(f"{end:.6g}" for end in word.span)


def word_vector(name: str, labels: Sequence[str], words: Sequence[Format]) -> WordArray:
    """Return an array of one dimension."""
    return WordArray(name, (len(words),), tuple(labels), tuple(words))


def word_number(name: str, word: Format) -> WordArray:
    """Return an array of shape (), which has one word."""
    return WordArray(name, (), (name,), (word,))


@dataclass(frozen=True)
class Derived:
    """A word made of input words before anything else: their sum, wrapped as angles are."""

    name: str  # "q_error1"
    parts: tuple[tuple[str, int], ...]  # name and factor of each input word
    argument: Argument  # what it stands for


@dataclass(frozen=True)
class Interface:
    """The arrays of words that go into a model and come out of it.

    ``model.formats`` is one. Its arrays are attributes too: ``formats.q``, ``formats.tau``, ``formats.jacobian``.

    Attributes
    ----------
    inputs, outputs
        The arrays, in the order in which `words` and `value` take and return them.
    derived
        Words made of input words, such as the difference of two angles. They follow from what is compiled, and are not
        written to files.
    """

    inputs: tuple[WordArray, ...]
    outputs: tuple[WordArray, ...]
    derived: tuple[Derived, ...] = ()

    def __post_init__(self) -> None:
        inputs, outputs = ([array.name for array in side] for side in (self.inputs, self.outputs))
        labels = [label for array in self.outputs for label in array.labels]
        named = {"input array": inputs, "output array": outputs, "input word": self.word_names, "output word": labels}
        for what, names in named.items():
            seen = set[str]()
            for name in names:
                if name in seen:
                    raise BddTorqueError(f"{what} '{name:.40}' occurs twice: each must have a name of its own")
                seen.add(name)

    @property
    def arrays(self) -> tuple[WordArray, ...]:
        """All arrays: those that go in, then those that come out."""
        return (*self.inputs, *self.outputs)

    def __getitem__(self, name: str) -> WordArray:
        for array in self.arrays:
            if array.name == name:
                return array
        raise BddTorqueError(unknown("array", name, [array.name for array in self.arrays]))

    def __getattr__(self, name: str) -> WordArray:
        if name.startswith("_") or name in ("inputs", "outputs", "derived"):
            raise AttributeError(name)
        try:
            return self[name]
        except BddTorqueError as problem:
            raise AttributeError(str(problem)) from None

    def __str__(self) -> str:
        rows = [(array.name, *row) for array in self.arrays for row in _rows(array)]
        return text_table("Words", ("array", "word", *_COLUMNS), rows)

    @property
    def word_names(self) -> tuple[str, ...]:
        """The names that plans have for the input words: q1, q2, ..., qd1, ..."""
        return tuple(name for array in self.inputs for name in array.word_names)

    @cached_property
    def words(self) -> dict[str, Format]:
        """The input words, by the names that plans have for them."""
        return dict(zip(self.word_names, chain.from_iterable(self.inputs), strict=True))

    @cached_property
    def arguments(self) -> dict[str, Argument]:
        """Meaning of the input words, and of the words derived from them, by name."""
        own = {name: argument_of(word) for name, word in self.words.items()}
        return own | {word.name: word.argument for word in self.derived}

    @property
    def bits(self) -> dict[str, list[int]]:
        """Word lengths, by array."""
        return {array.name: list(array.bits) for array in self.arrays}

    @cached_property
    def results(self) -> dict[str, Format]:
        """The output words, by their labels."""
        return dict(chain.from_iterable(zip(array.labels, array, strict=True) for array in self.outputs))

    def grouped(self, words: Mapping[str, Any]) -> dict[str, list[Any]]:
        """Return what is given for the input words, by the names that plans have for them, as a list per array."""
        return {array.name: [words[name] for name in array.word_names] for array in self.inputs}

    def to_plain(self) -> dict[str, Any]:
        """Return plain data, fit for JSON."""
        return {side: [array.to_plain() for array in getattr(self, side)] for side in ("inputs", "outputs")}


def interface_from_plain(plain: object, where: str) -> Interface:
    """Return what `Interface.to_plain` wrote; every key and type is checked."""
    given = table(plain, ("inputs", "outputs"), where)
    inputs, outputs = (
        tuple(
            _array_from_plain(each, f"{where}, {side}[{k}]")
            for k, each in enumerate(listed(given[side], f"{where}, {side}"))
        )
        for side in ("inputs", "outputs")
    )
    if not inputs or not outputs:
        raise BddTorqueError(f"{where} must have arrays that go in and arrays that come out")
    with refusals_in(where):
        return Interface(inputs, outputs)


def _array_from_plain(plain: object, where: str) -> WordArray:
    given = table(plain, ("name", "shape", "labels", "words"), where)
    name = name_of(given["name"], f"{where}, name")
    items = {key: listed(given[key], f"{where}, {key}") for key in ("shape", "labels", "words")}
    shape = tuple(whole(size, 1, MAX_WORDS, f"{where}, shape") for size in items["shape"])
    if len(shape) > 2 or math.prod(shape) > MAX_WORDS:
        raise BddTorqueError(f"{where}, shape must be that of a number, a vector or a matrix, got {list(shape)[:3]}")
    labels = tuple(of_type(label, str, f"{where}, labels") for label in items["labels"])  # joints may have any name
    words = tuple(format_from_plain(each, f"{where}, word {k}") for k, each in enumerate(items["words"]))
    with refusals_in(where):
        return WordArray(name, shape, labels, words)


def format_from_plain(plain: object, where: str) -> Format:
    """Return the format that `Format.to_plain` wrote; every key and type is checked."""
    *keys, signed = Format.__dataclass_fields__
    given = table(plain, keys, where, optional=(signed,))
    for key in ("name", "unit"):
        of_type(given[key], str, f"{where}, {key}")
    for key, open_ in (("low", -math.inf), ("high", math.inf)):
        given[key] = open_ if given[key] is None else given[key]
    with refusals_in(where):
        return Format(**given)
