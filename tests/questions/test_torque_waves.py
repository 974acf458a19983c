"""Bounds of a torque by its waves: never below what a state gives, and close to it."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from compiled import Later
from examples_tried import EVERY, examples

import bddtorque as bt
from bddtorque.dynamics.terms import terms_of
from bddtorque.questions import Work, largest, saturating, smallest, subject
from bddtorque.questions.conditions import words_within
from bddtorque.questions.torque_waves import MOST_BOXES, _rows, bound_torque
from bddtorque.questions.wave_boxes import search, sine_cosine, value_at

ARMS = Later({name: partial(bt.compile, name, bits=9, target="float") for name in ("planar3r_b", "scara")})


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("where", ["", "qd=0, q2=-0.5:2", "q1=3:4, qdd=0, qd1=-0.2:0.1"])
def test_no_state_is_beyond_and_the_bound_is_close(name: str, where: str) -> None:
    model = ARMS[name]
    within = words_within(model, where)
    rng = np.random.default_rng(1)
    words = [rng.integers(*within.get(each, (word.lowest, word.highest)), 20_000, endpoint=True)
             for each, word in model.source.words.items()]  # fmt: skip
    values = [word.dequantise(word.held(own)) for word, own in zip(model.source.words.values(), words, strict=True)]
    q, qd, qdd = np.split(np.stack(values, axis=1), 3, axis=1)
    tau = bt.inverse_dynamics(model.robot, q, qd, qdd)
    for place in range(tau.shape[1]):
        for direction in (1, -1):
            asked = subject(model, f"tau{place + 1}", within)
            found = bound_torque(model, asked, direction, Work())
            if found is None:  # a torque that nothing moves
                assert np.ptp(tau[:, place]) == 0.0
                continue
            assert (direction * tau[:, place]).max() <= direction * found.bound
            state = np.array([found.state[each] for each in model.source.words]).reshape(3, -1)
            values = [kind.dequantise(own) for kind, own in zip(model.formats.inputs, state, strict=True)]
            at = bt.inverse_dynamics(model.robot, *values)[place]
            assert direction * at >= direction * found.bound - 0.02 * np.abs(tau[:, place]).max()


def test_waves_are_the_torque() -> None:
    robot = bt.load_robot("stanford")
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (5, 18))
    tau = bt.inverse_dynamics(robot, *np.split(x, 3, axis=1))
    low, high = -np.ones(18), np.ones(18)
    for place in range(6) if EVERY else (0, 5):
        rows = _rows(terms_of(robot), place, 1, low.copy(), high.copy())
        assert [value_at(rows, each) for each in x] == pytest.approx(tau[:, place].tolist(), abs=1e-9)


def test_boxes_are_sound_on_random_waves() -> None:
    """Small boxes of a torque with sliding joints, beside many points of them."""
    robot = bt.load_robot("stanford")
    rng = np.random.default_rng(3)
    terms = terms_of(robot)
    for _ in range(examples(30)):
        centre, radius = rng.uniform(-2, 2, 18), rng.uniform(0, 1.5) * rng.uniform(0, 1, 18) ** 3
        low, high = centre - radius, centre + radius
        rows = _rows(terms, int(rng.integers(6)), int(rng.choice([1, -1])), low, high)
        points = np.concatenate(
            [rng.uniform(low, high, (200, 18)), rng.choice([0.0, 1.0], (200, 18)) * (high - low) + low]
        )
        most = max(value_at(rows, point) for point in points)
        for boxes in (1, 50, 400):
            bound, looked = search(rows, 1e-9, low, high, -math.inf, 1e-3, -math.inf, boxes)
            assert most <= bound and looked <= boxes + 1


def test_extremes_are_close_and_saturation_is_decided() -> None:
    model = bt.compile("scara", target="float")
    assert model.certificate.torques[0].saturation == "not excluded"
    top, bottom = largest(model, "tau1", work=300), smallest(model, "tau1", work=300)
    assert 0 <= top.bound - top.value <= 0.01 * top.value and 0 <= bottom.value - bottom.bound <= -0.01 * bottom.value
    count = saturating(model, "tau1", work=300)
    assert (count.low, count.high) == (0, 0) and "this proves that it cannot" in count.certificate
    again = largest(model, "tau1", work=300)
    assert again == top


def test_sines_are_sines() -> None:
    for angle in np.random.default_rng(0).uniform(-100, 100, 1000):
        assert sine_cosine(angle) == pytest.approx((math.sin(angle), math.cos(angle)), abs=1e-15)


def test_little_work_is_little_work() -> None:
    model = ARMS["scara"]
    found = bound_torque(model, subject(model, "tau1"), 1, work := Work(0.002))
    whole = bound_torque(model, subject(model, "tau1"), 1, Work())
    assert found is not None and whole is not None and work.stopped == "work"
    assert found.boxes < whole.boxes < MOST_BOXES
    assert whole.bound <= found.bound
