"""Compiled models for tests, each made once a process, and states to try them on."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np

import bddtorque as bt
from bddtorque.plan.reference import run_plan


@cache
def arm(bits: int = 6, **options) -> bt.Model:
    """Return planar2r compiled without any cache on disk."""
    return bt.compile("planar2r", bits=bits, cache=None, **options)


def random_words(model: bt.Model, count: int, seed: int = 0) -> list[np.ndarray]:
    """Return position, velocity and acceleration words, (count, n) each: random ones."""
    rng = np.random.default_rng(seed)
    return [
        np.stack([rng.integers(word.lowest, word.highest, count, endpoint=True) for word in kind], axis=1)
        for kind in model.formats.inputs
    ]


def corner_words(model: bt.Model) -> list[np.ndarray]:
    """Return every combination of the lowest and highest words, −1, 0 and 1."""
    words = [word for kind in model.formats.inputs for word in kind]
    states = np.array(list(product(*([word.lowest, -1, 0, 1, word.highest] for word in words))))
    n = len(model.formats.q)
    return [states[:, k * n : (k + 1) * n] for k in range(3)]


def some_words(model: bt.Model, count: int, seed: int = 0) -> list[np.ndarray]:
    """Return `count` random states, and the corners."""
    pairs = zip(random_words(model, count, seed), corner_words(model), strict=True)
    return [np.concatenate(pair) for pair in pairs]


def reference(model: bt.Model, words: list[np.ndarray]) -> np.ndarray:
    """Return torque words by the plain interpreter, (N, n)."""
    n = len(model.formats.q)
    names = [f"{kind}{j + 1}" for kind in ("q", "qd", "qdd") for j in range(n)]
    columns = [column for each in words for column in np.asarray(each).T]
    return np.stack(run_plan(model.plan, model.tables, dict(zip(names, columns, strict=True))), axis=1)


def found_errors(model: bt.Model, words: list[np.ndarray], tau: np.ndarray) -> np.ndarray:
    """Return the largest |compiled − clamp(true)| of each torque in units, the truth by float Newton-Euler, (n,)."""
    states = [kind.dequantise(each) for kind, each in zip(model.formats.inputs, words, strict=True)]
    true = bt.inverse_dynamics(model.robot, *states)
    worst = []
    for j, word in enumerate(model.formats.tau):
        units = np.clip((word.sign * true[:, j] - word.centre) / word.lsb, word.lowest, word.highest)
        worst.append(np.abs(tau[:, j] - units).max())
    return np.array(worst)
