"""Small models of every kind, for tests of what works for all: each quantity and target, inputs at run time, functions.

A quantity or a target that is added to its registry is tested by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from strategies import random_tree

import bddtorque as bt
from bddtorque.dynamics.quantities import QUANTITIES
from bddtorque.robots.parts import Frame
from bddtorque.robots.robot import Robot
from bddtorque.targets import TARGETS

RUN_TIME: dict[str, dict[str, Any]] = {
    "payload": {"payload": {"mass": [0, 2], "centre_of_mass": [[-0.1, 0.1]] * 3, "runtime": True}},
    "gravity": {"gravity": "runtime"},
}
"""Options that give something at run time."""
KEYS: dict[str, Any] = {"gains": {"kp": 4.0, "kv": 3.0}}
"""Of specifications, those that belong to some quantities."""


def own_options(quantity: str) -> dict[str, Any]:
    """Return the options that belong to a quantity."""
    return {key: KEYS[key] for key in QUANTITIES[quantity].keys}


@cache
def small_tree() -> Robot:
    """Return a joint that turns and two on it, one that turns and one that slides; the tip is on the last."""
    tree = random_tree(["revolute", "revolute", "prismatic"], [0, 1, 1], [0, 0, 0], 3, 0.0)
    return replace(tree, tip=Frame(parent=tree.joint_names[-1]))


def options_of(quantity: str, target: str) -> dict[str, Any]:
    """Return options that compile a quantity in a moment."""
    record = QUANTITIES[quantity]
    options: dict[str, Any] = {"bits": 10 if target == "float" else 4, "target": target}
    motion = (("velocity", 1.5), ("acceleration", 4.0), ("torque", "auto"))
    options |= {name: size for name, size in motion if name in record.ranges}
    return options | own_options(quantity)


@cache
def small_quantity(quantity: str, target: str, shape: str = "arm", given: str = "") -> bt.Model:
    """Return a quantity of planar2r or of a tree, with nothing, a payload or gravity given at run time."""
    robot, options = bt.load_robot("planar2r"), options_of(quantity, target)
    if shape == "tree":
        robot = small_tree()
        options["position"] = {joint.name: (-0.3, 0.5) for joint in robot.joints if not joint.kind.turns}
    return bt.compile(robot, quantity=quantity, workers=1, cache=None, **options, **RUN_TIME.get(given, {}))


@cache
def small_function(target: str) -> bt.Model:
    """Return x·cos(y)."""
    words = {"inputs": {"x": (6, 2.0, "m"), "y": (6, "angle")}, "output": {"z": (8, 3.0, "m")}}
    return bt.compile_function(lambda x, y: x * np.cos(y), **words, name="product", target=target)


@cache
def small_unsigned(target: str) -> bt.Model:
    """Return x·y² + x of words that are unsigned, and one that is not."""
    words = {"inputs": {"x": (5, (0.0, 2.0)), "y": (5, 1.0)}, "output": (6, (0.0, 4.0))}
    return bt.compile_function(lambda x, y: x * y * y + x, **words, name="unsigned", target=target)


@cache
def small_samples() -> bt.Model:
    """Return measured friction."""
    friction = np.array([[-1.0, -3.1], [-0.1, -2.0], [0.1, 2.0], [1.0, 3.4]])
    return bt.compile_samples(friction, inputs={"v": (8, 1.0)}, output={"f": (8, 4.0)}, name="measured")


def in_turn(quantity: str, target: str, shape: str) -> Any:
    """Return no mark for one target of each quantity and shape, each target in its turn; others are larger cases."""
    place = list(QUANTITIES).index(quantity) + (shape == "tree")
    return () if list(TARGETS)[place % len(TARGETS)] == target else pytest.mark.everything


EVERY: list[Any] = [
    *(
        pytest.param(lambda q=q, t=t, s=s: small_quantity(q, t, s), id=f"{q}-{t}-{s}", marks=in_turn(q, t, s))
        for q in QUANTITIES
        for t in TARGETS
        for s in ("arm", "tree")
    ),
    *(
        pytest.param(lambda q=q, t=t, r=r: small_quantity(q, t, "arm", r), id=f"{q}-{t}-{r} at run time")
        for q, record in QUANTITIES.items()
        for r in record.accepts
        for t in (TARGETS if q == "gravity" else ["float"])
    ),
    *(pytest.param(lambda t=t: small_function(t), id=f"function-{t}") for t in TARGETS),
    *(pytest.param(lambda t=t: small_unsigned(t), id=f"unsigned-{t}") for t in TARGETS),
    pytest.param(small_samples, id="samples"),
]
"""Makers of all models, as parameters of a test; `make test-all` takes those that are marked, too."""
Maker = Callable[[], bt.Model]
