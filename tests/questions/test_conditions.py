"""Conditions on inputs: every answer beside that of all states that fulfil them, run one by one."""

from __future__ import annotations

import math

import pytest
from compiled import Later
from every_state import all_words, outputs_at

import bddtorque as bt
from bddtorque.questions import largest, largest_error, reaching, saturating, smallest
from bddtorque.questions.conditions import words_within

TORQUE = {"shoulder": 60, "elbow": 60}
MODELS = Later(
    {
        "tables": lambda: bt.compile("planar2r", bits=3, torque=TORQUE),
        "float": lambda: bt.compile("planar2r", bits=3, target="float", torque=TORQUE),
        "mounted": lambda: bt.compile(
            bt.Spec(
                robot="planar2r",
                bits=3,
                joints=(
                    {"name": "shoulder", "sign": -1, "offset": 0.4, "velocity": (-1.0, 3.0)},
                    {"name": "elbow", "position": (2.0, 4.5)},
                ),
            )
        ),
        "wide": lambda: bt.compile("planar2r", bits=5),
    }
)
WHERE = [
    "qd=0",
    "q2=90 deg",
    "1 <= q[elbow]",
    "2.5 <= q1 <= 4",
    "qd1 <= 0.5 rad/s and qdd=0",
    "q=-1:1, qd[elbow] = -1:0.4",
]


@pytest.mark.parametrize("name", ["tables", "float", "mounted"])
@pytest.mark.parametrize("where", WHERE)
def test_answers_are_those_of_the_states_allowed(name: str, where: str) -> None:
    model = MODELS[name]
    words = outputs_at(model, all_words(model, words_within(model, where)))[:, 1]
    values = model.formats.tau[1].dequantise(words)
    top, bottom = largest(model, "tau2", where=where), smallest(model, "tau2", where=where)
    assert top.exact and bottom.exact and top.where and (top.value, bottom.value) == (values.max(), values.min())
    within = words_within(model, where)
    for answer in (top, bottom):
        for each, (first, last) in within.items():
            assert (answer.state[each] - first) % (1 << 3) <= last - first
            assert answer.values[each] == float(model.formats.words[each].dequantise(answer.state[each]))
    count = reaching(model, "tau2", 5.0, where=where)
    assert (count.low, count.high, count.states) == (*[int((values >= 5.0).sum())] * 2, len(values))


@pytest.mark.everything
def test_larger_models_by_boxes_groups_and_bins() -> None:
    model = MODELS["wide"]
    where = {"q2": ("2 rad", 4.4), "qd1": (-1.0, 0.7), "qdd2": 0}
    words = outputs_at(model, all_words(model, words_within(model, where)))[:, 0]
    values = model.formats.tau[0].dequantise(words)
    assert largest(model, "tau1", where=where).value == values.max()
    for level in (values.max() * 0.9, 10.0):
        count = reaching(model, "tau1", level, where=where)
        assert count.low <= int((values >= level).sum()) <= count.high and count.states == len(values)
    assert saturating(model, "tau1", where=where).low == 0


def test_errors_are_of_the_states_allowed() -> None:
    found = largest_error(MODELS["tables"], "tau1", where="qd=0, qdd=0")
    assert found.exact and found.state["qd1"] == found.state["qdd2"] == 0
    assert found.found <= largest_error(MODELS["tables"], "tau1").found
    held = largest_error(MODELS["wide"], "tau1", where="q1=0", work=10)
    assert not held.exact and held.state["q1"] == 0 and held.units["q1"] == "rad"


def test_limits_of_the_joints() -> None:
    model = MODELS["mounted"]
    within = words_within(model, (), within_limits=True)
    word = model.formats.q["elbow"]
    (first, last) = within["q2"]
    allowed = [float(word.dequantise(int(word.held(each)))) for each in range(first, last + 1)]
    every = [float(word.dequantise(each)) for each in range(word.lowest, word.highest + 1)]
    inside = [value for value in every if 2.0 <= value <= 4.5 or 2.0 <= value + 2 * math.pi <= 4.5]
    assert sorted(allowed) == sorted(inside) and list(within) == ["q2"]
    top = largest(model, "tau1", within_limits=True)
    assert top.where == "within the limits of the joints" and top.values["q2"] in allowed
    both = words_within(model, "q2 >= 3", within_limits=True)["q2"]
    assert [float(word.dequantise(int(word.held(each)))) for each in range(both[0], both[1] + 1)] == [
        value for value in allowed if value >= 3 or value == -math.pi
    ]


def test_functions_have_conditions_too() -> None:
    model = bt.compile_function(lambda x, y: x * y, inputs={"x": (5, 2.0), "y": (5, 1.0)}, output=(6, 2.0))
    (answer,) = bt.ask(model, "largest", where="x=-1:0.5")
    assert answer.value == pytest.approx(1.0, abs=0.1) and answer.values["x"] == -1.0
    with pytest.raises(bt.BddTorqueError, match="unknown input 'z'"):
        bt.ask(model, where="z=0")


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("qd", 'a condition must be as in "qd=0"'),
        ("qd=", 'a condition must be as in "qd=0"'),
        ("=3", 'a condition must be as in "qd=0"'),
        ("1 > q1", 'a condition must be as in "qd=0"'),
        ("1 <= q1 >= 3", 'a condition must be as in "qd=0"'),
        ("tau1=3", "unknown input 'tau1'"),
        ("q7=0", "unknown input 'q7'"),
        ("q[elbo]=0", "unknown joint 'elbo'; did you mean 'elbow'"),
        ("q1=fast", "must be a number, or text such as"),
        ("q1=3 m", "must be a number, or text such as"),
        ("qd1=nan", "finite"),
        ("qd1=1e9", "qd1 = 1e.09 is beyond its range"),
        ("2 <= q1 <= 1", "a range must be low, then high"),
        ("0.11 <= q1 <= 0.12", "no word of q1 is in"),
        ("q1=0, q1=1", "no state in"),
        ({"q1": (1, 2, 3)}, "must be a pair"),
    ],
)
def test_bad_conditions(where: object, said: str) -> None:
    with pytest.raises(bt.BddTorqueError, match=said):
        bt.ask(MODELS["tables"], "largest", of="tau1", where=where)  # type: ignore[arg-type]


def test_questions_about_all_states_take_none() -> None:
    with pytest.raises(bt.BddTorqueError, match="conditions on inputs cannot be used with symmetry"):
        bt.ask(MODELS["tables"], "symmetry", where="qd=0")
    with pytest.raises(bt.BddTorqueError, match="the words of block b0 have none"):
        bt.ask(MODELS["tables"], "largest", of="b0", where="qd=0")
