"""Values of terms, in the unit of the torque: beside the true terms of all states, whatever its range and sign."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import bddtorque as bt
from bddtorque.questions import largest, largest_error, reaching, smallest, subject
from bddtorque.questions.subjects import _terms
from bddtorque.questions.word_errors import true_terms
from bddtorque.words.rounding import half_up_shift

RANGES = [(-100.0, 200.0), (-80.0, 80.0)]
MODELS = {
    "shifted": {"signs": (1, 1), "torque": RANGES},
    "turned": {"signs": (-1, 1), "torque": [[-160.0, 160.0], [-80.0, 80.0]]},
    "both": {"signs": (-1, -1), "torque": RANGES},
}


@cache
def model_of(name):
    spec = bt.load_spec("planar2r").with_options(bits=4, torque=MODELS[name]["torque"])
    joints = [replace(joint, sign=sign) for joint, sign in zip(spec.joints, MODELS[name]["signs"], strict=True)]
    return bt.compile(replace(spec, joints=tuple(joints)), cache=None, workers=1)


def all_states(model):
    """Return the words of every input, each along an axis of its own."""
    names = [f"{kind}{j}" for kind in ("q", "qd", "qdd") for j in (1, 2)]
    grids = np.meshgrid(*[np.arange(-8, 8)] * len(names), indexing="ij", sparse=True)
    return dict(zip(names, grids, strict=True))


@pytest.mark.parametrize("name", MODELS)
def test_extremes_of_terms_are_those_of_the_true_terms(name):
    model = model_of(name)
    states = all_states(model)
    assert {"J11", "J12", "J22"} < set(_terms(model)) and any("G1" in term for term in _terms(model))
    for term, asked in _terms(model).items():
        true = true_terms(model, asked.place, asked.motions, states).value
        error = largest_error(model, term)
        room = error.bound * error.lsb + 1e-9
        top, bottom = largest(model, term), smallest(model, term)
        assert top.exact and abs(top.value - true.max()) <= room, term
        assert bottom.exact and abs(bottom.value - true.min()) <= room, term
        assert bottom.value <= top.value


@pytest.mark.parametrize("name", MODELS)
def test_values_of_the_terms_add_up_to_the_torque(name):
    model = model_of(name)
    rng = np.random.default_rng(0)
    for _ in range(20):
        state = {key: int(rng.integers(-8, 8)) for key in all_states(model)}
        for place, word in enumerate(model.formats.tau):
            total = 0.0
            for asked in (each for each in _terms(model).values() if each.place == place):
                read = {wire.name: np.array([state[wire.name]]) for wire in asked.inputs}
                total += asked.value(int(asked.total(read)[0]))
            whole = subject(model, f"tau{place + 1}")
            sums = whole.total({wire.name: np.array([state[wire.name]]) for wire in whole.inputs})
            given = float(word.dequantise(int(whole.rounded(sums)[0])))
            if half_up_shift(int(sums[0]), whole.output.shift) == whole.rounded(sums)[0]:
                assert abs(total - given) <= 0.5 * word.lsb + 1e-9


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("side", ["at least", "at most"])
def test_terms_are_counted_by_value(name, side):
    model = model_of(name)
    for term, asked in _terms(model).items():
        states = {wire.name: all_states(model)[wire.name] for wire in asked.inputs}
        sums = np.broadcast_to(asked.total(states), np.broadcast_shapes(*map(np.shape, states.values()))).reshape(-1)
        given = {total: asked.value(total) for total in np.unique(sums).tolist()}
        values = np.array([given[total] for total in sums.tolist()])
        own = sorted(given.values())
        for value in (own[0], own[len(own) // 2], own[-1], own[-1] + 1.0, own[0] - 1.0, 0.0):
            found = reaching(model, term, value, side)
            assert found.exact and found.states == len(values)
            assert found.low == np.count_nonzero(values >= value if side == "at least" else values <= value), term


def test_blocks_and_words_are_counted_by_word():
    model = model_of("shifted")
    for place, table in enumerate(model.tables):
        for value in (int(table.values.min()), 0.5, int(table.values.max()), 1e9):
            up, down = (reaching(model, f"b{place}", value, side) for side in ("at least", "at most"))
            assert up.exact and up.low == np.count_nonzero(table.values >= value)
            assert down.exact and down.low == np.count_nonzero(table.values <= value)
            assert up.states == len(table.values)
    word = subject(model, "w0")  # an input: every word once
    assert reaching(model, "w0", 3.5).low == 4 and reaching(model, "w0", -8, "at most").low == 1
    assert word.bits == 4
