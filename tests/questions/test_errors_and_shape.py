"""Largest errors, symmetry, support and equality, beside all states."""

import math
from dataclasses import replace

import numpy as np
import pytest
from compiled import random_words
from every_state import MODELS, arm, every_state, every_word, small
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import bddtorque as bt
from bddtorque.plan.blocks import FunctionBlock
from bddtorque.plan.reference import run_plan
from bddtorque.plan.table import Table
from bddtorque.plan.tabulate import tabulate
from bddtorque.plan.wires import Input
from bddtorque.questions import (
    Work,
    equality,
    largest,
    largest_error,
    smallest,
    subject,
    support,
    symmetries,
    word_errors,
)
from bddtorque.questions.subjects import _terms
from bddtorque.questions.symmetry import EVEN, ODD, parity_of
from bddtorque.questions.word_errors import true_output, true_terms
from bddtorque.words.bounded import Bounded


def float_errors(name, place):
    model, states = small(name), every_state(name)
    words = [np.stack([states[f"{kind}{j}"] for j in (1, 2)], axis=1) for kind in ("q", "qd", "qdd")]
    true = bt.inverse_dynamics(
        model.robot, *(kind.dequantise(each) for kind, each in zip(model.formats.inputs, words, strict=True))
    )[:, place]
    word = model.formats.tau[place]
    units = np.clip((word.sign * true - word.centre) / word.lsb, word.lowest, word.highest)
    return np.abs(every_word(name)[place] - units)


@pytest.mark.parametrize("name", MODELS)
def test_the_largest_error_is_that_of_all_states(name):
    model = small(name)
    for place in (0, 1):
        found = largest_error(model, f"tau{place + 1}")
        errors = float_errors(name, place)
        assert found.exact and abs(found.found - errors.max()) < 1e-9
        assert found.found <= found.bound <= model.certificate.bounds[place]
        assert found.bound - found.found <= 2 * found.radius < 1e-9
        states = every_state(name)
        (at,) = np.flatnonzero(np.all([states[key] == word for key, word in found.state.items()], axis=0))
        assert abs(errors[at] - errors.max()) < 1e-9
        assert found.word == every_word(name)[place][at]


def test_the_radius_reaches_to_the_bound_of_every_state():
    """The worst in truth may be a state of a smaller difference and a larger radius."""

    def compared(words):
        (own,) = words.values()
        return own, Bounded(own - np.where(own == 3, 1.0, 0.9), np.where(own == 2, 0.5, 0.25))

    inputs = (Input("x", 4, False),)
    asked = subject(small("direct"), "tau1")
    found = word_errors._whole(asked, inputs, compared)
    assert found.state == {"x": 3} and found.found == 1.0 and found.bound == pytest.approx(1.4)
    assert found.found + found.radius >= found.bound


def test_more_states_than_can_be_run_give_a_bracket():
    model = arm(6)
    found = largest_error(model, "tau1", work=Work(50))
    assert not found.exact and 0.5 < found.found < found.bound == model.certificate.bounds[0]
    state = [np.array([found.state[f"{kind}{j}"] for j in (1, 2)]) for kind in ("q", "qd", "qdd")]
    values = [kind.dequantise(each) for kind, each in zip(model.formats.inputs, state, strict=True)]
    apart = abs(model.torque(*values)[0] - bt.inverse_dynamics(model.robot, *values)[0])
    assert apart / model.formats.tau[0].lsb == pytest.approx(found.found, abs=1e-6)


@pytest.mark.parametrize("name", ["direct", "products", "uneven"])
def test_blocks_err_as_was_proved_of_them(name):
    model = small(name)
    for k, block in enumerate(model.plan.blocks):
        found = largest_error(model, f"b{k}")
        if isinstance(block, FunctionBlock):
            _, facts = tabulate(block)
            assert found.found * found.lsb <= facts.error
            assert facts.error - found.found * found.lsb < found.lsb * 2**-19
        else:
            assert found.found in (0.0, 0.5) or found.found < 0.5
        expected = model.tables[k].values
        assert (largest(model, f"b{k}").word, smallest(model, f"b{k}").word) == (expected.max(), expected.min())


def test_a_block_errs_as_a_hand_reckons():
    # docs/certificate.md, by hand: at 4 bits the table of 49.05 cos(q1 + q2) errs by 1.316 N·m, at 45 degrees
    model = arm(4)
    (place,) = (
        k
        for k, block in enumerate(model.plan.blocks)
        if isinstance(block, FunctionBlock) and any(math.isclose(node.value, 49.05) for node in block.graph.nodes)
    )
    found = largest_error(model, f"b{place}")
    assert found.exact and found.found * found.lsb == pytest.approx(1.316, abs=5e-4)
    assert abs(math.cos(math.pi / 8 * found.state["x0"])) == pytest.approx(math.sqrt(0.5))


