"""URDF against pinocchio's own parser: the same torques and the same inertia, or the reader is wrong."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import configuration, crba, pinocchio_model, random_states, rnea
from sample_robots import TWO_LINKS, example_urdf, extended, joint

from bddtorque.robots import Robot, from_urdf, load_urdf

HAND = {"panda_finger_joint1": 0.03}


def assert_same_dynamics(robot: Robot, theirs: pin.Model, tolerance: float = 1e-10, seed: int = 0) -> None:
    assert tuple(theirs.names)[1:] == robot.joint_names
    ours = pinocchio_model(robot)
    q, qd, qdd = random_states(robot, 20, seed)
    for found, expected in ((rnea(ours, q, qd, qdd), rnea(theirs, q, qd, qdd)), (crba(ours, q), crba(theirs, q))):
        assert np.abs(found - expected).max() <= tolerance * max(1.0, np.abs(expected).max())


def reduced(model: pin.Model, locked: dict[str, float], keep: tuple[str, ...] | None = None) -> pin.Model:
    """Return pinocchio's model with joints held: those of `locked`, or all but `keep` (at zero unless in `locked`)."""
    names = [name for name in list(model.names)[1:] if (name in locked if keep is None else name not in keep)]
    positions = np.zeros(model.nv)
    for name, position in locked.items():
        positions[model.joints[model.getJointId(name)].idx_v] = position
    held = [model.getJointId(name) for name in names]
    return pin.buildReducedModel(model, held, configuration(model, positions))


@pytest.mark.parametrize(
    ("file", "options", "locked"),
    [
        ("ur_description/urdf/ur5_robot.urdf", {}, {}),
        ("ur_description/urdf/ur10_robot.urdf", {}, {}),
        (
            "panda_description/urdf/panda.urdf",
            {"tip": "panda_hand_tcp", "lock": HAND, "ignore_friction": True},
            {"panda_finger_joint1": 0.03, "panda_finger_joint2": 0.03},
        ),
        ("xarm_description/urdf/xarm7.urdf", {"ignore_friction": True}, {}),
        ("z1_description/urdf/z1.urdf", {"ignore_friction": True}, {}),
        (
            "z1_description/urdf/z1.urdf",
            {"ignore_friction": True, "lock": {"jointGripper": -0.7}},
            {"jointGripper": -0.7},
        ),
        ("kinova_description/robots/kinova.urdf", {}, {}),
    ],
)
def test_arms_of_example_robot_data(file: str, options: dict[str, object], locked: dict[str, float]) -> None:
    path = example_urdf(file)
    # The Z1 has a joint and a link of one name, which pinocchio cannot reduce.
    text = path.read_text().replace('<joint name="gripperStator"', '<joint name="gripperStator_joint"')
    theirs = reduced(pin.buildModelFromXML(text), locked)
    assert_same_dynamics(load_urdf(path, snap=0.0, **options), theirs)
    assert_same_dynamics(load_urdf(path, **options), theirs)  # the default snap moves less than 1e-10 here


def test_quaternions_are_rotations() -> None:
    """URDF 1.1: the same arm, whose elbow is turned by a quaternion of any length."""
    x, y, z, w = pin.Quaternion(pin.rpy.rpyToMatrix(0.1, 0.2, 0.3)).coeffs()
    turned = TWO_LINKS.replace('rpy="0.1 0.2 0.3"', f'quat_xyzw="{3 * x} {3 * y} {3 * z} {3 * w}"')
    assert_same_dynamics(from_urdf(turned), pin.buildModelFromXML(TWO_LINKS))


def test_one_arm_of_a_two_armed_robot() -> None:
    # The other arm and the head hang from the base and cannot matter, so only the carried fingers need a lock.
    path = example_urdf("baxter_description/urdf/baxter.urdf")
    fingers = {"l_gripper_l_finger_joint": 0.0, "l_gripper_r_finger_joint": 0.0}
    robot = load_urdf(path, tip="left_hand_link", ignore_friction=True, lock=fingers)
    assert robot.degrees_of_freedom == 7
    theirs = reduced(pin.buildModelFromUrdf(str(path)), {}, keep=robot.joint_names)
    assert_same_dynamics(robot, theirs)
    assert robot == load_urdf(path, tip="left_hand_link", ignore_friction=True, lock="others")


