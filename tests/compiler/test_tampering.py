"""Files changed by someone who puts every digest right again: they load, and `verify` still finds the change."""

import copy
import math
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from compiled import compiled, with_source
from diagrams import build
from examples_tried import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.compiler.verify import verify
from bddtorque.model.model import from_bytes, to_bytes
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.plan import plan_from_plain
from bddtorque.plan.table import Table
from bddtorque.proof.certificate import Certificate
from bddtorque.proof.proved_bound import Parts
from bddtorque.robots.parts import Link
from bddtorque.robots.robot import Robot
from bddtorque.words.interface import Interface

SAMPLES = [{"bits": 2}, {"bits": 3, "source": "recursive"}, {"bits": 3, "accuracy": "paper"}, {"bits": 4, "torque": 20}]

models = st.sampled_from(SAMPLES).map(lambda options: compiled(**options))
few = settings(max_examples=examples(25))


def found(model: bt.Model) -> list[str]:
    """Return which checks fail for the file of a model; it must load, or there would be nothing to verify."""
    data = to_bytes(model)
    from_bytes(data)
    return [check.name for check in verify(data, workers=1) if not check.passed]


def with_table(model: bt.Model, block: int, table: Table, diagram: Diagram) -> bt.Model:
    tables, diagrams = list(model.tables), list(model.diagrams)
    tables[block], diagrams[block] = table, diagram
    return replace(model, tables=tuple(tables), diagrams=tuple(diagrams))


@few
@given(models, st.data())
def test_one_entry_of_a_table(model: bt.Model, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(model.tables) - 1))
    table, block = model.tables[place], model.plan.blocks[place]
    values = table.values.copy()
    entry = data.draw(st.integers(0, len(values) - 1))
    word = data.draw(st.integers(block.low, block.high))
    assume(word != values[entry])
    values[entry] = word
    changed = Table(values, table.input_widths, table.output_bits, table.signed)
    assert "tables" in found(with_table(model, place, changed, build(changed, model.diagrams[place].order)))


def numbers(plain: Any, path: tuple = ()) -> list[tuple]:
    """Return where the numbers of a plan are: whole ones, rationals and hexadecimal floats."""
    if isinstance(plain, dict | list):
        items = plain.items() if isinstance(plain, dict) else enumerate(plain)
        return [place for key, value in items if key != "name" for place in numbers(value, (*path, key))]
    return [path] if type(plain) is int or (isinstance(plain, str) and plain[:1] in "-0123456789" and plain) else []


@settings(max_examples=examples(80))
@given(models, st.data())
def test_one_number_of_the_plan(model: bt.Model, data: st.DataObject) -> None:
    plain = copy.deepcopy(model.plan.to_plain())
    path = data.draw(st.sampled_from(numbers(plain)))
    inside = plain
    for key in path[:-1]:
        inside = inside[key]
    value = inside[path[-1]]
    if isinstance(value, int):
        inside[path[-1]] = value + data.draw(st.sampled_from([-1, 1, 2, -7]))
    elif "x" in value:
        inside[path[-1]] = math.nextafter(float.fromhex(value), data.draw(st.sampled_from([-math.inf, math.inf]))).hex()
    else:
        inside[path[-1]] = str(
            Fraction(value) * data.draw(st.sampled_from([0, 2, Fraction(1, 2)])) + Fraction(1, 10**9)
        )
    try:
        tampered = replace(model, plan=plan_from_plain(plain))
        from_bytes(to_bytes(tampered))
    except (BddTorqueError, IndexError):  # no plan any more, or not one of these tables
        assume(False)
    assume(tampered.plan != model.plan)  # what a node does not read is no part of the plan
    assert found(tampered) == ["plan"]