def test_terms_are_compared_with_their_own_truth():
    model = small("direct")
    terms = bt.terms_of(model.robot)
    for name in ("J11", "J12", "C1_22", "C2_11", "G2"):
        found = largest_error(model, name)
        assert found.exact and found.found < 0.5
    assert terms.terms  # the oracle of the next line: J11 = 15.75 + 10 cos q2, times qdd1
    found = largest_error(model, "J11")
    q2 = model.formats.q[1].dequantise(found.state["q2"])
    qdd1 = model.formats.qdd[0].dequantise(found.state["qdd1"])
    assert found.truth * found.lsb == pytest.approx((15.75 + 10 * math.cos(q2)) * qdd1)


def test_errors_are_not_asked_of_words():
    with pytest.raises(bt.BddTorqueError, match="a question about an output, a term or a block; w0 is a word"):
        largest_error(small("direct"), "w0")


@pytest.mark.parametrize("name", ["direct", "products", "uneven", "narrow"])
def test_terms_err_no_more_than_their_words_allow(name, monkeypatch):
    model = small(name)
    monkeypatch.setattr(word_errors, "MAX_BITS", 0)
    brackets = {of: largest_error(model, of, work=Work(10)) for of in terms_in(model)}
    monkeypatch.undo()
    for of, bracket in brackets.items():
        whole = largest_error(model, of)
        assert whole.exact and not bracket.exact
        assert bracket.found <= whole.found <= whole.bound <= bracket.bound, of


def terms_in(model):
    return [of for of in ("J11", "J12", "J21", "J22", "G2", "C2_11", "C1_22") if of in _terms(model)]


def test_terms_of_many_bits_have_a_bracket():
    found = largest_error(arm(12), "C1_12", work=Work(40))
    assert not found.exact and 0 < found.found < found.bound < 1.0


def function_cases():
    return st.tuples(st.integers(2, 6), st.integers(2, 6), st.integers(3, 9), st.floats(-3, 3), st.floats(-3, 3))


@settings(max_examples=examples(10))
@given(function_cases())
def test_functions_are_asked_as_arms_are(case):
    a, b, bits, c, d = case

    def f(x, y):
        return c * x * x + d * x * y + 0.5 * y

    model = bt.compile_function(f, inputs={"x": (a, 1.0), "y": (b, (-1.0, 2.0))}, output=(bits, 4.0, "V"), name="f")
    words = np.meshgrid(*(np.arange(w.lowest, w.highest + 1) for w in model.formats.words.values()), indexing="ij")
    out = model.words(*words)
    assert (largest(model, model.plan.outputs[0].name).word, smallest(model, model.plan.outputs[0].name).word) == (
        out.max(),
        out.min(),
    )
    found = largest_error(model, model.plan.outputs[0].name)
    assert found.exact and abs(found.found - model.error_of(f)) < 1e-9


def test_given_words_have_the_error_that_was_stated():
    model = bt.compile_function(abs, inputs={"x": (5, 1.0)}, output=(5, 1.0), trace="float")
    name = model.plan.outputs[0].name
    found = largest_error(model, name)
    assert not found.exact and found.bound == model.certificate.bound and found.way == "certificate"
    assert not largest_error(model, "b0").exact
    assert {each.what: each.holds for each in symmetries(model, "b0")} == {
        "constant": False,
        "odd": False,
        "even": True,
    }


@pytest.mark.parametrize("name", MODELS)
def test_symmetries_hold_in_every_state(name):
    model, states = small(name), every_state(name)
    shape = [1 << word.bits for kind in model.formats.inputs for word in kind]
    keys = list(states)
    for place in (0, 1):
        words = every_word(name)[place].reshape(shape)
        verdicts = {each.what: each for each in symmetries(model, f"tau{place + 1}")}
        assert {"odd", "even", "constant"} <= set(verdicts)
        assert verdicts["constant"].holds == (words.min() == words.max())
        for parity, called in ((-1, "odd"), (1, "even")):
            for some, where in [(keys, ""), *(([key], f" in {key}") for key in keys)]:
                read = {wire.name for wire in subject(model, f"tau{place + 1}").inputs}
                if not set(some) & read:
                    continue
                holds = mirrored(words, [keys.index(key) for key in some if key in read], keys, parity)
                verdict = verdicts.get(f"{called}{where}")
                assert (verdict is not None and verdict.holds) == holds or (where and verdict is None and not holds)


