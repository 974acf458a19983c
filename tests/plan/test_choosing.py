"""Forms chosen for tables that exist: the least cost, as if all had been made; the same words in any of them."""

from __future__ import annotations

import numpy as np
import pytest
from diagram_samples import from_function, rounded_product, tables
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from bddtorque.base.errors import BddTorqueError
from bddtorque.plan.forms import WORD_FORMS, make_word_form
from bddtorque.plan.table import Table
from bddtorque.targets.tables.cost import choose_forms, contenders, form_cost


@given(tables())
def test_forms_that_are_not_made_could_not_win(table: Table) -> None:
    some, every = contenders(table, None), contenders(table, None, everything=True)
    assert set(every) == set(WORD_FORMS)
    assert set(some) <= set(every)
    assert min(map(form_cost, some.values())) == min(map(form_cost, every.values()))


@settings(max_examples=examples(30))
@given(st.lists(tables(), min_size=1, max_size=3), st.floats(0, 1))
def test_chosen_forms_fit_their_budget_and_are_their_tables(some: list[Table], share: float) -> None:
    sizes = [[make_word_form(name, table).bytes for name in WORD_FORMS] for table in some]
    least, most = sum(map(min, sizes)), sum(map(max, sizes))
    budget = least + int(share * (most - least))
    choices = choose_forms(some, [None] * len(some), budget)
    assert sum(choice.form.bytes for choice in choices) <= budget
    for choice, table in zip(choices, some, strict=True):
        np.testing.assert_array_equal(choice.form.walk(np.arange(len(table.values))), table.values)
    with pytest.raises(BddTorqueError, match=f"memory must be at least {least:,} bytes for the smallest forms"):
        choose_forms(some, [None] * len(some), least - 1)


def test_a_small_table_is_dense() -> None:
    (choice,) = choose_forms([rounded_product(5, 6)], [None])
    assert choice.form.name == "dense"
    assert "the least" in choice.reason


def test_a_linear_table_without_room_is_kept_by_its_weights() -> None:
    table = from_function(lambda a, b: 3 * a + 5 * b, (6, 6), 10, False)
    (choice,) = choose_forms([table], [None], 500)
    assert choice.form.name == "edge_valued"
    assert not choice.form.constant
    assert "within the memory budget" in choice.reason
