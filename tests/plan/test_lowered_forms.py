import dataclasses
import pickle

import numba
import numpy as np
import pytest
from diagram_samples import ordered_tables, rounded_product
from diagrams import build
from hypothesis import given

from bddtorque.base.errors import BddTorqueError
from bddtorque.plan.forms import FORMS, Bits, Dense, check_form, make_form
from bddtorque.plan.forms.bit_forms import walk_bit, walk_word
from bddtorque.plan.forms.form import sample_indices
from bddtorque.plan.reduction import reduce
from bddtorque.plan.table import Table


@pytest.mark.parametrize("name", FORMS)
@given(sample=ordered_tables())
def test_every_form_is_its_table(name: str, sample: tuple[Table, tuple[int, ...]]) -> None:
    table, order = sample
    form = make_form(name, table, build(table, order))
    np.testing.assert_array_equal(form.expand(), table.values)
    np.testing.assert_array_equal(form.walk(np.arange(1 << table.input_bits)), table.values)
    check_form(form, table)
    assert form.name == name
    assert form.bytes > 0
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(form)).expand(), table.values)


@given(ordered_tables())
def test_walkers_one_by_one(sample: tuple[Table, tuple[int, ...]]) -> None:
    table, order = sample
    bits = Bits.from_diagram(build(table, order))
    for index in range(0, 1 << table.input_bits, 7):
        word = int(table.values[index])
        for bit in range(table.output_bits):
            found, tests = walk_bit(int(bits.roots[bit]), index, bits.positions, bits.successors)
            assert found == (word >> bit) & 1
            assert 0 <= tests <= table.input_bits
        assert walk_word(index, bits.roots, bits.positions, bits.successors, int(table.signed)) == word


def test_a_walker_runs_inside_a_kernel() -> None:
    table = rounded_product(4, 5)
    bits = Bits.from_diagram(build(table))

    @numba.njit
    def kernel(index, roots, positions, successors):
        return walk_word(index, roots, positions, successors, 1)

    for index in (0, 1, 100, 128, 255, 256 + 100, -156):
        assert kernel(index, bits.roots, bits.positions, bits.successors) == table.values[index % 256]


def test_a_form_of_a_reduced_diagram() -> None:
    table = rounded_product(6, 8)
    check_form(Bits.from_diagram(reduce(table).diagram), table)


@pytest.mark.parametrize("name", FORMS)
def test_a_wrong_entry_is_found_and_named(name: str) -> None:
    table = rounded_product(8, 10)
    values = table.values.copy()
    values[40_000] += 1
    other = Table(values, table.input_widths, table.output_bits, table.signed)
    wrong = make_form(name, other, build(other))
    wanted = f"'{name}', expanded: index 40000 must give {table.values[40_000]}, found {values[40_000]} \\(1 of 65536"
    with pytest.raises(BddTorqueError, match=wanted):
        check_form(wrong, table)


def test_a_walk_that_errs_is_found_though_the_form_expands_well() -> None:
    class Careless(Dense):
        def walk(self, indices: np.ndarray) -> np.ndarray:
            return super().walk(indices) + (indices == 2**15)

    table = rounded_product(8, 10)
    with pytest.raises(BddTorqueError, match="'dense', walked: index 32768 must give"):
        check_form(Careless.from_table(table), table)


def test_form_of_another_size() -> None:
    with pytest.raises(BddTorqueError, match="there must be 256 entries, found shape"):
        check_form(Dense.from_table(rounded_product(3, 4)), rounded_product(4, 4))


def test_samples_are_many_and_distinct() -> None:
    for bits in (14, 20, 24):
        indices = sample_indices(bits)
        assert len(indices) == 10_000
        assert indices.min() == 0
        assert indices.max() == (1 << bits) - 1
        assert len(np.unique(indices)) > 9_000
    assert sample_indices(3).tolist() == list(range(8))


def test_unknown_form() -> None:
    with pytest.raises(BddTorqueError, match=r"form must be one of dense, .*, bits, not 'dence'.*'dense'"):
        make_form("dence", rounded_product(3, 4), build(rounded_product(3, 4)))


def test_forms_are_frozen() -> None:
    for name in FORMS:
        form = make_form(name, rounded_product(3, 4), build(rounded_product(3, 4)))
        field = dataclasses.fields(form)[0].name
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(form, field, None)
