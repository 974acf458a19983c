"""Straight-line code: states alone, in rows and in columns, alike to the last bit."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from compiled import arm, random_words, reference, some_words

import bddtorque as bt
from bddtorque.evaluate import statements
from bddtorque.evaluate.float_straight import TILE
from bddtorque.evaluate.straight import StraightSource, TablePool, blocks_read, straight
from bddtorque.plan.wires import Input, Lookup, Sum


@pytest.fixture(scope="module")
def model():
    return arm(8, workers=1, source="recursive")


@pytest.mark.parametrize("count", [0, 1, TILE - 1, TILE, TILE + 1, 5 * TILE + 7])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("options", [{"target": "float"}, {"source": "recursive"}], ids=str)
def test_batches_of_any_size_and_order_give_the_words_of_single_states(options, count, order):
    model = arm(8, workers=1, **options)
    evaluator = model.evaluator("words", "straight")
    words = [np.asarray(each[:count], order=order) for each in random_words(model, 5 * TILE + 7)]
    tau = evaluator.torque_words(*words)
    assert tau.shape == (count, 2)
    assert np.array_equal(tau, reference(model, words).reshape(count, 2))
    for s in range(min(count, 3)):
        assert np.array_equal(evaluator.torque_words(*(each[s] for each in words)), tau[s])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("target", ["float", "tables"])
def test_words_out_of_range_are_clamped_and_counted_in_batches_as_alone(model, target, order):
    rng = np.random.default_rng(3)
    words = [rng.integers(-400, 400, (4 * TILE + 5, 2)) for _ in range(3)]
    words[2][TILE : 2 * TILE] = np.clip(words[2][TILE : 2 * TILE], -128, 127)
    words[1][TILE : 2 * TILE] = np.clip(words[1][TILE : 2 * TILE], -128, 127)  # one tile is wholly in range
    words[1][0, 0] = np.iinfo(np.int64).max
    words[2][1, 1] = np.iinfo(np.int64).min
    dense = model.evaluator("words", "dense")
    expected = dense.torque_words(*words)
    if target == "float":
        model = arm(8, workers=1, target="float")
        expected = reference(model, [kind.held(each) for kind, each in zip(model.formats.inputs, words, strict=True)])
    straight = model.evaluator("words", "straight")
    ordered = [np.asarray(each, order=order) for each in words]
    assert np.array_equal(straight.torque_words(*ordered), expected)
    assert np.array_equal(straight.out_of_range, dense.out_of_range) and straight.out_of_range.any()


@pytest.mark.parametrize(
    "name", ["planar3r_a", *(pytest.param(each, marks=pytest.mark.everything) for each in ("ur5", "panda"))]
)
def test_words_out_of_range_stay_with_their_state_whatever_the_number_of_joints(name):
    """Lanes hold the states of a vector in another order where the number of joints has an odd factor."""
    model = bt.compile(name, bits=6, target="float", workers=1)
    words = random_words(model, 3 * TILE)
    for kind in words[1:]:
        kind[np.random.default_rng(4).random(len(kind)) < 0.1] += 64
    held = [kind.held(each) for kind, each in zip(model.formats.inputs, words, strict=True)]
    assert np.array_equal(model.evaluator("words", "straight").torque_words(*words), reference(model, held))


def test_angles_beyond_joint_limits_are_counted_in_tiles_as_elsewhere():
    floats, tables = (
        bt.compile("planar2r", bits=6, target=target, workers=1, position=[[-2.0, 1.0], [-0.5, 0.5]])
        for target in ("float", "tables")
    )
    words = random_words(floats, 3 * TILE + 4)
    straight, dense = floats.evaluator("words"), tables.evaluator("words", "dense")
    assert np.array_equal(straight.torque_words(*words), reference(floats, words))
    dense.torque_words(*words)
    assert np.array_equal(straight.out_of_range, dense.out_of_range) and straight.out_of_range[0].any()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "target"),
    [
        *(pytest.param("scara", target, marks=pytest.mark.everything) for target in ("float", "tables")),
        pytest.param("stanford", "float", marks=pytest.mark.everything),
        pytest.param("ur5", "tables", marks=pytest.mark.everything),
    ],
)
def test_straight_code_gives_the_words_of_the_reference_on_other_arms(name, target):
    model = bt.compile(name, bits=8, target=target, source="recursive")
    words = random_words(model, 20_000)
    assert np.array_equal(model.evaluator("words", "straight").torque_words(*words), reference(model, words))


@pytest.fixture
def small_functions(monkeypatch):
    monkeypatch.setattr(statements, "MAX_CHARACTERS", 100)
    monkeypatch.setattr(statements, "PART_CHARACTERS", 700)


def test_code_that_is_cut_into_functions_gives_the_same_words(model, small_functions):
    words = [2 * each for each in some_words(model, 3 * TILE)]  # half of them out of range
    cut, dense = model.evaluator("words", "straight"), model.evaluator("words", "dense")
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
    code.states(tuple(words), tau, code.table, np.zeros(6, dtype=np.int64))
    assert np.array_equal(tau, reference(model, words))
    (message,) = [record.message for record in caplog.records]
    assert message == f"compiling code for a plan of {len(model.plan.wires)} wires: minutes, once"


def test_who_sees_the_log_is_told_what_is_waited_for_once(tmp_path, monkeypatch, caplog):
    model = arm(4, workers=1)
    straight(model.plan, model.formats, model.tables, tmp_path / "unseen")
    assert not caplog.records
    other = arm(5, workers=1)
    for name in [name for name in sys.modules if name.startswith("plan_")]:  # other tests may have had its code
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    for _ in range(2):
        straight(other.plan, other.formats, other.tables, tmp_path)
    (message,) = [record.message for record in caplog.records]
    assert message == f"compiling code for a plan of {len(other.plan.wires)} wires: seconds, once"


def test_words_run_as_straight_code_unless_a_form_is_asked_for():
    model = arm(6, workers=1)
    words = random_words(model, 100)
    for kind in ("words", "parallel"):
        evaluator = model.evaluator(kind)
        assert evaluator.form == "straight"
        assert np.array_equal(evaluator.torque_words(*words), reference(model, words))
    assert model.evaluator("bits").form == "lockstep"
    assert model.evaluator("parallel", spread="bits").form == "lockstep"
    assert arm(6, workers=1, target="float").evaluator().form == "straight"


WARM = """
import sys
import numpy as np, bddtorque as bt
model = bt.load(sys.argv[1])
n = len(model.formats.q)
words, floats = np.zeros((300, n), dtype=np.int64), np.zeros((300, n))
if sys.argv[2] == "warm up":
    model.warm_up()
