"""The states of a sweep, in batches that are the same whoever makes them: drawn evenly, corners, or given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.words.formats import Format
from bddtorque.words.interface import Interface

Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.int64]

BATCH = 1 << 15
"""States of a batch: what is held in memory at a time."""
CORNER_SHARE = 8
"""One corner state is added for so many random ones."""


@dataclass(frozen=True)
class Batch:
    """Some states of a sweep."""

    corner: bool  # words from the ends and the middle of their formats, else states drawn evenly
    index: int  # which batch of its kind; with the seed it decides the states
    count: int  # number of states


@dataclass(frozen=True)
class Given:
    """States that somebody gave, such as a piece of a trajectory: values (N, words) of every input array."""

    arrays: tuple[Floats, ...]

    corner = False

    @property
    def count(self) -> int:
        """Number of states."""
        return len(self.arrays[0])


Part = Batch | Given
"""What is measured at a time."""


def pieces(arrays: tuple[Floats, ...]) -> list[Given]:
    """Return given states, each array (N, words), in batches."""
    return [Given(tuple(array[k : k + BATCH] for array in arrays)) for k in range(0, len(arrays[0]), BATCH)]


def batches(states: int, corners: int) -> list[Batch]:
    """Return the batches of a sweep, the random ones first."""
    return [
        Batch(corner, index, min(BATCH, total - index * BATCH))
        for corner, total in ((False, states), (True, corners))
        for index in range(-(-total // BATCH))
    ]


def by_array(formats: Interface, rows: npt.NDArray[Any]) -> list[Any]:
    """Return rows (all input words, N), one word below another, as arrays (N, words) in the order of the inputs."""
    ends = np.cumsum([len(array) for array in formats.inputs])
    return [rows[end - len(array) : end].T for array, end in zip(formats.inputs, ends.tolist(), strict=True)]


def by_name(formats: Interface, rows: npt.NDArray[Any]) -> Mapping[str, Any]:
    """Return rows (all input words, N) by the names that plans have for the words."""
    return dict(zip(formats.words, rows, strict=True))


def states_of(batch: Part, formats: Interface, seed: int) -> tuple[Floats, ...]:
    """Return the states of a batch in the units of the inputs, (N, words) of each input array."""
    if isinstance(batch, Given):
        return batch.arrays
    units = units_of(batch, formats, seed)
    values = np.stack([word.value(row) for word, row in zip(chain(*formats.inputs), units, strict=True)])
    return tuple(by_array(formats, values))


def units_of(batch: Part, formats: Interface, seed: int) -> Floats:
    """Return the states of a batch in units of their words, one word below another, (all input words, N).

    Random states are even over all that the words can hold, half a unit beyond the end words included. Corner states
    are words; the first of them are all combinations of lowest and highest words.
    """
    words = list(chain(*formats.inputs))
    if isinstance(batch, Given):
        return np.stack([word.units(row) for word, row in zip(words, np.hstack(batch.arrays).T, strict=True)])
    rng = np.random.default_rng([seed, int(batch.corner), batch.index])
    if batch.corner:
        return _corners(batch, words, rng)
    units = rng.random((len(words), batch.count))
    units *= np.array([[1 << word.bits] for word in words])
    units += np.array([[word.lowest - 0.5] for word in words])
    return units


def _corners(batch: Batch, words: list[Format], rng: np.random.Generator) -> Floats:
    places = batch.index * BATCH + np.arange(batch.count)
    pure = places < 1 << min(len(words), 62)
    rows = []
    for k, word in enumerate(words):
        drawn = rng.choice(special_words(word), batch.count)
        ends = np.where((places >> min(k, 62)) & 1, word.highest, word.lowest)
        rows.append(np.where(pure, ends, drawn))
    return np.array(rows, dtype=np.float64)


@lru_cache(maxsize=256)
def special_words(word: Format) -> Words:
    """Return the words where tables go wrong first: the ends, zero, quarter turns, and their neighbours."""
    around = [word.lowest, 0, word.highest]
    if word.kind == "angle":
        quarter = 1 << (word.bits - 2)
        around += [-quarter, quarter]
    near = {place + step for place in around for step in (-1, 0, 1)}
    low, high = word.lowest, word.highest
    return np.array(sorted(place for place in near if low <= place <= high), dtype=np.int64)


def random_words(formats: Interface, count: int, seed: int) -> list[Words]:
    """Return words of every input array, (count, words): every word of each format as likely as any other."""
    rng = np.random.default_rng(seed)
    return [
        np.stack([rng.integers(word.lowest, word.highest, count, endpoint=True) for word in array], axis=1)
        for array in formats.inputs
    ]
