"""Straight-line code: words in floats or integers, states alone, in tiles and in columns, alike to the last bit."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from bddtorque.evaluate.float_code import FloatCode, exact_float, held_in_floats
from compiled import arm, random_words, reference, some_words
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import bddtorque as bt
from bddtorque.evaluate import cutting
from bddtorque.evaluate.straight import TILE, Source, straight
from bddtorque.evaluate.table_pool import Pool, blocks_read
from bddtorque.plan.plan import Plan
from bddtorque.plan.wires import Input, Lookup, Output, Product, Sum


@pytest.fixture(scope="module")
def host():
    return arm(8, workers=1, target="host")


@pytest.mark.parametrize("count", [0, 1, TILE - 1, TILE, TILE + 1, 5 * TILE + 7])
@pytest.mark.parametrize("order", ["C", "F"])
def test_batches_of_any_size_and_order_give_the_words_of_single_states(host, count, order):
    evaluator = host.evaluator("words")
    words = [np.asarray(each[:count], order=order) for each in random_words(host, 400)]
    tau = evaluator.torque_words(*words)
    assert tau.shape == (count, 2)
    assert np.array_equal(tau, reference(host, words).reshape(count, 2))
    for s in range(min(count, 3)):
        assert np.array_equal(evaluator.torque_words(*(each[s] for each in words)), tau[s])


@pytest.mark.parametrize("order", ["C", "F"])
def test_words_out_of_range_are_clamped_and_counted_in_batches_as_alone(host, order):
    rng = np.random.default_rng(3)
    words = [rng.integers(-400, 400, (4 * TILE + 5, 2)) for _ in range(3)]
    words[2][TILE : 2 * TILE] = np.clip(words[2][TILE : 2 * TILE], -128, 127)
    words[1][TILE : 2 * TILE] = np.clip(words[1][TILE : 2 * TILE], -128, 127)  # one tile is wholly in range
    words[1][0, 0] = np.iinfo(np.int64).max
    words[2][1, 1] = np.iinfo(np.int64).min
    straight, dense = host.evaluator("words"), host.evaluator("words", "dense")
    ordered = [np.asarray(each, order=order) for each in words]
    assert np.array_equal(straight.torque_words(*ordered), dense.torque_words(*words))
    assert np.array_equal(straight.out_of_range, dense.out_of_range) and straight.out_of_range.any()


def test_angles_beyond_joint_limits_are_counted_in_tiles_as_elsewhere():
    model = bt.compile("planar2r", bits=6, target="host", workers=1, position=[[-2.0, 1.0], [-0.5, 0.5]])
    words = random_words(model, 3 * TILE + 4)
    straight, dense = model.evaluator("words"), model.evaluator("words", "dense")
    assert np.array_equal(straight.torque_words(*words), dense.torque_words(*words))
    assert np.array_equal(straight.out_of_range, dense.out_of_range) and straight.out_of_range[0].any()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("scara", "host"),
        *(
            pytest.param(name, target, marks=pytest.mark.everything)
            for name, target in product(("scara", "stanford", "ur5"), ("tables", "host"))
            if (name, target) != ("scara", "host")
        ),
    ],
)
def test_straight_code_gives_the_words_of_the_reference_on_other_arms(name, target):
    model = bt.compile(name, bits=8, target=target, source="recursive")
    assert held_in_floats(model.plan) or target == "tables"  # some sums of tables take more than 53 bits
    words = random_words(model, 20_000)
    expected = model.evaluator("words", "dense").torque_words(*words)
    assert np.array_equal(model.evaluator("words", "straight").torque_words(*words), expected)


@pytest.fixture
def small_functions(monkeypatch):
    monkeypatch.setattr(cutting, "MOST_CHARACTERS", 100)
    monkeypatch.setattr(cutting, "PART_CHARACTERS", 700)


def test_code_that_is_cut_into_functions_gives_the_same_words(host, small_functions):
    words = [2 * each for each in some_words(host, 3 * TILE)]  # half of them out of range
    cut, dense = host.evaluator("words", "straight"), host.evaluator("words", "dense")
    expected = dense.torque_words(*words)
    for order in ("C", "F"):
        assert np.array_equal(cut.torque_words(*(np.asarray(each, order=order) for each in words)), expected)
    assert np.array_equal(cut.out_of_range, 2 * dense.out_of_range)
    assert np.array_equal(cut.torque_words(*(each[0] for each in words)), expected[0])


def test_integers_that_are_cut_into_functions_give_the_same_words_and_are_announced_once(
    tmp_path, small_functions, caplog
):
    model = arm(6, workers=1, source="recursive")
    words = some_words(model, 500)
    for _ in range(2):
        code = straight(model.plan, model.formats, model.tables, tmp_path, native=False)
    tau = np.empty_like(words[0])
    code.states(*words, tau, code.table, code.constants, np.zeros((3, 2), dtype=np.int64))
    assert np.array_equal(tau, reference(model, words))
    (message,) = [record.message for record in caplog.records]
    assert message.startswith(f"compiling straight-line code of {len(model.plan.wires)} wires in ")


def test_no_function_of_a_large_plan_is_long(host, small_functions):
    source = Source(host.plan, host.formats, Pool(host.plan, blocks_read(host.plan, True)), FloatCode(host.plan), True)
    parts = [text for text in source.text.split("@njit") if re.search(r"def (part|find|compute)\d", text)]
    longest = max(map(len, source.text.splitlines()))
    statements = [
        [line for line in text.splitlines() if not re.search(r"\w = (ints|floats|rows)", line)] for text in parts
    ]
    assert len(parts) == source.parts >= 5
    assert all(sum(map(len, lines)) < 2 * 700 + longest for lines in statements)


def test_straight_code_from_tables_alone_gives_the_same_words(tmp_path):
    model = arm(6, workers=1, source="recursive")
    words = some_words(model, 5000)
    code = straight(model.plan, model.formats, model.tables, tmp_path, native=False)
    tau = np.empty_like(words[0])
    code.states(*words, tau, code.table, code.constants, np.zeros((3, 2), dtype=np.int64))
    assert np.array_equal(tau, reference(model, words))


def test_words_that_outgrow_a_float_are_held_in_integers(tmp_path):
    model = bt.compile("planar2r", bits=6, target="host", workers=1)
    output = model.plan.outputs[0]
    # the same torque from a sum 2^20 times as fine
    finer = replace(
        output,
        parts=tuple((wire, factor << 20) for wire, factor in output.parts),
        constant=output.constant << 20,
        shift=output.shift + 20,
    )
    plan = replace(model.plan, outputs=(finer, *model.plan.outputs[1:]))
    assert held_in_floats(model.plan) and not held_in_floats(plan)
    words = random_words(model, 3 * TILE)
    code = straight(plan, model.formats, model.tables, tmp_path)
    assert code.tiles is None and code.columns is None
    tau = np.empty_like(words[0])
    code.states(*words, tau, code.table, code.constants, np.zeros((3, 2), dtype=np.int64))
    assert np.array_equal(tau, model.torque_words(*words))


small = st.integers(-60, 60)


@settings(max_examples=examples(80))
@given(st.lists(st.tuples(st.integers(0, 3), small), min_size=1, max_size=4), small, st.integers(0, 6), st.data())
def test_a_sum_in_floats_rounds_as_the_integers_do(parts, constant, shift, data):
    """floor((Σ f·w + c)/2^s + 1/2), ties upward, for words, exact products and rounded ones."""
    inputs = (Input("qd1", 6, False), Input("qd2", 6, False))
    exact = Product("p", 0, 1, 0, "native", 0, 3, -1024, 1024)
    coarse = Product("r", 0, 0, 3, "native", 0, 3, 0, 128)
    total = Sum("s", tuple(parts), constant, shift, -1 << 40, 1 << 40, Fraction(1))
    twice = Product("t", 2, 1, 0, "native", 0, 3, -1 << 15, 1 << 15)  # a product of a product has a float of its own
    wires = (*inputs, exact, coarse)
    output = Output("y", ((4, 3), (0, 1), (5, 2)), 5, Fraction(0), 2, -3000, 3000, Fraction(1))
    plan = Plan((*wires, total, twice), (), (output,), "recursive", "host", 12)
    x = [data.draw(st.integers(-32, 31)) for _ in range(2)]
    values = [*x, x[0] * x[1], (x[0] * x[0] + 4) >> 3]
    inner = sum(factor * values[wire] for wire, factor in parts) + constant
    word = (inner + (1 << shift >> 1)) >> shift
    expected = min(max((3 * word + x[0] + 2 * values[2] * x[1] + 5 + 2) >> 2, -3000), 3000)
    code = FloatCode(plan)
    names = {"w0": float(x[0]), "w1": float(x[1]), "constants": code.constants}
    names["bits_of"] = lambda value: int(np.float64(value).view(np.int64))
    for body in (code.body, code.vector_body):
        scope = dict(names)
        exec("\n".join(body), scope)
        assert scope["r0"] == expected


def test_a_table_read_at_a_word_made_inside_is_left_to_integers(tmp_path):
    model = arm(4, workers=1)
    table = next(wire for wire in model.plan.wires if isinstance(wire, Lookup) and len(wire.wires) == 1)
    at = len(model.plan.wires)
    inner = Sum("s", ((table.wires[0], 1),), 0, 0, -8, 7, Fraction(1))  # the same word, by way of a sum
    again = Lookup("again", table.block, (at,))
    place = model.plan.wires.index(table)
    outputs = tuple(
        replace(each, parts=tuple((at + 1 if wire == place else wire, factor) for wire, factor in each.parts))
        for each in model.plan.outputs
    )
    plan = replace(model.plan, wires=(*model.plan.wires, inner, again), outputs=outputs)
    assert outputs != model.plan.outputs and not held_in_floats(plan)
    words = random_words(model, 200)
    code = straight(plan, model.formats, model.tables, tmp_path)
    tau = np.empty_like(words[0])
    code.states(*words, tau, code.table, code.constants, np.zeros((3, 2), dtype=np.int64))
    assert np.array_equal(tau, model.torque_words(*words))


def test_generated_source_holds_numbers_and_our_own_names_alone(host):
    plan = replace(
        host.plan,
        wires=tuple(
            replace(wire, name="__import__('os')") if not isinstance(wire, Input) else wire for wire in host.plan.wires
        ),
    )
    pool = Pool(plan, blocks_read(plan, native=True))
    assert "import__" not in Source(plan, host.formats, pool, FloatCode(plan), native=True).text


def test_one_index_serves_sine_and_cosine(host):
    pool = Pool(host.plan, blocks_read(host.plan, native=True))
    (place,) = pool.places.values()
    rows = 1 << 8
    assert place.length == rows + rows // 4


def test_only_numbers_that_are_floats_become_floats():
    assert exact_float(Fraction(3, 8)) == 0.375
    with pytest.raises(ArithmeticError, match="no float64"):
        exact_float(Fraction(1, 3))


@pytest.mark.parametrize("target", ["tables", "host"])
def test_straight_code_runs_where_numba_is_told_to_compile_nothing(target, tmp_path):
    model, path = arm(4, workers=1, target=target), tmp_path / "arm.bdt"
    model.save(path)
    states = [[[3, -2]] * TILE] * 3
    tau = model.torque_words(*states).tolist()
    code = f"""
import bddtorque as bt
straight = bt.load({str(path)!r}).evaluator("words", "straight")
assert straight.torque_words(*{states}).tolist() == {tau}
assert straight.torque_words([3, -2], [3, -2], [3, -2]).tolist() == {tau[0]}
straight.kernel
"""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    message = "a kernel is compiled by Numba: NUMBA_DISABLE_JIT must not be set"
    assert done.returncode == 1 and done.stderr.strip().endswith(message), done.stderr
