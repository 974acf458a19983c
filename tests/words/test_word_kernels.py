"""Quantisers inside an njit loop: the same words and values as `Format` gives."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bddtorque.words.formats import Format
from bddtorque.words.interface import word_vector

WORDS = word_vector(
    "q",
    ("a", "b", "c", "d"),
    (
        Format("angle", 12, -2.0, 2.0, sign=-1, offset=0.3, unit="rad"),
        Format("range", 8, -1.0, 2.0, unit="m"),
        Format("range", 24, 5.0, 9.0, sign=-1, offset=-1.5),
        Format("angle", 5),
    ),
)
QUANTISE, DEQUANTISE = WORDS.kernel(), WORDS.inverse_kernel()


@settings(deadline=None)
@given(st.lists(st.floats(-1e4, 1e4), min_size=4, max_size=4))
def test_words_are_those_of_quantise(values: list[float]) -> None:
    given_values, words = np.array(values), np.empty(4, dtype=np.int64)
    outside = QUANTISE(given_values, words)
    expected, counts = WORDS.quantise_counted(given_values)
    assert words.tolist() == expected.tolist()
    assert outside == counts.sum()


@settings(deadline=None)
@given(st.lists(st.integers(-(2**40), 2**40), min_size=4, max_size=4))
def test_values_are_those_of_dequantise(words: list[int]) -> None:
    given_words, values = np.array(words, dtype=np.int64), np.empty(4)
    DEQUANTISE(given_words, values)
    assert values.tolist() == WORDS.dequantise(given_words).tolist()


def test_in_a_loop_of_ones_own() -> None:
    @numba.njit
    def loop(states: np.ndarray) -> int:
        words, back = np.empty(4, dtype=np.int64), np.empty(4)
        outside = 0
        for row in states:
            outside += QUANTISE(row, words)
            DEQUANTISE(words, back)
            row[:] = back
        return outside

    states = np.random.default_rng(0).uniform(-12, 12, (100, 4))
    expected, counts = WORDS.quantise_counted(states)
    assert loop(states) == counts.sum() > 0
    np.testing.assert_array_equal(states, WORDS.dequantise(expected))


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_what_has_no_word_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="must be finite"):
        QUANTISE(np.array([0.0, bad, 0.0, 0.0]), np.empty(4, dtype=np.int64))
    with pytest.raises(ValueError, match="within 2\\^24 turns"):
        QUANTISE(np.array([1e9, 0.0, 0.0, 0.0]), np.empty(4, dtype=np.int64))


def test_lengths_are_checked() -> None:
    with pytest.raises(ValueError, match="one number per joint"):
        QUANTISE(np.zeros(3), np.empty(4, dtype=np.int64))
    with pytest.raises(ValueError, match="one number per joint"):
        DEQUANTISE(np.zeros(4, dtype=np.int64), np.empty(5))
