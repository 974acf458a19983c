"""Compiled models for tests, each made once per session, the states to try them on, and what is true of those."""

from __future__ import annotations

import hashlib
import math
import os
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import bddtorque as bt
from bddtorque.base.files import write_whole
from bddtorque.plan.reference import run_plan
from bddtorque.words.interface import Interface


@cache
def compiled(robot: str = "planar2r", **options: Any) -> bt.Model:
    """Return a compiled arm: made by one process of the session, and read by the others."""
    key = hashlib.sha256(repr((robot, sorted(options.items()))).encode()).hexdigest()
    file = Path(os.environ["BDDTORQUE_TEST_MODELS"], key)
    if file.exists():
        model: bt.Model = pickle.loads(file.read_bytes())
        return model
    model = bt.compile(robot, **{"workers": 1, **options})
    write_whole(file, pickle.dumps(model))
    return model


def arm(bits: int = 6, **options: Any) -> bt.Model:
    """Return planar2r."""
    return compiled("planar2r", bits=bits, **options)


@cache
def rubbing_arm() -> bt.Model:
    """Return planar2r in floats, with friction."""
    friction = {"shoulder": bt.Friction(2.0, (4.0, 5.0), (8.0, 7.0), 0.05), "elbow": bt.Friction(0.3)}
    return bt.compile(bt.load_robot("planar2r").with_friction(friction), bits=8, target="float", workers=1)


class Later(Mapping[str, bt.Model]):
    """Models by name, each compiled when it is first asked for: nothing is compiled while tests are collected."""

    def __init__(self, makers: Mapping[str, Callable[[], bt.Model]]) -> None:
        self._makers = {name: cache(make) for name, make in makers.items()}

    def __getitem__(self, name: str) -> bt.Model:
        return self._makers[name]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


def with_source(model: bt.Model, formats: Interface | None = None, **changes: Any) -> bt.Model:
    """Return the model with another robot, spec or formats; nothing is compiled again."""
    return replace(model, formats=formats or model.formats, provenance=replace(model.provenance, **changes))


def random_words(model: bt.Model, count: int = 200, seed: int = 0) -> list[np.ndarray]:
    """Return position, velocity and acceleration words, (count, n) each: the lowest, the highest, and random ones."""
    rng = np.random.default_rng(seed)
    states = []
    for kind in model.formats.inputs:
        words = rng.integers(kind.lowest, kind.highest, (count, len(kind)), endpoint=True)
        words[:2] = np.array([kind.lowest, kind.highest])[:count]
        states.append(words)
    return states


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


def reference(model: bt.Model, words: Sequence[np.ndarray]) -> np.ndarray:
    """Return torque words by the plain interpreter, (N, n)."""
    n = len(model.formats.q)
    names = [f"{kind}{j + 1}" for kind in ("q", "qd", "qdd") for j in range(n)]
    columns = [column for each in words for column in np.asarray(each).T]
    rows = run_plan(model.plan, model.tables, dict(zip(names, columns, strict=True)))
    return np.stack([np.broadcast_to(row, len(words[0])) for row in rows], axis=1)


def values_of(model: bt.Model, words: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return what position, velocity and acceleration words stand for."""
    return [kind.dequantise(each) for kind, each in zip(model.formats.inputs, words, strict=True)]


def true_units(model: bt.Model, words: Sequence[np.ndarray], torques: np.ndarray | None = None) -> np.ndarray:
    """Return torques in units, clamped to their words, (N, n): those of float Newton-Euler, or `torques`."""
    if torques is None:
        torques = bt.inverse_dynamics(model.robot, *values_of(model, words))
    tau = model.formats.tau
    units = [(word.sign * torques[:, j] - word.centre) / word.lsb for j, word in enumerate(tau)]
    return np.clip(np.stack(units, axis=1), tau.lowest, tau.highest)


def found_errors(
    model: bt.Model, words: Sequence[np.ndarray], tau: np.ndarray, torques: np.ndarray | None = None
) -> np.ndarray:
    """Return the largest |compiled − clamp(true)| of each torque in units, (n,); for `torques` see `true_units`."""
    return np.abs(tau - true_units(model, words, torques)).max(axis=0)


def check_every_word(model: bt.Model, most: int = 1 << 17) -> None:
    """Compare words of all states, or of many, with float64: none may be farther off than is proved.

    Those of the evaluator are the same.
    """
    own = model.formats.words
    if math.prod(1 << word.bits for word in own.values()) <= most:
        states = np.array(list(product(*(range(word.lowest, word.highest + 1) for word in own.values()))))
    else:
        ends = [(word.lowest, word.highest + 1) for word in own.values()]
        states = np.stack([np.random.default_rng(0).integers(*each, most) for each in ends], axis=1)
    words = dict(zip(own, states.T, strict=True))
    found = [np.broadcast_to(row, len(states)) for row in run_plan(model.plan, model.tables, words)]
    true = model.provenance.true_values(model.formats, words, model.plan.blocks)
    assert true is not None
    rows = {name: np.stack(columns, axis=1) for name, columns in model.formats.grouped(words).items()}
    fast = model.torque_words if model.provenance.is_torque else model.evaluator().output_words
    np.testing.assert_array_equal(np.asarray(fast(**rows)).reshape(-1, len(found)), np.stack(found, axis=1))
    for word, each, value, bound in zip(
        model.formats.results.values(), found, true.T, model.certificate.bounds, strict=True
    ):
        units = np.clip((word.sign * value - word.centre) / word.lsb, word.lowest, word.highest)
        assert np.abs(each - units).max() <= bound + 1e-9
