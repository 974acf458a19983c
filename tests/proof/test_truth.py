"""The bound on what harmonics, regrouping, folding and stored rotations cost: never below what 60 digits show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from exact_torques import digits, exact_torques, mp
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import KINDS, random_tree, robots, seeds

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.compiler.origin import Origin, from_recursion, from_terms
from bddtorque.dynamics.chain import chain_of
from bddtorque.dynamics.coupling import drive_torques, refuse_uncompilable
from bddtorque.proof import recursion_truth, term_truth
from bddtorque.proof.recursion_truth import recursion_errors
from bddtorque.robots.parts import Follower, Joint, Link
from bddtorque.robots.robot import Robot
from bddtorque.words.argument import Argument, intervals


def exact_body(link: Link) -> np.ndarray:
    """Return the pseudo-inertia of a link without rounding."""
    c, m = [mp.mpf(x) for x in link.centre_of_mass], mp.mpf(link.mass)
    square = sum(x * x for x in c)
    K = [
        [mp.mpf(link.inertia[r][s]) + m * ((square if r == s else 0) - c[r] * c[s]) for s in range(3)] for r in range(3)
    ]
    trace = sum(K[r][r] for r in range(3))
    body = np.zeros((4, 4), dtype=object)
    for r in range(3):
        for s in range(3):
            body[r, s] = (trace / 2 if r == s else 0) - (K[r][s] + K[s][r]) / 2
        body[r, 3] = body[3, r] = m * c[r]
    body[3, 3] = m
    return body


def true_torques(robot: Robot, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> list[mpmath.mpf]:
    """Return the torques of one state to 60 digits."""
    chain = chain_of(robot)
    exact = chain._replace(
        **{name: digits(getattr(chain, name)) for name in ("rotation", "translation", "rotor", "base_acceleration")},
        body=np.array([exact_body(member.link) for member in robot.members]),
    )
    scale = digits(chain.multiplier)
    position, rate, change = (digits(each)[chain.drive] * scale for each in (q, qd, qdd))
    return list(drive_torques(exact, exact_torques(exact, position + digits(chain.offset), rate, change)))


def farthest(origin: Origin, robot: Robot, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how far the traced torques are from the true ones at some states, and their bound."""
    n = robot.degrees_of_freedom
    random, found = np.random.default_rng(seed), np.zeros(n)
    for q, qd, qdd in np.concatenate((random.uniform(-3, 3, (3, 3, n)), random.choice([-3.0, 3.0], (2, 3, n)))):
        names = {f"{kind}{i + 1}": mp.mpf(x[i]) for kind, x in (("q", q), ("qd", qd), ("qdd", qdd)) for i in range(n)}
        compiled = origin.graph.evaluate(names, mp, mp.mpf)
        apart = [abs(a - b) for a, b in zip(compiled, true_torques(robot, q, qd, qdd), strict=True)]
        found = np.maximum(found, [float(each) for each in apart])
    angle, word = Argument("angle", 16), Argument("word", 16, Fraction(3, 1 << 15))
    arguments = {f"{kind}{i + 1}": word for kind in ("q", "qd", "qdd") for i in range(n)}
    arguments |= {f"q{i + 1}": angle for i, joint in enumerate(robot.joints) if joint.kind.turns}
    return found, origin.errors(intervals(arguments), [3.0] * n)


@given(
    st.lists(st.sampled_from(KINDS), min_size=1, max_size=9),
    st.lists(st.integers(0, 8), min_size=9, max_size=9),
    st.lists(st.sampled_from([0, 0, 1, -2]), min_size=9, max_size=9),
    st.integers(0, 2**20),
    st.sampled_from([0.0, 1e-10]),
)
@settings(max_examples=examples(30), deadline=None)
def test_no_state_is_further_than_the_bound(
    kinds: list[str], parents: list[int], follows: list[int], seed: int, noise: float
) -> None:
    robot = random_tree(kinds, parents, follows, seed, noise)
    found, proved = farthest(from_recursion(robot), robot, seed)
    assert (found <= proved).all()
    assert proved.max() < (1e-9 if noise == 0 else 1e-2) * max(1.0, *(link.mass for link in robot.links)) * 1e3


