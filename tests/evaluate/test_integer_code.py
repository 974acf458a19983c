"""Sums, clamping and tables of straight-line code in integers."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from compiled import arm, random_words, reference
from hypothesis import given
from hypothesis import strategies as st

from bddtorque.evaluate.statements import outside
from bddtorque.evaluate.straight import TablePool, _summed, blocks_read, straight
from bddtorque.plan.wires import Sum

FACTORS = st.builds(lambda odd, power: odd << power, st.integers(-7, 7), st.integers(0, 12))
WORDS = st.integers(-(1 << 15), 1 << 15)


@given(st.lists(st.tuples(FACTORS, WORDS), max_size=6), st.integers(-(1 << 20), 1 << 20), st.integers(0, 14))
def test_a_sum_is_written_with_fewer_operations_and_gives_the_same_word(parts, constant, shift):
    word = Sum("s", tuple((k, factor) for k, (factor, _) in enumerate(parts)), constant, shift, 0, 0, Fraction(1))
    total = sum(factor * value for factor, value in parts) + constant
    names = {f"w{k}": value for k, (_, value) in enumerate(parts)}
    assert eval(_summed(word), {"int64": int}, names) == (total + (1 << shift >> 1)) >> shift


SPANS = st.one_of(st.sampled_from([(-8, 7), (-4, 3)]), st.tuples(st.integers(-9, 0), st.integers(0, 9)))


@given(st.lists(st.tuples(SPANS, st.integers(-20, 20)), min_size=1, max_size=4))
def test_integers_are_found_to_be_outside_their_ends(spans):
    text = outside([(f"x{k}", *ends) for k, (ends, _) in enumerate(spans)])
    found = eval(text, {f"x{k}": value for k, (_, value) in enumerate(spans)})
    assert bool(found) == any(not low <= value <= high for (low, high), value in spans)


@pytest.mark.parametrize(("low", "high"), [(-4, 3), (-5, 2)])
def test_torques_beyond_their_words_are_clamped(tmp_path, low, high):
    model = arm(6, workers=1, source="recursive")
    plan = replace(model.plan, outputs=tuple(replace(each, low=low, high=high) for each in model.plan.outputs))
    words = random_words(model, 500)
    code = straight(plan, model.formats, model.tables, tmp_path)
    tau = np.empty_like(words[0])
    code.bare(tuple(words), tau, code.table)
    assert np.array_equal(tau, np.clip(reference(model, words), low, high)) and (tau == low).any()


def test_tables_have_16_bits_where_all_their_words_fit():
    model = arm(6, workers=1)
    pool, tables = TablePool(model.plan, blocks_read(model.plan, native=True)), list(model.tables)
    assert pool.values(tables).dtype == np.int16
    block = next(iter(pool.places))
    tables[block] = replace(tables[block], values=tables[block].values.astype(np.int32) + 40_000, output_bits=17)
    wide = pool.values(tables)
    assert wide.dtype == np.int32 and wide.max() >= 40_000
