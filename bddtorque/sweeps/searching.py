"""Search for the worst states: an attempt to beat the proved bound, one output at a time.

The error of the tables is a sum of roundings, each a saw tooth of a few words. So there is no slope to follow, but one
word changed leaves most roundings as they are: from the worst state known, those that differ in a word or two are worth
trying. The climb takes the worst of `CANDIDATES` such states and goes on from there. When nothing worse was found for a
while it begins anew, in turn near the worst state so far and anywhere.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.sweeps.measuring import SweptModel, subject_from
from bddtorque.sweeps.states import by_array, special_words
from bddtorque.words.formats import Format

Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.int64]

CANDIDATES = 256
"""States tried at each step."""
PATIENCE = 3
"""Steps without a worse state after which a climb is over."""
NEAR, SPECIAL = 0.15, 0.1
"""Shares of the changed words that are neighbours, or where tables go wrong first; others are drawn evenly."""
SECOND = 0.5
"""Share of the candidates that differ in a second word."""


def search(
    data: bytes, evaluator: str, form: str | None, traced: bool, seed: int, output: int, start: Words, budget: int
) -> dict[str, Any]:
    """Return the worst that was found of one output by the model in `data`; see `climb`."""
    return climb(subject_from(data, evaluator, form, traced), seed, output, start, budget)


def climb(subject: SweptModel, seed: int, output: int, start: Words, budget: int) -> dict[str, Any]:
    """Return the largest error of the tables found for one output.

    Parameters
    ----------
    output
        Which output word, from 0.
    start
        (k,), input words to begin at.
    budget
        How many states may be tried.

    Returns
    -------
    worst : the largest |error|, in units
    worst_state : (k,), the input words that gave it
    tried : how many states were tried
    """
    rng = np.random.default_rng([seed, 4, output])
    words = list(chain(*subject.formats.inputs))
    found: dict[str, Any] = {"worst": -1.0, "worst_state": np.array(start), "tried": 0}
    here, climbs = np.array(start), 0
    while found["tried"] < budget:
        size, patience = -1.0, PATIENCE
        while patience and found["tried"] < budget:
            count = min(CANDIDATES, budget - found["tried"])
            tried = here[None] if size < 0 else _candidates(here, words, count, rng)
            sizes = np.abs(subject.table_errors(by_array(subject.formats, tried.T))[:, output])
            found["tried"] += len(tried)
            place = int(sizes.argmax())
            if sizes[place] > size:
                here, size, patience = tried[place], float(sizes[place]), PATIENCE
            else:
                patience -= 1
        if size > found["worst"]:
            found |= {"worst": size, "worst_state": here}
        climbs += 1
        changed = len(words) if climbs % 2 == 0 else max(len(words) // 3, 1)
        here = _anew(found["worst_state"], words, rng, changed)
    return found


def _anew(worst: Words, words: list[Format], rng: np.random.Generator, changed: int) -> Words:
    """Return a state that differs from the worst one in so many words."""
    here = worst.copy()
    for k in rng.choice(len(words), changed, replace=False):
        here[k] = rng.integers(words[k].lowest, words[k].highest, endpoint=True)
    return here


def _candidates(here: Words, words: list[Format], count: int, rng: np.random.Generator) -> Words:
    """Return states (count, k) that differ from one state in a word or two."""
    tried = np.repeat(here[None], count, axis=0)
    for changed in (np.arange(count), np.flatnonzero(rng.random(count) < SECOND)):
        place, way = rng.integers(0, len(words), len(changed)), rng.random(len(changed))
        for k, word in enumerate(words):
            own = np.flatnonzero(place == k)
            near = here[k] + rng.choice([-2, -1, 1, 2], len(own))
            special = rng.choice(special_words(word), len(own))
            even = rng.integers(word.lowest, word.highest, len(own), endpoint=True)
            chosen = np.where(way[own] < NEAR, near, np.where(way[own] < NEAR + SPECIAL, special, even))
            tried[changed[own], k] = word.held(chosen)
    return tried
