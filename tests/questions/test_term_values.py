"""Values of terms, in the unit of the torque: beside the true terms of all states, whatever its range and sign."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import bddtorque as bt
from bddtorque.questions import largest, largest_error, smallest, subject
from bddtorque.questions.subjects import _terms
from bddtorque.questions.truths import true_terms

RANGES = [(-100.0, 200.0), (-80.0, 80.0)]
MODELS = {
    "shifted": {"signs": (1, 1), "torque": RANGES},
    "turned": {"signs": (-1, 1), "torque": [160.0, 80.0]},
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
            if whole.unclamped(int(sums[0])) == whole.rounded(sums)[0]:
                assert abs(total - given) <= 0.5 * word.lsb + 1e-9