def mirrored(words, axes, keys, parity):
    """Whether f(−x) = parity·f(x), straight from the definition."""
    turned, wrong = words, None
    for axis in axes:
        size = words.shape[axis]
        turned = np.take(turned, [(size - k) % size for k in range(size)], axis=axis)
    wrong = turned != parity * words
    for axis in axes:
        if not (keys[axis].startswith("q") and not keys[axis].startswith("qd")):
            wrong = np.delete(wrong, 0, axis=axis)
    return not wrong.any()


@pytest.mark.parametrize("name", MODELS)
def test_what_the_plan_proves_holds(name):
    model = small(name)
    proved = 0
    for of in ("tau1", "tau2", *(f"w{k}" for k in range(len(model.plan.wires)))):
        asked = subject(model, of)
        by_states = {each.what: each.holds for each in symmetries(model, of)}
        for wire in asked.inputs if len(asked.inputs) > 1 else ():
            parity = parity_of(asked, [wire.name])
            proved += parity is not None
            for value, called in ((ODD, "odd"), (EVEN, "even")):
                if parity == value:
                    assert by_states.get(f"{called} in {wire.name}"), (of, wire.name)
    assert proved


def test_the_square_of_a_sum_has_no_parity():
    """(x + 1/2)² is a product of one float with itself, but is not even in x."""
    model = bt.compile_function(
        lambda x, y: (x + 0.5) ** 2 + y**2,
        inputs={"x": (4, 1.0), "y": (4, 1.0)}, output=(8, 4.0), target="float",
    )  # fmt: skip
    asked = subject(model, model.plan.outputs[0].name)
    assert parity_of(asked, ["x"]) is None and parity_of(asked, ["y"]) == EVEN


def test_large_plans_are_decided_by_the_plan_or_by_a_state():
    verdicts = {each.what: each for each in symmetries(arm(12), "tau1")}
    assert verdicts["even in all qd"].holds and verdicts["even in all qd"].way == "plan"
    assert verdicts["odd"].holds is False and verdicts["odd"].witness
    assert verdicts["constant"].holds is False


def test_support_is_that_of_all_states():
    model, states = small("uneven"), every_state("uneven")
    shape = [1 << word.bits for kind in model.formats.inputs for word in kind]
    for place in (0, 1):
        words = every_word("uneven")[place].reshape(shape)
        found = support(model, f"tau{place + 1}")
        assert found.exact and not any(found.open.values())
        for axis, key in enumerate(states):
            own = [
                bit
                for bit in range(shape[axis].bit_length() - 1)
                if (np.take(words, np.arange(shape[axis]) ^ (1 << bit), axis=axis) != words).any()
            ]
            assert found.matters.get(key, []) == own
            assert sorted(found.matters.get(key, []) + found.idle[key]) == list(range(shape[axis].bit_length() - 1))


def test_idle_bits_are_found():
    values = np.repeat(np.arange(-4, 4), 4)  # the last two bits do nothing
    model = bt.compile_function(
        lambda x: float(values[round(x)]), inputs={"x": (5, (0.0, 32.0))}, output=(4, 8.0), trace="float"
    )
    name = model.plan.outputs[0].name
    assert support(model, "b0").idle == {"x0": [0, 1]} == {"x0": support(model, name).idle["x"]}


def test_the_same_plan_is_equal_block_by_block():
    found = equality(arm(12), arm(12))
    assert [each.equal for each in found] == [True, True] and all(each.exact and each.way == "blocks" for each in found)


def altered(model, block, entry):
    table = model.tables[block]
    values = table.values.copy()
    values[entry] += 1 if values[entry] < values.max() else -1
    tables = list(model.tables)
    tables[block] = Table(values, table.input_widths, table.output_bits, table.signed)
    return replace(model, tables=tuple(tables))


def test_an_altered_table_is_found_and_its_states_counted():
    model = small("direct")
    for block in range(len(model.plan.blocks)):
        other = altered(model, block, 3)
        found = equality(model, other)
        altered_words = run_plan(other.plan, other.tables, every_state("direct"))
        for answer, mine, its in zip(found, every_word("direct"), altered_words, strict=True):
            assert answer.blocks == (block,)
            assert answer.equal == np.array_equal(mine, its) and answer.differing == np.count_nonzero(mine != its)


