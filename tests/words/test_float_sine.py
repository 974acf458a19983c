"""Sines of angle words: tables are made by the polynomial, and no word is further off than proved."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from bddtorque.words.float_sine import PI, _polynomial_error, float_sines, sine_error, sine_table, turn_on_grid
from bddtorque.words.ieee import DOUBLE, PRECISIONS, SINGLE, Precision
from bddtorque.words.integer_range import index_words


@pytest.mark.parametrize("rest", [Fraction(0), Fraction(3, 10), Fraction(-7)])
@pytest.mark.parametrize("cosine", [False, True])
@pytest.mark.parametrize("precision", PRECISIONS.values(), ids=list(PRECISIONS))
def test_no_sine_is_further_off_than_proved(precision: Precision, cosine: bool, rest: Fraction) -> None:
    """Every word against sines of 40 digits; the proof is at most four times what is found."""
    bits = 9
    words = index_words(bits)
    found = sine_table(bits, turn_on_grid(rest, precision), cosine, precision)
    with mpmath.workdps(40):
        function = mpmath.cos if cosine else mpmath.sin
        offset = mpmath.mpf(rest.numerator) / rest.denominator
        errors = [
            abs(mpmath.mpf(float(value)) - function(2 * mpmath.pi * int(word) / 2**bits + offset))
            for word, value in zip(words, found, strict=True)
        ]
    proved = sine_error(bits, rest, cosine, precision)
    assert max(errors) <= proved
    assert proved <= (6 if precision is DOUBLE else 1.01) * max(errors)


@pytest.mark.parametrize("precision", PRECISIONS.values(), ids=list(PRECISIONS))
def test_quarter_turns_are_exact(precision: Precision) -> None:
    """0, 1, 0, −1."""
    assert sine_table(2, 0, False, precision).tolist() == [0.0, 1.0, 0.0, -1.0]
    assert sine_table(2, 0, True, precision).tolist() == [1.0, 0.0, -1.0, 0.0]


@pytest.mark.parametrize("bits", [3, 12, 15])
def test_words_of_more_bits_give_the_same_sines(bits: int) -> None:
    """An angle has one sine, however long its word; a cosine is the sine a quarter of a turn on."""
    words = index_words(bits)
    for precision in PRECISIONS.values():
        sines = float_sines(words, bits, 0, False, precision)
        assert np.array_equal(sines, float_sines(words << 3, bits + 3, 0, False, precision))
        cosines = float_sines(words, bits, 0, True, precision)
        assert np.array_equal(cosines, np.roll(sines, -(1 << bits >> 2)))


def test_longer_words_keep_to_the_error_of_the_polynomial() -> None:
    """What is compared one by one is less than what holds for any word."""
    for bits in (4, 10, 14):
        assert sine_error(bits, Fraction(0), False, SINGLE) <= _polynomial_error(SINGLE)
    assert _polynomial_error(SINGLE) < 4 * SINGLE.unit
    assert _polynomial_error(DOUBLE) < 4 * DOUBLE.unit


def test_pi_is_pi() -> None:
    """To all digits that are stated."""
    with mpmath.workdps(120):
        assert 0 < mpmath.pi - mpmath.mpf(PI.numerator) / PI.denominator < mpmath.mpf(10) ** -91
