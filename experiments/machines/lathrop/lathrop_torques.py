"""Lathrop's recursion on a robot: torques of float states, and states under trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bddtorque.dynamics.batch import Floats, like_given, states
from bddtorque.dynamics.tracer import Tracer, traced_inputs
from bddtorque.robots.robot import Robot
from machines.lathrop.arm import ArmState, BaseMotion, DistalArm, TipWrench, arm_state, distal_arm
from machines.lathrop.linear import LinkQuantities, linear_recursion

Form = Callable[[ArmState], LinkQuantities]
"""From a state to all its quantities: the linear recursion, or another that gives the same."""


def float_state(
    robot: Robot, q: Any, qd: Any, qdd: Any, base: BaseMotion | None = None, tip: TipWrench | None = None
) -> ArmState:
    """Return one state (n,), or many (N, n) as a state whose numbers are arrays (N,)."""
    positions, velocities, accelerations = (list(array.T) for array in states(robot, q=q, qd=qd, qdd=qdd))
    sine, cosine = [np.sin(angle) for angle in positions], [np.cos(angle) for angle in positions]
    return arm_state(distal_arm(robot), sine, cosine, positions, velocities, accelerations, base, tip)


def lathrop_torques(
    robot: Robot,
    q: Any,
    qd: Any,
    qdd: Any,
    form: Form = linear_recursion,
    base: BaseMotion | None = None,
    tip: TipWrench | None = None,
) -> Floats:
    """Return the joint torques (N·m or N), shapes as in `bddtorque.inverse_dynamics`, drives included.

    `base` is how the base moves (at rest under the robot's gravity if not given), `tip` what the hand exerts.
    """
    state = float_state(robot, q, qd, qdd, base, tip)
    found = form(state).tau
    tau: Floats = np.stack([np.broadcast_to(each, np.shape(state.velocity[0])) for each in found], axis=-1)
    tau = tau + np.array(state.arm.rotor) * np.stack(state.acceleration, axis=-1)
    return like_given(tau, q, qd, qdd)


def traced_state(arm: DistalArm, tracer: Tracer) -> ArmState:
    """Return the state of an arm under trace, inputs q1.., qd1.., qdd1.."""
    q, qd, qdd = (traced_inputs(tracer, kind, arm.joints) for kind in ("q", "qd", "qdd"))
    return arm_state(arm, [tracer.sin(each) for each in q], [tracer.cos(each) for each in q], q, qd, qdd)
