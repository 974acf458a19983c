"""Random arms and functions with all that a specification can say: what no proof may refuse.

Ranges are symmetric, uneven, or beside zero; words of different joints have different bits; joints turn, slide and rub.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from strategies import GEOMETRIES, random_robot, random_tree

import bddtorque as bt
from bddtorque.base.plain import matrix, vector
from bddtorque.dynamics.quantities import QUANTITIES
from bddtorque.robots.robot import Robot
from bddtorque.targets import TARGETS

Random = np.random.Generator


def random_range(rng: Random, size: float) -> tuple[float, float]:
    """Return a range of one of five kinds."""
    low, high = sorted(rng.uniform(-size, size, 2).tolist())
    kinds = [(-size, size), (-size, 2 * size * rng.uniform(0.2, 1)), (0.0, size), (0.2 * size, size)]
    return [*kinds, (low, high + 0.05 * size)][rng.integers(0, 5)]


def random_friction(rng: Random) -> bt.Friction:
    if rng.integers(2):
        return bt.Friction(2.0, (4.0, 5.0), (8.0, 7.0), 0.05)
    return bt.Friction(rng.uniform(0.1, 3), (rng.uniform(0, 4), rng.uniform(0, 4)))


def random_arm(seed: int) -> bt.Model:
    """Return a compiled arm of one to four joints."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([1, 2, 2, 3, 3, 4]))
    kinds = [str(kind) for kind in rng.choice(["revolute", "revolute", "prismatic"], n)]
    flags = {name: bool(rng.integers(odds)) for name, odds in (("rotors", 2), ("payload", 2), ("gravity", 4))}
    robot = random_robot(kinds, [str(each) for each in rng.choice(GEOMETRIES, n)], seed, **flags)
    if not rng.integers(3):
        robot = robot.with_friction({joint.name: random_friction(rng) for joint in robot.joints if rng.integers(2)})
    target = str(rng.choice(["tables", "integer", "float"]))
    most = 6 if target == "tables" else 11
    options: dict[str, Any] = {
        "target": target,
        "source": str(rng.choice(["terms", "recursive", "auto"])),
        "bits": rng.integers(3, most, n).tolist(),
        "velocity": [random_range(rng, rng.uniform(0.3, 3)) for _ in kinds],
        "acceleration": [random_range(rng, rng.uniform(0.3, 8)) for _ in kinds],
        "position": [
            random_range(rng, rng.uniform(0.2, 1.5)) if kind == "prismatic" or rng.integers(2) else (-np.pi, np.pi)
            for kind in kinds
        ],
    }
    if rng.integers(2):
        words = ("position", "velocity", "acceleration")
        options["input_bits"] = {word: rng.integers(3, most, n).tolist() for word in words}
    if not rng.integers(4):
        options["torque"] = [(-torque, torque * rng.uniform(0.3, 1.5)) for torque in rng.uniform(30, 300, n)]
    if target == "float":
        options |= {"accuracy": 2.0, "precision": str(rng.choice(["auto", "single", "double"]))}
    elif not rng.integers(4):
        options["accuracy"] = float(rng.choice([0.6, 0.75, 2.0]))
    return bt.compile(robot, workers=1, cache=None, **options)


