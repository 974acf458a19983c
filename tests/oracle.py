"""The independent truth: pinocchio models built from our `Robot`, and its dynamics, batched.

    from oracle import pinocchio_model, rnea, crba, aba, random_states

All take `(n,)` or `(N, n)` arrays and return `(n,)` or `(N, n)`, and `(n, n)` or `(N, n, n)` for `crba`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin

from bddtorque.robots.parts import Link
from bddtorque.robots.robot import Robot


def inertia(body: Link) -> pin.Inertia:
    """Return a body as pinocchio keeps it: mass, centre of mass, inertia about that."""
    return pin.Inertia(body.mass, np.array(body.centre_of_mass), np.array(body.inertia))


def pinocchio_model(robot: Robot) -> pin.Model:
    """Return a robot as a pinocchio model: placements, RZ and PZ joints, bodies, payload, rotors, gravity.

    Nothing of ours but the numbers goes in: the payload is appended as a body of its own, not joined by `Robot`.
    """
    model = pin.Model()
    model.name = robot.name
    model.gravity = pin.Motion(np.array(robot.gravity), np.zeros(3))
    parent = 0
    for joint, link in zip(robot.joints, robot.links, strict=True):
        kind = pin.JointModelRZ() if joint.kind.turns else pin.JointModelPZ()
        placement = pin.SE3(np.array(joint.rotation), np.array(joint.translation))
        parent = model.addJoint(parent, kind, placement, joint.name)
        model.appendBodyToJoint(parent, inertia(link), pin.SE3.Identity())
    if robot.payload is not None:
        tip = pin.SE3(np.array(robot.tip.rotation), np.array(robot.tip.translation))
        model.appendBodyToJoint(parent, inertia(robot.payload), tip)
    model.armature = np.array([joint.rotor_inertia for joint in robot.joints])
    return model


def rnea(model: pin.Model, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """Return the joint torques (inverse dynamics)."""
    data = model.createData()
    return _batched(lambda *state: pin.rnea(model, data, *state), model, q, qd, qdd)


def pinocchio_torques(model: pin.Model, robot: Robot, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """Return pinocchio's torques of all its joints, those of followers mapped to the joints that lead them."""
    data = model.createData()
    moves = {name: (j, 1.0, 0.0) for j, name in enumerate(robot.joint_names)}
    for each in robot.followers:
        moves[each.joint.name] = robot.joint_names.index(each.leader), each.multiplier, each.offset
    names = list(model.names)[1:]
    assert sorted(names) == sorted(moves)
    places = [moves[name] for name in names]
    found = np.zeros_like(q)
    for row in range(len(q)):
        state = [np.array([k * each[row, j] for j, k, _ in places]) for each in (q, qd, qdd)]
        state[0] += [c for _, _, c in places]
        tau = pin.rnea(model, data, configuration(model, state[0]), state[1], state[2])
        for (j, k, _), own in zip(places, tau, strict=True):
            found[row, j] += k * own
    return found


def aba(model: pin.Model, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """Return the joint accelerations (forward dynamics)."""
    data = model.createData()
    return _batched(lambda *state: pin.aba(model, data, *state), model, q, qd, tau)


def crba(model: pin.Model, q: np.ndarray) -> np.ndarray:
    """Return the joint-space inertia, rotors included, both triangles filled."""
    data = model.createData()

    def full(state: np.ndarray) -> np.ndarray:
        upper = np.triu(pin.crba(model, data, state))
        return upper + np.triu(upper, 1).T

    return _batched(full, model, q)


def _batched(function: Callable[..., np.ndarray], model: pin.Model, q: np.ndarray, *rest: np.ndarray) -> np.ndarray:
    if np.ndim(q) == 1:
        return function(configuration(model, q), *rest).copy()
    return np.array([function(configuration(model, row[0]), *row[1:]).copy() for row in zip(q, *rest, strict=True)])


def configuration(model: pin.Model, q: np.ndarray) -> np.ndarray:
    """Return positions as pinocchio wants them: unbounded (URDF continuous) joints as cosine and sine."""
    values: list[float] = []
    for joint in list(model.joints)[1:]:
        position = float(q[joint.idx_v])
        values += [position] if joint.nq == 1 else [np.cos(position), np.sin(position)]
    return np.array(values)


def random_states(
    robot: Robot, count: int, seed: int = 0, velocity: float = 3.0, acceleration: float = 5.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return positions within limits (a turn, or ±1 m, where there are none), velocities and accelerations, (N, n)."""
    random = np.random.default_rng(seed)
    reach = [np.pi if joint.kind.turns else 1.0 for joint in robot.joints]
    lower = [
        max(joint.lower, -r) if joint.upper > -r else joint.lower for joint, r in zip(robot.joints, reach, strict=True)
    ]
    upper = [
        min(joint.upper, r) if joint.lower < r else joint.upper for joint, r in zip(robot.joints, reach, strict=True)
    ]
    shape = (count, robot.degrees_of_freedom)
    return (
        random.uniform(lower, upper, shape),
        random.uniform(-velocity, velocity, shape),
        random.uniform(-acceleration, acceleration, shape),
    )
