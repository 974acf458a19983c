"""The built-in arms against closed forms, published values and the files their numbers come from."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from oracle import crba, pinocchio_model, random_states, rnea
from sample_robots import example_urdf

from bddtorque.robots import Robot, builtin_names, load_robot, load_urdf

TYPES = {
    "planar2r": "RR",
    "planar3r_a": "RRR",
    "planar3r_b": "RRR",
    "scara": "RRPR",
    "stanford": "RRPRRR",
    "puma560": "RRRRRR",
    "ur5": "RRRRRR",
    "panda": "RRRRRRR",
}


@pytest.mark.parametrize("name", TYPES)
def test_every_arm_is_complete(name: str) -> None:
    robot = load_robot(name)
    assert robot.name == name
    assert robot.allow_unphysical == (name in ("puma560", "stanford"))
    assert "".join("R" if joint.kind.turns else "P" for joint in robot.joints) == TYPES[name]
    assert len(robot.source) > 20
    for joint in robot.joints:  # what a table specification needs to be made without asking
        limits = (joint.lower, joint.upper, joint.velocity, joint.acceleration, joint.effort)
        assert np.isfinite(limits).all()
    mass = crba(pinocchio_model(robot), random_states(robot, 50)[0])
    assert np.linalg.eigvalsh(mass).min() > 0


def test_all_of_them_are_tested() -> None:
    assert set(builtin_names()) == set(TYPES)


def test_planar2r_closed_form() -> None:
    """F44: the equations of the Boolean/BDD paper, with C12 in G1, equal pinocchio's rnea."""
    m1, m2, r1, r2, j1, j2, g = 0.5, 6.25, 1.0, 0.8, 5.0, 5.0, 9.81
    robot = load_robot("planar2r")
    q, qd, qdd = random_states(robot, 100, velocity=1.0, acceleration=1.0)
    (q1, q2), (v1, v2), (a1, a2) = q.T, qd.T, qdd.T
    c1, c2, s2, c12 = np.cos(q1), np.cos(q2), np.sin(q2), np.cos(q1 + q2)
    j11 = (m1 + m2) * r1**2 + m2 * r2**2 + 2 * m2 * r1 * r2 * c2 + j1
    j12 = m2 * r2**2 + m2 * r1 * r2 * c2
    j22 = m2 * r2**2 + j2
    t1 = j11 * a1 + j12 * a2 - m2 * r1 * r2 * s2 * (v2**2 + 2 * v1 * v2) + g * (m1 + m2) * r1 * c1 + g * m2 * r2 * c12
    t2 = j12 * a1 + j22 * a2 + m2 * r1 * r2 * s2 * v1**2 + g * m2 * r2 * c12
    np.testing.assert_allclose(rnea(pinocchio_model(robot), q, qd, qdd), np.stack([t1, t2], axis=1), rtol=0, atol=1e-12)
    assert [joint.effort for joint in robot.joints] == [200.0, 100.0]
    assert all((joint.lower, joint.upper) == (-np.pi, np.pi) for joint in robot.joints)
    assert all((joint.velocity, joint.acceleration) == (1.0, 1.0) for joint in robot.joints)


@pytest.mark.parametrize(
    ("name", "lengths", "masses"),
    [("planar3r_a", (1.0, 1.0, 1.0), (1.0, 1.0, 1.0)), ("planar3r_b", (0.5, 0.4, 0.3), (4.0, 2.0, 1.0))],
)
def test_planar3r_kinetic_and_potential_energy(
    name: str, lengths: tuple[float, ...], masses: tuple[float, ...]
) -> None:
    # uniform rods in a vertical plane, from sums over positions of the rods' centres, derivatives by hand
    robot = load_robot(name)
    model = pinocchio_model(robot)
    q = random_states(robot, 20)[0]
    for row in q:
        angle = np.cumsum(row)
        inertia, gravity = np.zeros((3, 3)), np.zeros(3)
        for link, (length, mass) in enumerate(zip(lengths, masses, strict=True)):
            reach = [lengths[k] if k < link else length / 2 if k == link else 0.0 for k in range(3)]
            along = np.array([reach * np.cos(angle), reach * np.sin(angle)])  # the vectors whose sum is the centre
            jacobian = np.array([[-along[1, j:].sum(), along[0, j:].sum()] for j in range(3)]).T
            turning = np.array([1.0 if j <= link else 0.0 for j in range(3)])
            inertia += mass * jacobian.T @ jacobian + mass * length**2 / 12 * np.outer(turning, turning)
            gravity += 9.81 * mass * jacobian[1]
        np.testing.assert_allclose(crba(model, row), inertia, atol=1e-12)
        np.testing.assert_allclose(rnea(model, row, np.zeros(3), np.zeros(3)), gravity, atol=1e-12)


def assert_same_arm(builtin: Robot, read: Robot) -> None:
    assert builtin.joint_names == read.joint_names
    q, qd, qdd = random_states(builtin, 50)
    ours, theirs = pinocchio_model(builtin), pinocchio_model(read)
    for found, expected in ((rnea(ours, q, qd, qdd), rnea(theirs, q, qd, qdd)), (crba(ours, q), crba(theirs, q))):
        assert np.abs(found - expected).max() <= 1e-9 * np.abs(expected).max()
    for joint, other in zip(builtin.joints, read.joints, strict=True):
        for limit in ("lower", "upper", "velocity", "effort"):
            assert getattr(joint, limit) == pytest.approx(getattr(other, limit), abs=1e-9)
    np.testing.assert_allclose(builtin.tip.rotation, read.tip.rotation, atol=1e-9)
    np.testing.assert_allclose(builtin.tip.translation, read.tip.translation, atol=1e-9)


def test_ur5_is_the_urdf() -> None:
    assert_same_arm(load_robot("ur5"), load_urdf(example_urdf("ur_description/urdf/ur5_robot.urdf"), tip="tool0"))


def test_panda_is_the_urdf() -> None:
    path = example_urdf("panda_description/urdf/panda.urdf")
    read = load_urdf(path, tip="panda_hand_tcp", lock={"panda_finger_joint1": 0.0}, ignore_friction=True)
    assert_same_arm(load_robot("panda"), read)


def test_stanford_boom_and_centres() -> None:
    robot = load_robot("stanford")
    model = pinocchio_model(robot)
    data = model.createData()
    # upright, boom out by 1 m: the wrist is on the axis of the boom, a 20.3 mm beside it, all above the waist
    pin.forwardKinematics(model, data, np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]))
    np.testing.assert_allclose(data.oMi[4].translation, [0.0, 0.154 - 0.0203, 0.412 + 1.0], atol=1e-12)
    assert robot.links[2].centre_of_mass[2] == pytest.approx(-0.6447)


def test_scara_slides_downwards_and_only_the_quill_carries_weight() -> None:
    robot = load_robot("scara")
    model = pinocchio_model(robot)
    q = random_states(robot, 20)[0]
    still = np.zeros_like(q)
    weights = rnea(model, q, still, still)
    np.testing.assert_allclose(weights[:, [0, 1, 3]], 0.0, atol=1e-12)
    np.testing.assert_allclose(weights[:, 2], -9.81 * (1.2 + 0.4), rtol=1e-12)  # held up against a motion downwards