def test_gravity_follows_a_base_below_turned_fixed_joints() -> None:
    mounted = TWO_LINKS.replace(
        '<link name="base"/>',
        '<link name="world"/><link name="base"/><joint name="mount" type="fixed"><parent link="world"/>'
        '<child link="base"/><origin xyz="1 2 3" rpy="0.4 1.1 -0.7"/></joint>',
    )
    theirs = pin.buildModelFromXML(mounted)
    assert_same_dynamics(from_urdf(mounted), theirs)
    below = from_urdf(mounted, base="base")
    assert below.gravity != from_urdf(mounted).gravity
    assert_same_dynamics(below, theirs)


def test_base_below_a_locked_joint() -> None:
    robot = from_urdf(TWO_LINKS, base="upper", lock={"shoulder": 0.8})
    assert_same_dynamics(robot, reduced(pin.buildModelFromXML(TWO_LINKS), {"shoulder": 0.8}))


def test_locked_joints_are_folded_where_they_are_held() -> None:
    limit = '<axis xyz="1 2 3"/><limit lower="-1" upper="1" velocity="1" effort="1"/>'
    text = extended(
        joint("side", "revolute", "upper", "flap", limit),
        joint("onward", "continuous", "flap", "wing", '<axis xyz="0 -1 1"/>'),
    )
    locked = {"side": 0.6, "onward": -2.0}
    theirs = reduced(pin.buildModelFromXML(text), locked)
    assert_same_dynamics(from_urdf(text, lock=locked), theirs)
    with pytest.raises(AssertionError):
        assert_same_dynamics(from_urdf(text, lock={"side": 0.6, "onward": -1.9}), theirs)
    others = from_urdf(text, tip="lower", lock="others")
    assert_same_dynamics(others, reduced(pin.buildModelFromXML(text), {"side": 0.0, "onward": 0.0}))


def test_mimicking_joints_follow_the_locked_one() -> None:
    limit = '<axis xyz="1 0 0"/><limit lower="-3" upper="3" velocity="1" effort="1"/>'
    text = extended(
        joint("lead", "revolute", "lower", "left", limit),
        joint("follow", "revolute", "lower", "right", limit + '<mimic joint="lead" multiplier="-2" offset="0.1"/>'),
    )
    followed = from_urdf(text, tip="lower", lock={"lead": 0.5})
    assert followed == from_urdf(text, tip="lower", lock={"lead": 0.5, "follow": -0.9})
    assert_same_dynamics(followed, reduced(pin.buildModelFromXML(text), {"lead": 0.5, "follow": -0.9}))
    offset = from_urdf(text, tip="lower", lock="others")  # zero for the leader leaves the follower its offset
    assert_same_dynamics(offset, reduced(pin.buildModelFromXML(text), {"lead": 0.0, "follow": 0.1}))


@pytest.mark.parametrize(
    ("file", "options", "locked"),
    [
        (
            "panda_description/urdf/panda.urdf",
            {"tip": "panda_hand_tcp", "lock": HAND, "ignore_friction": True},
            {"panda_finger_joint1": 0.03, "panda_finger_joint2": 0.03},
        ),
        ("ur_description/urdf/ur5_robot.urdf", {"tip": "tool0"}, {}),  # turned against a joint about y
    ],
)
def test_tip_frame_is_that_of_pinocchio(file: str, options: dict[str, object], locked: dict[str, float]) -> None:
    path = example_urdf(file)
    robot = load_urdf(path, **options).with_payload(1.5, (0.1, 0.2, 0.3))
    model = pin.buildModelFromUrdf(str(path))
    frame = model.frames[model.getFrameId(options["tip"])]
    load = pin.Inertia(1.5, np.array([0.1, 0.2, 0.3]), np.zeros((3, 3)))
    model.appendBodyToJoint(frame.parentJoint, load, frame.placement)
    assert_same_dynamics(robot, reduced(model, locked))


