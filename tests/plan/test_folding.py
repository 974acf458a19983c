import numpy as np
import pytest
from diagram_samples import from_function, tables
from hypothesis import given
from hypothesis import strategies as st

from bddtorque.plan.forms.word_forms import Folded, fold_word
from bddtorque.plan.table import Table
from bddtorque.words.integer_range import word_range


def angle_table(function: object, bits: int, output_bits: int, scale: float) -> Table:
    """Round to nearest, ties away from zero, as tables of real functions are."""

    def values(word: np.ndarray) -> np.ndarray:
        exact = scale * function(2 * np.pi * word / (1 << bits))  # type: ignore[operator]
        return np.sign(exact) * np.floor(np.abs(exact) + 0.5)

    return from_function(values, (bits,), output_bits, True, signed_inputs=True)


def check_round_trip(table: Table) -> None:
    folded = Folded.from_table(table)
    np.testing.assert_array_equal(folded.expand(), table.values)
    np.testing.assert_array_equal(folded.walk(np.arange(len(table.values))), table.values)
    assert len(folded.values) <= len(table.values)
    assert len(folded.values) == np.prod(folded.rules[:, 1])


@given(tables())
def test_any_table_comes_back(table: Table) -> None:
    check_round_trip(table)


@st.composite
def symmetric_tables(draw: st.DrawFn) -> tuple[Table, int]:
    """One-word tables with a symmetry about a centre and any value at all at the lowest word; the centre as well."""
    bits, output_bits = draw(st.integers(2, 7)), draw(st.integers(2, 6))
    size, half = 1 << bits, 1 << (bits - 1)
    lowest, highest = word_range(output_bits, True)
    sign, centre = draw(st.sampled_from([1, -1])), draw(st.sampled_from([0, size >> 2]))
    values = np.zeros(size, np.int64)
    for magnitude in range(half):
        value = draw(st.integers(-highest, highest))
        values[(centre - magnitude) % size] = sign * value
        values[(centre + magnitude) % size] = value
    values[(centre + half) % size] = draw(st.integers(lowest, highest))
    return Table(values, (bits,), output_bits, True), centre


@given(symmetric_tables())
def test_even_odd_and_mirrored_tables_fold_whatever_the_lowest_word_holds(sample: tuple[Table, int]) -> None:
    table, _ = sample
    folded = Folded.from_table(table)
    assert len(folded.values) <= (len(table.values) >> 1) + 1
    check_round_trip(table)


@pytest.mark.parametrize("function", [np.cos, np.sin])
@pytest.mark.parametrize("bits", [2, 3, 8, 12])
def test_sine_and_cosine_fold_to_a_quarter_wave(function: object, bits: int) -> None:
    table = angle_table(function, bits, 12, 2047.0)
    assert len(Folded.from_table(table).values) == (1 << bits >> 2) + 1
    check_round_trip(table)


def test_a_shifted_sine_is_mirrored_but_neither_even_nor_odd() -> None:
    table = angle_table(lambda angle: np.sin(angle) + 0.25, 8, 12, 1000.0)
    folded = Folded.from_table(table)
    assert len(folded.values) == 129
    assert folded.rules[0, 2] == 64  # the centre: a quarter turn
    check_round_trip(table)


def test_saturated_cosine_is_still_even() -> None:
    # +1 saturates and -1 does not: no longer mirrored, and folding must notice
    table = from_function(
        lambda word: np.minimum(np.rint(128 * np.cos(2 * np.pi * word / 256)), 127), (8,), 8, True, True
    )
    assert len(Folded.from_table(table).values) == 129
    check_round_trip(table)


def test_odd_table_keeps_its_lowest_word() -> None:
    identity = from_function(lambda word: word, (6,), 6, True, True)
    folded = Folded.from_table(identity)
    assert len(folded.values) == 33
    assert folded.values.dtype == np.int8
    assert folded.walk(np.array([32, 31, 33])).tolist() == [-32, 31, -31]  # word -32 has no mirror
    check_round_trip(identity)


def test_lowest_number_of_the_type_has_no_negative() -> None:
    # int8: -(-128) would wrap to -128 and look odd
    values = np.array([0, -128, 5, -128])
    table = Table(values, (2,), 8, True)
    folded = Folded.from_table(table)
    assert tuple(folded.rules[0, 3:]) == (1, 0)  # even
    check_round_trip(table)


def test_product_folds_along_both_words() -> None:
    table = from_function(lambda a, b: a * b, (5, 4), 9, True, True)
    assert len(Folded.from_table(table).values) == 17 * 9
    check_round_trip(table)


def test_middle_word_folds_alone() -> None:
    random = np.random.default_rng(5)
    outer, inner = random.integers(1, 9, (8, 1, 1)), random.integers(1, 9, (1, 1, 4))
    squares = np.array([0, 1, 4, 9, 16, 9, 4, 1]).reshape(1, 8, 1)
    table = Table((outer * inner * squares + outer).reshape(-1), (3, 3, 2), 12, False)
    assert Folded.from_table(table).rules[:, 1].tolist() == [8, 5, 4]
    check_round_trip(table)


@pytest.mark.parametrize("value", [0, 5, -8])
def test_constant_table(value: int) -> None:
    table = Table(np.full(64, value), (6,), 4, True)
    assert len(Folded.from_table(table).values) == 17
    check_round_trip(table)


@pytest.mark.parametrize("widths", [(1,), (1, 1), (2,), (1, 2)])
def test_the_narrowest_words(widths: tuple[int, ...]) -> None:
    check_round_trip(Table(np.arange(1 << sum(widths)), widths, 4, False))
    check_round_trip(Table(np.zeros(1 << sum(widths), int), widths, 4, False))


def test_words_wrap_and_wild_ones_stay_inside() -> None:
    folded = Folded.from_table(angle_table(np.cos, 8, 10, 500.0))
    rule = folded.rules[0]
    wild = np.array([-(2**62), -1000, -129, 128, 255, 256, 2**62 + 5])
    for word in wild.tolist():
        assert fold_word(word, 8, *rule[2:]) == fold_word(word % 256, 8, *rule[2:])
        assert 0 <= fold_word(word, 8, *rule[2:])[0] < len(folded.values)
    np.testing.assert_array_equal(folded.walk(wild), folded.walk(wild % 256))