@few
@given(models, st.data())
def test_one_figure_of_the_certificate(model: bt.Model, data: st.DataObject) -> None:
    torques = list(model.certificate.torques)
    joint = data.draw(st.integers(0, len(torques) - 1))
    torque = torques[joint]
    name = data.draw(st.sampled_from([*(field.name for field in fields(Parts)), "low", "high", "lsb"]))
    towards = data.draw(st.sampled_from([-math.inf, math.inf]))
    if name in ("low", "high", "lsb"):
        torques[joint] = replace(torque, **{name: math.nextafter(getattr(torque, name), towards)})
    else:
        figure = math.nextafter(getattr(torque.parts, name), towards)
        torques[joint] = replace(torque, parts=replace(torque.parts, **{name: figure}))
    tampered = replace(model, certificate=Certificate(tuple(torques)))
    if name == "lsb":  # not even a file
        with pytest.raises(BddTorqueError, match="the certificate must be of the robot's words"):
            from_bytes(to_bytes(tampered))
    else:
        assert found(tampered) == ["certificate"]


@pytest.mark.parametrize(
    "change",
    [
        {"saturation": "cannot"},
        {"saturation": "cannot", "witness": None},
        {"saturation": "not excluded", "witness": None},
        {"witness": ((0, 0), (0, 0), (0, 0))},
        {"witness": None},
    ],
    ids=str,
)
def test_what_is_said_of_saturation(change: dict) -> None:
    model = compiled(bits=4, torque=20)
    first, *others = model.certificate.torques
    assert first.saturation == "can"
    assert found(replace(model, certificate=Certificate((replace(first, **change), *others)))) == ["certificate"]


@pytest.mark.parametrize("change", [{"unit": "N"}, {"name": "wrist"}, {"relative_to": "traced"}], ids=str)
def test_a_certificate_of_other_words(change: dict) -> None:
    model = compiled(bits=4, torque=20)
    first, *others = model.certificate.torques
    with pytest.raises(BddTorqueError, match=r"must be of the robot's words|must have the outputs shoulder, elbow"):
        from_bytes(to_bytes(replace(model, certificate=Certificate((replace(first, **change), *others)))))


def test_a_better_bound_than_the_proof_gives() -> None:
    """The paper's rule is not faithful for the first torque; a certificate cannot say that it is."""
    model = compiled(bits=4, accuracy="paper")
    first, *others = model.certificate.torques
    assert not first.faithful
    better = replace(first, parts=replace(first.parts, tables=0.0))
    assert better.faithful
    assert found(replace(model, certificate=Certificate((better, *others)))) == ["certificate"]


def heavier(robot: Robot, factor: float) -> Robot:
    return replace(robot, links=(replace(robot.links[0], mass=robot.links[0].mass * factor), *robot.links[1:]))


def longer(robot: Robot, factor: float) -> Robot:
    x, y, z = robot.joints[1].translation
    return replace(robot, joints=(robot.joints[0], replace(robot.joints[1], translation=(x * factor, y * factor, z))))


def displaced(robot: Robot, factor: float) -> Robot:
    last = robot.links[-1]
    centre = tuple(x * factor for x in last.centre_of_mass)
    return replace(robot, links=(*robot.links[:-1], replace(last, centre_of_mass=centre)))


def lighter_world(robot: Robot, factor: float) -> Robot:
    return replace(robot, gravity=tuple(g * factor for g in robot.gravity))


def with_rotor(robot: Robot, factor: float) -> Robot:
    return replace(robot, joints=(replace(robot.joints[0], rotor_inertia=factor - 1), *robot.joints[1:]))


def laden(robot: Robot, factor: float) -> Robot:
    return replace(robot, payload=Link("payload", factor - 1))


@settings(max_examples=examples(30))
@given(
    models,
    st.sampled_from([heavier, longer, displaced, lighter_world, with_rotor, laden]),
    st.sampled_from([1 + 1e-9, 1.001, 1.5]),
)
def test_another_robot(model: bt.Model, change: Any, factor: float) -> None:
    assert found(with_source(model, robot=change(model.robot, factor))) == ["plan"]


