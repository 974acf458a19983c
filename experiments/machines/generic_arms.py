"""Arms of revolute joints with no special numbers, of any length: what operation counts of algorithms are taken on."""

from __future__ import annotations

import numpy as np

from bddtorque.base.plain import Matrix, matrix, vector
from bddtorque.robots.joint_kinds import Revolute
from bddtorque.robots.parts import Frame, Joint, Link
from bddtorque.robots.robot import Robot


def generic_arm(n: int, seed: int = 0) -> Robot:
    """Return an arm of n revolute joints in Denavit-Hartenberg frames, every parameter a random number, no rotors.

    Links of 0.2 to 0.4 m and 1 to 3 kg follow each other like those of a snake. Gravity points anywhere.
    """
    random = np.random.default_rng(seed)
    joints, links = [], []
    before = Frame()
    for j in range(1, n + 1):
        joints.append(Joint(f"joint {j}", Revolute(), before.rotation, before.translation))
        twist = random.uniform(0.3, 1.2) * random.choice([-1, 1])
        before = Frame(_about_x(twist), vector((random.uniform(0.2, 0.4), 0.0, random.uniform(0.1, 0.2)), "link"))
        links.append(_body(f"link {j}", random))
    return Robot(f"generic {n}R", tuple(joints), tuple(links), vector(random.uniform(-9, 9, 3), "gravity"), before)


def _about_x(angle: float) -> Matrix:
    c, s = float(np.cos(angle)), float(np.sin(angle))
    return (1.0, 0.0, 0.0), (0.0, c, -s), (0.0, s, c)


def _body(name: str, random: np.random.Generator) -> Link:
    """Return a body that could exist: three pairs of equal masses, on axes that stand anyhow."""
    mass = random.uniform(1.0, 3.0)
    axes, _ = np.linalg.qr(random.normal(size=(3, 3)))
    moments = axes @ np.diag(mass * random.uniform(0.05, 0.2, 3) ** 2) @ axes.T
    inertia = np.trace(moments) * np.eye(3) - moments
    return Link(name, mass, vector(random.uniform(-0.2, 0.2, 3), name), matrix((inertia + inertia.T) / 2, name))
