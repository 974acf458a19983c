"""Graphs traced from a robot's own numbers, without rounding: pose and Jacobian of the tip, torques with a payload.

The constants of these graphs are exact until each is rounded to a float, once: they differ from the true function by no
more than `bddtorque.proof.truth.folding_errors` charges.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bddtorque.base.plain import Vector
from bddtorque.dynamics.chain import Array, Chain, chain_of
from bddtorque.dynamics.newton_euler import WRENCH, add, cross, newton_euler
from bddtorque.graph.tracer import Exact, ExactTracer, Number, traced_inputs
from bddtorque.robots.robot import Link, Robot

Rows = list[list[Any]]
PAYLOAD_LABELS = ("mass", "mx", "my", "mz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
"""The numbers of a payload in the tip frame: mass, first moments m·c, and the inertia about the origin."""
STATIC_LABELS = PAYLOAD_LABELS[:4]
"""Those that weight depends on."""


def exact_array(values: Any) -> Array:
    """Return an array of floats as exact numbers."""
    floats = np.asarray(values, dtype=np.float64)
    exact = np.empty(floats.shape, dtype=object)
    for place in np.ndindex(floats.shape):
        exact[place] = Exact(float(floats[place]))
    return exact


def _pseudo_inertia(mass: Any, moment: Any, inertia: Any) -> Array:
    """Return the 4×4 pseudo-inertia of first moments and an inertia about the origin, in any numbers."""
    half = (inertia[0][0] + inertia[1][1] + inertia[2][2]) * Exact(0.5)
    body = np.empty((4, 4), dtype=object)
    for i in range(3):
        for j in range(3):
            between = (inertia[i][j] + inertia[j][i]) * Exact(0.5)
            body[i, j] = half - between if i == j else -between
        body[i, 3] = body[3, i] = moment[i]
    body[3, 3] = mass
    return body


def exact_body(link: Link) -> Array:
    """Return the exact pseudo-inertia of a body about the origin of its frame."""
    mass, c, inertia = Exact(link.mass), exact_array(link.centre_of_mass), exact_array(link.inertia)
    around = inertia + mass * (np.eye(3, dtype=int) * sum(c * c) - np.outer(c, c))
    return _pseudo_inertia(mass, mass * c, around)


def _carried(robot: Robot, body: Array) -> Array:
    """Return a body in the tip frame as one in the frame of the last link."""
    T = np.full((4, 4), Exact(0), dtype=object)
    T[:3, :3], T[:3, 3], T[3, 3] = exact_array(robot.tip.rotation), exact_array(robot.tip.translation), Exact(1)
    return _times(_times(T, body), T.T)


def _times(A: Any, B: Any) -> Array:
    """Return A·B in any numbers."""
    made = np.empty((len(A), B.shape[1]), dtype=object)
    for i, j in np.ndindex(made.shape):
        total: Any = 0.0
        for k in range(len(B)):
            total = total + A[i, k] * B[k, j]
        made[i, j] = total
    return made


def exact_chain(robot: Robot) -> Chain:
    """Return the arrays of a robot as exact numbers, its payload joined to the last link."""
    chain = chain_of(robot)
    bodies = np.array([exact_body(link) for link in robot.links])
    if robot.payload is not None:
        bodies[-1] = bodies[-1] + _carried(robot, exact_body(robot.payload))
    return chain._replace(
        rotation=exact_array(chain.rotation),
        translation=exact_array(chain.translation),
        body=bodies,
        rotor=exact_array(chain.rotor),
        base_acceleration=exact_array(chain.base_acceleration),
    )


def payload_body(numbers: Mapping[str, Any]) -> Array:
    """Return the pseudo-inertia, in the tip frame, of a payload's numbers by label; those left out are 0."""
    mass, x, y, z, xx, xy, xz, yy, yz, zz = (numbers.get(label, 0.0) for label in PAYLOAD_LABELS)
    return _pseudo_inertia(mass, (x, y, z), [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def trace_payload_torques(
    robot: Robot, tracer: ExactTracer, q: Any, qd: Any, qdd: Any, numbers: Mapping[str, Any], weightless: bool = False
) -> list[Number]:
    """Return the torques of a robot that carries a payload of traced numbers, under trace; motions may be 0.0."""
    chain = exact_chain(robot)
    body = chain.body.copy()
    body[-1] = body[-1] + _carried(robot, payload_body(numbers))
    chain = chain._replace(body=body)
    if weightless:
        chain = chain._replace(base_acceleration=exact_array(np.zeros(3)))
    n = robot.degrees_of_freedom
    sine, cosine = (np.array([turn(angle) for angle in q], dtype=object) for turn in (tracer.sin, tracer.cos))
    tau, wrench = np.zeros(n, dtype=object), np.zeros((n, WRENCH), dtype=object)
    position, velocity, acceleration = (np.array(each, dtype=object) for each in (q, qd, qdd))
    newton_euler(chain, sine, cosine, position, velocity, acceleration, tau, wrench)
    return list(tau)


def trace_pose(robot: Robot, tracer: ExactTracer) -> tuple[Any, Rows, list[Any], list[Any]]:
    """Return the tip's position and rotation in base axes; and of each joint its axis, and the way on to the next.

    The last way is the one to the tip.
    """
    chain = exact_chain(robot)
    q = traced_inputs(tracer, "q", robot.degrees_of_freedom)
    R: Any = exact_array(np.eye(3))
    position, ways, axes = (Exact(0), Exact(0), Exact(0)), [], []
    for i, angle in enumerate(q):
        way = _turned(R, chain.translation[i])
        R = _times(R, chain.rotation[i])
        if chain.revolute[i]:
            s, c = tracer.sin(angle), tracer.cos(angle)
            R = np.array([[row[0] * c + row[1] * s, row[1] * c - row[0] * s, row[2]] for row in R], dtype=object)
        else:
            way = add(way, tuple(row[2] * angle for row in R))
        position = add(position, way)
        ways.append(way)
        axes.append(tuple(row[2] for row in R))
    last = _turned(R, exact_array(robot.tip.translation))
    R = _times(R, exact_array(robot.tip.rotation))
    return add(position, last), R.tolist(), axes, [*ways[1:], last]


def trace_jacobian(robot: Robot, tracer: ExactTracer) -> Rows:
    """Return the 6 rows of the Jacobian: velocity of the tip, then angular velocity, in base axes."""
    _, _, axes, ways = trace_pose(robot, tracer)
    columns, arm = [], (Exact(0), Exact(0), Exact(0))
    for joint, axis, way in zip(reversed(robot.joints), reversed(axes), reversed(ways), strict=True):
        arm = add(way, arm)  # from this joint to the tip
        columns.append((*cross(axis, arm), *axis) if joint.revolute else (*axis, *[Exact(0)] * 3))
    return [list(row) for row in zip(*reversed(columns), strict=True)]


def _turned(R: Any, vector: Any) -> Any:
    x, y, z = (row[0] * vector[0] + row[1] * vector[1] + row[2] * vector[2] for row in R)
    return x, y, z


def payload_numbers(mass: float, centre_of_mass: Vector, inertia: Any = None) -> dict[str, float]:
    """Return the numbers of a payload by label; `inertia` (3, 3) is about its centre of mass."""
    c = np.array(centre_of_mass, dtype=np.float64)
    around = np.zeros((3, 3)) if inertia is None else np.array(inertia, dtype=np.float64)
    around = around + mass * (c @ c * np.eye(3) - np.outer(c, c))
    return dict(zip(PAYLOAD_LABELS, [mass, *(mass * c).tolist(), *around[np.triu_indices(3)].tolist()], strict=True))
