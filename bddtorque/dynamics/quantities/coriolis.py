"""`coriolis`: the Coriolis matrix with which Ṁ − 2C is skew-symmetric."""

from __future__ import annotations

import numpy as np

from bddtorque.dynamics.chain import Array, Chain
from bddtorque.dynamics.passive_recursion import passive_torques
from bddtorque.dynamics.quantities.mass_matrix import UNITS
from bddtorque.dynamics.quantity import OutputArray, Quantity
from bddtorque.dynamics.recursion import JointRecursion
from bddtorque.robots.robot import Robot


def entry_labels(robot: Robot) -> list[str]:
    """Return the names of the entries, row by row: C1_1, C1_2, ..."""
    n = robot.degrees_of_freedom
    return [f"C{i + 1}_{j + 1}" for i in range(n) for j in range(n)]


def entry_units(robot: Robot) -> list[str]:
    """Return the unit of each entry."""
    turns = [joint.kind.turns for joint in robot.joints]
    return [f"{UNITS[row + column]}/s" for row in turns for column in turns]


def coriolis_columns(chain: Chain, sine: Array, cosine: Array, q: Array, qd: Array) -> Array:
    """Return the columns of C(q, q̇), (n, k), in any numbers: the torques of each unit reference velocity."""
    floating, none = chain._replace(base_acceleration=[0.0] * 3), [0.0] * len(q)  # type: ignore[arg-type]
    moves = list(zip(chain.drive.tolist(), chain.multiplier.tolist(), strict=True))
    units = ([k if drive == j else 0.0 for drive, k in moves] for j in range(chain.driven))
    return np.stack([passive_torques(floating, sine, cosine, q, qd, unit, none) for unit in units])


class Coriolis(Quantity):
    """C(q, q̇) of Christoffel's symbols: C q̇ is the Coriolis and centripetal torque, and Ṁ is C + Cᵀ."""

    name = "coriolis"
    about = "the Coriolis matrix of a robot arm"
    inputs = ("q", "qd")
    outputs = (OutputArray("coriolis", entry_labels, entry_units, lambda robot: (robot.degrees_of_freedom,) * 2),)
    accepts = ("payload",)
    recursion = JointRecursion(coriolis_columns, inputs[1:])


RECORD = Coriolis()
