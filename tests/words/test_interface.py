"""Interface and WordArray: JSON round trips, names, labels, symmetric matrices, columns."""

from __future__ import annotations

import copy
import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bddtorque.base.errors import BddTorqueError
from bddtorque.words.argument import Argument
from bddtorque.words.formats import Format
from bddtorque.words.interface import (
    Derived,
    Interface,
    WordArray,
    interface_from_plain,
    word_number,
    word_vector,
)

NAMES = st.text(st.characters(codec="utf-8", categories=("L", "N", "P")), min_size=1, max_size=12)
WORD = Format("range", 4, -1.0, 1.0)


@st.composite
def words(draw: st.DrawFn) -> Format:
    bits, sign = draw(st.integers(2, 16)), draw(st.sampled_from([1, -1]))
    name, unit = draw(NAMES), draw(st.sampled_from(["", "rad", "N·m", "kg·m²"]))
    low = draw(st.floats(-100, 100))
    ends = {"low": low, "high": low + draw(st.floats(0.1, 100))}
    if draw(st.booleans()):
        return Format("range", bits, **ends, sign=sign, offset=draw(st.floats(-3, 3)), name=name, unit=unit)
    return Format("angle", bits, **(ends if draw(st.booleans()) else {}), sign=sign, name=name, unit=unit)


@st.composite
def arrays(draw: st.DrawFn, name: str, labels: list[str]) -> WordArray:
    """Draw a number, a vector, a matrix or a symmetric matrix whose labels are not among those given."""
    kind = draw(st.sampled_from(["number", "vector", "matrix", "symmetric"]))
    rows, columns = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    shape = {"number": (), "vector": (rows,), "matrix": (rows, columns), "symmetric": (rows, rows)}[kind]
    count = rows * (rows + 1) // 2 if kind == "symmetric" else math.prod(shape)
    own = draw(st.lists(NAMES.filter(lambda each: each not in labels), min_size=count, max_size=count, unique=True))
    labels += own
    return WordArray(name, shape, tuple(own), tuple(draw(words()) for _ in own))


@st.composite
def interfaces(draw: st.DrawFn) -> Interface:
    sides = []
    for prefix in ("i", "o"):
        count, labels = draw(st.integers(1, 3)), list[str]()
        sides.append(tuple(draw(arrays(f"{prefix}{'abc'[k]}_", labels)) for k in range(count)))
    return Interface(*sides)


@given(interfaces())
def test_any_interface_is_read_back_from_json(formats: Interface) -> None:
    again = interface_from_plain(json.loads(json.dumps(formats.to_plain(), allow_nan=False)), "words")
    assert again == formats
    assert hash(again) == hash(formats)
    assert pickle.loads(pickle.dumps(formats)) == copy.deepcopy(formats) == formats


@given(interfaces())
def test_names_arrays_and_words_agree(formats: Interface) -> None:
    assert formats.arrays == formats.inputs + formats.outputs
    for array in formats.arrays:
        assert formats[array.name] is array
        assert getattr(formats, array.name) is array
        assert formats.bits[array.name] == [word.bits for word in array]
        for k, label in enumerate(array.labels):
            assert array[label] is array[k] is array.words[k]
    assert list(formats.words) == list(formats.word_names) == list(formats.arguments)
    assert list(formats.words.values()) == [word for array in formats.inputs for word in array]
    assert list(formats.results) == [label for array in formats.outputs for label in array.labels]
    assert list(formats.results.values()) == [word for array in formats.outputs for word in array]
    grouped = formats.grouped(formats.words)
    assert grouped == {array.name: list(array) for array in formats.inputs}


@given(interfaces(), st.data())
def test_a_name_that_occurs_twice_is_refused(formats: Interface, data: st.DataObject) -> None:
    """Of arrays on one side, of input words, and of output words wherever they are; also in files."""
    inputs, outputs = formats.inputs, formats.outputs
    last = data.draw(st.sampled_from(outputs))
    twice = {
        "input array": ((*inputs, inputs[0]), outputs),
        "output array": (inputs, (*outputs, word_number(last.name, WORD))),
        "output word": (inputs, (*outputs, WordArray("other", (), last.labels[:1], (WORD,)))),
    }
    if inputs[0].shape:  # the first word of x is x1
        twice["input word"] = ((*inputs, word_number(f"{inputs[0].name}1", WORD)), outputs)
    for what, sides in twice.items():
        with pytest.raises(BddTorqueError, match=f"^{what} '.*' occurs twice: each must have a name of its own$"):
            Interface(*sides)
        plain = {
            side: [array.to_plain() for array in own] for side, own in zip(("inputs", "outputs"), sides, strict=True)
        }
        with pytest.raises(BddTorqueError, match=f"^words: {what} '.*' occurs twice"):
            interface_from_plain(plain, "words")


