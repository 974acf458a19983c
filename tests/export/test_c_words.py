"""Exported C gives the words of the evaluators: on every state where there are few, on many else, in every form."""

from dataclasses import replace

import numpy as np
import pytest
from c_programs import counted, needs_compiler, run_words, wild_words
from compiled import arm, compiled, corner_words, random_words, reference, some_words
from exact import all_words

import bddtorque as bt
from bddtorque.export.c_blocks import EXPORTED_FORMS
from bddtorque.export.c_exporter import c_files
from bddtorque.plan.wires import Product

pytestmark = needs_compiler
SOURCES = ("terms", "recursive")


def every_state(bits: int) -> list[np.ndarray]:
    states = np.array(all_words([bits] * 6)).T
    return [np.ascontiguousarray(states[:, 2 * k : 2 * k + 2]) for k in range(3)]


@pytest.mark.parametrize("source", SOURCES)
def test_every_state_of_three_bits(source, tmp_path):
    model = arm(3, source=source, workers=1)
    words = every_state(3)
    assert len(words[0]) == 2**18
    tau, outside = run_words(model, words, tmp_path)
    assert not outside.any()
    assert np.array_equal(tau, reference(model, words))
    assert np.array_equal(tau, model.evaluator("words", "dense").torque_words(*words))
    assert np.array_equal(tau, model.evaluator("bits").torque_words(*words))


@pytest.mark.parametrize(("products", "method"), [("blocks", "blocks"), ("squares", "squares"), ("partial", "partial")])
def test_every_way_to_multiply(products, method, tmp_path):
    model = arm(4, block_bits=8, products=products)
    assert {wire.method for wire in model.plan.wires if isinstance(wire, Product)} == {method}
    words = some_words(model, 4_000)
    tau, outside = run_words(model, words, tmp_path)
    assert not outside.any()
    assert np.array_equal(tau, reference(model, words))


@pytest.mark.parametrize("form", EXPORTED_FORMS)
def test_every_form(form, tmp_path):
    model = arm(4 if form == "ifs" else 6, workers=1)  # compilers take long over branches that sanitizers watch
    words = some_words(model, 4_000)
    tau, _ = run_words(model, words, tmp_path, form=form)
    assert np.array_equal(tau, reference(model, words))


def test_forms_are_chosen_within_the_flash(tmp_path):
    """Tables of several words, and budgets so small that other forms than the whole table are taken."""
    model = arm(6, workers=1, block_bits=14)
    words = some_words(model, 2_000)
    dense = run_words(model, words, tmp_path / "dense", form="dense")[0]
    taken = set()
    for flash in (12_000, 1_000_000):
        blocks = c_files(model, flash=flash).blocks
        assert sum(block.bytes for block in blocks) <= flash
        taken |= {block.form for block in blocks}
        assert np.array_equal(run_words(model, words, tmp_path / str(flash), flash=flash)[0], dense)
    assert len(taken) > 1


KINDS = [{"source": "recursive"}, {"block_bits": 6}, {"accuracy": "paper"}]


@pytest.mark.parametrize("options", KINDS, ids=str)
def test_every_kind_of_plan(options, tmp_path):
    model = arm(6, workers=1, **options)
    words = some_words(model, 4_000)
    assert np.array_equal(run_words(model, words, tmp_path)[0], reference(model, words))


@pytest.mark.parametrize("source", SOURCES)
def test_words_out_of_range_are_held_and_counted(source, tmp_path):
    """Whatever numbers are given: the sanitizers see no overflow and no access outside a table."""
    ranges = {"position": [[-1.0, 2.0], [2.0, 4.5]]}
    model = bt.compile("planar2r", bits=6, source=source, workers=1, **ranges)
    words = wild_words(model, 20_000)
    tau, outside = run_words(model, words, tmp_path)
    assert np.array_equal(tau, reference(model, words))
    expected = counted(model, words)
    assert expected.all()  # every joint and quantity was beyond its range at times
    assert outside.sum() == expected.sum()
    # state by state, of a few
    assert [counted(model, [each[k : k + 1] for each in words]).sum() for k in range(30)] == outside[:30].tolist()


@pytest.mark.parametrize("source", SOURCES)
def test_torques_that_saturate(source, tmp_path):
    model = bt.compile("planar2r", bits=6, source=source, torque={"shoulder": 30.0, "elbow": 15.0}, workers=1)
    words = random_words(model, 20_000)
    tau, _ = run_words(model, words, tmp_path)
    assert np.array_equal(tau, reference(model, words))
    assert np.array_equal(tau.min(axis=0), model.formats.tau.lowest)
    assert np.array_equal(tau.max(axis=0), model.formats.tau.highest)


def test_friction(tmp_path):
    """Tables of laws are tables like any other."""
    robot = bt.load_robot("planar2r")
    law = bt.Friction(viscous=2.0, coulomb=(4.0, 5.0), static=(8.0, 7.0), stribeck_velocity=0.05)
    robot = replace(robot, joints=tuple(replace(joint, friction=law) for joint in robot.joints))
    model = bt.compile(robot, bits=6, velocity=1.0, acceleration=1.0, torque=200.0, workers=1)
    assert "law" in {block.kind for block in model.plan.blocks}
    words = random_words(model, 5_000)
    assert np.array_equal(run_words(model, words, tmp_path)[0], reference(model, words))


@pytest.mark.slow
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(
    ("name", "count"),
    [("planar2r", 100_000)]
    + [pytest.param(name, 1_000_000, marks=pytest.mark.everything) for name in ("planar2r", "ur5")],
)
def test_many_states(name, count, source, tmp_path):
    """At the default word length, beside the evaluator that a user gets."""
    model = compiled(name, bits=12, source=source)
    words = random_words(model, count)
    if name == "planar2r":
        words = [np.concatenate(pair) for pair in zip(words, corner_words(model), strict=True)]
    tau, outside = run_words(model, words, tmp_path / "plan")
    assert np.array_equal(tau, model.evaluator("words").torque_words(*words))
    assert outside.sum() == counted(model, words).sum()
