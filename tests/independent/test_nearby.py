"""Arms beyond any grid: the checker compares circuits by way of constants nearby."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from mutations import proved_findings, refusal, taken_apart
from strategies import random_robot

import bddtorque as bt
from bddtorque.base.plain import matrix
from bddtorque.independent import check_bytes, comparison
from bddtorque.independent.circuits import Circuit, gradient, ranges_of, run
from bddtorque.independent.findings import RefusedError
from bddtorque.independent.graph import Angle
from bddtorque.independent.nearby import (
    STEPS,
    LongNumbers,
    _growth,
    _motion_growth,
    compare_nearby,
    draw_points,
    float_leaves,
)
from bddtorque.model.model import to_bytes
from bddtorque.robots.frames import rotation_rpy
from bddtorque.robots.parts import Follower, Joint, Link
from bddtorque.robots.robot import Robot
from bddtorque.targets.float import float_planner

SLIDING = random_robot(["revolute", "prismatic", "revolute"], ["tilted", "general", "parallel"], 3)
MOTION = {"velocity": (-1.0, 2.0), "acceleration": 3.0, "position": [(-1.0, 2.0), (0.1, 0.7), (-3.0, 3.0)]}
GAINS = {"kp": [100.0, 50.0], "kv": 20.0}
RUBBING = bt.load_robot("planar2r").with_friction({"shoulder": bt.Friction(2.0, (4.0, 5.0), (8.0, 7.0), 0.05)})


def circuit_of(shift: Fraction = Fraction(0)) -> tuple[Circuit, int]:
    """Return (3 sin(a + 0.3) + b)·cos a·0.7 less the same with products written out, constants rounded to `shift`."""
    own = Circuit()
    a, b = Angle(((0, 1),)), own.motion(0, Fraction(2))
    sine, cosine = own.wave(a.plus(Angle(rest=Fraction(3, 10))), cosine=False), own.wave(a, cosine=True)
    first = (sine.scaled(Fraction(3)) + b) * cosine.scaled(Fraction(7, 10))
    second = sine * cosine.scaled(Fraction(21, 10) + shift)
    return own, (first - second - b * cosine.scaled(Fraction(7, 10))).place


@settings(max_examples=examples(60))
@given(st.integers(1, 4), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_few_angles_have_small_values(degree, angles, seed):
    """What the probability rests on: of all points, at most 1/4V have a value below the largest over the growth."""
    rng = np.random.default_rng(seed)
    x = np.arange(STEPS) * (2 * np.pi / STEPS)
    roots = rng.uniform(0, 2 * np.pi, 2 * degree) if seed % 3 else np.full(2 * degree, 2 * np.pi * seed / STEPS)
    values = np.abs(np.prod([np.sin((x - each) / 2) for each in roots], axis=0))
    small = (values < values.max() / float(_growth(degree, angles))).sum()
    assert small <= STEPS / (4 * angles)


@settings(max_examples=examples(60))
@given(st.integers(1, 4), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_few_motions_have_small_values(degree, motions, seed):
    """The same of polynomials in many motions: products of planes, which meet in a corner, or anywhere."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (4000, motions))
    planes = rng.normal(size=(degree, motions)) if seed % 2 else np.eye(motions)[rng.integers(0, motions, degree)]
    at = rng.choice([-1.0, 1.0], motions) if seed % 3 else rng.uniform(-1, 1, motions)
    largest = np.prod(np.abs(planes).sum(axis=1) + np.abs(planes @ at))  # or more
    values = np.abs(np.prod((x - at) @ planes.T, axis=1))
    assert (values < largest / _motion_growth(degree, motions)).mean() <= 0.25


def test_two_ways_to_write_a_function_agree():
    own, place = circuit_of()
    assert compare_nearby(own, [place, -1]).differences == [pytest.approx(0.0, abs=1e-15), 0.0]


@pytest.mark.parametrize("shift", [Fraction(1, 10**9), Fraction(-1, 10**4)])
def test_a_rounded_constant_is_found_to_be_as_far_off_as_it_is(shift):
    own, place = circuit_of(shift)
    a = np.linspace(0, 2 * np.pi, 1000)
    apart = abs(float(shift)) * np.abs(np.sin(a + 0.3) * np.cos(a)).max()
    (found,) = compare_nearby(own, [place]).differences
    assert apart <= found <= 8 * apart


def test_constants_that_cannot_move_alike_move_by_themselves():
    """In u·sin a + (u + u²)·cos a one factor is more than u, and the other is not: moved alike, they fit no u but 0."""
    own, a, u = Circuit(), Angle(((0, 1),)), Fraction(1, 10**5)
    sine, cosine = own.wave(a, cosine=False), own.wave(a, cosine=True)
    rounded = sine.scaled(Fraction(1, 10**5)) + cosine.scaled(Fraction(1, 10**5))
    true = sine.scaled(u) + cosine.scaled(u) + cosine.scaled(u).scaled(u)
    (found,) = compare_nearby(own, [(rounded - true).place]).differences
    assert 1e-10 <= found < 2e-10