def test_other_plans_are_compared_by_all_states_or_bounded():
    found = equality(small("direct"), small("products"))
    torques = [
        [model.formats.tau[place].dequantise(every_word(name)[place]) for place in (0, 1)]
        for name, model in (("direct", small("direct")), ("products", small("products")))
    ]
    for answer, mine, its in zip(found, *torques, strict=True):  # of other ranges: compared by value
        assert answer.exact and answer.differing == np.count_nonzero(mine != its)
        assert answer.largest == np.abs(mine - its).max()
    terms, recursive = arm(6), arm(6, source="recursive")
    for place, answer in enumerate(equality(terms, recursive)):
        assert answer.equal is False and answer.state
        bounds = [model.certificate.torques[place].bound_si for model in (terms, recursive)]
        assert answer.largest <= answer.bound == pytest.approx(sum(bounds))


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(bt.BddTorqueError, match="must mean the same in both"):
        equality(arm(6), arm(12))
    function = bt.compile_function(lambda x: x, inputs={"x": (4, 1.0)}, output=(4, 1.0))
    with pytest.raises(bt.BddTorqueError, match="only be compared with a robot"):
        equality(arm(6), function)


def rubbing_arm():
    laws = {"shoulder": {"viscous": 2.0, "coulomb": 9.0}, "elbow": {"viscous": 1.0}}
    robot = bt.load_robot("planar2r").with_friction(laws)
    ranges = {"velocity": 1.0, "acceleration": 1.0, "torque": [[-200.0, 200.0], [-100.0, 100.0]]}
    return bt.compile(robot, bits=3, cache=None, workers=1, **ranges)


def sliding_arm():
    return bt.compile("scara", bits=4, cache=None, workers=1)


@pytest.mark.parametrize("make", [rubbing_arm, sliding_arm])
def test_the_truth_is_that_of_newton_and_euler(make):
    model = make()
    words = random_words(model, 500)
    values = [kind.dequantise(each) for kind, each in zip(model.formats.inputs, words, strict=True)]
    expected = bt.inverse_dynamics(model.robot, *values)
    by_name = {
        f"{kind}{j + 1}": each[:, j]
        for kind, each in zip(("q", "qd", "qdd"), words, strict=True)
        for j in range(each.shape[1])
    }
    for place in range(expected.shape[1]):
        found = true_output(model, place, by_name)
        assert (np.abs(found.value - expected[:, place]) <= found.radius + 1e-11).all()
        motions = {motion for name, term in _terms(model).items() if term.place == place for motion in term.motions}
        # what no table holds is too small to matter, or nothing
        terms = true_terms(model, place, tuple(motions), by_name)
        assert np.abs(terms.value - expected[:, place]).max() < 2 * model.formats.tau[place].lsb


def test_friction_is_compared_by_itself():
    model = rubbing_arm()
    for place in (0, 1):
        found = largest_error(model, f"tau{place + 1}")
        assert found.exact and found.bound <= model.certificate.bounds[place]
    own = largest_error(model, "F1")
    assert own.exact and set(own.state) == {"qd1"}
    velocity = float(model.formats.qd[0].dequantise(own.state["qd1"]))
    assert own.truth * own.lsb == pytest.approx(2.0 * velocity + 9.0 * np.sign(velocity))


@pytest.mark.parametrize(
    "ranges",
    [
        {"velocity": [(-1.0, 3.0), 2.0]},
        {"velocity": [(-1.0, 3.0), (-1.0, 2.0)], "acceleration": [(-1.0, 3.0), 2.0]},
        {"acceleration": [(0.0, 2.0), (-1.0, 3.0)], "block_bits": 4, "bits": 8, "input_bits": 3},
        {"velocity": [1.0, (0.0, 2.0)], "block_bits": 8, "bits": 8, "input_bits": 3},
    ],
)
@pytest.mark.parametrize("rubs", [False, True])
def test_terms_of_off_centre_motions_are_terms(ranges, rubs):
    """A velocity's word that counts from elsewhere than rest is no friction, and an acceleration's no gravity."""
    robot = bt.load_robot("planar2r")
    if rubs:
        robot = robot.with_friction({"shoulder": {"viscous": 2.0}})
    options = {"bits": 3, "velocity": 1.0, "acceleration": 1.0, "torque": [[-200.0, 200.0], [-100.0, 100.0]], **ranges}
    model = bt.compile(robot, cache=None, workers=1, **options)
    terms = _terms(model)
    named = [part for name in terms for part in name.split("+")]
    assert ("F1" in named) == rubs and "F2" not in named and len(named) == len(set(named))
    assert {"J11", "J12", "G1", "J21", "J22", "G2", "C2_11"} <= set(named)
    for name, asked in terms.items():
        found = largest_error(model, name)
        assert found.exact and found.bound <= model.certificate.bounds[asked.place], name
