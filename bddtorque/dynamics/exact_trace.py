"""A robot's own numbers without rounding, and the pose and the Jacobian of its tip traced from them.

The constants of these graphs are exact until each is rounded to a float, once: they differ from the true function by no
more than `bddtorque.dynamics.node_ranges.folding_errors` charges.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bddtorque.dynamics.chain import Array, Chain, chain_of
from bddtorque.dynamics.coupling import traced_positions
from bddtorque.dynamics.newton_euler import add, cross
from bddtorque.dynamics.tracer import Exact, ExactTracer
from bddtorque.robots.parts import Link
from bddtorque.robots.robot import Robot

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


def carried_body(robot: Robot, body: Array) -> Array:
    """Return a body in the tip frame as one in the frame of the link that carries it."""
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
    """Return the arrays of a robot as exact numbers, its payload joined to the link that carries the tip."""
    chain = chain_of(robot)
    bodies = np.array([exact_body(member.link) for member in robot.members])
    if robot.payload is not None:
        place = robot.tip_member("a payload")
        bodies[place] = bodies[place] + carried_body(robot, exact_body(robot.payload))
    return chain._replace(
        rotation=exact_array(chain.rotation),
        translation=exact_array(chain.translation),
        body=bodies,
        rotor=exact_array(chain.rotor),
        base_acceleration=exact_array(chain.base_acceleration),
        multiplier=exact_array(chain.multiplier),
        offset=exact_array(chain.offset),
    )


def payload_body(numbers: Mapping[str, Any]) -> Array:
    """Return the pseudo-inertia, in the tip frame, of a payload's numbers by label; those left out are 0."""
    mass, x, y, z, xx, xy, xz, yy, yz, zz = (numbers.get(label, 0.0) for label in PAYLOAD_LABELS)
    return _pseudo_inertia(mass, (x, y, z), [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def next_frame(chain: Chain, i: int, R: Any, position: Any, sine: Any, cosine: Any) -> tuple[Any, Any]:
    """Return the way to the frame of link i and its rotation, in base axes, from the rotation of what carries it."""
    way, R = turned(R, chain.translation[i]), _times(R, chain.rotation[i])
    if chain.turns[i]:
        rows = [[row[0] * cosine + row[1] * sine, row[1] * cosine - row[0] * sine, row[2]] for row in R]
        return way, np.array(rows, dtype=object)
    return add(way, tuple(row[2] * position for row in R)), R


def trace_pose(robot: Robot, tracer: ExactTracer) -> tuple[Any, Rows, list[Any], list[Any]]:
    """Return the tip's position and rotation in base axes; of each joint up to it the axis and the way to the next.

    The last way is the one to the tip.
    """
    chain, path = exact_chain(robot), robot.tip_path
    q = traced_positions(chain, tracer) * chain.multiplier + chain.offset
    R: Any = exact_array(np.eye(3))
    position, ways, axes = (Exact(0), Exact(0), Exact(0)), [], []
    for i in path:
        way, R = next_frame(chain, i, R, q[i], tracer.sin(q[i]), tracer.cos(q[i]))
        position = add(position, way)
        ways.append(way)
        axes.append(tuple(row[2] for row in R))
    last = turned(R, exact_array(robot.tip.translation))
    R = _times(R, exact_array(robot.tip.rotation))
    return add(position, last), R.tolist(), axes, [*ways[1:], last]


def trace_jacobian(robot: Robot, tracer: ExactTracer) -> Rows:
    """Return the 6 rows of the Jacobian: velocity of the tip, then angular velocity, in base axes."""
    _, _, axes, ways = trace_pose(robot, tracer)
    members, still = robot.members, (Exact(0), Exact(0), Exact(0))
    columns: list[Any] = [(*still, *still)] * robot.degrees_of_freedom
    arm: Any = still
    for i, axis, way in zip(reversed(robot.tip_path), reversed(axes), reversed(ways), strict=True):
        arm, member = add(way, arm), members[i]  # from this joint to the tip
        own = (*cross(axis, arm), *axis) if member.turns else (*axis, *still)
        moved = (entry * Exact(member.multiplier) for entry in own)
        columns[member.drive] = tuple(a + b for a, b in zip(moved, columns[member.drive], strict=True))
    return [list(row) for row in zip(*columns, strict=True)]


def turned(R: Any, vector: Any) -> Any:
    """Return R·vector, in any numbers."""
    x, y, z = (row[0] * vector[0] + row[1] * vector[1] + row[2] * vector[2] for row in R)
    return x, y, z
