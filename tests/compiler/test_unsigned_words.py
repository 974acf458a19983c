"""Words that are unsigned: compiled for every target, run and checked, against exact values."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import bddtorque as bt
from bddtorque.independent import check_bytes
from bddtorque.model.model import to_bytes
from bddtorque.targets import TARGETS
from bddtorque.words.formats import Format

INPUTS: dict[str, Any] = {"x": (5, (0.0, 3.0)), "y": (5, 2.0)}


def product(x: Any, y: Any) -> Any:
    return (x + 1.0) * y * y


@cache
def model_of(target: str, block_bits: int = 20) -> bt.Model:
    options = {} if target == "float" else {"block_bits": block_bits}
    return bt.compile_function(product, inputs=INPUTS, output=(6, (0.0, 17.0)), target=target, **options)


MODELS = [*((target, 20) for target in TARGETS), ("tables", 6)]


def every_state(model: bt.Model) -> list[np.ndarray]:
    axes = (np.arange(word.lowest, word.highest + 1) for word in model.formats.words.values())
    return [axis.reshape(-1) for axis in np.meshgrid(*axes, indexing="ij")]


def exact(word: Format, units: int) -> Fraction:
    """Return what a word stands for, from what the format says."""
    middle = Fraction(word.low) if not word.signed else (Fraction(word.low) + Fraction(word.high)) / 2
    return middle + units * (Fraction(word.high) - Fraction(word.low)) / (1 << word.bits)


@pytest.mark.parametrize(("target", "block_bits"), MODELS)
def test_words_are_within_the_bound_of_the_exact_value(target: str, block_bits: int) -> None:
    model = model_of(target, block_bits)
    x, y = model.formats.words.values()
    (z,) = model.formats.results.values()
    assert [word.signed for word in (x, y, z)] == [False, True, False]
    assert [(word.lowest, word.highest) for word in (x, y, z)] == [(0, 31), (-16, 15), (0, 63)]
    states = every_state(model)
    words = model.words(*states)
    for a, b, word in zip(*(column.tolist() for column in (*states, words)), strict=True):
        true = product(exact(x, a), exact(y, b)) / (exact(z, 1) - exact(z, 0))
        assert abs(word - min(max(true, 0), 63)) <= model.certificate.bounds[0]
    for name in ("bits", "parallel") if target == "tables" else ("parallel",):
        np.testing.assert_array_equal(model.evaluator(name).words(*states), words)
    np.testing.assert_array_equal(model.words(*(column[::97].copy() for column in states)), words[::97])
    values = [word.dequantise(column) for word, column in zip((x, y), states, strict=True)]
    np.testing.assert_array_equal(model.value(*values), z.dequantise(words))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.filterwarnings("ignore::bddtorque.base.errors.ClampWarning")
def test_words_out_of_range_are_clamped_and_counted(target: str) -> None:
    model = model_of(target)
    wild = np.array([-1, -(2**62), 32, 2**62])
    evaluator = model.evaluator()
    found = evaluator.words(wild, np.full(4, 7))
    np.testing.assert_array_equal(found, model.words(np.array([0, 0, 31, 31]), np.full(4, 7)))
    assert evaluator.words(-5, 7) == found[0] and model.kernel()(2**40, 7) == found[2]
    assert evaluator.out_of_range.tolist() == [5, 0]
    np.testing.assert_array_equal(evaluator.value(np.array([-0.4, 9.0]), np.zeros(2)), model.value([0.0, 2.9], [0, 0]))


def test_the_bound_is_half_of_the_signed_one() -> None:
    """In the unit of the value: all words are on one side of zero, and none is lost."""
    half = bt.compile_function(lambda x: x * x * 0.9, inputs={"x": (12, (0.0, 2.0))}, output=(10, (0.0, 4.0)))
    whole = bt.compile_function(lambda x: x * x * 0.9, inputs={"x": (12, 2.0)}, output=(10, 4.0))
    (unsigned,), (signed,) = half.certificate.outputs, whole.certificate.outputs
    assert unsigned.lsb == signed.lsb / 2
    assert unsigned.bound * unsigned.lsb == pytest.approx(signed.bound * signed.lsb / 2, rel=1e-3)


def test_laws_samples_and_given_values() -> None:
    root = bt.compile_function(np.sqrt, inputs={"x": (8, (0.0, 4.0))}, output=(8, (0.0, 2.0)))
    assert root.error_of(np.sqrt) <= 0.5 and root.words([0, 64, 255]).tolist() == [0, 128, 255]
    law = bt.compile_function(bt.Friction(1.0, 0.5), inputs={"v": (6, (0.0, 2.0))}, output=(8, (0.0, 4.0)))
    samples = bt.compile_samples(
        np.array([[0.0, 0.0], [1.0, 1.0], [3.0, 5.0]]), inputs={"x": (6, (0.0, 3.0))}, output=8
    )
    for model in (root, law, samples):
        assert not any(word.signed for word in (*model.formats.words.values(), *model.formats.results.values()))
        assert all(finding.passed for finding in check_bytes(to_bytes(model)))


@pytest.mark.parametrize(
    ("change", "message"),
    [({"kind": "angle"}, "an angle must be signed"), ({"signed": 1}, "signed must be true or false, got 1")],
)
def test_formats_that_cannot_be_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(bt.BddTorqueError, match=message):
        Format(**{"kind": "range", "bits": 8, "low": 0.0, "high": 1.0, "signed": False} | change)
