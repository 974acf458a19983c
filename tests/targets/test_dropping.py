"""Summands too small to matter are left out, charged to the certificate, and the bound holds without it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from plan_samples import Sample, found_and_proved
from strategies import random_robot

import bddtorque as bt
from bddtorque.compiler.robot_draft import draft_of_robot
from bddtorque.dynamics.tracer import Tracer
from bddtorque.plan.blocks import Block, FunctionBlock
from bddtorque.plan.bound import compose_bounds, planned_facts
from bddtorque.plan.plan import Plan
from bddtorque.plan.plan_cost import native_operations
from bddtorque.spec.spec_files import spec_and_robot
from bddtorque.targets.builder import OutputFormat
from bddtorque.targets.plan_text import plan_text
from bddtorque.targets.tables.budget import plan_network
from bddtorque.words.argument import Argument

ARGUMENTS = {
    "a": Argument("angle", 4),
    "b": Argument("angle", 4),
    "u": Argument("word", 3, Fraction(1, 3), Fraction(1, 7)),
    "v": Argument("word", 3, Fraction(-1, 5)),
}


def sample_with(tiny: float) -> Sample:
    """Return cos a · u + tiny · sin b · v, in the output and inside a product."""
    tracer = Tracer()
    a, b, u, v = (tracer.input(name) for name in "abuv")
    first = tracer.cos(a) * u + tiny * tracer.sin(b) * v
    second = tracer.sin(a) * (u + tiny * tracer.cos(b) * v)
    targets = [OutputFormat(name, Fraction(1, 50), -(1 << 20), 1 << 20) for name in ("y", "z")]
    return Sample(tracer.graph([first, second], ["y", "z"]), ARGUMENTS, targets)


@pytest.mark.parametrize("tiny", [2e-6, 1e-7, 1e-9])
def test_a_tiny_term_is_dropped_and_charged(tiny):
    sample = sample_with(tiny)
    plan = plan_network(sample.graph, sample.arguments, sample.targets, 1.0, 10, "recursive")
    bounds = compose_bounds(plan, {name: each.scale for name, each in ARGUMENTS.items()}, planned_facts(plan.blocks))
    read = {wire.name for wire in plan.wires}
    assert "b" not in read and "v" not in read  # nothing of it is left
    largest = tiny * (4 / 5) / (1 / 50)
    for bound in bounds:
        assert largest <= bound.dropped <= 3 * largest
    found, proved = found_and_proved(sample, plan)
    assert all(error <= bound < 1.0 for error, bound in zip(found, proved, strict=True))


def test_the_charge_is_needed():
    sample = sample_with(1e-5)
    plan = plan_network(sample.graph, sample.arguments, sample.targets, 1.0, 10, "recursive")
    uncharged = replace(
        plan,
        wires=tuple(replace(wire, dropped=Fraction(0)) if wire.kind == "sum" else wire for wire in plan.wires),
        outputs=tuple(replace(output, dropped=Fraction(0)) for output in plan.outputs),
    )
    scales = {name: each.scale for name, each in ARGUMENTS.items()}
    before, after = (
        compose_bounds(plan, scales, planned_facts(plan.blocks)),
        compose_bounds(uncharged, scales, planned_facts(uncharged.blocks)),
    )
    assert all(
        with_.total > without.total and without.dropped == 0 for with_, without in zip(before, after, strict=True)
    )


def test_what_matters_is_kept():
    sample = sample_with(0.3)
    plan = plan_network(sample.graph, sample.arguments, sample.targets, 1.0, 10, "recursive")
    assert all(not output.dropped for output in plan.outputs)
    assert {"b", "v"} <= {wire.name for wire in plan.wires}


@pytest.mark.parametrize("source", ["terms", "recursive"])
def test_a_feather_on_a_heavy_arm_is_dropped(source):
    robot = random_robot(["revolute", "revolute"], ["general", "parallel"], 1, rotors=False)
    feather = robot.links[1]
    tiny = 1e-9
    inertia = tuple(tuple(tiny * entry for entry in row) for row in feather.inertia)
    robot = replace(robot, links=(robot.links[0], replace(feather, mass=tiny * feather.mass, inertia=inertia)))
    given = {"velocity": 2.0, "acceleration": 5.0, "torque": 50.0}
    model = bt.compile(robot, bits=8, source=source, workers=1, **given)
    parts = [torque.parts for torque in model.certificate.torques]
    assert parts[1].dropped > 0
    assert model.plan.outputs[1].parts == ()  # nothing of the feather's own torque matters
    rng = np.random.default_rng(0)
    states = [rng.integers(-128, 127, (2_000, 2), endpoint=True) for _ in range(3)]
    words = model.torque_words(*states)
    floats = [each.dequantise(word) for each, word in zip(model.formats.inputs, states, strict=True)]
    units = bt.inverse_dynamics(robot, *floats) / model.formats.tau.lsb
    errors = np.abs(words - np.clip(units, -128, 127)).max(axis=0)
    assert (errors <= model.certificate.bounds).all() and model.certificate.faithful
    assert (words[:, 1] == 0).all()


def zero_tables(plan: Plan) -> list[Block]:
    return [block for block in plan.blocks if isinstance(block, FunctionBlock) and block.low == block.high == 0]


def test_no_table_is_all_zeros_and_what_is_left_out_is_charged():
    charged = 0
    for tiny in 10.0 ** -np.arange(1, 6, 0.25):
        sample = sample_with(float(tiny))
        plan = plan_network(sample.graph, sample.arguments, sample.targets, 1.0, 10, "terms")
        assert not zero_tables(plan)
        found, proved = found_and_proved(sample, plan)
        assert all(error <= bound < 1.0 for error, bound in zip(found, proved, strict=True))
        charged += plan.outputs[0].dropped > 0 and "b" in {wire.name for wire in plan.wires}
    assert charged  # the summand of an output alone is left out, where the word inside the other must be finer


def test_arms_have_no_table_that_is_all_zeros():
    spec, robot, _ = spec_and_robot("scara", {"bits": 3})
    draft = draft_of_robot(spec, robot)
    assert not zero_tables(draft.plan)
    assert any(output.dropped for output in draft.plan.outputs)


@pytest.mark.parametrize("target", ["tables", pytest.param("integer", marks=pytest.mark.everything)])
def test_dust_of_a_robot_is_dropped_charged_and_listed(target):
    """Axes that miss a right angle by 1e-6 rad, as rounded numbers in a file do, cost few operations."""
    clean = bt.load_robot("scara")
    tilt = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, -1e-6], [0.0, 1e-6, 1.0]])
    joints = tuple(replace(joint, rotation=tuple(map(tuple, joint.rotation @ tilt))) for joint in clean.joints)
    plans, operations = [], []
    for robot in (clean, replace(clean, joints=joints)):
        spec = spec_and_robot(robot, {"bits": 12, "target": target, "source": "recursive"})[0]
        draft = draft_of_robot(spec, robot)
        plans.append(draft.plan)
        operations.append(native_operations(draft.plan))
    assert operations[1] <= 1.3 * operations[0]  # 1.9 if each sum had an equal share for it
    assert max(bound.dropped for bound in draft.bounds()) > 0
    assert max(bound.total for bound in draft.bounds()) < 1
    listed = plan_text(draft.plan, "dusty", draft.bounds())
    assert "Left out" in listed and "1e-06·" in listed
    assert "Left out" not in plan_text(plans[0], "clean", draft.bounds())
