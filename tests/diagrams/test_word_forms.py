"""The forms that merge, unroll or weigh: what they are on tables whose structure is known, and what they promise."""

from __future__ import annotations

from itertools import pairwise

import numba
import numpy as np
import pytest
from diagram_samples import from_function, parity, rounded_product, tables
from hypothesis import given
from hypothesis import strategies as st

from bddtorque.plan.bdd import build, signed_edges
from bddtorque.plan.consing import MemoryLimit
from bddtorque.plan.forms import (
    FORMS,
    Bits,
    Classes,
    EdgeValued,
    Lockstep,
    MultiTerminal,
    Radix4,
    Radix16,
    Radix64,
    lower,
)
from bddtorque.plan.forms.classes import class_place, split_at
from bddtorque.plan.forms.edge_valued import walk_weights
from bddtorque.plan.forms.lockstep import LANES, LEVELS, walk_lanes
from bddtorque.plan.forms.radix import walk_digits
from bddtorque.plan.rows import digit_cuts, merge_rows, unroll
from bddtorque.plan.table import Table


def identity(bits: int) -> Table:
    return Table(np.arange(1 << bits), (bits,), bits, False)


def far_apart() -> Table:
    """A table whose words, and their differences, do not fit in 32 bits."""
    ends = np.array([2**60, -(2**60), 0, 2**60 - 1])
    return Table(ends[np.arange(64) * 7 % 4], (3, 3), 62, True)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize(
    "table",
    [
        Table(np.zeros(2, np.int64), (1,), 1, False),
        Table(np.array([0, -1]), (1,), 1, True),
        Table(np.full(8, 5), (1, 2), 3, False),
        Table(np.full(8, -4), (3,), 3, True),
        parity(7),
        identity(11),
        far_apart(),
    ],
    ids=["false", "one bit", "constant", "lowest", "parity", "identity", "far apart"],
)
def test_small_and_extreme_tables(name: str, table: Table) -> None:
    form = lower(name, table)
    np.testing.assert_array_equal(form.walk(np.arange(len(table.values))), table.values)
    outside = np.arange(len(table.values)) + 3 * len(table.values)  # bits above the table's are ignored
    np.testing.assert_array_equal(form.walk(outside), table.values)
    np.testing.assert_array_equal(form.walk(outside - 8 * len(table.values)), table.values)  # below zero as well


@pytest.mark.parametrize("name", FORMS)
def test_every_form_says_what_it_costs(name: str) -> None:
    table = rounded_product(5, 7)
    form = lower(name, table)
    loads = {"dense": 1, "folded": 1, "classes": 3, "radix64": 2, "radix16": 3, "radix4": 5, "multi_terminal": 21}
    loads |= {"edge_valued": 30, "bits": 140, "lockstep": 10 + 5 * 8}
    depth = {"classes": 2, "edge_valued": 20, "bits": 20, "lockstep": 5}
    assert form.loads == loads[name]
    assert len(form.chain) == depth.get(name, loads[name])
    assert form.constant == (name in {"dense", "folded", "classes", "radix4", "radix16", "radix64", "lockstep"})
    assert 0 < max(form.chain) <= form.bytes


def test_a_linear_function_has_one_weighted_node_a_bit() -> None:
    table = from_function(lambda a, b: 3 * a - 5 * b + 7, (5, 4), 9, True)
    form = EdgeValued.from_table(table)
    assert form.node_count == 9
    assert form.offset == 7
    order = (3, 8, 0, 5, 1, 7, 2, 6, 4)
    other = EdgeValued.from_table(table, order)  # the order changes nothing but the sequence of weights
    assert sorted(other.weights[1:]) == sorted([3 << k for k in range(5)] + [-5 << k for k in range(4)])
    assert MultiTerminal.from_table(table).node_count > 9


@given(tables())
def test_a_constant_added_adds_no_weighted_node(table: Table) -> None:
    form = EdgeValued.from_table(table)
    moved = Table(table.values.astype(np.int64) + 1000, table.input_widths, table.output_bits + 12, True)
    other = EdgeValued.from_table(moved)
    assert other.offset == form.offset + 1000
    np.testing.assert_array_equal(other.successors, form.successors)
    np.testing.assert_array_equal(other.weights, form.weights)
    assert form.node_count <= max(MultiTerminal.from_table(table).node_count, 0)


