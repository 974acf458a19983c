"""Compiled arms for tests, and the states they are tried on: random words, and words from the ends of their ranges."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

import bddtorque as bt
from bddtorque.model.model import Model
from bddtorque.plan.reference import run_plan
from bddtorque.robots.robot import Robot
from bddtorque.sweep.states import special_words
from bddtorque.words import Formats
from bddtorque.work import Cache

STATES = 1_000_000
CORNERS = STATES // 8
BATCH = 1 << 16
SAME = 10_000
"""States on which every evaluator must return the same words."""

States = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Words of q, qd and qdd, each (N, n)."""

BLOCKS: list[Cache] = []
"""Where finished blocks are kept for the whole session; set by conftest.py."""


@cache
def compiled(name: str, **options: Any) -> Model:
    """Return a built-in arm, compiled once in this process; blocks are shared with the other processes of a session."""
    return bt.compile(name, workers=1, cache=BLOCKS[0], **options)


def random_states(formats: Formats, count: int, seed: int) -> States:
    """Return words of any value."""
    rng = np.random.default_rng([seed, 0])
    return tuple(rng.integers(each.lowest, each.highest, (count, len(each)), endpoint=True) for each in formats.inputs)  # type: ignore[return-value]


def corner_states(formats: Formats, count: int, seed: int) -> States:
    """Return words where tables go wrong first: ends, zero, quarter turns, their neighbours; the lowest words lead."""
    rng = np.random.default_rng([seed, 1])
    states = []
    for each in formats.inputs:
        columns = [rng.choice(special_words(word), count) for word in each]
        states.append(np.stack(columns, axis=1))
        states[-1][0] = each.lowest
    return tuple(states)  # type: ignore[return-value]


def batches(formats: Formats, states: int = STATES, corners: int = CORNERS) -> Iterator[States]:
    """Yield states in batches of bounded memory, some of them corners."""
    for make, total in ((corner_states, corners), (random_states, states - corners)):
        for seed, start in enumerate(range(0, total, BATCH)):
            yield make(formats, min(BATCH, total - start), seed)


def true_units(robot: Robot, formats: Formats, states: States) -> np.ndarray:
    """Return the torques by float Newton-Euler in units of their last bits, clamped to the ends of their words."""
    tau = bt.inverse_dynamics(
        robot, *(each.dequantise(words) for each, words in zip(formats.inputs, states, strict=True))
    )
    units = np.stack([(word.sign * tau[:, j] - word.centre) / word.lsb for j, word in enumerate(formats.tau)], axis=1)
    return np.clip(units, formats.tau.lowest, formats.tau.highest)


def largest_errors(model: Model, states: int = STATES, corners: int = CORNERS) -> np.ndarray:
    """Return, for each torque, the largest error of `words` over many states, in units."""
    found = np.zeros(len(model.formats.tau))
    for batch in batches(model.formats, states, corners):
        errors = np.abs(model.torque_words(*batch) - true_units(model.robot, model.formats, batch))
        found = np.maximum(found, errors.max(axis=0))
    return found


def assert_keeps_its_bound(model: Model, states: int = STATES, corners: int = CORNERS) -> np.ndarray:
    """Assert that no state errs more than proved, and that the proof is below a unit; return what was found."""
    found, proved = largest_errors(model, states, corners), np.array(model.certificate.bounds)
    assert model.certificate.faithful and (proved < 1).all()
    assert (found <= proved).all(), f"found {found}, proved {proved}"
    assert (found > 0.4).all(), f"only {found} found: these states show nothing"
    return found


def assert_all_forms_agree(model: Model, count: int = SAME) -> None:
    """Assert that `bits` and the plain interpreter return the words of `words`."""
    corners, others = corner_states(model.formats, count // 8, 7), random_states(model.formats, count - count // 8, 7)
    states = tuple(np.concatenate(pair) for pair in zip(corners, others, strict=True))
    words = model.torque_words(*states)
    assert np.array_equal(model.evaluator("bits").torque_words(*states), words)
    assert np.array_equal(reference_words(model, states), words)


def reference_words(model: Model, states: Any) -> np.ndarray:
    """Return the torque words by the plain interpreter."""
    columns = {
        f"{kind}{j + 1}": words[:, j]
        for kind, words in zip(("q", "qd", "qdd"), states, strict=True)
        for j in range(words.shape[1])
    }
    rows = [np.broadcast_to(words, len(states[0])) for words in run_plan(model.plan, model.tables, columns)]
    return np.stack(rows, axis=1)
