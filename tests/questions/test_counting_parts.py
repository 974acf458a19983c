"""The parts of counting: ranges of tables and plans, lists and their combinations, diagrams of blocks."""

from itertools import product

import numpy as np
import pytest
from diagrams import build
from every_state import MODELS, arm, small
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from bddtorque.plan.table import Table
from bddtorque.questions import subject
from bddtorque.questions.box_ranges import BoxRanges, GridExtremes, LineExtremes
from bddtorque.questions.convolving import (
    CountedWord,
    _convolved,
    count_exactly,
    count_in_bins,
    counted,
    distinct,
    prepared,
)
from bddtorque.questions.symmetry import bits_that_matter


@st.composite
def tables(draw, most_words=3):
    widths = draw(st.lists(st.integers(1, 4), min_size=1, max_size=most_words))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    few = draw(st.sampled_from([2, 5, 200]))
    return Table(rng.integers(-few, few, 1 << sum(widths)), tuple(widths), 9, True)


@given(tables(most_words=1), st.data())
def test_extremes_of_a_line_are_exact(table, data):
    size = len(table.values)
    first = data.draw(st.integers(-2 * size, 2 * size))
    length = data.draw(st.integers(1, 2 * size))
    held = [table.values[(first + k) % size] for k in range(length)]
    low, high = LineExtremes(table.values).over([(np.array([first]), np.array([first + length - 1]))])
    assert (low[0], high[0]) == (min(held), max(held))


@given(tables(), st.data())
def test_extremes_of_a_grid_are_sound_and_of_halves_exact(table, data):
    ends, halves = [], []
    for width in table.input_widths:
        first = data.draw(st.integers(-(1 << width), 1 << width))
        ends.append((first, first + data.draw(st.integers(0, (1 << width) - 1))))
        level = data.draw(st.integers(0, width))
        place = data.draw(st.integers(0, (1 << (width - level)) - 1)) << level
        halves.append((place, place + (1 << level) - 1))
    grid = table.values.reshape([1 << width for width in table.input_widths])
    for boxes, exact in ((ends, False), (halves, True)):
        axes = [
            [w % (1 << width) for w in range(a, b + 1)] for (a, b), width in zip(boxes, table.input_widths, strict=True)
        ]
        held = grid[np.ix_(*axes)]
        low, high = GridExtremes(table).over([(np.array([a]), np.array([b])) for a, b in boxes])
        assert low[0] <= held.min() and held.max() <= high[0]
        if exact:
            assert (low[0], high[0]) == (held.min(), held.max())


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=examples(20))
@given(seed=st.integers(0, 2**32))
def test_ranges_hold_every_state_of_their_boxes(name, seed):
    for place in ("tau1", "tau2"):
        check_boxes(subject(small(name), place), np.random.default_rng(seed))


@settings(max_examples=examples(20))
@given(seed=st.integers(0, 2**32))
def test_ranges_hold_wide_words_too(seed):
    check_boxes(subject(arm(12), "tau1"), np.random.default_rng(seed))
    check_boxes(subject(arm(6, source="recursive"), "tau1"), np.random.default_rng(seed))


def check_boxes(asked, rng, boxes=8, states=64):
    lowest = np.array([-(1 << (wire.bits - 1)) for wire in asked.inputs])
    ends = np.sort(rng.integers(lowest, -lowest, (2, boxes, len(lowest))), axis=0)
    low, high = BoxRanges(asked.plan, asked.tables).over(ends[0], ends[1])
    points = rng.integers(ends[0], ends[1] + 1, (states, boxes, len(lowest)))
    total = asked.total({wire.name: points[..., k] for k, wire in enumerate(asked.inputs)})
    assert (low <= total).all() and (total <= high).all()
    alone = BoxRanges(asked.plan, asked.tables).over(ends[0], ends[0])
    at = asked.total({wire.name: ends[0][:, k] for k, wire in enumerate(asked.inputs)})
    assert np.array_equal(alone[0], at) and np.array_equal(alone[1], at)


lists = st.lists(
    st.lists(st.tuples(st.integers(-50, 50), st.integers(1, 5)), min_size=1, max_size=12), min_size=1, max_size=4
)


@given(lists, st.integers(-150, 150), st.integers(1, 64))
def test_combinations_are_counted(given_lists, threshold, bins):
    held = [counted(*map(np.array, zip(*each, strict=True)), unit=3) for each in given_lists]
    expected = 0
    for combination in product(*given_lists):
        if 3 * sum(value for value, _ in combination) >= threshold:
            expected += int(np.prod([count for _, count in combination]))
    task = prepared(held, threshold)
    assert (task if isinstance(task, int) else count_exactly(task)) == expected
    low, high = count_in_bins(held, threshold, bins)
    assert low <= expected <= high
    assert prepared(held, -(10**6)) == np.prod([each.total for each in held], dtype=object)


@given(st.integers(65, 300), st.integers(65, 300), st.integers(0, 2**32), st.sampled_from([3, 2**12, 2**24, 2**28]))
def test_convolutions_are_exact(first, second, seed, most):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, most, first), rng.integers(0, most, second)
    assert np.array_equal(_convolved(x, y), np.convolve(x, y))


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-(2**40), 2**40)), min_size=1, max_size=60), st.booleans())
def test_distinct_rows_are_counted(rows, wide):
    columns = [np.array(column) * (2**20 if wide else 1) for column in zip(*rows, strict=True)]
    found, counts = distinct(columns)
    weighted, sums = distinct(columns, np.full(len(rows), 2))
    expected = sorted({row: rows.count(row) for row in rows}.items())
    scale = 2**20 if wide else 1
    assert [(tuple(int(v) // scale for v in row), int(n)) for *row, n in zip(*found, counts, strict=True)] == expected
    assert all(np.array_equal(a, b) for a, b in zip(found, weighted, strict=True)) and (sums == 2 * counts).all()


def test_lists_are_cut_and_negated():
    held = CountedWord(np.array([-2, 0, 5]), np.array([1, 2, 3]))
    assert held.from_value(0).total == 5 and held.negated().low == -5 and held.negated().counts[0] == 3


@given(tables())
def test_a_diagram_knows_the_bits_that_matter(table):
    matters, by_output_bit = bits_that_matter(table, build(table))
    left = table.input_bits
    index = np.arange(len(table.values))
    for k, width in enumerate(table.input_widths):
        left -= width
        own = [bit for bit in range(width) if (table.values[index ^ (1 << (left + bit))] != table.values).any()]
        assert matters[f"x{k}"] == own
    for bit, count in enumerate(by_output_bit):
        values = table.values.astype(np.int64) >> bit & 1
        assert count == sum(bool((values[index ^ (1 << k)] != values).any()) for k in range(table.input_bits))
