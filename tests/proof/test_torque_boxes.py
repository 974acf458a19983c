"""Bounds of a torque by boxes of positions: never below what a state gives, and close to it."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pytest
from compiled import Later
from examples_tried import examples

import bddtorque as bt
from bddtorque.proof.box_bounds import BoxBounds
from bddtorque.proof.motion_rows import motion_rows
from bddtorque.proof.torque_boxes import TorqueSearch, input_ends, torque_search
from bddtorque.questions import Work, largest, saturating, smallest, subject
from bddtorque.questions.conditions import words_within
from bddtorque.questions.sharpening import MAX_BOXES, bound_torque

ARMS = Later({name: partial(bt.compile, name, bits=9, target="float") for name in ("planar3r_b", "scara")})


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("where", ["", "qd=0, q2=-0.5:2", "q1=3:4, qdd=0, qd1=-0.2:0.1"])
def test_no_state_is_beyond_and_the_bound_is_close(name: str, where: str) -> None:
    model = ARMS[name]
    within = words_within(model, where)
    rng = np.random.default_rng(1)
    words = [rng.integers(*within.get(each, (word.lowest, word.highest)), 20_000, endpoint=True)
             for each, word in model.formats.words.items()]  # fmt: skip
    values = [word.dequantise(word.held(own)) for word, own in zip(model.formats.words.values(), words, strict=True)]
    q, qd, qdd = np.split(np.stack(values, axis=1), 3, axis=1)
    tau = bt.inverse_dynamics(model.robot, q, qd, qdd)
    for place in range(tau.shape[1]):
        for direction in (1, -1):
            asked = subject(model, f"tau{place + 1}", where)
            found = bound_torque(model, asked, direction, Work())
            if found is None:  # a torque that nothing moves
                assert np.ptp(tau[:, place]) == 0.0
                continue
            assert (direction * tau[:, place]).max() <= direction * found.bound
            state = np.array([found.state[each] for each in model.formats.words]).reshape(3, -1)
            values = [kind.dequantise(own) for kind, own in zip(model.formats.inputs, state, strict=True)]
            at = bt.inverse_dynamics(model.robot, *values)[place]
            assert direction * at >= direction * found.bound - 0.02 * np.abs(tau[:, place]).max()


@pytest.mark.parametrize("name", ["planar3r_b", "ur5"])
def test_coefficients_of_sums_of_angles_are_the_torque(name: str) -> None:
    """Joints that go all around are searched by sums of angles where axes are parallel; boxes here are points."""
    robot = bt.load_robot(name)
    n = len(robot.joints)
    x = np.random.default_rng(3).uniform(-1, 1, 3 * n)
    tau = bt.inverse_dynamics(robot, *np.split(x, 3))
    ends = [np.append(np.full(n, side * math.pi), x[n:]) for side in (-1, 1)]
    for place in range(n):
        own = motion_rows(robot, place, 1, *ends)
        assert own is not None and (place or (own.turned != np.eye(n)).any())
        points = BoxBounds(own, [True] * len(own.positions), 1)
        at = np.linalg.solve(own.turned, x[:n])[own.positions].tolist()
        points.take(at, at)
        assert points.bound(0, -math.inf)[0] == pytest.approx(tau[place], abs=1e-8 * own.total)


def test_ends_of_inputs_hold_all_words() -> None:
    words = ARMS["scara"].formats.words
    within = {"q1": (-100, 37), "qd2": (-5, 3)}
    low, high = input_ends(words, within)
    for k, (name, word) in enumerate(words.items()):
        for end in within.get(name, (word.lowest, word.highest)):
            value = word.sign * (Fraction(word.centre) + end * Fraction(word.lsb)) + Fraction(word.offset)
            assert low[k] < value < high[k] or (low[k], high[k]) == (-math.pi, math.pi)


def _search(robot: bt.Robot, place: int, direction: int, low: np.ndarray, high: np.ndarray) -> TorqueSearch:
    own = motion_rows(robot, place, direction, low, high)
    assert own is not None
    return TorqueSearch(own, robot, place, direction, low, high, 4)


@pytest.mark.parametrize("name", ["stanford", "ur5", "planar3r_a"])
def test_boxes_are_sound(name: str) -> None:
    """Boxes of torques, with whole turns, parallel axes, sliding joints and motions off their middle, beside points."""
    robot = bt.load_robot(name)
    n = len(robot.joints)
    rng = np.random.default_rng(3)
    for _ in range(examples(6)):
        centre, radius = rng.uniform(-2, 2, 3 * n), rng.uniform(0, 1.5) * rng.uniform(0, 1, 3 * n) ** 3
        if rng.integers(2):
            centre[n : 2 * n] = 0.0
        low, high = centre - radius, centre + radius
        for j in np.flatnonzero(rng.integers(0, 3, n) == 0):
            if robot.joints[j].kind.turns:
                low[j], high[j] = -math.pi, math.pi
        place, direction = int(rng.integers(n)), int(rng.choice([1, -1]))
        points = np.concatenate(
            [rng.uniform(low, high, (200, 3 * n)), rng.choice([0.0, 1.0], (200, 3 * n)) * (high - low) + low]
        )
        most = float((direction * bt.inverse_dynamics(robot, *np.split(points, 3, axis=1))[:, place]).max())
        search = _search(robot, place, direction, low, high)
        for boxes in (1, 50, 400):
            search.run(1e-3, None, boxes)
            point = search.point()
            assert (point >= low - 1e-9).all() and (point <= high + 1e-9).all()
            at = direction * bt.inverse_dynamics(robot, *np.split(point, 3))[place]
            assert max(most, at) <= direction * search.bound and search.boxes <= boxes


def test_a_search_that_begins_low_finds_more_on_its_way() -> None:
    """Middles of boxes have larger torques than the climb from one start: beyond what the boxes aimed at before."""
    robot = bt.load_robot("puma560")
    high = np.repeat([math.pi, 2.0, 5.0], 6)
    better = 0
    for place, direction in product(range(3), (1, -1)):
        own = motion_rows(robot, place, direction, -high, high)
        assert own is not None
        search = TorqueSearch(own, robot, place, direction, -high, high, 4)
        middle = np.zeros(18)
        search._found = direction * float(bt.inverse_dynamics(robot, *np.split(middle, 3))[place]), middle
        before = search.found
        search.run(0.001, None, 1024)
        better += direction * search.found > direction * before
        assert direction * search.found <= direction * search.bound
    assert better == 6


@pytest.mark.parametrize("name", ["stanford", "ur5"])
def test_a_box_is_bounded_whatever_is_aimed_at(name: str) -> None:
    """What is not looked at, since it is below the aim, counts as well."""
    robot = bt.load_robot(name)
    n = len(robot.joints)
    high = np.repeat([math.pi, 2.0, 5.0], n)
    search = _search(robot, 1, 1, -high, high)
    boxes = search._search.boxes
    low, top = boxes.low[7].tolist(), boxes.high[7].tolist()
    points = BoxBounds(search._own, search._turning.tolist(), 2)
    points.take(low, top)
    closest, at = points.bound(0, -math.inf)
    assert at >= 0
    middle = np.zeros((50, 3 * n))
    middle[:, n:] = np.random.default_rng(1).choice([-1.0, 1.0], (50, 2 * n)) * high[n:]
    middle[:, search._own.positions] = np.random.default_rng(2).uniform(low, top, (50, len(low)))
    middle[:, :n] = middle[:, :n] @ search._own.turned.T
    least = bt.inverse_dynamics(robot, *np.split(middle, 3, axis=1))[:, 1].max()
    assert least <= closest
    for aim in (0.5, 0.9, 0.99, 1.0, 1.0001, 1.01, 1.5, 10.0):
        points.take(low, top)
        bound, _ = points.bound(0, aim * closest)
        assert closest * (1 - 1e-9) <= bound <= max(closest * (1 + 1e-9), aim * closest)


@pytest.mark.parametrize("direction", [1, -1])
def test_velocities_that_are_almost_even_reach_their_ends(direction: int) -> None:
    """From -1 to 1.0008, as words do that have one more below 0 than above, the other way round."""
    robot = bt.load_robot("planar2r")
    ends = np.array([[0.3, 1.0, -1.0, -1.0, 0.0, 0.0], [0.3, 1.0, 1.0008, 1.0008, 0.0, 0.0]])
    search = _search(robot, 0, direction, *ends)
    assert search.run(0.0, None, 100)
    states = np.array([*product(*ends.T)])
    tau = bt.inverse_dynamics(robot, *np.split(states, 3, axis=1))[:, 0]
    assert (direction * tau).max() <= direction * search.bound <= (direction * tau).max() + 0.3 * np.ptp(tau)


@pytest.mark.parametrize("name", ["stanford", "ur5"])
def test_what_is_known_of_a_box_holds_for_its_halves(name: str) -> None:
    """No motion has more at a control point of a half than the mean of the bounds that the whole box has."""
    robot = bt.load_robot(name)
    high = np.repeat([math.pi, 2.0, 5.0], len(robot.joints))
    search = _search(robot, 1, 1, -high, high)
    own, turning, rng = search._own, search._turning.tolist(), np.random.default_rng(7)
    alone, halves = (BoxBounds(own, turning, levels) for levels in (1, 4))
    motions = np.ones((200, len(halves.motion) + 1))
    motions[:, :-1] = rng.choice([-1.0, 0.3, 1.0], (200, len(halves.motion)))
    weights = motions[:, own.factors[0]] * motions[:, own.factors[1]]
    boxes = search._search.boxes
    for number in rng.integers(0, len(boxes), examples(4)):
        low, top = boxes.low[number].tolist(), boxes.high[number].tolist()
        halves.take(low, top)
        aim = 0.9 * halves.bound(0, -math.inf)[0]
        for level, axis in enumerate(rng.integers(0, len(low), 3).tolist()):
            radius, upper = 0.5 * (top[axis] - low[axis]), bool(level % 2)
            halves.halve(level, axis, radius, upper, aim)
            (low if upper else top)[axis] = low[axis] + radius
            alone.take(low, top)
            values = alone._buffers[alone._first][alone._starts[:, :, None] + alone._lanes]
            reached = np.einsum("km,bmp->kbp", weights, values).max(axis=0).ravel()
            assert (reached <= halves._known[level + 1] + 1e-9 * own.total).all()
            bound, _ = halves.bound(level + 1, aim)
            assert reached.max() - 1e-9 * own.total <= bound <= max(alone.bound(0, aim)[0], aim) + 1e-9 * own.total


def test_friction_counts_where_nothing_else_asks_for_the_velocity() -> None:
    robot = bt.load_robot("planar2r")
    robot = robot.with_friction({robot.joints[1].name: bt.Friction(viscous=50.0)})
    model = bt.compile(robot, bits=12, target="float", torque=400.0)
    top = largest(model, "tau2", work=100)
    assert top.bound >= top.value > 110
    search = torque_search(robot, model.formats.words, 1, 1, {})
    assert search is not None and not search.run(1e-3, None, 0)
    search.run(1e-3, None, 10_000)
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


def test_a_state_that_answers_the_question_ends_the_search() -> None:
    model = ARMS["planar3r_b"]
    asked = subject(model, "tau1")
    told: list[dict[str, int]] = []

    def ends(state: dict[str, int]) -> bool:
        told.append(state)
        return True

    found = bound_torque(model, asked, 1, work := Work(), ends=ends)
    assert found is not None and found.boxes == 0 and not work.stopped
    assert told == [found.state]  # found by climbing


def test_a_torque_beyond_its_words_is_answered_without_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Boxes of words would find it, too; of arms with many words they are left out."""
    model = bt.compile("planar3r_b", bits=9, target="float", torque=10.0)
    monkeypatch.setattr("bddtorque.questions.values.MAX_FREE_WORDS", 0)
    monkeypatch.setattr("bddtorque.questions.bounding.good_state", lambda asked, *_: np.zeros(len(asked.inputs), int))
    end = smallest(model, "tau1")
    assert end.exact and end.clamped and end.word == -256 and end.detail == "a state reaches the end of the range"
    monkeypatch.undo()
    assert smallest(model, "tau1").word == -256


def test_boxes_of_words_are_left_out_where_there_are_too_many_words(monkeypatch: pytest.MonkeyPatch) -> None:
    model = ARMS["planar3r_b"]
    first = largest(model, "tau1", work=30)
    assert not first.detail.startswith("1 box of input words looked at")
    monkeypatch.setattr("bddtorque.questions.values.MAX_FREE_WORDS", 8)
    assert largest(model, "tau1", where="qd1=0", work=30).detail.count("1 box of") == 0  # eight words are free
    found = largest(model, "tau1", work=30)
    assert found.detail.startswith("1 box of input words looked at, and ")
    assert max(found.value, first.value) <= min(found.bound, first.bound) <= 1.01 * first.value


def test_little_work_is_little_work() -> None:
    model = ARMS["planar3r_b"]
    found = bound_torque(model, subject(model, "tau1"), 1, work := Work(0.002))
    whole = bound_torque(model, subject(model, "tau1"), 1, Work())
    assert found is not None and whole is not None and work.stopped == "work"
    assert found.boxes < whole.boxes < MAX_BOXES
    assert whole.bound <= found.bound
