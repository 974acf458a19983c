"""Bounds of a torque by its waves: never below what a state gives, and close to it."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from compiled import Later
from examples_tried import examples

import bddtorque as bt
from bddtorque.dynamics.terms import terms_of
from bddtorque.proof.torque_waves import TorqueSearch, _joined, _rows, torque_search
from bddtorque.proof.wave_values import sine_cosine, value_at
from bddtorque.questions import Work, largest, saturating, smallest, subject
from bddtorque.questions.conditions import words_within
from bddtorque.questions.torque_bounds import MOST_BOXES, bound_torque

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
    for place in range(6):
        rows = _rows(terms_of(robot), place, 1)
        assert [value_at(rows, each) for each in x] == pytest.approx(tau[:, place].tolist(), abs=1e-9)


def test_boxes_are_sound_on_random_waves() -> None:
    """Small boxes of a torque with sliding joints, beside many points of them."""
    robot = bt.load_robot("stanford")
    rng = np.random.default_rng(3)
    terms = terms_of(robot)
    for _ in range(examples(12)):
        centre, radius = rng.uniform(-2, 2, 18), rng.uniform(0, 1.5) * rng.uniform(0, 1, 18) ** 3
        low, high = centre - radius, centre + radius
        for j in np.flatnonzero(rng.integers(0, 3, 6) == 0):
            if j != 2:
                low[j], high[j] = -math.pi, math.pi
        place, direction = int(rng.integers(6)), int(rng.choice([1, -1]))
        rows = _rows(terms, place, direction)
        points = np.concatenate(
            [rng.uniform(low, high, (200, 18)), rng.choice([0.0, 1.0], (200, 18)) * (high - low) + low]
        )
        most = max(value_at(rows, point) for point in points)
        search = TorqueSearch(rows, robot, place, direction, low, high)
        for boxes in (1, 50, 400):
            search.run(1e-3, None, boxes, lambda _: True)
            at = value_at(rows, search.point())
            assert max(most, at) <= direction * search.bound and search.boxes <= boxes + 1024


@pytest.mark.parametrize(("square", "together"), [(1.0, True), (1.1, False)])
def test_velocities_that_only_their_sum_matters_of_are_one(square: float, together: bool) -> None:
    """cos q1 · (qd1 + qd2)², as the wrist of a UR5 has it of three parallel axes; or almost that."""
    keys = np.array([(2, 0, 0), (2, 0, 1), (2, 1, 1), (1, 0, 0), (1, 1, 0)]).T
    cosines = np.array([[1.0], [2.0], [square], [1.0], [1.0]])
    rows = (cosines, 0 * cosines, np.array([[1.0, 0.0]]), np.zeros((1, 2), np.int64), *keys)
    low, high = np.array([0.0, 0.0, -1.0, -2.0, -3.0, -4.0]), np.array([1.0, 1.0, 1.0, 2.0, 3.0, 4.0])
    found, apart = _joined(rows, low, high, 1e-3)
    assert apart == 0.0 and len(found[4]) == (2 if together else 4)
    assert (low[2], high[2]) == ((-3.0, 3.0) if together else (-1.0, 1.0))
    assert (low[4], high[4]) == (-7.0, 7.0)


def test_friction_counts_where_nothing_else_asks_for_the_velocity() -> None:
    robot = bt.load_robot("planar2r")
    robot = robot.with_friction({robot.joints[1].name: bt.Friction(viscous=50.0)})
    model = bt.compile(robot, bits=12, target="float", torque=400.0)
    top = largest(model, "tau2", work=100)
    assert top.bound >= top.value > 110
    search = torque_search(robot, model.source.words, 1, 1, {})
    assert search is not None and not search.run(1.0, None, 0, lambda _: True)
    search.run(1e-3, None, 10_000, lambda _: True)
    assert search.bound >= top.value - model.certificate.torques[1].bound_si


@pytest.mark.parametrize("stop", ["interrupt", "time"])
def test_a_search_can_be_stopped_and_what_it_knows_holds(stop: str) -> None:
    model = ARMS["planar3r_b"]
    whole = bound_torque(model, subject(model, "tau1"), 1, Work())
    calls = []

    def clock() -> float:
        calls.append(1)
        if stop == "interrupt" and len(calls) == 3:
            raise KeyboardInterrupt
        return float(len(calls) > 3)

    found = bound_torque(model, subject(model, "tau1"), 1, work := Work(limit=0.5, clock=clock))
    assert work.stopped == stop and found is not None and whole is not None
    assert 0 < found.boxes < whole.boxes and found.bound >= whole.bound


def test_extremes_are_close_and_saturation_is_decided() -> None:
    model = bt.compile("scara", target="float")
    assert model.certificate.torques[0].saturation == "cannot"
    top, bottom = largest(model, "tau1", work=300), smallest(model, "tau1", work=300)
    assert 0 <= top.bound - top.value <= 0.01 * top.value and 0 <= bottom.value - bottom.bound <= -0.01 * bottom.value
    count = saturating(model, "tau1", work=300)
    assert (count.low, count.high) == (0, 0) and count.certificate == "the certificate says cannot"
    again = largest(model, "tau1", work=300)
    assert again == top


def test_sines_are_sines() -> None:
    for angle in np.random.default_rng(0).uniform(-100, 100, 1000):
        assert sine_cosine(angle) == pytest.approx((math.sin(angle), math.cos(angle)), abs=1e-15)


def test_little_work_is_little_work() -> None:
    model = ARMS["planar3r_b"]
    found = bound_torque(model, subject(model, "tau1"), 1, work := Work(0.002))
    whole = bound_torque(model, subject(model, "tau1"), 1, Work())
    assert found is not None and whole is not None and work.stopped == "work"
    assert found.boxes < whole.boxes < MOST_BOXES
    assert whole.bound <= found.bound
