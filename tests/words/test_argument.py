"""What a word stands for: exactly what its format says, whatever sign, offset and range."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from exact import exact_parts, exact_value
from hypothesis import given
from hypothesis import strategies as st

from bddtorque.words.argument import Argument, argument_of
from bddtorque.words.bounded import Turn
from bddtorque.words.formats import Format

FORMATS = [
    Format("range", 5, -1.0, 1.0),
    Format("range", 5, -0.3, 2.1),
    Format("range", 6, 0.1, 0.7, sign=-1),
    Format("range", 4, -3.0, 1.0, sign=-1, offset=0.25),
    Format("angle", 5),
    Format("angle", 6, sign=-1),
    Format("angle", 5, sign=-1, offset=0.3),
    Format("angle", 4, offset=-2.0),
]


@pytest.mark.parametrize("word", FORMATS, ids=lambda word: f"{word.kind}{word.bits}{word.sign:+d}{word.offset:+g}")
def test_an_argument_is_the_exact_value_of_its_format(word):
    argument = argument_of(word)
    assert tuple(argument.range) == (word.lowest, word.highest)
    words = argument.words()
    assert words.tolist() == [*range(word.highest + 1), *range(word.lowest, 0)]  # the order of a table's index
    found = argument.bounded(words)
    with mpmath.workdps(40):
        for place, each in enumerate(words.tolist()):
            turns, rest = exact_parts(word, each)
            value = exact_value(argument, each)
            assert (
                abs(
                    value
                    - (
                        2 * mpmath.pi * turns.numerator / turns.denominator
                        + mpmath.mpf(rest.numerator) / rest.denominator
                    )
                )
                < mpmath.mpf(10) ** -35
            )
            assert abs(value - word.dequantise([each])[0]) < 1e-14 * (1 + abs(value))
            if isinstance(found, Turn):
                held = Fraction(int(found.numerator[place]), 1 << found.bits)
                assert (held - turns).denominator == 1 and found.rest == rest
            else:
                error = abs(value - mpmath.mpf(float(found.value[place])))
                assert error <= mpmath.mpf(float(found.radius[place]))
            if argument.kind == "word":
                assert argument.interval().low <= value <= argument.interval().high


@given(
    st.fractions(Fraction(1, 10**6), 10**3, max_denominator=10**9),
    st.fractions(-(10**3), 10**3, max_denominator=10**9),
    st.sampled_from([1, -1]),
    st.integers(2, 12),
)
def test_radius_and_interval_hold_for_any_rational(scale, centre, sign, bits):
    argument = Argument("word", bits, sign * scale, centre)
    words = np.array([argument.range.low, -1, 0, 1, argument.range.high])
    found, reach = argument.bounded(words), argument.interval()
    for word, value, radius in zip(words.tolist(), found.value, found.radius, strict=True):
        true = argument.scale * word + argument.centre
        assert abs(true - Fraction(float(value))) <= Fraction(float(radius))
        assert Fraction(reach.low) <= true <= Fraction(reach.high)


def test_an_argument_is_plain_data():
    assert Argument("word", 5, Fraction(1, 3), Fraction(-2)).to_plain() == ["word", 5, "1/3", "-2"]
