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


class PinocchioTree:
    """A robot of any structure as pinocchio sees it: every joint moves by itself, and a matrix couples them.

    Attributes
    ----------
    model
        All joints, followers too.
    coupling, offset
        Positions of all joints are coupling · q + offset, velocities coupling · qd, and so on.
    tip
        The frame of the tip, if the robot says which joint carries it, or is a chain.
    """

    def __init__(self, robot: Robot) -> None:
        self.model = model = pin.Model()
        model.gravity = pin.Motion(np.array(robot.gravity), np.zeros(3))
        names, places = list(robot.joint_names), dict[str, int]()
        before = ["", *names]
        every = [
            (joint, link, before[j] if joint.parent is None else joint.parent, j, 1.0, 0.0)
            for j, (joint, link) in enumerate(zip(robot.joints, robot.links, strict=True))
        ]
        every += [
            (each.joint, each.link, each.joint.parent or "", names.index(each.leader), each.multiplier, each.offset)
            for each in robot.followers
        ]
        rows, offsets, rotors = [], [], []
        left = [each for each in every if not each[2]]
        while left:  # depth first: pinocchio's mass matrix takes each subtree for joints in a row
            joint, link, parent, drive, multiplier, offset = left.pop()
            left += [each for each in every if each[2] == joint.name]
            kind = pin.JointModelRZ() if joint.kind.turns else pin.JointModelPZ()
            placement = pin.SE3(np.array(joint.rotation), np.array(joint.translation))
            place = model.addJoint(places[parent] if parent else 0, kind, placement, joint.name)
            model.appendBodyToJoint(place, inertia(link), pin.SE3.Identity())
            places[joint.name] = place
            rows.append(multiplier * np.eye(len(names))[drive])
            offsets.append(offset)
            rotors.append(joint.rotor_inertia)
        model.armature = np.array(rotors)
        self.coupling, self.offset = np.array(rows), np.array(offsets)
        self._carrier = places[robot.tip.parent] if robot.tip.parent is not None else model.njoints - 1
        self._tip = pin.SE3(np.array(robot.tip.rotation), np.array(robot.tip.translation))
        self.tip = model.addFrame(pin.Frame("tip", self._carrier, 0, self._tip, pin.FrameType.OP_FRAME))

    def carrying(self, body: pin.Inertia) -> pin.Model:
        """Return the model with a body at its tip."""
        model = self.model.copy()
        model.appendBodyToJoint(self._carrier, body, self._tip)
        return model

    def torques(self, model: pin.Model, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """Return the torques of the driven joints at one state."""
        moved = (self.coupling @ q + self.offset, self.coupling @ qd, self.coupling @ qdd)
        return self.coupling.T @ pin.rnea(model, model.createData(), *moved)

    def mass_matrix(self, model: pin.Model, q: np.ndarray) -> np.ndarray:
        """Return the inertia of the driven joints, both triangles."""
        upper = np.triu(pin.crba(model, model.createData(), self.coupling @ q + self.offset))
        return self.coupling.T @ (upper + np.triu(upper, 1).T) @ self.coupling

    def coriolis(self, model: pin.Model, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Return the matrix C of the driven joints with C q̇ the Coriolis and centripetal torques, and Ṁ − 2C skew."""
        data, moved = model.createData(), (self.coupling @ q + self.offset, self.coupling @ qd)
        return self.coupling.T @ pin.computeCoriolisMatrix(model, data, *moved) @ self.coupling

    def derivatives(self, model: pin.Model, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """Return the derivatives of the torques by positions, then by velocities, (2, n, n)."""
        moved = (self.coupling @ q + self.offset, self.coupling @ qd, self.coupling @ qdd)
        data = model.createData()  # what is found are views of it
        by_position, by_velocity, _ = pin.computeRNEADerivatives(model, data, *moved)
        return np.array([self.coupling.T @ each @ self.coupling for each in (by_position, by_velocity)])

    def energy(self, model: pin.Model, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Return kinetic and potential energy."""
        data, position = model.createData(), self.coupling @ q + self.offset
        kinetic = pin.computeKineticEnergy(model, data, position, self.coupling @ qd)
        return np.array([kinetic, pin.computePotentialEnergy(model, data, position)])

    def pose(self, model: pin.Model, q: np.ndarray) -> np.ndarray:
        """Return position and rotation of the tip, row by row, (12,)."""
        data = model.createData()
        pin.framesForwardKinematics(model, data, self.coupling @ q + self.offset)
        found = data.oMf[self.tip]
        return np.concatenate([found.translation, found.rotation.reshape(-1)])

    def jacobian(self, model: pin.Model, q: np.ndarray) -> np.ndarray:
        """Return the Jacobian of the tip in base axes, row by row, (6 n,)."""
        axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        position = self.coupling @ q + self.offset
        found = pin.computeFrameJacobian(model, model.createData(), position, self.tip, axes)
        return (found.reshape(6, -1) @ self.coupling).reshape(-1)


def payload_inertia(numbers: dict[str, float]) -> pin.Inertia:
    """Return a body of a mass, first moments and an inertia about the origin, by the labels of a payload's words."""
    m = numbers["mass"]
    c = np.array([numbers.get(label, 0.0) for label in ("mx", "my", "mz")]) / m
    xx, xy, xz, yy, yz, zz = (numbers.get(label, 0.0) for label in ("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz"))
    around = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    body = pin.Inertia.Zero()
    # set one by one: words may stand for bodies that pinocchio refuses to make
    body.mass, body.lever, body.inertia = m, c, around - m * (c @ c * np.eye(3) - np.outer(c, c))
    return body


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
