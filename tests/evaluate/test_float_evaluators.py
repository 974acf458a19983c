"""Evaluators of plans in floats: the words of the plain interpreter from every one of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from compiled import arm, found_errors, random_words, reference, rubbing_arm

import bddtorque as bt
from bddtorque.evaluate.float_straight import TILE
from bddtorque.spec import InputBits
from bddtorque.words.formats import Format, limits

OTHERS = "was compiled for target 'float': compile it with target = \"tables\""


def test_same_words_from_all() -> None:
    """In rows, in columns, one by one, in threads and from a kernel; words out of range too, and these counted."""
    # limits on both sides of half a turn for one joint; no torque depends on the position of the other
    model = arm(8, target="float", position=((-1.0, 1.0), (2.0, 4.0)), gravity=(0.0, 0.0, -9.81))
    assert "q1" not in {wire.name for wire in model.plan.inputs}
    words = random_words(model, 300)
    for each in words:  # in the first tile, in the second and beyond the last whole one
        each[[5, 150, 299]] *= 3
    expected = reference(model, words)
    evaluator = model.evaluator()
    assert np.array_equal(evaluator.torque_words(*words), expected)
    outside = evaluator.out_of_range.copy()
    assert np.array_equal(evaluator.torque_words(*map(np.asfortranarray, words)), expected)
    assert np.array_equal(evaluator.out_of_range, 2 * outside)
    singles = [evaluator.torque_words(*(each[k] for each in words)) for k in range(300)]
    assert np.array_equal(singles, expected)
    assert np.array_equal(evaluator.out_of_range, 3 * outside)
    for place, kind in enumerate(model.formats.inputs):
        for j, word in enumerate(kind):
            first, last = limits(word)
            found = word.held(words[place][:, j]) if word.kind == "angle" else words[place][:, j]
            beyond = (found < first) & (found > last) if first > last else (found < first) | (found > last)
            assert outside[place, j] == np.count_nonzero(beyond)
    assert outside.any(axis=1).all()
    tau = np.empty_like(expected)
    model.kernel()(*words, tau)
    assert np.array_equal(tau, expected)
    tau[:] = 0
    held = [kind.held(each) for kind, each in zip(model.formats.inputs, words, strict=True)]
    model.kernel(checked=False)(*held, tau)
    assert np.array_equal(tau, expected)
    assert np.array_equal(model.evaluator("parallel", processors=2).torque_words(*words), expected)
    assert (found_errors(model, words, expected) <= model.certificate.bounds).all()


def test_double_precision_and_long_words() -> None:
    """Beyond 14 bits sines are not looked up; the words are those of the interpreter all the same."""
    unlike = InputBits(position=(18, 16), velocity=(18, 18), acceleration=(9, 20))
    model = arm(18, target="float", precision="double", input_bits=unlike)
    words = random_words(model, TILE + 6)
    expected = reference(model, words)
    assert np.array_equal(model.torque_words(*words), expected)
    assert (found_errors(model, words, expected) <= model.certificate.bounds).all()


def test_functions_of_angles() -> None:
    """Sums of angles, multiples, constants: of a traced function, against all of its words."""
    model = bt.compile_function(
        lambda a, b, v: np.sin(2 * a - b) * v + np.cos(a + 0.3),
        inputs={"a": (5, "angle"), "b": Format("angle", 4, sign=-1, offset=0.2, name="b", unit="rad"), "v": (4, 2.0)},
        output=(8, 4.0),
        target="float",
    )
    assert model.certificate.bound < 0.51
    assert model.error_of(lambda a, b, v: np.sin(2 * a - b) * v + np.cos(a + 0.3)) <= model.certificate.bound
    assert all(check.passed for check in bt.verify(model))


def test_what_has_no_floats_is_refused_by_name() -> None:
    """Functions that cannot be traced, laws and samples."""
    with pytest.raises(bt.BddTorqueError, match="target 'float' takes functions that can be traced"):
        bt.compile_function(abs, inputs={"x": (6, 1.0)}, output=(6, 1.0), target="float")
    with pytest.raises(bt.BddTorqueError, match="target 'float' takes functions that can be traced"):
        bt.compile_function(bt.Friction(0.1, 0.2), inputs={"x": (6, 1.0)}, output=(6, 1.0), target="float")


def test_friction_is_a_table_that_floats_look_up(tmp_path: Path) -> None:
    """One table per law; the bound holds, the file comes back, and it is proved again."""
    model = rubbing_arm()
    assert model.plan.blocks
    words = random_words(model, 60)
    expected = reference(model, words)
    assert np.array_equal(model.torque_words(*words), expected)
    assert (found_errors(model, words, expected) <= model.certificate.bounds).all()
    model.save(tmp_path / "arm.bdt")
    loaded = bt.load(tmp_path / "arm.bdt")
    assert loaded.digest == model.digest
    assert np.array_equal(loaded.torque_words(*words), expected)
    assert all(check.passed for check in bt.verify(loaded))


def test_kernels_of_other_targets_are_always_checked() -> None:
    """Only plans in floats have one that is not."""
    with pytest.raises(bt.BddTorqueError, match="checked = False is only valid for target 'float'"):
        arm(4).kernel(checked=False)


def test_other_consumers_refuse_floats_in_one_line() -> None:
    """With what to compile instead."""
    model = arm(8, target="float")
    for consumer in (
        lambda: model.evaluator("bits"),
        lambda: model.evaluator("words", "dense"),
    ):
        with pytest.raises(bt.BddTorqueError, match=OTHERS):
            consumer()