def test_functions_of_another_shape_do_not_agree():
    own = Circuit()
    a, b = Angle(((0, 1),)), Angle(((1, 1),))
    other = own.wave(a, cosine=False) * own.wave(b, cosine=True) - own.wave(a, cosine=True) * own.wave(b, cosine=False)
    with pytest.raises(RefusedError, match="no constants near"):
        compare_nearby(own, [other.place])


def test_derivatives_and_ranges_of_a_circuit():
    own, place = circuit_of(Fraction(1, 3))
    points = draw_points([(True, 0), (False, 0)], 20, random.Random(1).randrange)
    start = [float(each) for each in own.constants]
    leaves, slopes = float_leaves(own, start, points)
    values = run(own, leaves, np.multiply)
    found = gradient(own, values, slopes, place)
    moved = [1e-4] * len(start)
    for k in range(len(start)):
        ahead, behind = (
            run(own, float_leaves(own, [*start[:k], start[k] + by, *start[k + 1 :]], points)[0], np.multiply)[place]
            for by in (1e-4, -1e-4)
        )
        assert np.allclose(found[k], (ahead - behind) / 2e-4, atol=1e-7)
        assert (np.abs(ahead - values[place]) <= ranges_of(own, moved)[place].error).all()
    for held, value in zip(ranges_of(own, moved), values, strict=True):
        assert held.low <= np.min(value) and np.max(value) <= held.high


def test_long_numbers_are_within_their_rounding():
    own, place = circuit_of(Fraction(1, 3))
    bits, steps = 500, [0, 1, 77_777, STEPS - 1]
    points = {(True, 0): np.array(steps), (False, 0): np.array(steps)}
    found = LongNumbers(own, points, bits).values([round(each * (1 << bits)) for each in own.constants])[place]
    room = ranges_of(own, [0.0] * len(own.constants), 2.0**-60)[place].error * 2.0**60
    with mpmath.workdps(200):
        for k, value in zip(steps, found.tolist(), strict=True):
            a = 2 * mpmath.pi * k / STEPS
            wanted = -mpmath.sin(a + mpmath.mpf(3) / 10) * mpmath.cos(a) / 3
            assert abs(mpmath.mpf(value) - wanted * mpmath.mpf(2) ** bits) <= room + 1
    assert room < 1000


def without_grids(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "LARGE", 0)
    monkeypatch.setattr(comparison, "MAX_NUMBERS", 0)


CASES = [
    ("planar2r", "torque", {"torque": 1000.0}),
    (RUBBING, "torque", {"torque": 1000.0}),
    ("planar2r", "computed_torque", {"gains": GAINS}),
    (
        "planar2r",
        "mass_matrix",
        {"payload": {"mass": [0.5, 2], "com": [[-0.1, 0.1], [0, 0], [0, 0.2]], "runtime": True}},
    ),
    (SLIDING, "torque", {**MOTION, "torque": 1000.0}),
]


def compiled(robot: object, quantity: str, options: dict[str, object]) -> bytes:
    more = {} if quantity == "mass_matrix" else {"torque": "auto"}
    return to_bytes(bt.compile(robot, quantity=quantity, target="float", bits=12, workers=1, **more | options))


@pytest.mark.parametrize("case", CASES)
def test_what_a_grid_proves_is_proved_without_one(case, monkeypatch):
    """All but the ranges of torques, which the compiler finds more closely than the operations give them."""
    data = compiled(*case)
    without_grids(monkeypatch)
    found = check_bytes(data)
    dynamics = next(each for each in found if each.name == "dynamics")
    assert dynamics.passed and "probability of at most 2^-100" in dynamics.detail
    assert found[-1].passed or (case[1] == "torque" and "expected a range that holds every value" in found[-1].detail)


def test_a_grid_that_fits_shows_what_constants_nearby_cannot(monkeypatch):
    """A stated range that is narrower than the operations give: that of `auto`, where nothing saturates."""
    data = compiled("planar2r", "torque", {})
    assert "cannot" in check_bytes(data)[-1].detail
    monkeypatch.setattr(comparison, "LARGE", 0)
    found = proved_findings(data)
    assert "positions of a grid" in next(each.detail for each in found if each.name == "dynamics")
    monkeypatch.setattr(comparison, "MAX_NUMBERS", 0)
    assert check_bytes(data)[-1].name == "certificate"


