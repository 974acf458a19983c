"""The true values of a quantity in float64, by other code than what is compiled: what words are compared with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.dynamics.batch import friction, torques
from bddtorque.dynamics.chain import Chain, chain_of, transform
from bddtorque.dynamics.coupling import member_positions
from bddtorque.dynamics.exact_trace import payload_body
from bddtorque.dynamics.matrices import weightless
from bddtorque.model.quantity_words import difference_names, law_gains, upper_triangle
from bddtorque.model.source import QuantitySource
from bddtorque.robots.robot import Robot
from bddtorque.spec.quantities import PAYLOAD
from bddtorque.words.integer_range import wrap
from bddtorque.words.portable import sine_cosine

Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.int64]


def true_values(source: QuantitySource, words: Mapping[str, Words]) -> Floats:
    """Return the values (N, outputs), in SI units, of words (N,) by the names of the plan's inputs."""
    robot, spec = source.robot, source.spec
    values = {
        array.name: np.stack(
            [word.dequantise(words[f"{array.name}{k}"]) for k, word in enumerate(array, 1)], axis=1
        )
        for array in source.arrays.inputs
    }  # fmt: skip
    q = values["q"]
    match spec.quantity:
        case "kinematics":
            position, rotation, _ = tip_pose(robot, q)
            return np.concatenate([position, rotation.reshape(len(q), 9)], axis=1)
        case "jacobian":
            return tip_jacobian(robot, q).reshape(len(q), -1)
    still, turned = np.zeros_like(q), sine_cosine(q)
    payload = None
    if PAYLOAD in values:
        payload = dict(zip(source.arrays[PAYLOAD].labels, values[PAYLOAD].T, strict=True))
    if spec.quantity == "mass_matrix":
        n = q.shape[1]
        columns = [_torques(robot, (q, still, still + unit), turned, payload, True) for unit in np.eye(n)]
        return np.stack([columns[j][:, i] for i, j in upper_triangle(n)], axis=1)
    qd = values.get("qd", still)
    qdd = values.get("qdd", still)
    if spec.quantity == "law":
        qdd = _law(source, values, words)
    tau = _torques(robot, (q, qd, qdd), turned, payload)
    return tau + friction(robot, qd) if robot.has_friction and spec.quantity != "gravity" else tau


def _law(source: QuantitySource, values: Mapping[str, Floats], words: Mapping[str, Words]) -> Floats:
    gains = np.array(law_gains(source.spec, source.robot))
    error = values["q_desired"] - values["q"]
    for name, (desired, actual) in difference_names(source.robot).items():
        word = source.words[actual]
        difference = wrap(np.asarray(words[desired]) - np.asarray(words[actual]), word.bits)
        error[:, int(name.removeprefix("q_error")) - 1] = word.sign * word.lsb * difference
    return values["qdd_desired"] + gains[:, 1] * (values["qd_desired"] - values["qd"]) + gains[:, 0] * error


def _torques(
    robot: Robot, motion: Any, turned: Any, payload: Mapping[str, Floats] | None, without_weight: bool = False
) -> Floats:
    """Return the torques of a robot, and those that a payload of numbers (N,) adds: they are linear in these."""
    chain = chain_of(robot)
    chain = weightless(chain) if without_weight else chain
    q, qd, qdd = motion
    tau = torques(chain, q, qd, qdd, turned)
    if payload is None:
        return tau
    T = transform(robot.tip.rotation, robot.tip.translation)
    alone = chain._replace(body=np.zeros_like(chain.body), rotor=np.zeros_like(chain.rotor))
    for label, numbers in payload.items():
        body = alone.body.copy()
        body[robot.tip_member("a payload")] = T @ payload_body({label: 1.0}).astype(np.float64) @ T.T
        tau = tau + numbers[:, None] * torques(alone._replace(body=body), q, qd, qdd, turned)
    return tau


def tip_pose(robot: Robot, q: Floats) -> tuple[Floats, Floats, list[tuple[Floats, Floats]]]:
    """Return position (N, 3) and rotation (N, 3, 3) of the tip, and place and axis of the joints up to it.

    All in base axes.
    """
    chain: Chain = chain_of(robot)
    q = member_positions(chain, q)
    sine, cosine = sine_cosine(q)
    R = np.tile(np.eye(3), (len(q), 1, 1))
    p = np.zeros((len(q), 3))
    joints = []
    for i in robot.tip_path:
        p = p + R @ chain.translation[i]
        R = R @ chain.rotation[i]
        if chain.revolute[i]:
            x, y = R[:, :, 0].copy(), R[:, :, 1].copy()
            s, c = sine[:, i : i + 1], cosine[:, i : i + 1]
            R[:, :, 0], R[:, :, 1] = x * c + y * s, y * c - x * s
        else:
            p = p + R[:, :, 2] * q[:, i : i + 1]
        joints.append((p, R[:, :, 2].copy()))
    return p + R @ np.array(robot.tip.translation), R @ np.array(robot.tip.rotation), joints


def tip_jacobian(robot: Robot, q: Floats) -> Floats:
    """Return the Jacobian (N, 6, n) of the tip: its velocity, then its angular velocity, in base axes."""
    tip, _, joints = tip_pose(robot, q)
    jacobian, members = np.zeros((len(q), 6, robot.degrees_of_freedom)), robot.members
    for i, (place, axis) in zip(robot.tip_path, joints, strict=True):
        member = members[i]
        turns = member.joint.revolute
        moved = np.cross(axis, tip - place) if turns else axis
        own = np.concatenate([moved, axis if turns else np.zeros_like(axis)], axis=1)
        jacobian[:, :, member.drive] += member.multiplier * own
    return jacobian
