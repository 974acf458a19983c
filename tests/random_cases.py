"""Random arms and functions with all that a specification can say: what no proof may refuse.

Ranges are symmetric, uneven, or beside zero; words of different joints have different bits; joints turn, slide and rub.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from strategies import GEOMETRIES, random_robot

import bddtorque as bt

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
