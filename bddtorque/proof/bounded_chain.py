"""Newton-Euler in numbers with radii: the chain of a robot, and its torques."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.dynamics.chain import Chain, chain_of
from bddtorque.dynamics.coupling import drive_torques
from bddtorque.dynamics.newton_euler import WRENCH, newton_euler
from bddtorque.robots.robot import Robot
from bddtorque.words.bounded import ULP, Bounded

Floats = npt.NDArray[np.float64]


def bounded_chain(robot: Robot) -> Chain:
    """Return the robot's chain with a radius on what was computed from its parameters: the pseudo-inertias."""
    chain = chain_of(robot)
    largest = _largest_parts(robot)
    body = np.empty(chain.body.shape, dtype=object)
    for place in np.ndindex(body.shape):
        value = float(chain.body[place])
        body[place] = Bounded(value, 64 * ULP * largest[place]) if largest[place] else value
    return chain._replace(body=body)


def _largest_parts(robot: Robot) -> Floats:
    """Return (k, 4, 4): for each entry of the pseudo-inertias, what its summands amount to without regard to sign."""
    bodies = []
    for link in (*(member.link for member in robot.members), *([robot.payload] if robot.payload else [])):
        c, K = np.abs(np.array(link.centre_of_mass)), np.abs(np.array(link.inertia))
        K = K + K.T + link.mass * (c @ c * np.eye(3) + np.outer(c, c))
        parts = np.zeros((4, 4))
        parts[:3, :3] = K + np.trace(K) / 2 * np.eye(3)
        parts[:3, 3] = parts[3, :3] = link.mass * c
        parts[3, 3] = link.mass
        bodies.append(parts)
    if robot.payload:
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = np.abs(np.array(robot.tip.rotation)), np.abs(np.array(robot.tip.translation))
        payload, place = bodies.pop(), robot.tip_member("a payload")
        bodies[place] = bodies[place] + T @ payload @ T.T
    return np.array(bodies)


def bounded_torques(chain: Chain, sine: Any, cosine: Any, q: Any, qd: Any, qdd: Any) -> list[Bounded]:
    """Return the torques of the drives of a chain, all arguments (k,) arrays of floats or `Bounded`."""
    tau, wrench = np.zeros(len(q), dtype=object), np.zeros((len(q), WRENCH), dtype=object)
    newton_euler(chain, sine, cosine, q, qd, qdd, tau, wrench)
    drives = drive_torques(chain, tau)
    return [value if isinstance(value, Bounded) else Bounded(np.float64(value)) for value in drives]
