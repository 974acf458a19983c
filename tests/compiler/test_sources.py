"""A robot that compiles from one source compiles with source "auto", also where joints slide far."""

from __future__ import annotations

from typing import Any

import pytest
from strategies import random_robot

import bddtorque as bt
from bddtorque.compiler.verify import verify
from bddtorque.dynamics.quantities import QUANTITIES
from bddtorque.independent import check_bytes
from bddtorque.model.model import to_bytes

ROBOTS = {
    "PP": random_robot(["prismatic", "prismatic"], ["general", "tilted"], 784844),
    "PPP": random_robot(["prismatic", "prismatic", "prismatic"], ["general", "general", "tilted"], 874023),
    "RPP": random_robot(["revolute", "prismatic", "prismatic"], ["tilted", "general", "general"], 700902),
}
BITS = {"tables": 12, "integer": 12, "float": 16}
READS = {"torque": 3, "computed_torque": 3, "bias": 2}
"""Number of arrays among positions, velocities and accelerations that a quantity reads, if more than one."""
LARGE = [
    pytest.param("RPP", quantity, target, far, marks=pytest.mark.everything)
    for quantity in QUANTITIES
    for target in BITS
    for far in (5, 20, 100)
]


def compiled(robot: str, quantity: str, target: str, far: float, **options: Any) -> bt.Model:
    arm = ROBOTS[robot]
    positions = [(-1.0, 2.0) if joint.kind.turns else (-far, far) for joint in arm.joints]
    motion = {"position": positions, "velocity": (-1.0, 2.0), "acceleration": 3.0}
    options = dict(list(motion.items())[: READS.get(quantity, 1)]) | {"bits": BITS[target]} | options
    if quantity == "computed_torque":
        options["gains"] = {"kp": 40.0, "kv": 9.0}
    return bt.compile(arm, quantity=quantity, target=target, workers=1, cache=None, **options)


def refused(*arguments: Any, **options: Any) -> bool:
    try:
        compiled(*arguments, **options)
    except bt.BddTorqueError:
        return True
    return False


@pytest.mark.parametrize(
    ("robot", "quantity", "target", "far"),
    [
        *(
            (robot, quantity, target, far)
            for robot in ("PP", "PPP")
            for quantity in QUANTITIES
            for target in BITS
            for far in (5, 20, 100)
        ),
        *LARGE,
    ],
)
def test_what_compiles_from_one_source_compiles_with_auto(robot, quantity, target, far):
    every = [refused(robot, quantity, target, far, source=source) for source in ("terms", "recursive")]
    assert all(every) or not refused(robot, quantity, target, far)


@pytest.mark.parametrize(
    ("robot", "quantity", "bits"),
    [
        ("PP", "torque", 12),
        ("RPP", "gravity", 12),
        ("PPP", "bias", 16),
        ("PPP", "mass_matrix", 12),
        ("PPP", "computed_torque", 6),
    ],
)
def test_a_model_that_had_to_take_the_other_source_is_the_one_of_that_source(robot, quantity, bits):
    case = (robot, quantity, "tables", 100)
    assert refused(*case, bits=bits, source="terms")
    model = compiled(*case, bits=bits)
    assert (model.plan.source, model.spec.source) == ("recursive", "recursive")
    assert model.digest == compiled(*case, bits=bits, source="recursive").digest
    assert all(check.passed for check in verify(model))
    assert all(check.passed for check in check_bytes(to_bytes(model)))