def random_quantity(seed: int) -> bt.Model | None:
    """Return each quantity and target in its turn, of a chain or a tree, or None where the two do not go together.

    Lengths are those of meters, centimeters or millimeters, rotations may be off by 1e-11, joints may follow and rub.
    """
    rng = np.random.default_rng(seed)
    names, targets = list(QUANTITIES), list(TARGETS)
    record, target = QUANTITIES[names[seed % len(names)]], targets[seed // len(names) % len(targets)]
    n = int(rng.choice([1, 2, 2, 3, 3]))
    kinds = [str(kind) for kind in rng.choice(["revolute", "revolute", "prismatic"], n)]
    if rng.integers(2):
        robot = random_robot(
            kinds, [str(each) for each in rng.choice(GEOMETRIES, n)], seed, gravity=bool(rng.integers(4))
        )
    else:
        follows = [0, *rng.choice([0, 0, 1, -1, 2], n - 1).tolist()]
        robot = random_tree(kinds, rng.integers(0, 4, n).tolist(), follows, seed, float(rng.choice([0.0, 1e-11])))
    scale = float(rng.choice([1.0, 1.0, 0.01, 0.001]))
    robot = with_lengths(robot, scale)
    if not rng.integers(3):
        robot = robot.with_friction({joint.name: random_friction(rng) for joint in robot.joints if rng.integers(2)})
    sizes = {"velocity": 3.0, "acceleration": 8.0}
    options: dict[str, Any] = {
        name: [random_range(rng, rng.uniform(0.1, 1) * size) for _ in robot.joints]
        for name, size in sizes.items()
        if name in record.ranges
    }
    options["position"] = [
        (-np.pi, np.pi)
        if joint.kind.turns and rng.integers(2)
        else random_range(rng, rng.uniform(0.2, 1.5) * (1.0 if joint.kind.turns else scale))
        for joint in robot.joints
    ]
    options |= {"torque": "auto"} if "torque" in record.ranges else {}
    options |= {"gains": {"kp": rng.uniform(1, 200), "kv": rng.uniform(1, 30)}} if "gains" in record.keys else {}
    options |= {"gravity": "runtime"} if "gravity" in record.accepts and not rng.integers(5) else {}
    if "payload" in record.accepts and not rng.integers(5):
        options["payload"] = {"mass": [0.0, rng.uniform(0.5, 3)], "com": [[-0.1, 0.1], [0, 0.13], 0], "runtime": True}
    options |= {"accuracy": 2.0} if target == "float" else {}
    bits = int(rng.integers(3, 7 if target == "tables" else 12))
    try:
        return bt.compile(robot, quantity=record.name, target=target, bits=bits, workers=1, cache=None, **options)
    except bt.BddTorqueError:  # a tree without a tip; terms beside a follower
        return None


def with_lengths(robot: Robot, scale: float) -> Robot:
    """Return a robot of another size and the same masses."""

    def of(numbers: Any, power: int = 1) -> Any:
        return (
            matrix(np.array(numbers) * scale**power, "inertia") if power == 2 else vector(np.array(numbers) * scale, "")
        )

    joints = tuple(replace(joint, translation=of(joint.translation)) for joint in robot.joints)
    links = tuple(
        replace(link, centre_of_mass=of(link.centre_of_mass), inertia=of(link.inertia, 2)) for link in robot.links
    )
    return replace(robot, joints=joints, links=links)


def random_function(seed: int) -> bt.Model:
    """Return a compiled function of one to four words: a few products of powers of words and one wave each."""
    rng = np.random.default_rng(seed)
    names = list("abcd")[: int(rng.integers(1, 5))]
    angles = [name for name in names if rng.integers(2)]
    inputs = {
        name: (int(rng.integers(3, 13)), "angle" if name in angles else random_range(rng, rng.uniform(0.3, 3)))
        for name in names
    }
    terms = []
    for _ in range(int(rng.integers(1, 5))):
        factor = round(rng.uniform(-3, 3), int(rng.integers(0, 3)))
        powers = {name: int(rng.choice([0, 0, 1, 1, 2])) for name in names if name not in angles}
        multiples = {name: int(rng.integers(-2, 3)) for name in angles}
        terms.append((factor, powers, multiples, bool(rng.integers(2)), float(rng.choice([0.0, 0.3]))))
    options: dict[str, Any] = {"block_bits": int(rng.integers(13, 21))}
    target = str(rng.choice(["tables", "integer", "float"]))
    if target == "float":
        options = {"accuracy": 2.0}
    traced = _function(names, terms)
    return bt.compile_function(traced, inputs=inputs, output=int(rng.integers(4, 13)), target=target, **options)


def _function(names: list[str], terms: list[tuple[Any, ...]]) -> Callable[..., Any]:
    def value(*words: Any) -> Any:
        given = dict(zip(names, words, strict=True))
        total: Any = 0.0
        for factor, powers, multiples, sine, rest in terms:
            product: Any = factor
            for name, power in powers.items():
                for _ in range(power):
                    product = product * given[name]
            if any(multiples.values()):
                angle: Any = rest
                for name, multiple in multiples.items():
                    angle = angle + multiple * given[name] if multiple else angle
                product = product * (np.sin(angle) if sine else np.cos(angle))
            total = total + product
        return total

    return value
