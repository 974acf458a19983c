"""Small models of every quantity and target, made from the registries, so that a new one is tested by itself."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from sample_robots import TREE

import bddtorque as bt
from bddtorque.dynamics.quantities import QUANTITIES
from bddtorque.robots import from_urdf
from bddtorque.targets import TARGETS

KEYS: dict[str, Any] = {"gains": {"kp": 30.0, "kv": 8.0}}
"""What quantities ask for beside ranges, by the key of the specification."""


def own_options(quantity: str) -> dict[str, Any]:
    """Return the options that belong to a quantity."""
    return {key: KEYS[key] for key in QUANTITIES[quantity].keys} if quantity in QUANTITIES else {}


RUN_TIME: dict[str, Any] = {
    "payload": {"mass": [0, 2], "com": [0, 0, 0], "runtime": True},
    "gravity": {"runtime": True},
}
CASES = [(quantity, target, "") for quantity in QUANTITIES for target in TARGETS]
GIVEN = [
    ("torque", "integer", "payload"),
    ("gravity", "tables", "gravity"),
    ("energy", "float", "payload"),
]
"""Quantities with something given at run time."""


@cache
def small_model(quantity: str, target: str, given: str = "", tree: bool = False) -> bt.Model:
    """Return a model of few bits, of two joints or of a tree of three with a follower."""
    record = QUANTITIES[quantity]
    options = own_options(quantity)
    if any(array.per_joint for array in record.outputs):
        options["torque"] = "auto"
    if given:
        options[given] = RUN_TIME[given]
    robot = from_urdf(TREE, frame="two") if tree else "planar2r"
    return bt.compile(robot, quantity=quantity, target=target, bits=4, workers=1, **options)


@cache
def small_function(kind: str) -> bt.Model:
    """Return a function that is traced, for each target, perhaps of unsigned words, or one that is known by samples."""
    inputs, output = {"x": (5, (-1.0, 1.0), "m/s"), "y": (5, "angle")}, {"z": (6, (-3.0, 3.0), "kg·m²")}
    if kind == "samples":
        x = np.linspace(-1, 1, 9)
        return bt.compile_samples(np.column_stack([x, x * x]), inputs={"x": (6, 1.0)}, output={"y": (8, 1.0)})
    if kind.startswith("unsigned"):  # in arrays of one kind, and of both
        kind, mixed = kind.split()[1], kind.endswith("mixed")
        inputs = {"x": (5, (0.0, 3.0)), "y": (6, 2.0 if mixed else (1.0, 2.0))}
        return bt.compile_function(lambda x, y: x * y, inputs=inputs, output=(6, 6.0 if mixed else (0, 6)), target=kind)
    return bt.compile_function(lambda x, y: x * np.sin(y) + 0.5, inputs=inputs, output=output, target=kind, name="f")


FUNCTIONS = [*TARGETS, *(f"unsigned {target}{how}" for target in TARGETS for how in ("", " mixed")), "samples"]