@given(interfaces(), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_columns_take_the_shape_of_their_array(formats: Interface, count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for array in formats.arrays:
        columns = rng.integers(array.lowest, array.highest, (count, len(array)), endpoint=True)
        assert np.array_equal(array.quantise(array.dequantise(columns)), columns)
        assert np.array_equal(array.held(columns), columns)
        entries = array.shaped(columns)
        assert entries.shape == (count, *array.shape)
        if len(array) == math.prod(array.shape):
            assert np.array_equal(entries.reshape(count, -1), columns)
        else:
            assert np.array_equal(entries, np.swapaxes(entries, 1, 2))
            assert np.array_equal(entries[:, *np.triu_indices(array.shape[0])], columns)


def test_words_have_the_names_of_plans() -> None:
    assert word_vector("q", "ab", (WORD, WORD)).word_names == ("q1", "q2")
    assert word_number("w", WORD).word_names == ("w",)
    assert WordArray("M", (2, 2), ("a", "b", "c"), (WORD,) * 3).word_names == ("M1", "M2", "M3")


@pytest.mark.parametrize(("shape", "count"), [((), 0), ((), 2), ((2,), 3), ((2, 3), 5), ((2, 2), 2), ((3, 3), 8)])
def test_an_array_with_another_number_of_words_is_refused(shape: tuple[int, ...], count: int) -> None:
    with pytest.raises(BddTorqueError, match=rf"^array x of shape \({shape and str(shape)[1:-1]}\) has {count} words$"):
        WordArray("x", shape, tuple(map(str, range(count))), (WORD,) * count)


@pytest.mark.parametrize("labels", [("a", "a"), ("a",), ("a", "b", "c")])
def test_every_word_has_a_label_of_its_own(labels: tuple[str, ...]) -> None:
    with pytest.raises(BddTorqueError, match=r"^array x: 2 words must have a label each, all different$"):
        WordArray("x", (2,), labels, (WORD, WORD))


def test_unknown_arrays_and_words_are_refused_by_name() -> None:
    formats = Interface((word_vector("q", ("elbow", "wrist"), (WORD, WORD)),), (word_number("y", WORD),))
    with pytest.raises(BddTorqueError, match="unknown array 'qq'; did you mean 'q'"):
        formats["qq"]
    with pytest.raises(AttributeError, match="unknown array 'qq'; did you mean 'q'"):
        _ = formats.qq
    with pytest.raises(BddTorqueError, match="unknown word of q 'elbo'; did you mean 'elbow'"):
        formats.q["elbo"]
    assert not hasattr(formats, "tau")
    with pytest.raises(IndexError):
        formats.q[2]


def test_derived_words_are_arguments_and_not_written() -> None:
    q = word_vector("q", ("a",), (Format("angle", 8),))
    wanted = word_vector("q_desired", ("a",), (Format("angle", 8),))
    error = Derived("q_error1", (("q_desired1", 1), ("q1", -1)), Argument("angle", 8))
    formats = Interface((q, wanted), (word_number("y", WORD),), (error,))
    assert list(formats.words) == ["q1", "q_desired1"]
    assert list(formats.arguments) == ["q1", "q_desired1", "q_error1"]
    again = interface_from_plain(formats.to_plain(), "words")
    assert again == Interface(formats.inputs, formats.outputs) != formats


def test_tables_for_people_list_every_word() -> None:
    formats = Interface((word_vector("q", ("elbow", "wrist"), (WORD, WORD)),), (word_number("y", WORD),))
    text = str(formats)
    assert [line.split()[:2] for line in text.splitlines() if line.split()[:1] in (["q"], ["y"])] == [
        ["q", "elbow"], ["q", "wrist"], ["y", "y"],
    ]  # fmt: skip
    assert "elbow" in str(formats.q) and "-1" in str(formats.q)
