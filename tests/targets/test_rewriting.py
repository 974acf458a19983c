"""One sine table for all angles of an arm, and friction of a plan in integers."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from sample_robots import example_urdf

import bddtorque as bt
from bddtorque.bench.chip_bench import true_units
from bddtorque.bench.kernel_loops import by_word, random_states
from bddtorque.dynamics.chain import chain_of
from bddtorque.dynamics.regroup import regrouped
from bddtorque.independent import check_bytes
from bddtorque.model.model import to_bytes
from bddtorque.plan.blocks import FunctionBlock, LawBlock
from bddtorque.plan.reference import run_plan
from bddtorque.spec.records import JointSpec, Ranges
from bddtorque.words.friction import Friction

OPTIONS = {"target": "integer", "chip": "cortex-m0", "cache": None, "workers": 1}


def askew(angle: float, friction: Friction | None = None) -> bt.Robot:
    """Return an arm whose second joint stands at an angle from where the first one leaves it."""
    robot = bt.load_robot("planar2r")
    first, second = robot.joints
    c, s = math.cos(angle), math.sin(angle)
    turned = replace(first, rotation=np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), friction=friction)
    return replace(robot, joints=(turned, replace(second, friction=friction)))


def sine_tables(model: bt.Model) -> int:
    return sum(isinstance(block, FunctionBlock) for block in model.plan.blocks)


def check(model: bt.Model) -> None:
    """Errors of random states stay below what is proved, and the independent checker proves that again."""
    states = random_states(model, 500, 1)
    truth = true_units(model, states).reshape(500, -1)
    words = np.stack(run_plan(model.plan, model.tables, by_word(model, states)), axis=1)
    assert (np.abs(words - truth).max(axis=0) <= model.certificate.bounds).all()
    assert all(finding.passed for finding in check_bytes(to_bytes(model)))


@pytest.mark.parametrize("quantity", [pytest.param("torque", marks=pytest.mark.everything), "gravity"])
def test_z1_has_one_sine_table_for_every_quantity(quantity: str) -> None:
    robot = bt.load_robot(example_urdf("z1_description/urdf/z1.urdf"))
    assert not regrouped(chain_of(robot)).offset.any()
    model = bt.compile(robot, quantity=quantity, bits=6, velocity=2, acceleration=5, **OPTIONS)
    assert sine_tables(model) == 1
    check(model)


@pytest.mark.parametrize("offset", [0.3, -1.2, math.pi / 2, 3.14159])
def test_offsets_and_signs_of_words_need_no_table(offset: float) -> None:
    joints = (JointSpec("shoulder", offset=offset, sign=-1), JointSpec("elbow", offset=0.1))
    model = bt.compile(
        bt.Spec(robot="planar2r", bits=8, joints=joints, ranges=Ranges(velocity=2.0, acceleration=3.0)), **OPTIONS
    )
    assert sine_tables(model) == 1
    check(model)


@pytest.mark.parametrize(
    ("friction", "tables"),
    [
        (Friction(viscous=0.2), 0),
        (Friction(coulomb=0.3), 1),
        (Friction(viscous=0.2, coulomb=(0.3, 0.1)), 1),
        (Friction(viscous=0.1, coulomb=0.2, static=0.4, stribeck_velocity=0.1), 1),
    ],
)
def test_viscous_friction_is_a_product(friction: Friction, tables: int) -> None:
    model = bt.compile(askew(0.2, friction), bits=8, **OPTIONS)
    laws = [block.law for block in model.plan.blocks if isinstance(block, LawBlock)]
    assert set(laws) == {replace(friction, viscous=0.0)} and len(laws) <= 2 if tables else not laws
    check(model)
