"""Bounds of a torque by grids of positions: the means they rest on, that no state is beyond, and how close they are."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from examples_tried import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import KINDS, random_tree, robots, seeds

import bddtorque as bt
from bddtorque.proof.motion_rows import motion_rows
from bddtorque.proof.serial_parts import serial_parts
from bddtorque.proof.torque_grids import SIZES, TANGENTS, GridBound, multipliers
from bddtorque.proof.torque_range import TorqueBox
from bddtorque.robots.robot import Robot


@pytest.mark.parametrize("second", [False, True])
@pytest.mark.parametrize("points", SIZES)
def test_values_are_means_of_values_on_a_grid(points: int, second: bool) -> None:
    """With weights that are not negative and add up to 1, for every harmonic there is."""
    if second and points < 5:
        return
    order = points - 3 if second else points - 2
    a = np.sin(math.pi * np.arange(1, order + 2) / (order + 2))
    t = np.linspace(-4, 4, 53)[:, None] - 2 * math.pi * np.arange(points) / points
    weights = np.abs((a * np.exp(1j * np.arange(order + 1) * t[..., None])).sum(axis=-1)) ** 2 / (a @ a) / points
    assert (weights >= 0).all() and np.allclose(weights.sum(axis=1), 1.0)
    for degree, scale in enumerate(multipliers(points, second)[: 3 if second else 2]):
        assert scale >= 1.0
        for wave in (np.cos, np.sin):
            values = wave(degree * 2 * math.pi * np.arange(points) / points) * scale
            assert np.allclose(weights @ values, wave(degree * np.linspace(-4, 4, 53)), atol=1e-12 * scale)


def test_squares_of_a_slide_are_means_of_points_of_tangents() -> None:
    x = np.linspace(-1, 1, 401)
    for angle in np.linspace(0, 2 * math.pi, 97):
        a, b = math.cos(angle), math.sin(angle)
        largest = float((a * x + b * x * x).max())
        assert largest - 1e-12 <= float((a * TANGENTS[:, 1] + b * TANGENTS[:, 2]).max()) <= largest + 0.02


def box_of(robot: Robot, seed: int, even: bool) -> TorqueBox:
    """Return motions of a robot, whose velocities run as far in both directions or do not."""
    random, n = np.random.default_rng(seed), len(robot.joints)
    high = random.uniform(0.1, [[math.pi], [3.0], [9.0]], (3, n))
    low = -high if even else -random.uniform(-0.5, 1.0, (3, n)) * high
    turning = np.array([joint.kind.turns for joint in robot.joints])
    low[0], high[0] = np.where(turning, -math.pi, low[0]), np.where(turning, math.pi, high[0])
    return TorqueBox(robot, tuple(low.ravel().tolist()), tuple(high.ravel().tolist()))


def largest_found(box: TorqueBox, seed: int, count: int = 200, steps: int = 4) -> np.ndarray:
    """Return the largest and smallest torques of random states, improved one input at a time: (2, n)."""
    random, low, high = np.random.default_rng(seed), np.array(box.low), np.array(box.high)
    n = len(box.robot.joints)
    states = random.uniform(low, high, (count, 3 * n))
    ends = random.choice([0.0, 1.0], (count, 2 * n))
    states[::2, n:] = (low[n:] + ends * (high - low)[n:])[::2]

    def torques(states: np.ndarray) -> np.ndarray:
        return bt.inverse_dynamics(box.robot, *np.split(states, 3, axis=1))

    tau = torques(states)
    found = np.stack((tau.max(axis=0), tau.min(axis=0)))
    for j in range(n):
        for side, sign in enumerate((1, -1)):
            best = states[np.argsort(-sign * tau[:, j])[:4]]
            for step in 0.3 ** np.arange(1, steps):
                for column in range(3 * n):
                    tried = np.repeat(best[None], 5, axis=0)
                    size = step * (high - low)[column]
                    tried[1:3, :, column] = np.array([[low[column]], [high[column]]])
                    tried[3:, :, column] += np.array([[size], [-size]])
                    tried[:, :, column] = np.clip(tried[:, :, column], low[column], high[column])
                    gained = sign * torques(tried.reshape(-1, 3 * n))[:, j].reshape(5, -1)
                    best = tried[gained.argmax(axis=0), np.arange(best.shape[0])]
            reached = torques(best)[:, j]
            found[side, j] = max(found[0, j], reached.max()) if side == 0 else min(found[1, j], reached.min())
    return found


FRICTIONS = (None, bt.Friction(0.3, (0.5, 0.7)), bt.Friction(0.0, 0.4, 0.9, 0.2))


@given(robots(most=4), seeds, st.booleans(), st.booleans())
@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_no_state_of_a_chain_is_beyond(robot: Robot, seed: int, even: bool, closely: bool) -> None:
    laws = np.random.default_rng(seed).integers(0, 3, len(robot.joints))
    joints = (replace(joint, friction=FRICTIONS[law]) for joint, law in zip(robot.joints, laws, strict=True))
    box = box_of(replace(robot, joints=tuple(joints)), seed, even)
    most, least = largest_found(box, seed)
    for j in range(len(robot.joints)):
        reach = box.closer_range(j) if closely else box.range(j)
        assert reach is not None
        slack = 1e-9 * reach.magnitude
        assert reach.low - slack <= least[j] <= most[j] <= reach.high + slack


@given(
    st.lists(st.sampled_from(KINDS), min_size=2, max_size=6),
    st.lists(st.integers(0, 5), min_size=6, max_size=6),
    seeds,
    st.booleans(),
)
@settings(max_examples=examples(8), suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_no_state_of_a_tree_is_beyond(kinds: list[str], parents: list[int], seed: int, upright: bool) -> None:
    robot = random_tree(kinds, parents, [0] * 6, seed, 0.0)
    if upright:
        robot = robot.with_gravity((0.0, 0.0, -9.8))
    box = box_of(robot, seed, True)
    most, least = largest_found(box, seed)
    for j in range(len(robot.joints)):
        reach = box.range(j)
        assert reach is not None
        slack = 1e-9 * reach.magnitude
        assert reach.low - slack <= least[j] <= most[j] <= reach.high + slack


@given(st.lists(st.integers(0, 6), min_size=7, max_size=7), seeds)
@settings(max_examples=examples(20), deadline=None)
def test_parts_of_a_tree_add_up(parents: list[int], seed: int) -> None:
    robot = random_tree(["revolute"] * 7, parents, [0] * 7, seed, 0.0)
    if seed % 2 and not robot.serial:
        robot = replace(robot, tip=replace(robot.tip, parent="j3")).with_payload(2.0, (0.1, 0.2, 0.3))
    state = np.random.default_rng(seed).uniform(-2, 2, (3, 7))
    whole = bt.inverse_dynamics(robot, *state)
    for j in range(7):
        parts = serial_parts(robot, j)
        assert all(part.robot.serial for part in parts)
        tau = sum(bt.inverse_dynamics(part.robot, *state[:, list(part.joints)])[part.place] for part in parts)
        assert tau == pytest.approx(whole[j], rel=1e-9, abs=1e-9 * np.abs(whole).max())


def test_joints_that_follow_others_have_no_such_ranges() -> None:
    robot = random_tree(["revolute"] * 3, [0, 1, 2], [0, 2, 0], 5, 0.0)
    assert robot.coupled and box_of(robot, 1, True).range(0) is None


@pytest.mark.parametrize(
    ("name", "velocity"),
    [("planar2r", 2.0), ("scara", 2.0), ("stanford", 2.0), ("puma560", 2.0), ("puma560", 20.0), ("ur5", 2.0)],
)
def test_ranges_are_close_to_what_occurs(name: str, velocity: float) -> None:
    """Found and proved differ by a twentieth, and what is found is a torque that occurs."""
    robot = bt.load_robot(name)
    n = len(robot.joints)
    low = np.repeat([-math.pi, -velocity, -5.0], n)
    high = -low
    for j, joint in enumerate(robot.joints):
        if not joint.kind.turns:
            low[j], high[j] = joint.lower, joint.upper
    for place in range(n):
        own = motion_rows(robot, place, 1, low, high)
        assert own is not None
        turning = [robot.joints[k].kind.turns for k in own.positions]
        grid = GridBound(own, turning)
        assert grid.run(lambda found: (1.05 * max(found), 1.05 * max(found)))
        assert max(grid.found) <= max(grid.bounds) <= 1.0501 * max(grid.found)
        best = grid.best(int(grid.found[1] > grid.found[0]))
        state = 0.5 * (low + high)
        turned = np.zeros(n)
        turned[own.positions] = best.positions[: len(own.positions)]
        q = np.where(
            [joint.kind.turns for joint in robot.joints],
            own.turned @ turned,
            state[:n] + 0.5 * (high - low)[:n] * turned,
        )
        velocities, accelerations = np.zeros(n), np.zeros(n)
        count = len(own.products)
        velocities[own.moving], accelerations[own.pushed] = best.motion[:count], best.motion[count:]
        tau = bt.inverse_dynamics(robot, q, velocity * velocities, 5.0 * accelerations)[place]
        assert abs(tau) == pytest.approx(best.value, rel=1e-6)


def test_a_torque_is_within_ends_that_it_does_not_reach_and_no_others() -> None:
    box = box_of(bt.load_robot("puma560"), 3, True)
    for place in range(6):
        reach = box.closer_range(place)
        assert reach is not None
        assert box.within(place, 1.03 * reach.low, 1.03 * reach.high)
        assert not box.within(place, 0.97 * reach.low, 1.1 * reach.high)
        assert not box.within(place, 1.1 * reach.low, 0.97 * reach.high)
