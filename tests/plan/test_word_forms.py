"""The forms that merge, unroll or weigh: what they are on tables whose structure is known, and what they promise."""

from __future__ import annotations

from itertools import pairwise

import numba
import numpy as np
import pytest
from diagram_samples import from_function, parity, rounded_product, tables
from diagrams import build
from hypothesis import given
from hypothesis import strategies as st

from bddtorque.plan.bdd import signed_edges
from bddtorque.plan.engine import MemoryLimit
from bddtorque.plan.forms import FORMS, Bits, EdgeValued, Form, Lockstep, Runs, check_form, make_form
from bddtorque.plan.forms.bit_forms import LANES, LEVELS, walk_lanes
from bddtorque.plan.rows import digit_cuts, merge_rows, unroll
from bddtorque.plan.table import Table


def lower(name: str, table: Table) -> Form:
    form = make_form(name, table, build(table))
    check_form(form, table)
    return form


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
    halvings = int(np.count_nonzero(np.diff(table.values))).bit_length()
    loads = {"dense": 1, "folded": 1, "runs": halvings + 1, "edge_valued": 30, "bits": 140, "lockstep": 10 + 5 * 8}
    depth = {"edge_valued": 20, "bits": 20, "lockstep": 5}
    assert form.loads == loads[name]
    assert len(form.chain) == depth.get(name, loads[name])
    assert form.constant == (name in {"dense", "folded", "runs", "lockstep"})
    assert 0 < max(form.chain) <= form.bytes


def test_friction_has_three_runs() -> None:
    form = Runs.from_table(from_function(lambda v: 70 * np.sign(v), (7,), 8, True, signed_inputs=True))
    assert form.starts.tolist() == [0, 1, 64]
    assert form.values.tolist() == [0, 70, -70]


def test_a_linear_function_has_one_weighted_node_a_bit() -> None:
    table = from_function(lambda a, b: 3 * a - 5 * b + 7, (5, 4), 9, True)
    form = EdgeValued.from_table(table)
    assert form.node_count == 9
    assert form.offset == 7
    order = (3, 8, 0, 5, 1, 7, 2, 6, 4)
    other = EdgeValued.from_table(table, order)  # the order changes nothing but the sequence of weights
    assert sorted(other.weights[1:]) == sorted([3 << k for k in range(5)] + [-5 << k for k in range(4)])


@given(tables())
def test_a_constant_added_adds_no_weighted_node(table: Table) -> None:
    form = EdgeValued.from_table(table)
    moved = Table(table.values.astype(np.int64) + 1000, table.input_widths, table.output_bits + 12, True)
    other = EdgeValued.from_table(moved)
    assert other.offset == form.offset + 1000
    np.testing.assert_array_equal(other.successors, form.successors)
    np.testing.assert_array_equal(other.weights, form.weights)


def test_digits_share_a_length_but_the_first() -> None:
    assert digit_cuts(12, 6) == [0, 6, 12]
    assert digit_cuts(20, 6) == [0, 2, 8, 14, 20]
    assert digit_cuts(3, 6) == [0, 3]
    assert digit_cuts(1, 2) == [0, 1]


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


@pytest.mark.parametrize("name", ["edge_valued", "lockstep"])
def test_forms_keep_to_the_memory_they_are_given(name: str) -> None:
    table = Table(np.random.default_rng(0).integers(0, 256, 1 << 14), (14,), 8, False)
    diagram = build(table)
    with pytest.raises(MemoryLimit, match="limit"):
        make_form(name, table, diagram, 200_000)


def test_walks_side_by_side_run_inside_a_kernel() -> None:
    table = rounded_product(4, 6)
    steps = Lockstep.from_diagram(build(table))

    @numba.njit
    def kernel(index, positions, successors, roots):
        return walk_lanes(index, positions, 0, len(positions), successors, 0, roots, 0, len(roots))

    for index in (0, 1, 100, 128, 255, 256 + 100, -156):
        assert int(kernel(index, steps.positions, steps.successors, steps.roots)) & 63 == table.values[index % 256] & 63