@given(tables(), st.sampled_from([Radix4, Radix16, Radix64]))
def test_rows_of_digits_are_the_distinct_functions_of_what_is_left(table: Table, form: type[Radix4]) -> None:
    made = form.from_table(table)
    cuts = digit_cuts(table.input_bits, form.digit_bits)
    sizes = []
    for above, below in pairwise(cuts):
        functions = np.unique(table.values.reshape(1 << above, -1), axis=0)
        sizes.append(len(functions) << (below - above))
    assert [made.step_bytes[k] // 4 for k in range(len(sizes) - 1)] == sizes[:-1]
    assert len(made.words) == sizes[-1]
    assert made.loads == -(-table.input_bits // form.digit_bits)


def test_digits_share_a_length_but_the_first() -> None:
    assert digit_cuts(12, 6) == [0, 6, 12]
    assert digit_cuts(20, 6) == [0, 2, 8, 14, 20]
    assert digit_cuts(3, 6) == [0, 3]
    assert digit_cuts(1, 2) == [0, 1]


def test_rows_and_columns_that_are_alike_are_one() -> None:
    rows, columns = np.arange(32) % 3, np.arange(16) // 6
    table = Table((10 * rows[:, None] + columns).reshape(-1), (5, 4), 6, False)
    form = Classes.from_table(table)
    assert (form.row_bits, form.column_bits) == (5, 4)
    assert form.words.tolist() == [0, 1, 2, 10, 11, 12, 20, 21, 22]
    assert form.classes.tolist() == [*(rows * 3), *columns]
    assert form.bytes == 2 * (32 + 16) + 9


@pytest.mark.parametrize(
    ("widths", "bits"),
    [((12,), 6), ((7,), 4), ((1,), 1), ((10, 10), 10), ((2, 9), 2), ((4, 4, 4), 4), ((2, 3, 9), 5), ((1, 1, 1, 5), 3)],
)
def test_where_an_index_is_split(widths: tuple[int, ...], bits: int) -> None:
    assert split_at(widths) == bits


@given(tables())
def test_classes_are_the_distinct_rows_and_columns(table: Table) -> None:
    form = Classes.from_table(table)
    square = table.values.reshape(1 << form.row_bits, 1 << form.column_bits)
    columns = int(form.classes[1 << form.row_bits :].max()) + 1
    assert columns == len(np.unique(square, axis=1).T)
    assert len(form.words) == columns * len(np.unique(square, axis=0))


@given(tables())
def test_walks_side_by_side_read_every_level(table: Table) -> None:
    diagram = build(table)
    form = Lockstep.from_diagram(diagram)
    steps = pairwise(digit_cuts(table.input_bits, LEVELS))  # a row for each function that crosses a cut
    assert len(form.successors) == sum(diagram.crossings[above] << (below - above) for above, below in steps)
    assert len(form.roots) % LANES == 0
    plain = Bits.from_diagram(diagram)
    everything = np.arange(1 << table.input_bits)
    np.testing.assert_array_equal(form.walk(everything), plain.walk(everything))


@given(tables(), st.integers(1, 4))
def test_unrolling_by_any_step(table: Table, size: int) -> None:
    diagram = build(table)
    cuts = [*range(0, table.input_bits, size), table.input_bits]
    edges = signed_edges(diagram.level, diagram.low, diagram.high)
    entries, steps, constants = unroll(edges, diagram.roots, cuts, 1 << 30)
    for bit in range(table.output_bits):
        reached = entries[bit].reshape(1)
        for step in steps:
            reached = step[reached].reshape(-1)
        np.testing.assert_array_equal(constants[reached], (table.values >> bit) & 1)
    assert [len(step) for step in steps] == [diagram.crossings[cut] for cut in cuts[:-1]]


def test_merged_rows_are_numbered_as_they_are_met() -> None:
    rows = np.array([[1, 2], [3, 4], [1, 2], [-1, 2], [3, 4]])
    classes, kept = merge_rows(rows)
    assert classes.tolist() == [0, 1, 0, 2, 1]
    assert kept.tolist() == [[1, 2], [3, 4], [-1, 2]]
    assert merge_rows(rows[:1])[0].tolist() == [0]


@pytest.mark.parametrize("name", sorted(set(FORMS) - {"dense", "folded"}))
def test_forms_keep_to_the_memory_they_are_given(name: str) -> None:
    table = Table(np.random.default_rng(0).integers(0, 256, 1 << 14), (14,), 8, False)
    with pytest.raises(MemoryLimit, match="limit"):
        FORMS[name].from_table(table, None, 200_000)


def test_walkers_of_all_word_forms_run_inside_a_kernel() -> None:
    table = rounded_product(4, 6)
    steps, weighted = Lockstep.from_table(table), EdgeValued.from_table(table)
    digits, classes = Radix16.from_table(table), Classes.from_table(table)
    arrays = (steps.positions, steps.successors, steps.roots, weighted.positions, weighted.successors)

    @numba.njit
    def kernel(index, arrays, weights, root, children, numbers):
        positions, pairs, roots, tested, following = arrays
        return (
            walk_lanes(index, positions, 0, len(positions), pairs, 0, roots, 0, len(roots)),
            walk_weights(root, index, tested, 0, following, 0, weights, 0),
            walk_digits(index, 8, 4, children, 0),
            class_place(index, 4, 4, numbers, 0, 16),
        )

    for index in (0, 1, 100, 128, 255, 256 + 100, -156):
        bits, weight, place, where = kernel(
            index, arrays, weighted.weights, weighted.root, digits.children, classes.classes
        )
        wanted = table.values[index % 256]
        assert int(bits) & 63 == wanted & 63
        assert weight + weighted.offset == wanted
        assert digits.words[place] == classes.words[where] == wanted
