"""Assertions on compiled arms, on random words and on words from the ends of their ranges."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from compiled import random_words, reference, true_units

from bddtorque.model.model import Model
from bddtorque.sweeps.states import special_words

BATCH = 1 << 16

States = list[np.ndarray]
"""Words of q, qd and qdd, each (N, n)."""


def corner_states(model: Model, count: int, seed: int) -> States:
    """Return words where tables go wrong first: ends, zero, quarter turns, their neighbours; the lowest words lead."""
    rng = np.random.default_rng([seed, 1])
    states = []
    for each in model.formats.inputs:
        columns = [rng.choice(special_words(word), count) for word in each]
        states.append(np.stack(columns, axis=1))
        states[-1][0] = each.lowest
    return states


def batches(model: Model, states: int) -> Iterator[States]:
    """Yield states in batches of bounded memory, an eighth of them corners."""
    for make, total in ((corner_states, states // 8), (random_words, states - states // 8)):
        for seed, start in enumerate(range(0, total, BATCH)):
            yield make(model, min(BATCH, total - start), seed)


def largest_errors(model: Model, states: int) -> np.ndarray:
    """Return, for each torque, the largest error of `words` over many states, in units."""
    found = np.zeros(len(model.formats.tau))
    for batch in batches(model, states):
        errors = np.abs(model.torque_words(*batch) - true_units(model, batch))
        found = np.maximum(found, errors.max(axis=0))
    return found


def assert_keeps_its_bound(model: Model, states: int) -> np.ndarray:
    """Assert that no state errs more than proved, and that the proof is below a unit; return what was found."""
    found, proved = largest_errors(model, states), np.array(model.certificate.bounds)
    assert model.certificate.faithful and (proved < 1).all()
    assert (found <= proved).all(), f"found {found}, proved {proved}"
    assert (found > 0.4).all(), f"only {found} found: these states show nothing"
    return found


def assert_all_forms_agree(model: Model, states: int) -> None:
    """Assert that `bits` and the plain interpreter return the words of `words`."""
    corners, others = corner_states(model, states // 8, 7), random_words(model, states - states // 8, 7)
    batch = [np.concatenate(pair) for pair in zip(corners, others, strict=True)]
    words = model.torque_words(*batch)
    if model.plan.target == "tables":
        assert np.array_equal(model.evaluator("bits").torque_words(*batch), words)
    assert np.array_equal(reference(model, batch), words)
