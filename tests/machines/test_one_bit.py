"""The one-bit processor and the word-wide one: right at every input, and counted as they run."""

import numpy as np
import pytest
from compiled import arm
from diagrams import build
from hypothesis import given
from hypothesis import strategies as st

from bddtorque.plan.forms.bit_forms import Bits
from bddtorque.plan.table import Table
from machines.boolean.one_bit import OUTPUT, one_bit_program
from machines.boolean.word_wide import bit_test_program, table_program, word_test_program


@st.composite
def tables(draw):
    widths = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    bits, signed = draw(st.integers(1, 5)), draw(st.booleans())
    low = -(1 << (bits - 1)) if signed else 0
    size = 1 << sum(widths)
    entries = st.integers(low, low + (1 << bits) - 1)
    values = draw(st.lists(entries, min_size=size, max_size=size))
    order = draw(st.permutations(range(sum(widths))))
    return Table(np.array(values), tuple(widths), bits, signed), tuple(order)


def arm_tables():
    model = arm(5, workers=1)
    return list(zip(model.tables, model.diagrams, strict=True))


def every_index(table):
    return np.arange(len(table.values), dtype=np.int64)


def check_one_bit(table, diagram):
    program = one_bit_program(diagram)
    bits, executed = program.run(every_index(table))
    words = table.values.astype(np.int64)
    assert np.array_equal(bits, (words[:, None] >> np.arange(table.output_bits)) & 1)
    # one instruction a test, one for the output, and a jump now and then
    tests = Bits.from_diagram(diagram).count_tests(every_index(table))
    assert (executed >= tests + 1).all() and (executed <= 2 * tests + 1).all()
    assert program.tested.max() <= table.input_bits and program.tested.min() == OUTPUT
    for bit in range(table.output_bits):  # a program for this bit alone gives the same
        alone = one_bit_program(diagram, [bit])
        assert np.array_equal(alone.run(every_index(table))[0][:, 0], bits[:, bit])
    return program


def check_word_wide(table, diagram):
    words = table.values.astype(np.int64) & ((1 << table.output_bits) - 1)
    bit_tests = bit_test_program(diagram, table.input_widths)
    one_walk = word_test_program(table, diagram.order)
    loaded = table_program(table)
    for program in (bit_tests, one_walk, loaded):
        found, executed = program.run(every_index(table))
        assert np.array_equal(found, words) and executed.min() > 0
    assert (loaded.run(every_index(table))[1] == 2 * len(table.input_widths) + 1).all()
    assert one_walk.run(every_index(table))[1].max() <= 3 * table.input_bits + 2
    assert loaded.data_bits == len(words) * table.output_bits


@given(tables())
def test_random_tables_at_every_input(given_):
    table, order = given_
    diagram = build(table, order)
    check_one_bit(table, diagram)
    check_word_wide(table, diagram)


def test_every_block_of_the_arm_at_every_input():
    for table, diagram in arm_tables():
        program = check_one_bit(table, diagram)
        check_word_wide(table, diagram)
        # complement edges taken apart: no node more than twice; ends and jumps come on top
        branches = len(program) - program.jumps - np.count_nonzero(program.tested == OUTPUT)
        assert diagram.node_count <= branches <= 2 * diagram.node_count


def test_the_width_of_instructions_holds_what_they_name():
    for _, diagram in arm_tables():
        program = one_bit_program(diagram)
        address_bits = program.instruction_bits - 1 - program.input_bits.bit_length()
        assert program.argument.max() < 1 << address_bits
        assert program.tested.max() < 1 << program.input_bits.bit_length()
        assert program.code_bits == len(program) * program.instruction_bits


def test_a_constant_and_a_single_bit():
    constant = Table(np.ones(4, dtype=np.int64), (2,), 1, False)
    bits, executed = one_bit_program(build(constant)).run(every_index(constant))
    assert (bits == 1).all() and (executed == 1).all()
    same = Table(np.array([0, 0, 1, 1]), (2,), 1, False)
    program = one_bit_program(build(same))
    assert len(program) == 3 and program.jumps == 0  # BRANCH, OUTPUT 0, OUTPUT 1
    assert np.array_equal(program.run(every_index(same))[0][:, 0], same.values)


@pytest.mark.parametrize("bits", [5, pytest.param(8, marks=pytest.mark.slow)])
def test_an_output_bit_takes_at_most_v_tests(bits):
    """F42, on every block of the arm: walked, on the longest path, and on the one-bit processor without its jumps."""
    model = arm(bits, workers=1)
    for table, diagram in zip(model.tables, model.diagrams, strict=True):
        tests = Bits.from_diagram(diagram).count_tests(every_index(table))
        assert tests.max() <= table.input_bits and diagram.depth <= table.input_bits
        assert tests.max() == diagram.depth  # the longest path is taken by some input
