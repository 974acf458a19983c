"""Hypothesis strategies for robots: any chain, and the special chains on which shortcuts go wrong.

    from strategies import robots, seeds

Hypothesis chooses the structure (how many joints, of which kind, how each axis lies to the one before), and so shrinks
a failure to the simplest chain that shows it; the numbers come from a seed it also chooses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from bddtorque.base.plain import matrix, vector
from bddtorque.robots.parts import ZERO, Follower, Frame, Joint, Link
from bddtorque.robots.robot import Robot

KINDS: tuple[str, ...] = ("revolute", "prismatic")
GEOMETRIES = ("general", "parallel", "coincident", "intersecting", "perpendicular", "tilted")
"""How a joint's axis lies to the one before: `tilted` is a common normal and an angle, as in Denavit-Hartenberg."""

BUILT_IN = ("planar2r", "planar3r_a", "planar3r_b", "scara", "stanford", "puma560", "ur5", "panda")

seeds = st.integers(0, 2**32 - 1)


def random_rotation(random: np.random.Generator) -> np.ndarray:
    """Return a rotation, uniform over all of them (a unit quaternion)."""
    w, x, y, z = (quaternion := random.normal(size=4)) / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def about_x(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def about_z(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def placement(geometry: str, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return rotation and translation of a joint frame in the link before it."""
    turn, apart, along = about_z(random.uniform(-3, 3)), random.uniform(0.1, 1.0), random.uniform(-0.5, 0.5)
    match geometry:
        case "parallel":
            return turn, about_z(random.uniform(-3, 3)) @ [apart, 0.0, along]
        case "coincident":
            return turn, np.array([0.0, 0.0, along])
        case "intersecting":
            return random_rotation(random), np.array([0.0, 0.0, along])
        case "perpendicular":
            return about_x(random.choice([-1, 1]) * np.pi / 2), np.array([apart, 0.0, along])
        case "tilted":
            return about_x(random.uniform(-3, 3)) @ turn, np.array([apart, 0.0, 0.0])
    return random_rotation(random), random.uniform(-0.5, 0.5, 3)


def random_body(name: str, random: np.random.Generator) -> Link:
    """Return a body that could exist: its second moments are positive, so its inertia obeys the triangle inequality."""
    mass = random.uniform(0.5, 5.0)
    axes = random_rotation(random)
    moments = axes @ np.diag(mass * random.uniform(0.05, 0.3, 3) ** 2) @ axes.T
    inertia = np.trace(moments) * np.eye(3) - moments
    return Link(name, mass, vector(random.uniform(-0.4, 0.4, 3), name), matrix(inertia, name))


def random_robot(
    kinds: Sequence[str],
    geometries: Sequence[str],
    seed: int,
    *,
    rotors: bool = True,
    payload: bool = False,
    gravity: bool = True,
) -> Robot:
    """Return a chain of the given structure with random numbers; gravity points anywhere."""
    random = np.random.default_rng(seed)
    joints, links = [], []
    for i, (kind, geometry) in enumerate(zip(kinds, geometries, strict=True), start=1):
        R, p = placement(geometry, random)
        rotor = random.uniform(0.1, 2.0) if rotors else 0.0
        joints.append(Joint(f"joint {i}", kind, matrix(R, "R"), vector(p, "p"), rotor_inertia=rotor))
        links.append(random_body(f"link {i}", random))
    tip = Frame(matrix(random_rotation(random), "tip"), vector(random.uniform(-0.5, 0.5, 3), "tip"))
    return Robot(
        "random",
        tuple(joints),
        tuple(links),
        gravity=vector(random.uniform(-10, 10, 3), "gravity") if gravity else ZERO,
        tip=tip,
        payload=random_body("payload", random) if payload else None,
    )


def random_tree(kinds: list[str], parents: list[int], follows: list[int], seed: int, noise: float) -> Robot:
    """Return a tree; `parents` are taken modulo what is there, joints with `follows` above 0 follow the first."""
    random = np.random.default_rng(seed)
    joints, links, followers = [], [], []
    for i, kind in enumerate(kinds):
        R, p = placement(GEOMETRIES[seed % len(GEOMETRIES)], random)
        R = R + noise * random.uniform(-1, 1, (3, 3)) * (R != 0)
        parent = parents[i] % (i + 1) - 1
        made = Joint(
            f"j{i}", kind, tuple(map(tuple, R.tolist())), tuple(p.tolist()), rotor_inertia=random.uniform(0, 1),
            parent=f"j{parent}" if parent >= 0 else "",
        )  # fmt: skip
        body = random_body(f"l{i}", random)
        if i and follows[i] and kind == kinds[0]:
            followers.append(Follower(made, body, "j0", float(follows[i]), float(random.uniform(-1, 1))))
        else:
            joints.append(made)
            links.append(body)
    gravity = tuple(random.uniform(-10, 10, 3).tolist())
    return Robot("tree", tuple(joints), tuple(links), gravity, followers=tuple(followers))


@st.composite
def robots(
    draw: st.DrawFn,
    most: int = 9,
    kinds: Sequence[str] = KINDS,
    geometries: Sequence[str] = GEOMETRIES,
    fewest: int = 1,
) -> Robot:
    """Draw a robot of `fewest` to `most` joints of these kinds and geometries, with or without rotors and payload."""
    n = draw(st.integers(fewest, most))
    return random_robot(
        draw(st.lists(st.sampled_from(kinds), min_size=n, max_size=n)),
        draw(st.lists(st.sampled_from(geometries), min_size=n, max_size=n)),
        draw(seeds),
        rotors=draw(st.booleans()),
        payload=draw(st.booleans()),
        gravity=draw(st.booleans()),
    )


def relative_error(found: np.ndarray, expected: np.ndarray, least: float = 1e-3) -> float:
    """Return the largest error of a batch (N, ...) relative to the largest value in the same place over the batch.

    Where all values are below `least` they may be nothing but rounding of zero: that is the measure then.
    """
    assert found.shape == expected.shape
    return float((np.abs(found - expected) / np.maximum(np.abs(expected).max(axis=0), least)).max())


def tapered(robot: Robot, mass: float, length: float) -> Robot:
    """Return the robot with each link `mass` times as heavy and `length` times as long as the one before would be."""
    joints, links = [], []
    for i, (joint, link) in enumerate(zip(robot.joints, robot.links, strict=True)):
        m, d = mass**i, length**i
        place = vector(d * np.array(joint.translation), "translation")
        joints.append(replace(joint, translation=place, rotor_inertia=m * d * d * joint.rotor_inertia))
        centre = vector(d * np.array(link.centre_of_mass), "centre")
        inertia = matrix(m * d * d * np.array(link.inertia), "inertia")
        links.append(Link(link.name, m * link.mass, centre, inertia))
    return replace(robot, joints=tuple(joints), links=tuple(links), payload=None)