@pytest.mark.parametrize("make", [from_terms, from_recursion])
@pytest.mark.parametrize("name", ["planar2r", "planar3r_a", "planar3r_b", "scara"])
def test_built_in_arms_stay_far_below_a_unit(name: str, make: Callable[[Robot], Origin]) -> None:
    robot = bt.load_robot(name)
    found, proved = farthest(make(robot), robot, 0)
    assert (found <= proved).all() and (proved < 1e-6).all()


@pytest.mark.parametrize("make", [from_terms, from_recursion])
@settings(max_examples=examples(25), deadline=None)
@given(robots(most=3), seeds)
def test_any_arm_stays_within_the_bound(make: Callable[[Robot], Origin], robot: Robot, seed: int) -> None:
    bare = replace(robot, payload=None)
    found, proved = farthest(make(bare), bare, seed)
    assert (found <= proved).all()


@given(st.lists(st.sampled_from(KINDS), min_size=1, max_size=3), st.integers(0, 2**20), st.sampled_from([0.0, 1e-10]))
@settings(max_examples=examples(30), deadline=None)
def test_no_terms_are_further_than_the_bound(kinds: list[str], seed: int, noise: float) -> None:
    robot = random_tree(kinds, list(range(len(kinds))), [0] * len(kinds), seed, noise)
    found, proved = farthest(from_terms(robot), robot, seed)
    assert (found <= proved).all()


def test_terms_of_a_skew_robot_are_charged_for_its_rotations(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = random_tree(["revolute"] * 3, [0, 1, 2], [0] * 3, 2, 1e-10)
    found, proved = farthest(from_terms(robot), robot, 0)
    assert (found <= proved).all()
    monkeypatch.setattr(term_truth, "rotation_errors", lambda *_: 0.0)
    assert (farthest(from_terms(robot), robot, 0)[1] < proved).all()


@pytest.mark.parametrize("left_out", ["_tilts", "_distances"])
def test_what_is_not_charged_is_missed(left_out: str, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = random_tree(["revolute"] * 5, [0, 1, 2, 2, 4], [0] * 5, 2, 1e-10)
    found, proved = farthest(from_recursion(robot), robot, 0)
    assert (found <= proved).all()
    if left_out == "_tilts":  # neither the rotations, nor what comes of them
        monkeypatch.setattr(recursion_truth, "_tilts", lambda rotation: np.zeros((3, 3)))
        monkeypatch.setattr(recursion_truth, "_distances", lambda chain, exact: recursion_truth._radii(chain))
    else:
        monkeypatch.setattr(recursion_truth, "_distances", lambda chain, exact: recursion_truth._radii(chain))
        robot = random_tree(["revolute"] * 5, [0, 1, 2, 2, 4], [0] * 5, 2, 0.0)
        monkeypatch.setattr(recursion_truth, "_errors", lambda *_: np.zeros(5))
    found, proved = farthest(from_recursion(robot), robot, 0)
    assert (found > proved).any()


def test_the_bound_of_serial_arms_is_far_below_a_unit() -> None:
    robot = bt.load_robot("panda")
    motion = {f"{kind}{i}": 2.0 for kind in ("qd", "qdd") for i in range(1, 8)}
    assert recursion_errors(robot, [3.0] * 7, motion).max() < 1e-9


def test_followers_that_cannot_be_compiled() -> None:
    joint, body = Joint("a", "prismatic"), Link("l", 1.0)
    follower = Follower(replace(joint, name="b", kind="revolute", parent="a"), body, "a")
    with pytest.raises(BddTorqueError, match=r"joint 'b' follows 'a': it must slide as its leader does"):
        refuse_uncompilable(Robot("r", (joint,), (body,), followers=(follower,)))
