import pickle
import tracemalloc

import numpy as np
import pytest
from diagram_samples import every_engine, from_function, ordered_tables, parity
from diagrams import build
from hypothesis import given

from bddtorque.base.errors import BddTorqueError
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.engine import ENGINES, max_nodes, memory_needed
from bddtorque.plan.forms import Bits
from bddtorque.plan.reduction import reduce
from bddtorque.plan.table import Table, permute_bits


def subfunctions(table: Table, order: tuple[int, ...], cut: int) -> list[set[bytes]]:
    """For each output bit, the distinct functions left when the first `cut` variables are fixed: by brute force."""
    words = permute_bits(table.values.astype(np.int64), order).reshape(1 << cut, -1)
    return [{row.tobytes() for row in (words >> bit) & 1} for bit in range(table.output_bits)]


def essential(row: bytes) -> bool:
    """Tell if a function depends on its first variable."""
    return row[: len(row) // 2] != row[len(row) // 2 :]


def negated(row: bytes) -> bytes:
    return (1 - np.frombuffer(row, np.int64)).tobytes()


@every_engine
@given(sample=ordered_tables())
def test_expands_to_its_table(engine: str, sample: tuple[Table, tuple[int, ...]]) -> None:
    table, order = sample
    diagram = build(table, order, engine)
    np.testing.assert_array_equal(diagram.expand(), table.values)
    assert diagram.order == order
    assert diagram.node_count <= max_nodes(table.input_bits, table.output_bits)


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


@every_engine
@given(sample=ordered_tables())
def test_canonical(engine: str, sample: tuple[Table, tuple[int, ...]]) -> None:
    table, order = sample
    diagram = build(table, order, engine)
    nodes = list(zip(*(array[1:].tolist() for array in (diagram.level, diagram.low, diagram.high)), strict=True))
    assert len(set(nodes)) == len(nodes)
    assert all(low != high and low % 2 == 0 for _, low, high in nodes)
    assert [(-level, low, high) for level, low, high in nodes] == sorted((-node[0], *node[1:]) for node in nodes)
    again = Diagram.from_arrays(**diagram.arrays(), signed=diagram.signed)
    assert again.content_key == diagram.content_key == pickle.loads(pickle.dumps(diagram)).content_key
    # the numbering follows from the functions: the same bits in another sequence give the same nodes
    reversed_bits = sum(((table.values.astype(np.int64) >> bit) & 1) << (table.output_bits - 1 - bit)
                        for bit in range(table.output_bits))  # fmt: skip
    mirror = build(Table(reversed_bits, table.input_widths, table.output_bits, False), order, engine)
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


@every_engine
def test_memory_is_refused_before_it_is_taken(engine: str) -> None:
    table = Table(np.random.default_rng(1).integers(0, 256, 1 << 16), (16,), 8, False)
    with pytest.raises(BddTorqueError, match=r"16 input bits needs .* bytes to reduce, the limit is 1000000"):
        build(table, engine=engine, memory_limit=1_000_000)
    with pytest.raises(BddTorqueError, match="more than the 5000 nodes that the memory limit leaves room for"):
        build(table, engine=engine, memory_limit=(40 << 16) + 5000 * ENGINES[engine].node_bytes)


@every_engine
@pytest.mark.parametrize("spread", [1, 256])
def test_memory_stays_below_what_was_said(engine: str, spread: int) -> None:
    """Of CUDD's own memory nothing is seen here; autoref is Python throughout."""
    table = Table(np.random.default_rng(1).integers(0, spread, 1 << 14), (14,), 8, False)
    nodes = build(table).node_count
    assert memory_needed(14, 8, nodes) <= memory_needed(14, 8)
    needed = (40 << 14) + nodes * ENGINES[engine].node_bytes
    tracemalloc.start()
    reduce(table, engine, memory_limit=needed + needed // 10)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= needed + (1 << 20)


def test_arrays_are_those_of_the_documented_conventions() -> None:
    # x and not y, x the top variable: one node on y, one on x
    diagram = build(from_function(lambda x, y: x & ~y & 1, (1, 1), 1, False))
    assert diagram.level.tolist() == [2, 1, 0]
    assert diagram.low.tolist() == [0, 0, 0]
    assert diagram.high.tolist() == [0, 1, 3]  # y: constant true; x: not y
    assert diagram.roots.tolist() == [4]
    assert diagram.positions.tolist() == [1, 0]
