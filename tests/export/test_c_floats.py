"""The float front end in C: the same floats as the evaluator gives, ties, ends and many turns included."""

import numpy as np
import pytest
from c_programs import needs_compiler, run_floats
from compiled import arm

import bddtorque as bt
from bddtorque.spec import from_toml
from bddtorque.words.formats import MAX_TURNS, TURN

pytestmark = needs_compiler
SPEC = """robot = "planar2r"
bits = 6
[input_bits]
position = 9
velocity = 6
acceleration = 6
[ranges]
velocity = [[-1.0, 2.0], 1.0]
acceleration = 1.0
torque = 200.0
[[joint]]
name = "shoulder"
offset = 0.3
[[joint]]
name = "elbow"
sign = -1
offset = -1.0
"""


@pytest.fixture(scope="module")
def mounted() -> bt.Model:
    """An arm whose encoders and converters have signs, offsets and ranges that are not even."""
    model = bt.compile(from_toml(SPEC), workers=1)
    words = [word for kind in (*model.formats.inputs, model.formats.tau) for word in kind]
    assert {word.sign for word in words} == {1, -1} and any(word.offset for word in words)
    assert any(word.centre for word in words)
    return model


def compared(model: bt.Model, states: list[np.ndarray], folder) -> None:
    torques, told = run_floats(model, states, folder)
    evaluator = model.evaluator("words", "dense")
    assert np.array_equal(torques, evaluator.torque(*states))
    assert told.sum() == evaluator.out_of_range.sum()
    counts = []
    for k in range(40):
        one = model.evaluator("words", "dense")
        one.torque(*(each[k] for each in states))
        counts.append(one.out_of_range.sum())
    assert told[:40].tolist() == counts


def test_states_within_and_beyond_their_ranges(mounted, tmp_path):
    rng = np.random.default_rng(3)
    states = [
        rng.uniform(-1, 1, (20_000, 2)) * np.array([1.3 * word.span[1] for word in kind])
        for kind in mounted.formats.inputs
    ]
    compared(mounted, states, tmp_path)


def test_angles_of_many_turns_and_ties(mounted, tmp_path):
    """Whole turns and halves of units, with their neighbours among floats; up to 2^24 turns."""
    rng = np.random.default_rng(4)
    count = 60_000
    turns = np.floor(2.0 ** rng.uniform(0, 24, (count, 2))) * rng.choice([-1, 1], (count, 2))
    q = turns * TURN + rng.integers(-1024, 1024, (count, 2)) * (TURN / 1024)  # ties between words of 9 bits
    q[::3] = turns[::3] * TURN
    q[1::3] = rng.uniform(-MAX_TURNS * TURN, MAX_TURNS * TURN, q[1::3].shape)
    for _ in range(2):
        q = np.nextafter(q, rng.choice([-np.inf, np.inf], q.shape))
    q = np.clip(q, -MAX_TURNS * TURN, MAX_TURNS * TURN)
    q[:4] = [[MAX_TURNS * TURN, -MAX_TURNS * TURN], [0.0, -0.0], [TURN / 2, -TURN / 2], [TURN, -TURN]]
    qd, qdd = (
        (rng.integers(2 * kind.lowest, 2 * kind.highest, (count, 2)) / 2 * kind.lsb)
        + np.array([word.centre for word in kind])
        for kind in (mounted.formats.qd, mounted.formats.qdd)
    )
    compared(mounted, [q, qd, qdd], tmp_path)


def test_what_is_no_number_is_refused(tmp_path):
    model = arm(6, workers=1)
    bad = [np.nan, np.inf, -np.inf]
    states = np.zeros((3, 20, 2))
    for k, number in enumerate(bad):
        for quantity in range(3):
            states[quantity, 3 * k + quantity, k % 2] = number
    states[0, 9, 0] = np.nextafter(MAX_TURNS * TURN, np.inf)
    states[1, 10, 0] = 1e308  # a number like any other, far beyond its range
    torques, told = run_floats(model, list(states), tmp_path)
    assert (told[:10] == -1).all()
    assert (torques[:10] == 1e300).all()  # nothing was written
    assert told[10] == 1
    assert (told[11:] == 0).all()
    assert np.array_equal(torques[10:], model.torque(*states[:, 10:]))
