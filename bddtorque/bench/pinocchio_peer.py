"""The peer everybody knows: `pinocchio.rnea`, called from Python, where pinocchio is installed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from bddtorque.robots.robot import Link, Robot


def pinocchio_rnea(robot: Robot) -> Callable[..., Any] | None:
    """Return rnea(q, qd, qdd) of an arm, torques of floats (n,); None where there is no pinocchio."""
    try:
        pin = import_module("pinocchio")
    except ImportError:
        return None

    def inertia(body: Link) -> Any:
        return pin.Inertia(body.mass, np.array(body.centre_of_mass), np.array(body.inertia))

    model = pin.Model()
    model.gravity = pin.Motion(np.array(robot.gravity), np.zeros(3))
    parent = 0
    for joint, link in zip(robot.joints, robot.links, strict=True):
        kind = pin.JointModelRZ() if joint.kind == "revolute" else pin.JointModelPZ()
        parent = model.addJoint(
            parent, kind, pin.SE3(np.array(joint.rotation), np.array(joint.translation)), joint.name
        )
        model.appendBodyToJoint(parent, inertia(link), pin.SE3.Identity())
    if robot.payload is not None:
        tip = pin.SE3(np.array(robot.tip.rotation), np.array(robot.tip.translation))
        model.appendBodyToJoint(parent, inertia(robot.payload), tip)
    model.armature = np.array([joint.rotor_inertia for joint in robot.joints])
    data, rnea = model.createData(), pin.rnea
    return lambda q, qd, qdd: rnea(model, data, q, qd, qdd)
