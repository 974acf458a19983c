import pickle
import tracemalloc

import numpy as np
import pytest
from diagram_samples import from_function, ordered_tables, parity, rounded_product
from hypothesis import given

from bddtorque.base.errors import BddTorqueError
from bddtorque.plan.bdd import Diagram, build
from bddtorque.plan.consing import memory_needed, most_nodes
from bddtorque.plan.forms import Bits, MultiTerminal
from bddtorque.plan.table import Table, permute_bits


def subfunctions(table: Table, order: tuple[int, ...], cut: int) -> list[set[bytes]]:
    """For each output bit, the distinct functions left when the first `cut` variables are fixed: by brute force."""
    words = permute_bits(table.values.astype(np.int64), order).reshape(1 << cut, -1)
    return [{row.tobytes() for row in (words >> bit) & 1} for bit in range(table.output_bits)]


def essential(row: bytes) -> bool:
    """Whether a function depends on its first variable."""
    return row[: len(row) // 2] != row[len(row) // 2 :]


def negated(row: bytes) -> bytes:
    return (1 - np.frombuffer(row, np.int64)).tobytes()


@given(ordered_tables())
def test_expands_to_its_table(sample: tuple[Table, tuple[int, ...]]) -> None:
    table, order = sample
    diagram = build(table, order)
    np.testing.assert_array_equal(diagram.expand(), table.values)
    assert diagram.order == order
    assert diagram.node_count <= most_nodes(table.input_bits, table.output_bits)


@given(ordered_tables())
def test_level_widths_and_crossings_are_those_of_brute_force(sample: tuple[Table, tuple[int, ...]]) -> None:
    table, order = sample
    diagram = build(table, order)
    for level in range(table.input_bits):
        rows = set().union(*subfunctions(table, order, level))
        classes = {frozenset([row, negated(row)]) for row in rows if essential(row)}
        assert diagram.level_widths[level] == len(classes)
    for cut in range(table.input_bits + 1):
        assert diagram.crossings[cut] == len(set().union(*subfunctions(table, order, cut)))
    assert all(2**rail >= count > 2 ** (rail - 1) for rail, count in zip(diagram.rails, diagram.crossings, strict=True))


@given(ordered_tables())
def test_canonical(sample: tuple[Table, tuple[int, ...]]) -> None:
    table, order = sample
    diagram = build(table, order)
    nodes = list(zip(*(array[1:].tolist() for array in (diagram.level, diagram.low, diagram.high)), strict=True))
    assert len(set(nodes)) == len(nodes)
    assert all(low != high and low % 2 == 0 for _, low, high in nodes)
    assert [(-level, low, high) for level, low, high in nodes] == sorted((-node[0], *node[1:]) for node in nodes)
    again = Diagram.from_arrays(**diagram.arrays(), signed=diagram.signed)
    assert again.content_key == diagram.content_key == pickle.loads(pickle.dumps(diagram)).content_key
    # the numbering follows from the functions: the same bits in another sequence give the same nodes
    reversed_bits = sum(((table.values.astype(np.int64) >> bit) & 1) << (table.output_bits - 1 - bit)
                        for bit in range(table.output_bits))  # fmt: skip
    mirror = build(Table(reversed_bits, table.input_widths, table.output_bits, False), order)
    np.testing.assert_array_equal(mirror.low, diagram.low)
    np.testing.assert_array_equal(mirror.high, diagram.high)
    np.testing.assert_array_equal(mirror.roots[::-1], diagram.roots)


@given(ordered_tables())
def test_depth_is_the_most_tests_of_any_walk(sample: tuple[Table, tuple[int, ...]]) -> None:
    table, order = sample
    diagram = build(table, order)
    tests = Bits.from_diagram(diagram).count_tests(np.arange(1 << table.input_bits))
    assert tests.max() == diagram.depth <= table.input_bits


def test_constant_table_has_no_nodes() -> None:
    diagram = build(Table(np.full(16, 5), (4,), 3, False))
    assert diagram.node_count == 0
    assert diagram.roots.tolist() == [1, 0, 1]
    assert diagram.depth == 0
    assert diagram.level_widths == (0, 0, 0, 0)
    assert diagram.crossings == (2, 2, 2, 2, 2)
    np.testing.assert_array_equal(diagram.expand(), 5)


@pytest.mark.parametrize("bits", [1, 2, 7, 12])
def test_parity_has_one_node_a_variable(bits: int) -> None:
    diagram = build(parity(bits))
    assert diagram.node_count == bits
    assert diagram.depth == bits
    assert diagram.level_widths == (1,) * bits


def test_order_must_be_a_permutation() -> None:
    table = parity(3)
    for order in [(0, 1), (0, 1, 1), (1, 2, 3), (0, 1, 2, 3)]:
        with pytest.raises(BddTorqueError, match="permutation of 0 to 2"):
            build(table, order)


def test_62_output_bits() -> None:
    values = np.array([-(2**61), 2**61 - 1, -1, 0])
    diagram = build(Table(values, (2,), 62, True))
    np.testing.assert_array_equal(diagram.expand(), values)


def test_memory_is_refused_before_it_is_taken() -> None:
    table = Table(np.random.default_rng(1).integers(0, 256, 1 << 16), (16,), 8, False)
    with pytest.raises(BddTorqueError, match=r"16 input bits needs .* bytes to reduce, the limit is 1000000"):
        build(table, memory_limit=1_000_000)
    with pytest.raises(BddTorqueError, match=r"nodes and more need .* raise the limit"):
        build(table, memory_limit=memory_needed(16, 8, nodes=5000))
    with pytest.raises(BddTorqueError, match="raise the limit"):
        MultiTerminal.from_table(table, memory_limit=memory_needed(16, 8, nodes=5000))


@pytest.mark.parametrize("spread", [1, 256])
def test_memory_stays_below_what_was_said(spread: int) -> None:
    table = Table(np.random.default_rng(1).integers(0, spread, 1 << 17), (17,), 8, False)
    nodes = build(table).node_count
    needed = memory_needed(17, 8, nodes)
    assert needed <= memory_needed(17, 8)
    tracemalloc.start()
    build(table, tuple(reversed(range(17))), memory_limit=needed + needed // 10)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= needed + needed // 10


def test_growth_keeps_every_node() -> None:
    table = rounded_product(8, 10)  # more nodes than the first hash table holds
    diagram = build(table)
    assert diagram.node_count > 5000
    np.testing.assert_array_equal(diagram.expand(), table.values)


def test_arrays_are_those_of_the_documented_conventions() -> None:
    # x and not y, x the top variable: one node on y, one on x
    diagram = build(from_function(lambda x, y: x & ~y & 1, (1, 1), 1, False))
    assert diagram.level.tolist() == [2, 1, 0]
    assert diagram.low.tolist() == [0, 0, 0]
    assert diagram.high.tolist() == [0, 1, 3]  # y: constant true; x: not y
    assert diagram.roots.tolist() == [4]
    assert diagram.positions.tolist() == [1, 0]
