"""Serial chains, which the machines of the literature are made for."""

from __future__ import annotations

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.chain import Chain, chain_of
from bddtorque.robots.robot import Robot


def require_serial(robot: Robot, what: str) -> None:
    """Raise unless the robot is a serial chain of joints that only turn or only slide; `what` needs one."""
    if not robot.serial:
        raise BddTorqueError(
            f"{what} takes serial chains only, and robot '{robot.name}' is a tree or has joints that follow others; "
            "choose a chain with tip, and lock the others"
        )
    for joint in robot.joints:
        if len(joint.kind.motions) > 1:
            raise BddTorqueError(
                f"{what} takes joints that only turn or only slide, and joint '{joint.name}' of robot "
                f"'{robot.name}' is a {joint.kind} joint"
            )


def serial_chain_of(robot: Robot) -> Chain:
    """Return the arrays of a serial chain; refuse other robots."""
    require_serial(robot, "this machine")
    return chain_of(robot)