@pytest.mark.parametrize("target", ["integer", "tables"])
def test_words_beyond_a_grid_are_said_to_be_unproved(target, monkeypatch):
    data = to_bytes(bt.compile("planar2r", target=target, bits=4, workers=1))
    assert check_bytes(data)[-1].passed
    monkeypatch.setattr(comparison, "MAX_NUMBERS", 0)
    last = check_bytes(data)[-1]
    assert (last.name, last.passed) == ("dynamics", False)
    assert last.detail.startswith("not proved, nor shown to be wrong: a plan in words is compared")


@pytest.mark.parametrize("kind", ["constant", "sine", "add", "outputs"])
def test_another_function_is_refused_without_a_grid(kind, monkeypatch):
    data = compiled(*CASES[0])
    without_grids(monkeypatch)
    plan = taken_apart(data)[0]["plan"]
    wires = plan["wires"]
    places = [k for k, wire in enumerate(wires) if wire["kind"] == kind]
    if kind == "constant":
        changes = [
            (("plan", "wires", k, "value"), str(Fraction(wires[k]["value"]) * Fraction(1001, 1000))) for k in places
        ]
    elif kind == "sine":
        changes = [(("plan", "wires", k, "cosine"), not wires[k]["cosine"]) for k in places[:2]]
    elif kind == "add":
        changes = [(("plan", "wires", k, "sign"), -wires[k]["sign"]) for k in places]
    else:
        changes = [(("plan", "outputs", 0, "parts"), plan["outputs"][1]["parts"])]
    assert changes
    for path, value in changes:
        assert refusal(data, path, value).name == "dynamics"


def gripper(wrist: Sequence[float], fingers: Sequence[Sequence[float]], tips: bool) -> Robot:
    """Return a wrist of two joints with two fingers, the second of which follows, and tips that stay upright."""
    body = ((2e-3, 1e-4, 2e-4), (1e-4, 3e-3, -1e-4), (2e-4, -1e-4, 4e-3))
    small = tuple(tuple(each / 20 for each in row) for row in body)
    over = matrix(rotation_rpy((math.pi, 0.0, 0.0)), "rotation")
    turns = [matrix(rotation_rpy(angles), "rotation") for angles in (wrist, *fingers)]
    joints = (
        Joint("pitch", "revolute"),
        Joint("roll", "revolute", turns[0], (0.07, 0.14, 0.0)),
        Joint("finger", "revolute", turns[1], (0.0, -0.0288, 0.0913)),
    )
    links = (
        Link("hand", 1.1, (0.02, 0.01, 0.05), body),
        Link("palm", 0.7, (0.01, 0.03, 0.02), body),
        Link("left", 0.2, (0.036, 0.017, -0.0016), small),
    )
    other = Joint("other", "revolute", turns[2], (0.0, 0.014, 0.0958), parent="roll")
    followers = [Follower(other, Link("right", 0.2, (0.0358, 0.0174, 0.001), small), "finger")]
    for parent in ("finger", "other") if tips else ():
        tip = Joint(f"tip of {parent}", "revolute", over, (0.09137, 0.00495, 0.0), parent=parent)
        followers.append(Follower(tip, Link(f"end of {parent}", 0.04, (0.004, -0.003, 0.0), small), "finger"))
    return Robot("gripper", joints, links, followers=tuple(followers))


@pytest.mark.parametrize(
    ("wrist", "fingers", "tips"),
    [
        # right angles of five digits: entries of two rotations are equal as floats, and not as numbers
        ((-1.5708, 0.0, 0.0), [(1.5708, 0.83776, -1.5708), (1.5708, 0.83776, 1.5708)], False),
        # the plan turns both fingers by the same angle, half a turn apart
        ((0.0, math.pi / 2, 0.0), [(0.0, -math.pi / 2, 0.0), (math.pi, math.pi / 2, 0.0)], True),
    ],
)
def test_fingers_that_mirror_each_other(wrist, fingers, tips, monkeypatch):
    # nothing is left out, as where a torque has more than seven angles
    monkeypatch.setattr(float_planner, "DUST_BUDGET", 0.0)
    options = {"velocity": 2.0, "acceleration": 4.0, "torque": 100.0}
    data = compiled(gripper(wrist, fingers, tips), "torque", options)
    without_grids(monkeypatch)
    proved_findings(data)


@pytest.mark.parametrize(
    "quantity",
    ["gravity", pytest.param("torque", marks=pytest.mark.everything)],
)
def test_eleven_joints_in_one_torque(quantity):
    geometries = ["general", "tilted", "perpendicular", "parallel", "intersecting"] * 3
    robot = random_robot(["revolute"] * 11, geometries[:11], 5)
    motion = {"velocity": (-1.0, 2.0), "acceleration": 3.0, "accuracy": 2.0} if quantity == "torque" else {}
    found = proved_findings(compiled(robot, quantity, motion))
    assert "2^-100" in next(each.detail for each in found if each.name == "dynamics")
