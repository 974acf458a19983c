"""Torque ranges that are found: no state of any robot needs more; placeholders of a file do not enter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from examples_tried import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sample_robots import example_urdf
from strategies import robots, seeds

import bddtorque as bt
from bddtorque.compiler.robot_draft import quantity_words, round_up
from bddtorque.robots import load_robot
from bddtorque.robots.robot import Robot
from bddtorque.spec import JointSpec, Spec, load_spec
from bddtorque.spec.spec_files import spec_and_robot
from bddtorque.words.bounded import Interval
from bddtorque.words.friction import Friction
from bddtorque.words.interpolant import Interpolant
from bddtorque.words.joint_friction import friction_reach

FRICTIONS = (
    None,
    Friction(0.3, (0.5, 0.7)),
    Friction(0.0, 0.4, 0.9, 0.2),
    Interpolant(((-2.0, 0.0, 1.0),), (-1.0, 0.2, 3.0), (False,), hold=True),
)


def extreme_states(robot: Robot, joints: tuple[JointSpec, ...], seed: int, count: int = 400) -> list[np.ndarray]:
    """Return states within ranges, half of them at the ends of their motion, where torques are largest."""
    random = np.random.default_rng(seed)
    states = []
    for quantity in ("position", "velocity", "acceleration"):
        ends = [
            (-np.pi, np.pi) if joint.kind.turns and quantity == "position" else getattr(said, quantity)
            for joint, said in zip(robot.joints, joints, strict=True)
        ]
        low, high = np.array(ends).T
        share = random.uniform(size=(count, len(low)))
        if quantity != "position" or seed % 2:
            share[::2] = np.rint(share[::2])
        states.append(low + share * (high - low))
    return states


@given(robots(most=3), seeds, st.lists(st.sampled_from(FRICTIONS), min_size=3, max_size=3))
@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_no_state_needs_more(robot: Robot, seed: int, frictions: list[Friction | Interpolant | None]) -> None:
    joints = zip(robot.joints, frictions, strict=False)
    robot = replace(robot, joints=tuple(replace(joint, friction=law) for joint, law in joints))
    random = np.random.default_rng(seed)

    def ends(size: float) -> tuple[float, float]:
        return -random.uniform(0.1, size), random.uniform(0.1, size)

    said = tuple(JointSpec(joint.name, ends(1.0), ends(3.0), ends(9.0)) for joint in robot.joints)
    states = extreme_states(robot, said, seed)
    # words are those of the ranges, so that states are taken to the words that hold them
    _, formats, ranges, _ = quantity_words(Spec("arm", bits=6, joints=said), robot)
    held = [array.dequantise(array.quantise(values)) for array, values in zip(formats.inputs, states, strict=True)]
    tau = bt.inverse_dynamics(robot, *held)
    for j, reach in enumerate(ranges):
        assert reach.low <= tau[:, j].min()
        assert tau[:, j].max() <= reach.high
    assert (np.abs(tau).max(axis=0) <= [word.span[1] for word in formats.tau]).all()


@given(st.floats(-3, 3), st.floats(0, 4), st.sampled_from(FRICTIONS[1:]))
def test_ranges_of_friction_hold(low: float, width: float, law: Friction | Interpolant) -> None:
    reach = friction_reach(law, Interval(low, low + width))
    values = law(np.linspace(low, low + width, 101))
    assert reach.low <= values.min()
    assert values.max() <= reach.high


def test_ranges_are_near_what_an_arm_needs() -> None:
    spec = load_spec("planar2r").with_options(torque="auto")
    found = [joint.torque for joint in quantity_words(spec, load_robot("planar2r"))[0].joints]
    assert found == [(-162.0, 162.0), (-72.6, 72.6)]  # ±152.54 and ±69.12 N·m are reached
    heavier = quantity_words(spec, load_robot("planar2r").with_payload(5.0, (0.0, 0.0, 0.0)))[0].joints
    assert [joint.torque for joint in heavier] == [(-282.0, 282.0), (-127.0, 127.0)]


def test_ranges_beyond_floats_are_refused_in_a_line() -> None:
    for velocity in (1e160, 1e300):
        spec = load_spec("planar2r").with_options(torque="auto", velocity=velocity)
        with pytest.raises(
            bt.BddTorqueError, match=r"^robot 'planar2r': parameters and ranges must give values within"
        ):
            quantity_words(spec, load_robot("planar2r"))


def test_effort_limits_that_are_placeholders_do_not_enter() -> None:
    spec, robot, _ = spec_and_robot(example_urdf("so_arm_description/urdf/so100.urdf"), {})
    assert {joint.effort for joint in robot.joints} == {35.0}
    highs = [joint.torque[1] for joint in quantity_words(spec, robot)[0].joints]
    assert highs == [0.165, 1.22, 0.628, 0.177, 0.0106, 0.00907]


def test_what_cancels_has_no_words_finer_than_its_parts_need() -> None:
    """An axis that is nearly upright carries nearly no weight: words that resolve that much take wide products."""
    robot = replace(bt.load_robot("panda"), gravity=(0.01, 0.0, -9.81))
    model = bt.compile(robot, quantity="gravity", bits=10, target="float", torque="auto", cache=None)
    q = np.random.default_rng(1).uniform(-np.pi, np.pi, (4000, 7))
    most = np.abs(bt.gravity_torque(robot, q)).max(axis=0)
    highs = [word.high for word in model.formats.tau]
    assert highs[0] > 20 * most[0]
    assert highs[1] < 1.2 * most[1]


def test_words_found_cannot_saturate() -> None:
    model = bt.compile("planar2r", bits=5, torque="auto", workers=1)
    assert {torque.saturation for torque in model.certificate.torques} == {"cannot"}


@given(st.floats(1e-12, 1e12))
def test_three_digits_are_rounded_up(number: float) -> None:
    rounded = round_up(number)
    assert number <= rounded <= 1.01 * number
    assert float(f"{rounded:.2e}") == rounded
