import pickle

import numpy as np
import pytest
from diagram_samples import tables
from hypothesis import given

from bddtorque.base.errors import BddTorqueError
from bddtorque.plan.table import Table, permute_bits, restore_bits


def test_values_are_kept_small_and_read_only() -> None:
    given_values = np.arange(-8, 8)
    table = Table(given_values, (4,), 4, True)
    assert table.values.dtype == np.int8
    with pytest.raises(ValueError, match="read-only"):
        table.values[0] = 0
    given_values[0] = 7  # the caller's array stays the caller's
    assert table.values[0] == -8


@pytest.mark.parametrize(
    ("bits", "signed", "dtype"),
    [(8, True, np.int8), (8, False, np.int16), (16, True, np.int16), (32, False, np.int64), (62, True, np.int64)],
)
def test_type_follows_the_format(bits: int, signed: bool, dtype: type) -> None:
    assert Table(np.zeros(2, np.int64), (1,), bits, signed).values.dtype == dtype


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros(8, int), (2,), 3, True), r"shape \(4,\), not \(8,\)"),
        ((np.zeros(4), (2,), 3, True), "integers, not float64"),
        ((np.zeros(4, bool), (2,), 3, True), "integers, not bool"),
        ((np.array([0, 1, 4, 0]), (2,), 3, True), "-4 to 3 .* not 4 at index 2"),
        ((np.array([0, -1, 1, 0]), (2,), 3, False), "0 to 7 .* not -1 at index 1"),
        ((np.array([0, 2**63], np.uint64), (1,), 62, False), "not 9223372036854775808 at index 1"),
        ((np.zeros(1, int), (), 3, True), "input widths"),
        ((np.zeros(4, int), (2, 0), 3, True), "input widths"),
        ((np.zeros(4, int), (27,), 3, True), "1 to 26 together"),
        ((np.zeros(4, int), (2,), 63, True), "output bits must be 1 to 62"),
        ((np.zeros(4, int), (2,), 0, True), "output bits must be 1 to 62"),
    ],
)
def test_nonsense_is_refused(arguments: tuple, message: str) -> None:
    with pytest.raises(BddTorqueError, match=message):
        Table(*arguments)


def test_content_key_tells_tables_apart() -> None:
    values = np.arange(4)
    keys = {
        Table(values, (2,), 3, False).content_key,
        Table(values, (1, 1), 3, False).content_key,
        Table(values, (2,), 4, False).content_key,
        Table(values, (2,), 3, True).content_key,
        Table(values[::-1], (2,), 3, True).content_key,
    }
    assert len(keys) == 5
    # SHA-256 of b"table:2:3:0:" and four bytes; part of the file format, so it must not change
    expected = "03ae492a790392fb0473c99ac4f92582811b6e80f40b3f6025131858977341f1"
    assert Table(values.astype(np.int16), (2,), 3, False).content_key == expected


@given(tables())
def test_pickling_keeps_everything(table: Table) -> None:
    copy = pickle.loads(pickle.dumps(table))
    assert copy.content_key == table.content_key
    assert not copy.values.flags.writeable


@given(tables())
def test_bits_can_be_permuted_and_restored(table: Table) -> None:
    order = tuple(reversed(range(table.input_bits)))
    permuted = permute_bits(table.values, order)
    index = 0b1  # the least significant bit becomes the most significant
    assert permuted[1 << (table.input_bits - 1)] == table.values[index]
    np.testing.assert_array_equal(restore_bits(permuted, order), table.values)