else:
    for each in (words, np.asfortranarray(words), words[0]):
        model.torque_words(each, each, each)
    for each in (floats, floats[0], floats[0].tolist()):
        model.torque(each, each, each)
"""


@pytest.mark.everything  # two processes that compile everything anew
@pytest.mark.parametrize("target", ["tables", "float"])
def test_after_warming_up_first_use_compiles_nothing(tmp_path, target):
    """What is compiled is kept in files: a process that finds all it needs there writes none."""
    arm(4, workers=1, target=target).save(tmp_path / "arm.bdt")
    environment = {**os.environ, "BDDTORQUE_CACHE": str(tmp_path / "kept"), "NUMBA_CACHE_DIR": str(tmp_path / "numba")}

    def made(what):
        command = [sys.executable, "-c", WARM, str(tmp_path / "arm.bdt"), what]
        ran = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        assert ran.stderr == ""
        return {path.name: path.stat().st_mtime_ns for path in (tmp_path / "numba").rglob("*.nb[ci]")}

    warmed = made("warm up")
    plans = [name for name in warmed if name.startswith("plan_")]
    assert {name.split(".")[1].split("-")[0] for name in plans} >= {"states", "bare"}
    assert made("first use") == warmed


def test_no_function_of_a_large_plan_is_long(model, small_functions, monkeypatch):
    monkeypatch.setattr(statements, "PART_CHARACTERS", 200)
    source = StraightSource(model.plan, model.formats, TablePool(model.plan, blocks_read(model.plan, True)), True)
    parts = re.findall(r'def block_part\d+.*?"""(.*?)"""', source.text, re.DOTALL)
    longest = max(map(len, source.text.splitlines()))
    bodies = [[line for line in text.splitlines() if not re.search(r"\w = ints", line)] for text in parts]
    assert len(parts) == source.parts >= 4
    assert all(sum(map(len, lines)) < 2 * 200 + longest for lines in bodies)


def test_straight_code_from_tables_alone_gives_the_same_words(tmp_path):
    model = arm(6, workers=1, source="recursive")
    words = some_words(model, 5000)
    code = straight(model.plan, model.formats, model.tables, tmp_path, native=False)
    tau = np.empty_like(words[0])
    code.states(tuple(words), tau, code.table, np.zeros(6, dtype=np.int64))
    assert np.array_equal(tau, reference(model, words))


def test_a_table_is_read_at_a_word_made_inside(tmp_path):
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
    assert outputs != model.plan.outputs
    words = random_words(model, 200)
    code = straight(plan, model.formats, model.tables, tmp_path)
    tau = np.empty_like(words[0])
    code.states(tuple(words), tau, code.table, np.zeros(6, dtype=np.int64))
    assert np.array_equal(tau, model.torque_words(*words))


def test_generated_source_holds_numbers_and_our_own_names_alone(model):
    plan = replace(
        model.plan,
        wires=tuple(
            replace(wire, name="__import__('os')") if not isinstance(wire, Input) else wire for wire in model.plan.wires
        ),
    )
    pool = TablePool(plan, blocks_read(plan, native=True))
    assert "import__" not in StraightSource(plan, model.formats, pool, native=True).text


def test_one_index_serves_sine_and_cosine(model):
    pool = TablePool(model.plan, blocks_read(model.plan, native=True))
    rows = 1 << 8
    assert rows + rows // 4 in [place.length for place in pool.places.values()]


@pytest.mark.parametrize("target", ["tables", "float"])
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
