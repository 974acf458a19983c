"""`derivatives`: how the torques change with each position and each velocity."""

from __future__ import annotations

import numpy as np

from bddtorque.dynamics.chain import Array, Chain
from bddtorque.dynamics.dual import dual_chain, duals, slopes_of
from bddtorque.dynamics.quantity import OutputArray, Quantity
from bddtorque.dynamics.recursion import JointRecursion, run_newton_euler
from bddtorque.robots.robot import Robot

UNITS = {"q": ("N/m", "N", "N·m"), "qd": ("N·s/m", "N·s", "N·m·s")}
"""Of an entry, by how many of its two joints have angles as positions."""


def matrix_by(array: str) -> OutputArray:
    """Return the array of the derivatives by an array of the motion."""

    def labels(robot: Robot) -> list[str]:
        n = robot.degrees_of_freedom
        return [f"dtau{i}_d{array}{j}" for i in range(1, n + 1) for j in range(1, n + 1)]

    def units(robot: Robot) -> list[str]:
        turns = [joint.kind.turns for joint in robot.joints]
        return [UNITS[array][row + column] for row in turns for column in turns]

    return OutputArray(f"dtau_d{array}", labels, units, lambda robot: (robot.degrees_of_freedom,) * 2)


def torque_slopes(chain: Chain, sine: Array, cosine: Array, q: Array, qd: Array, qdd: Array) -> Array:
    """Return the columns of both matrices (2, n, k), in any numbers: the slopes of the torques."""
    plain, still = dual_chain(chain), (duals(sine), duals(cosine), duals(q))
    moves = list(zip(chain.drive.tolist(), chain.multiplier.tolist(), strict=True))
    by_position, by_velocity = [], []
    for j in range(chain.driven):
        rate = np.array([k if drive == j else 0.0 for drive, k in moves], dtype=object)
        moved = duals(sine, cosine * rate), duals(cosine, -(sine * rate)), duals(q, rate)
        by_position.append(slopes_of(run_newton_euler(plain, *moved, duals(qd), duals(qdd))))
        by_velocity.append(slopes_of(run_newton_euler(plain, *still, duals(qd, rate), duals(qdd))))
    return np.stack([np.stack(by_position), np.stack(by_velocity)])


class Derivatives(Quantity):
    """∂τ/∂q and ∂τ/∂q̇ of the inverse dynamics, without friction; ∂τ/∂q̈ is the mass matrix."""

    name = "derivatives"
    about = "the derivatives of the torques of a robot arm by positions and velocities"
    inputs = ("q", "qd", "qdd")
    outputs = (matrix_by("q"), matrix_by("qd"))
    accepts = ("gravity", "payload")
    recursion = JointRecursion(torque_slopes, inputs[1:])


RECORD = Derivatives()
