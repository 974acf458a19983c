"""Distance of the regrouped recursion from the true torques of a robot of any size: no grid, one pass over it.

Three chains lie between the robot and what is compiled, and Newton-Euler on `ErrorBound` numbers bounds each step:

1. the robot with exactly orthonormal rotations instead of those that are stored, which are a little off;
2. that chain regrouped, which changes no torque; done again here with proved radii, it says how far each number of the
   regrouped chain in floats can be off, those that were taken for zero included;
3. what the tracer made of it: constants that it folded in floats, second moments that it was not given because no
   joint feels them.

docs/certificate.md says the same in words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.dynamics.chain import Chain, chain_of, transform
from bddtorque.dynamics.coupling import drive_torques
from bddtorque.dynamics.recursion import TORQUES, JointRecursion, in_order, run_newton_euler
from bddtorque.dynamics.regroup import Frames, RegroupSteps, about_z, regroup_steps
from bddtorque.robots.frames import times
from bddtorque.robots.robot import Robot
from bddtorque.words.bounded import ROUND_UP, ULP, Bounded, Interval
from bddtorque.words.error_bound import ErrorBound, entry
from bddtorque.words.turning import SineOf

Floats = npt.NDArray[np.float64]

_EXACT = (0.0, 1.0, -1.0)


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
    drives = drive_torques(chain, run_newton_euler(chain, sine, cosine, q, qd, qdd))
    return [value if isinstance(value, Bounded) else Bounded(np.float64(value)) for value in drives]


def recursion_errors(
    robot: Robot, reach: Sequence[float], motion: Mapping[str, float], recursion: JointRecursion = TORQUES
) -> Floats:
    """Return, for each output, how far the traced recursion can be from the true torque, or the true output.

    `reach` is the largest |position| (n,), `motion` the largest magnitude of every qd and qdd by name.
    """
    chain = chain_of(robot)
    steps = regroup_steps(chain)
    angle = ULP * (np.abs(chain.offset) + np.abs(steps.result.offset))  # the two are added in floats
    still, tilts = np.zeros(len(angle)), _all_tilts(chain)
    exact = _regrouped_balls(robot, tilts, steps)
    middle = _with_errors(steps.undropped, _distances(steps.undropped, exact))
    result = steps.result.chain
    dropped = _with_errors(result, _radii(result, body=_dropping(steps)))
    rest = sum(_errors(each, off, reach, motion, recursion) for each, off in ((middle, still), (dropped, angle)))
    errors: Floats = (_rotation_errors(robot, tilts, reach, motion, recursion) + np.asarray(rest)) * ROUND_UP
    if not np.isfinite(errors).all():
        raise OverflowError("the torques of this robot are beyond what floats can bound")
    return errors


def rotation_errors(robot: Robot, reach: Sequence[float], motion: Mapping[str, float]) -> Floats:
    """Return, for each torque, how far it can be from that of a robot with orthonormal rotations; 0 if all are."""
    tilts = _all_tilts(chain_of(robot))
    return (
        _rotation_errors(robot, tilts, reach, motion) * ROUND_UP if tilts.any() else np.zeros(robot.degrees_of_freedom)
    )


def _rotation_errors(
    robot: Robot,
    tilts: Floats,
    reach: Sequence[float],
    motion: Mapping[str, float],
    recursion: JointRecursion = TORQUES,
) -> Floats:
    chain = chain_of(robot)
    own = _with_errors(_largest(chain, robot), _radii(chain, rotation=tilts))
    return _errors(own, np.zeros(len(chain.offset)), reach, motion, recursion)


def _all_tilts(chain: Chain) -> Floats:
    return np.array([_tilts(rotation) for rotation in chain.rotation])


def _tilts(rotation: Floats) -> Floats:
    """Return how far each entry of a matrix (3, 3) is at most from the orthonormal one that is nearest to it.

    Singular values are off by |σ − 1| <= |σ² − 1| <= ‖RᵀR − I‖. An axis that is carried onto another exactly stays so.
    """
    off = times(rotation.T, rotation) - np.eye(3)
    tilts = np.full((3, 3), float(np.sqrt((off**2).sum()) + 32 * ULP))
    for row, column in np.ndindex(3, 3):
        if abs(rotation[row, column]) == 1.0 and np.abs(rotation[row]).sum() + np.abs(rotation[:, column]).sum() == 2.0:
            tilts[row], tilts[:, column] = 0.0, 0.0
    return tilts


def _largest(chain: Chain, robot: Robot) -> Chain:
    """Return the chain with its bodies as large as their radii allow."""
    body = bounded_chain(robot).body
    sizes = [abs(each.value) + each.radius if isinstance(each, Bounded) else abs(each) for each in body.ravel()]
    return chain._replace(body=np.array(sizes, dtype=np.float64).reshape(body.shape) * ROUND_UP)


def _radii(chain: Chain, **known: Any) -> dict[str, Any]:
    """Return a radius for every number of a chain: those that are given, 0 elsewhere."""
    names = ("rotation", "translation", "body", "rotor", "base_acceleration")
    return {name: known.get(name, np.zeros(getattr(chain, name).shape)) for name in names}


def _with_errors(chain: Chain, radii: Mapping[str, Any]) -> Chain:
    """Return a chain of numbers with their errors."""
    numbers = {}
    for name, radius in radii.items():
        values = getattr(chain, name)
        array = np.empty(values.shape, dtype=object)
        for place in np.ndindex(values.shape):
            array[place] = entry(values[place], float(radius[place]))
        numbers[name] = array
    return chain._replace(**numbers)


def _regrouped_balls(robot: Robot, tilts: Floats, steps: RegroupSteps) -> Chain:
    """Return the regrouped chain, nothing dropped, as numbers with radii that hold those of exact regrouping."""
    chain, known = chain_of(robot), bounded_chain(robot)
    rotation = np.empty(chain.rotation.shape, dtype=object)
    for place in np.ndindex(rotation.shape):
        value, tilt = float(chain.rotation[place]), float(tilts[place])
        rotation[place] = Bounded(value, tilt) if tilt else value
    frames = Frames(known._replace(rotation=rotation, translation=chain.translation.astype(object)))
    base_acceleration = frames.turn_base(chain.base_acceleration.astype(object))
    for i in frames.roots:
        frames.translation[i] = 0.0
    for i, move in steps.moves:
        frames.place(i, _exact_move(move))
    base_acceleration = frames.turn_base(base_acceleration)
    for i, offset in enumerate(steps.result.offset.tolist()):
        if offset:  # q + offset turns back by it
            turn = about_z(-offset)
            frames.rotation[i] = times(frames.rotation[i], _balls(turn, _turn_radius(turn, offset)))
    for i in range(len(frames.parent) - 1, -1, -1):
        if frames.parent[i] >= 0:
            frames.move_body(i)
    return known._replace(
        rotation=frames.rotation, translation=frames.translation, body=frames.body,
        base_acceleration=base_acceleration,
    )  # fmt: skip


def _exact_move(move: Any) -> Any:
    """Return a move whose sine and cosine have radii: the turn is exact, whatever floats made of it."""
    turn = np.asarray(move[:3, :3], dtype=float)
    exact = np.isin(turn, _EXACT).all()
    return transform(_balls(turn, 0.0 if exact else ULP), move[:3, 3].astype(object), object)


def _turn_radius(turn: Floats, offset: float) -> float:
    """Return how far sine and cosine of an offset can be off, quarter turns that were made exact included."""
    if not np.isin(turn, _EXACT).all():
        return 4 * ULP * max(1.0, abs(offset))
    quarters = round(offset / (math.pi / 2))
    return abs(offset - quarters * (math.pi / 2)) + 4 * ULP * max(1.0, abs(offset))


def _balls(turn: Floats, radius: float) -> Any:
    """Return a rotation about z as numbers with radii; the last row and column are exact."""
    balls = turn.astype(object)
    for place in np.ndindex(2, 2):
        balls[place] = Bounded(float(turn[place]), radius) if radius else float(turn[place])
    return balls


def _distances(chain: Chain, exact: Chain) -> dict[str, Any]:
    """Return how far each number of a chain in floats can be from one known to a radius."""
    found = _radii(chain)
    for name, distance in found.items():
        values, balls = getattr(chain, name), getattr(exact, name)
        for place in np.ndindex(values.shape):
            ball = balls[place]
            centre, radius = (ball.value, ball.radius) if isinstance(ball, Bounded) else (float(ball), 0.0)
            off = abs(float(values[place]) - float(centre))
            distance[place] = (off + float(radius)) * ROUND_UP if off or radius else 0.0
    return found


def _dropping(steps: RegroupSteps) -> Floats:
    """Return a radius for the second moments that became one: the sum was rounded, and its parts cleaned before."""
    before, after = steps.undropped, steps.result.chain
    radii = np.zeros(after.body.shape)
    for i in range(len(radii)):
        if not np.array_equal(before.body[i], after.body[i]) or before.rotor[i] != after.rotor[i]:
            about = before.body[i, 0, 0] + before.body[i, 1, 1] + (before.rotor[i] - after.rotor[i])
            if after.body[i, 0, 0] or about:
                size = abs(before.body[i, 0, 0]) + abs(before.body[i, 1, 1]) + abs(before.rotor[i])
                radii[i, 0, 0] = abs(after.body[i, 0, 0] - about) + 4 * ULP * size
    return radii


def _errors(
    chain: Chain, angle: Floats, reach: Sequence[float], motion: Mapping[str, float], recursion: JointRecursion
) -> Floats:
    """Return the errors of the outputs of a chain of numbers with errors, as they are listed."""
    k, n = len(chain.turns), chain.driven
    drives = list(zip(chain.drive.tolist(), chain.multiplier.tolist(), strict=True))
    sine, cosine, q, *rates = (np.zeros(k, dtype=object) for _ in range(3 + len(recursion.rates)))
    for i, (j, multiplier) in enumerate(drives):
        sine[i], cosine[i] = (
            ErrorBound(Interval(-1.0, 1.0), {"constants": float(angle[i])}, sine=SineOf(i, which))
            for which in (False, True)
        )
        sizes = (reach[j], *(motion[f"{name}{j + 1}"] for name in recursion.rates))
        scaled = [ErrorBound(Interval(-size, size)) * multiplier for size in sizes]
        q[i] = scaled[0] + float(chain.offset[i])
        for rate, size in zip(rates, scaled[1:], strict=True):
            rate[i] = size
    outputs = recursion.run(chain, sine, cosine, q, *rates)
    errors = np.zeros((*outputs.shape[:-1], n))
    for *row, i in np.ndindex(outputs.shape):
        if isinstance(output := outputs[(*row, i)], ErrorBound):
            errors[(*row, drives[i][0])] += (output * drives[i][1]).error
    return in_order(errors)