@few
@given(models, st.data())
def test_one_end_of_a_format(model: bt.Model, data: st.DataObject) -> None:
    quantity = data.draw(st.sampled_from(["q", "qd", "qdd", "tau"]))
    joint = data.draw(st.integers(0, 1))
    name, factor = data.draw(st.sampled_from(["low", "high"])), data.draw(st.sampled_from([0.5, 1 + 1e-12, 2.0]))
    words = list(getattr(model.formats, quantity))
    words[joint] = replace(words[joint], **{name: getattr(words[joint], name) * factor})
    changed = replace(model.formats[quantity], words=tuple(words))
    inputs, outputs = (
        tuple(changed if array.name == quantity else array for array in side)
        for side in (model.formats.inputs, model.formats.outputs)
    )
    tampered = with_source(model, formats=Interface(inputs, outputs))
    if quantity == "tau":  # not even a file: its certificate is of another unit
        with pytest.raises(BddTorqueError, match="the certificate must be of the robot's words"):
            from_bytes(to_bytes(tampered))
    else:
        assert found(tampered) == ["plan"]


@pytest.mark.parametrize(
    "change",
    [
        {"bits": (3, 4)},
        {"input_bits": 5},
        {"accuracy": 0.6},
        {"accuracy": "paper"},
        {"source": "recursive"},
        {"target": "float"},
        {"block_bits": 4},
        {"velocity": 2},
        {"torque": 100},
    ],
    ids=str,
)
def test_another_specification(change: dict) -> None:
    model = compiled(bits=4)
    assert found(with_source(model, spec=model.spec.with_options(**change))) == ["plan"]


@pytest.mark.parametrize("change", [{"gravity": [0, 0, -1]}, {"payload": 2}, {"payload": [1.5, 0, 0, 0.1]}], ids=str)
def test_a_specification_of_another_world(change: dict) -> None:
    model = compiled(bits=2, gravity=(0.0, -1.62, 0.0), payload=(1.5, 0.0, 0.0, 0.05))
    assert found(model) == []
    assert found(with_source(model, spec=model.spec.with_options(**change))) == ["plan"]


def test_a_diagram_under_another_order_is_as_good() -> None:
    """Which order was chosen is no claim: any reduced diagram of the right table proves."""
    model = compiled(bits=4)
    table = model.tables[0]
    other = build(table, tuple(reversed(model.diagrams[0].order)))
    changed = with_table(model, 0, table, other)
    assert found(changed) == [] and changed.digest == model.digest
    assert not np.array_equal(other.order, model.diagrams[0].order)


@pytest.mark.parametrize("huge", [1e308, -1e308, 1e200, 1e150, 1e30])
@pytest.mark.parametrize("where", ["velocity", "gravity", "mass", "length", "payload"])
def test_numbers_that_nobody_would_have_compiled(where: str, huge: float) -> None:
    """Whatever overflows in planning and proving is a check that fails, not an exception."""
    model = compiled(bits=2)
    robot, first = model.robot, model.robot.joints[0]
    if where in ("mass", "payload"):
        huge = abs(huge)  # no robot otherwise
    if where == "velocity":
        joints = (replace(model.spec.joints[0], velocity=(-abs(huge), 1.0)), *model.spec.joints[1:])
        tampered = with_source(model, spec=replace(model.spec, joints=joints))
    elif where == "payload":
        tampered = with_source(model, robot=replace(robot, payload=Link("payload", huge)))
    elif where == "gravity":
        tampered = with_source(model, robot=replace(robot, gravity=(huge, 0.0, 0.0)))
    elif where == "mass":
        links = (replace(robot.links[0], mass=huge), robot.links[1])
        tampered = with_source(model, robot=replace(robot, links=links))
    else:
        second = replace(robot.joints[1], translation=(huge, 0.0, 0.0))
        tampered = with_source(model, robot=replace(robot, joints=(first, second)))
    assert found(tampered) == ["plan"]
