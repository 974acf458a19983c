"""Questions about quantities other than torques: the answers are those of all states, run one by one."""

from __future__ import annotations

import numpy as np
import pytest
from every_state import all_words, outputs_at
from strategies import random_robot

import bddtorque as bt
from bddtorque.questions.answers import Count, Extreme, LargestError

SMALL = {"bits": 4, "workers": 1}
GAINS = {"kp": 10.0, "kv": 5.0}
CASES = [
    ("gravity", {}),
    ("bias", {}),
    ("mass_matrix", {}),
    ("kinematics", {}),
    ("jacobian", {}),
    ("computed_torque", {"gains": GAINS, "bits": 3, "torque": "auto", "velocity": 1.0, "acceleration": 1.0}),
]


@pytest.mark.parametrize(
    ("quantity", "options", "target"),
    [
        pytest.param(*case, target, id=f"{case[0]}-{target}", marks=[pytest.mark.everything] * compiles)
        for case in CASES
        for target in ("tables", "integer", "float")
        for compiles in [target == "float" and case[0] not in ("gravity", "computed_torque")]  # a second each
    ],
)
def test_extremes_are_those_of_all_states(quantity, options, target):
    # five words of every joint: of two there are too many states
    robot = random_robot(["revolute"], ["general"], 1) if quantity == "computed_torque" else "planar2r"
    model = bt.compile(robot, quantity=quantity, target=target, **{**SMALL, **options})
    outputs = outputs_at(model, all_words(model))
    names = [output.name for output in model.plan.outputs]
    found = bt.ask(model, "largest", "smallest", "saturation")
    for answer in found:
        column = outputs[:, names.index(answer.of)]
        if isinstance(answer, Extreme):
            assert answer.exact
            assert answer.word == (column.max() if answer.which == "largest" else column.min())
        else:
            assert isinstance(answer, Count)
            assert answer.high == 0  # ranges of outputs hold all that there is
    assert len(found) == 3 * len(names)


def test_conditions_name_the_arrays_of_the_quantity():
    model = bt.compile("planar2r", quantity="bias", **SMALL)
    columns = all_words(model)
    outputs = outputs_at(model, columns)
    held = (columns["qd1"] == 0) & (columns["q2"] >= 0)
    [answer] = bt.ask(model, "largest", of="elbow", where="qd[shoulder]=0, 0 <= q2 <= 179 deg")
    assert isinstance(answer, Extreme) and answer.title == "torque of elbow"
    assert answer.word == outputs[held, 1].max()
    with pytest.raises(bt.BddTorqueError, match="unknown input 'qdd'"):
        bt.ask(model, "largest", where="qdd=0")


def test_conditions_on_a_payload():
    box = {"mass": [0, 2], "com": [[0, 0.1], [0, 0.1], [0, 0]], "runtime": True}
    model = bt.compile("planar2r", quantity="gravity", payload=box, torque="auto", target="float", bits=4)
    empty, carried = (
        bt.ask(model, "largest", of="tau1", where=f"payload[mass]={mass}, payload[mx]=0, payload[my]=0")[0]
        for mass in (0, 2)
    )
    assert isinstance(empty, Extreme) and isinstance(carried, Extreme)
    assert carried.value > empty.value
    with pytest.raises(bt.BddTorqueError, match="unknown input 'mas'; did you mean 'mass'"):
        bt.ask(model, "largest", where="payload[mas]=0")


@pytest.mark.parametrize("quantity", ["gravity", "bias"])
def test_the_largest_error_of_torques_at_rest_is_found_and_within_the_bound(quantity):
    model = bt.compile("planar2r", quantity=quantity, **SMALL)
    for answer, bound in zip(bt.ask(model, "error"), model.certificate.bounds, strict=True):
        assert isinstance(answer, LargestError) and answer.exact
        assert 0.3 < answer.found <= bound


def test_gravity_of_more_states_than_can_be_run_is_bracketed():
    model = bt.compile("planar3r_a", quantity="gravity", torque="auto", bits=12, target="float")
    [answer] = bt.ask(model, "largest", of="tau1", work=5)
    states = np.random.default_rng(0).uniform(-np.pi, np.pi, (20_000, 3))
    found = bt.gravity_torque("planar3r_a", states)[:, 0].max()
    assert isinstance(answer, Extreme)
    assert 0.98 * found <= answer.value <= answer.bound <= 1.1 * found


def test_two_compilations_of_a_quantity_are_compared():
    coarse, fine, other = (
        bt.compile("planar2r", quantity=quantity, target=target, **SMALL)
        for quantity, target in (("gravity", "tables"), ("gravity", "float"), ("mass_matrix", "float"))
    )
    assert all(answer.equal for answer in bt.ask(fine, equal=fine))
    assert [answer.of for answer in bt.ask(coarse, equal=fine)] == ["tau1", "tau2"]
    with pytest.raises(bt.BddTorqueError, match="quantity 'gravity' cannot be compared with quantity 'mass_matrix'"):
        bt.ask(fine, equal=other)
