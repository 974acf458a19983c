"""Small models for questions, each compiled once a process, and all their states run by the plain interpreter."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import compiled
import numpy as np

import bddtorque as bt
from bddtorque.plan.reference import run_plan

MODELS = {
    "direct": {"bits": 3},
    "narrow": {"bits": 3, "torque": [[-60.0, 60.0], [-40.0, 40.0]]},
    "products": {"bits": 3, "block_bits": 4, "torque": [[-90.0, 90.0], [-45.0, 45.0]]},
    "wide": {"bits": 3, "source": "recursive", "torque": [[-120.0, 120.0], [-200.0, 200.0]]},
    "uneven": {"bits": [4, 3], "input_bits": {"position": [4, 3], "velocity": 2, "acceleration": [2, 3]}},
    "turned": {"bits": 3, "block_bits": 4, "source": "recursive"},
}


def arm(bits: int, **options) -> bt.Model:
    """Return planar2r of other word lengths."""
    return compiled.arm(bits, workers=1, **options)


@cache
def small(name: str) -> bt.Model:
    return bt.compile("planar2r", workers=1, **MODELS[name])


def all_words(model: bt.Model, within: Mapping[str, tuple[int, int]] | None = None) -> dict[str, np.ndarray]:
    """Return all states of a model, or those with inputs held to some words: the words of each input, (states,)."""
    axes = []
    for name, word in model.formats.words.items():
        first, last = (within or {}).get(name, (word.lowest, word.highest))
        axes.append(word.held(np.arange(first, last + 1)))
    grids = np.meshgrid(*axes, indexing="ij")
    return {name: grid.reshape(-1) for name, grid in zip(model.formats.words, grids, strict=True)}


def outputs_at(model: bt.Model, words: dict[str, np.ndarray]) -> np.ndarray:
    """Return the output words (states, outputs) at input words, by an evaluator."""
    arrays = {name: np.stack(own, axis=1) for name, own in model.formats.grouped(words).items()}
    return model.evaluator("words").output_words(**arrays)


@cache
def every_state(name: str) -> dict[str, np.ndarray]:
    """Return all states of a small model: the words of each input, (states,)."""
    return all_words(small(name))


@cache
def every_word(name: str) -> list[np.ndarray]:
    """Return the torque words of all states, one array a torque."""
    model = small(name)
    return run_plan(model.plan, model.tables, every_state(name))
