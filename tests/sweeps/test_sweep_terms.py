"""Errors by term: they add up, each is measured against the right thing, and a fault shows where it is."""

from dataclasses import replace

import numpy as np
import pytest
from compiled import random_words, values_of

import bddtorque as bt
from bddtorque.plan.wires import Lookup, Sum
from bddtorque.sweeps import sweep
from bddtorque.sweeps.term_errors import ROUNDINGS, Motions, _rows, motions_of, term_errors


def torque_errors(model, words):
    """Compiled − true in units, from Newton-Euler, nothing clamped."""
    truth = bt.inverse_dynamics(model.robot, *values_of(model, words))
    return (model.formats.tau.dequantise(model.torque_words(*words)) - truth) / model.formats.tau.lsb


def rubbing_arm():
    laws = {"shoulder": {"viscous": 2.0, "coulomb": 5.0}, "elbow": {"viscous": 1.0}}
    return bt.load_robot("planar2r").with_friction(laws)


@pytest.fixture(scope="module")
def with_friction():
    ranges = {"velocity": 2.0, "acceleration": 2.0, "torque": [[-300, 300], [-150, 150]]}
    return bt.compile(rubbing_arm(), bits=6, workers=1, **ranges)


@pytest.fixture(scope="module")
def sliding():
    """An arm with a prismatic joint."""
    return bt.compile("scara", bits=6, workers=1)


@pytest.mark.parametrize("name", ["model", "with_friction", "sliding"])
def test_the_errors_of_all_rows_add_up_to_that_of_the_torque(request, name):
    model = request.getfixturevalue(name)
    words = random_words(model)
    expected = torque_errors(model, words)
    for joint in range(expected.shape[1]):
        added = sum(error for torque, _, _, error, _ in _rows(model, words) if torque == joint)
        assert added == pytest.approx(expected[:, joint], abs=1e-9)


def test_terms_are_those_of_the_mass_matrix_and_of_gravity(model):
    """Against quantities that are computed without any expansion in harmonics."""
    words = random_words(model)
    q, _, qdd = values_of(model, words)
    mass, weight = bt.mass_matrix(model.robot, q), bt.gravity_torque(model.robot, q)
    lsb = model.formats.tau.lsb
    values = {name: value for _, name, value, _, _ in _rows(model, words)}
    assert values["J11"] == pytest.approx(mass[:, 0, 0] * qdd[:, 0] / lsb[0], abs=1e-9)
    assert values["J12"] == pytest.approx(mass[:, 0, 1] * qdd[:, 1] / lsb[0], abs=1e-9)
    assert values["J21"] == pytest.approx(mass[:, 1, 0] * qdd[:, 0] / lsb[1], abs=1e-9)
    assert values["G2"] == pytest.approx(weight[:, 1] / lsb[1], abs=1e-9)


def test_the_terms_of_the_two_joint_arm_are_all_there(model):
    """The Boolean/BDD paper's arm: five terms of T1, four of T2."""
    names = [(term.torque, term.name) for term in term_errors(model, random_words(model))]
    first = [(0, name) for name in ("J11", "J12", "C1_22", "C1_12", "G1", ROUNDINGS)]
    assert names == first + [(1, name) for name in ("J21", "J22", "C2_11", "G2", ROUNDINGS)]


def test_the_paper_gives_every_term_half_a_unit_of_the_widened_word():
    """W = r + m, m = int(log2(p + 1)): one table errs at most 1/2^(m+1) of the torque's unit; p = 5 for T1."""
    model = bt.compile("planar2r", bits=6, accuracy="paper", workers=1)
    found = {term.name: term.largest for term in term_errors(model, random_words(model, 4_000))}
    for name in ("J11", "J12", "C1_22", "J21", "J22", "C2_11"):
        assert 0.1 < found[name] <= 1 / 8


def test_friction_is_a_row_of_its_own(with_friction):
    words = random_words(with_friction)
    rows = {name: (value, error) for _, name, value, error, _ in _rows(with_friction, words)}
    qd = with_friction.formats.qd.dequantise(words[1])
    lsb = with_friction.formats.tau.lsb
    assert rows["F1"][0] == pytest.approx((2 * qd[:, 0] + 5 * np.sign(qd[:, 0])) / lsb[0])
    assert rows["F2"][0] == pytest.approx(qd[:, 1] / lsb[1])
    assert np.abs(rows["F1"][1]).max() < 0.1


def test_a_wrong_table_shows_in_its_own_term(model):
    """Every word of a table of gravity halved: only what looks it up errs more."""
    words = random_words(model)
    before = {term.name: term.largest for term in term_errors(model, words)}
    motions = motions_of(model.plan)
    (own,) = {
        model.plan.wires[wire].block
        for wire, _ in model.plan.outputs[1].parts
        if motions[wire] == Motions([()]) and isinstance(model.plan.wires[wire], Lookup)
    }
    tables = [*model.tables]
    tables[own] = replace(tables[own], values=tables[own].values // 2)
    after = {term.name: term.largest for term in term_errors(replace(model, tables=tuple(tables)), words)}
    assert after["G2"] > before["G2"] + 0.1
    assert all(after[name] == before[name] for name in after if name not in ("G1", "G2", ROUNDINGS))


def test_a_term_that_the_plan_leaves_out_is_said_to_be_dropped(model):
    outputs = [*model.plan.outputs]
    motions = motions_of(model.plan)
    kept = tuple(part for part in outputs[0].parts if motions[part[0]] != Motions([("qdd2",)]))
    outputs[0] = replace(outputs[0], parts=kept)
    changed = replace(model, plan=replace(model.plan, outputs=tuple(outputs)))
    found = {term.name: term for term in term_errors(changed, random_words(model))}
    assert found["J12"].dropped
    assert found["J12"].largest == found["J12"].value
    assert not found["J11"].dropped


def test_a_sum_of_several_terms_is_taken_apart(model):
    """Two words of T1 added and rounded on the way: the rounding has no term, and all else stays where it was."""
    plan, words = model.plan, random_words(model)
    output = plan.outputs[0]
    (first, factor), (second, other), *rest = output.parts
    low, high = -(1 << 40), 1 << 40
    shift = output.shift - 2  # a quarter of a unit
    joint = Sum("both", ((first, factor), (second, other)), 0, shift, low, high, output.lsb)
    changed = replace(output, parts=(*rest, (len(plan.wires), 1 << shift)))
    taken = replace(model, plan=replace(plan, wires=(*plan.wires, joint), outputs=(changed, *plan.outputs[1:])))
    before = {name: error for torque, name, _, error, _ in _rows(model, words) if torque == 0}
    after = {name: error for torque, name, _, error, _ in _rows(taken, words) if torque == 0}
    assert before.keys() == after.keys()
    for name in before.keys() - {ROUNDINGS}:
        assert after[name] == pytest.approx(before[name], abs=1e-12)
    assert not np.allclose(before[ROUNDINGS], after[ROUNDINGS])


def test_what_has_no_terms_is_refused():
    shared = bt.compile("planar2r", bits=4, source="recursive", workers=1)
    with pytest.raises(bt.BddTorqueError, match=r'compile it with source = "terms"'):
        sweep(shared, 10, terms=True)
    skewed = bt.spec.from_toml(
        'robot = "planar2r"\nbits = 4\n[ranges]\nvelocity = [-1.0, 2.0]\nacceleration = 1.0\ntorque = 200.0\n'
    )
    with pytest.raises(bt.BddTorqueError, match=r"velocity of joint 'shoulder' must stand for 0, got 0.5 rad/s"):
        sweep(bt.compile(skewed, workers=1), 10, terms=True)