def test_tip_that_is_found() -> None:
    flange = joint("bolt", "fixed", "lower", "flange")
    assert from_urdf(extended(flange)) == from_urdf(extended(flange), tip="flange")  # the end of the fixed joints
    assert from_urdf(extended(flange)).tip != from_urdf(TWO_LINKS).tip
    forked = extended(flange, joint("screw", "fixed", "lower", "camera"))
    assert from_urdf(forked) == from_urdf(forked, tip="lower")  # where they branch


# Random trees ---------------------------------------------------------------------------------------------------------

numbers = st.floats(-1.0, 1.0, allow_subnormal=False).map(lambda x: round(x, 6))
angles = st.one_of(
    st.floats(-3.2, 3.2).map(lambda x: round(x, 6)), st.sampled_from([0.0, 1.57079632679, -1.57079632679])
)


def triple(values: st.SearchStrategy[float]) -> st.SearchStrategy[str]:
    return st.tuples(values, values, values).map(lambda v: " ".join(map(repr, v)))


origins = st.one_of(
    st.just(""),
    st.builds(lambda xyz: f'<origin xyz="{xyz}"/>', triple(numbers)),
    st.builds(lambda xyz, rpy: f'<origin xyz="{xyz}" rpy="{rpy}"/>', triple(numbers), triple(angles)),
)
directions = st.tuples(*[st.integers(-3, 3)] * 3).filter(any)
axes = st.one_of(st.just(""), directions.map(lambda v: f'<axis xyz="{v[0]} {v[1]} {v[2]}"/>'))


@st.composite
def inertials(draw: st.DrawFn) -> str:
    a, b, c = (draw(st.floats(1e-3, 0.1)) for _ in range(3))  # moments a+b, b+c, c+a fulfil the triangle inequality
    turned = pin.rpy.rpyToMatrix(*(draw(st.floats(-3, 3)) for _ in range(3)))
    m = turned @ np.diag([a + b, b + c, c + a]) @ turned.T
    moments = f'ixx="{m[0, 0]}" ixy="{m[0, 1]}" ixz="{m[0, 2]}" iyy="{m[1, 1]}" iyz="{m[1, 2]}" izz="{m[2, 2]}"'
    return f'<inertial>{draw(origins)}<mass value="{draw(st.floats(0.1, 9.0))}"/><inertia {moments}/></inertial>'


@st.composite
def random_urdfs(draw: st.DrawFn) -> str:
    parts, links = ["<link name='l0'/>"], 1

    def add(parent: int, kind: str, body: str) -> int:
        nonlocal links
        limit = "" if kind in ("fixed", "continuous") else '<limit lower="-3" upper="3" velocity="1" effort="1"/>'
        axis = "" if kind == "fixed" else draw(axes)
        parts.append(
            f"<link name='l{links}'>{body}</link><joint name='j{links}' type='{kind}'><parent link='l{parent}'/>"
            f"<child link='l{links}'/>{draw(origins)}{axis}{limit}</joint>"
        )
        links += 1
        return links - 1

    tip = 0
    for _ in range(draw(st.integers(0, 2))):
        tip = add(tip, "fixed", draw(st.one_of(st.just(""), inertials())))
    for _ in range(draw(st.integers(1, 5))):
        tip = add(tip, draw(st.sampled_from(["revolute", "continuous", "prismatic"])), draw(inertials()))
        for _ in range(draw(st.integers(0, 2))):  # side branches of fixed links, some of them in a row
            side = add(tip, "fixed", draw(inertials()))
            if draw(st.booleans()):
                add(side, "fixed", draw(st.one_of(st.just(""), inertials())))
        if draw(st.booleans()):
            tip = add(tip, "fixed", draw(st.one_of(st.just(""), inertials())))
    return f"<robot name='random'>{''.join(parts)}</robot>"


@settings(max_examples=examples(60))
@given(random_urdfs(), st.integers(0, 1000))
def test_random_trees(text: str, seed: int) -> None:
    theirs = pin.buildModelFromXML(text)
    assert_same_dynamics(from_urdf(text, snap=0.0), theirs, seed=seed)
    assert_same_dynamics(from_urdf(text), theirs, tolerance=1e-9, seed=seed)
