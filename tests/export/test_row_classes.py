"""Rows and columns of a table that are alike, kept once."""

from __future__ import annotations

import numpy as np
import pytest

from bddtorque.export.row_classes import RowClasses, split_at
from bddtorque.plan.table import Table


def test_rows_and_columns_that_are_alike_are_one() -> None:
    rows, columns = np.arange(32) % 3, np.arange(16) // 6
    table = Table((10 * rows[:, None] + columns).reshape(-1), (5, 4), 6, False)
    classes = RowClasses.from_table(table)
    assert classes.words.tolist() == [0, 1, 2, 10, 11, 12, 20, 21, 22]
    assert classes.rows.tolist() == (rows * 3).tolist()
    assert classes.columns.tolist() == columns.tolist()


@pytest.mark.parametrize(
    ("widths", "bits"), [((10, 10), 10), ((2, 9), 2), ((4, 4, 4), 4), ((2, 3, 9), 5), ((1, 1, 1, 5), 3)]
)
def test_where_an_index_is_split(widths: tuple[int, ...], bits: int) -> None:
    assert split_at(widths) == bits


@pytest.mark.parametrize("distinct", [1, 3, 1000])
def test_classes_are_the_distinct_rows_and_columns(distinct: int) -> None:
    values = np.random.default_rng(distinct).integers(-distinct, distinct, (8, 16))[:, np.arange(64) % 16]
    table = Table(values.reshape(-1), (3, 2, 4), 12, True)
    classes = RowClasses.from_table(table)
    np.testing.assert_array_equal(classes.expand(), table.values)
    square = table.values.reshape(len(classes.rows), len(classes.columns))
    columns = int(classes.columns.max()) + 1
    assert columns == len(np.unique(square, axis=1).T)
    assert len(classes.words) == columns * len(np.unique(square, axis=0))
