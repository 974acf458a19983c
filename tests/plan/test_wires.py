"""Wires know themselves: what they read, what their words can be, and what they mean, in any algebra."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from examples_tried import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bddtorque.base.errors import BddTorqueError
from bddtorque.plan.blocks import GivenBlock, ProductBlock
from bddtorque.plan.bound import BlockFacts, compose_bounds, known_ranges
from bddtorque.plan.plan import Plan, plan_from_plain
from bddtorque.plan.reference import run_plan, run_sum, run_wires
from bddtorque.plan.table import Table
from bddtorque.plan.tabulate import tabulate
from bddtorque.plan.wires import Algebra, AngleSum, Input, Lookup, Output, Product, Sum
from bddtorque.questions.box_ranges import BoxRanges
from bddtorque.questions.subjects import sliced
from bddtorque.words.integer_range import Range, index_words, word_range, wrap, wrap_or_clamp

LIMBS = ProductBlock.of_pieces(2)
UNIT = Fraction(1)


class Exact(Algebra):
    """Python's own integers, one state at a time, and every step as the definitions of the wires say it."""

    def __init__(self, tables, state):
        self.tables, self.state = tables, state

    def input(self, wire):
        return self.state[wire.name]

    def table(self, wire, words):
        bits = "".join(
            f"{word % 2**width:0{width}b}"
            for word, width in zip(words, self.tables[wire.block].input_widths, strict=True)
        )
        return int(self.tables[wire.block].values[int(bits, 2)])

    def wrapped(self, total, wire):
        low = total % 2**wire.bits
        return low - 2**wire.bits if low >= 2 ** (wire.bits - 1) else low

    def rounded(self, exact, wire):
        return (Fraction(exact, 2**wire.shift) + Fraction(1, 2)).__floor__()


@st.composite
def plans(draw):
    """A plan of any wires, small enough to run on all states, with its tables; it states the ranges that it must."""
    wires = [Input(f"q{k}", draw(st.integers(1, 3)), draw(st.booleans())) for k in range(draw(st.integers(1, 3)))]
    blocks, tables = [LIMBS], [tabulate(LIMBS)[0]]

    def ends(k):
        return wires[k].range(blocks)

    for k in range(draw(st.integers(1, 8))):
        source = st.integers(0, len(wires) - 1)
        exact = st.sampled_from([j for j, wire in enumerate(wires) if wire.exact_word])
        shift, constant = draw(st.integers(0, 4)), draw(st.integers(-9, 9))
        match draw(st.sampled_from(["angle", "table", "product", "sum"])):
            case "angle":
                part = st.tuples(exact, st.integers(-3, 3), st.integers(0, 2))
                parts = draw(st.lists(part, min_size=1, max_size=3))
                wires.append(AngleSum(f"a{k}", draw(st.integers(1, 5)), tuple(parts), constant))
            case "table":
                widths = tuple(draw(st.lists(st.integers(1, 3), min_size=1, max_size=2)))
                size = 1 << sum(widths)
                values = draw(st.lists(st.integers(-20, 20), min_size=size, max_size=size))
                low, high = min(values), max(values)
                table = Table(np.array(values), widths, Range(low, high).bits, True)
                blocks.append(GivenBlock(widths, UNIT, low, high, table.content_key, 0.0))
                tables.append(table)
                wires.append(Lookup(f"t{k}", len(blocks) - 1, tuple(draw(exact) for _ in widths)))
            case "product":
                left, right = draw(source), draw(source)
                low, high = (ends(left) * ends(right)).rounded(shift)
                wires.append(Product(f"p{k}", left, right, shift, "partial", 0, 2, low, high))
            case "sum":
                parts = tuple(draw(st.lists(st.tuples(source, st.integers(-5, 5)), max_size=3)))
                reach = sum((ends(wire) * factor for wire, factor in parts), start=Range(constant, constant))
                low, high = reach.rounded(shift)
                wires.append(Sum(f"s{k}", parts, constant, shift, low, high, UNIT))
    parts = tuple((k, draw(st.integers(-3, 3))) for k in range(len(wires)))
    output = Output("tau1", parts, draw(st.integers(-9, 9)), UNIT * 0, draw(st.integers(0, 3)), -40, 30, UNIT)
    return Plan(tuple(wires), tuple(blocks), (output,), "terms", "tables", 20), tables


def all_states(plan):
    inputs = plan.inputs
    states = list(product(*(range(wire.lowest, wire.highest + 1) for wire in inputs)))
    return {wire.name: np.array(words) for wire, words in zip(inputs, zip(*states, strict=True), strict=True)}


PLENTY = settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@PLENTY
@given(plans())
def test_the_interpreter_is_what_exact_integers_give(made):
    plan, tables = made
    states = all_states(plan)
    wires, outputs = run_wires(plan, tables, states), run_plan(plan, tables, states)
    sums = run_sum(plan.outputs[0], wires)
    for k in range(0, len(sums), 1 + len(sums) // 20):
        algebra = Exact(tables, {name: int(words[k]) for name, words in states.items()})
        exact = plan.evaluate(algebra)
        assert [int(np.broadcast_to(words, sums.shape)[k]) for words in wires] == exact
        assert plan.outputs[0].total(algebra, exact) == sums[k]
        clamped = min(max(plan.outputs[0].evaluate(algebra, exact), -40), 30)
        assert clamped == outputs[0][k]


@PLENTY
@given(plans())
def test_every_word_lies_within_what_is_stated_expected_certain_and_proved(made):
    plan, tables = made
    states = all_states(plan)
    wires = run_wires(plan, tables, states)
    for k, words in enumerate(wires):
        assert int(words.min()) in plan.range_of(k) and int(words.max()) in plan.range_of(k)
        assert plan.range_of(k).within(word_range(plan.bits_of(k)))
    for known, words in zip(known_ranges(plan, tables), wires, strict=True):
        assert int(words.min()) in known and int(words.max()) in known
    total = run_sum(plan.outputs[0], wires)
    step = 1 << plan.outputs[0].shift
    (bound,) = compose_bounds(plan, {}, [BlockFacts(0.0, *table.range) for table in tables])
    assert bound.low <= total.min() / step and total.max() / step <= bound.high
    assert np.abs(total).max() <= plan.most(plan.outputs[0])


@PLENTY
@given(plans(), st.data())
def test_ranges_over_boxes_hold_every_sum_and_are_exact_for_one_state(made, data):
    plan, tables = made
    states = all_states(plan)
    inputs = np.stack(list(states.values()), axis=1)
    total = np.broadcast_to(run_sum(plan.outputs[0], run_wires(plan, tables, states)), len(inputs))
    ranges = BoxRanges(plan, tables)
    low, high = ranges.over(inputs, inputs)
    assert np.array_equal(low, total) and np.array_equal(high, total)
    corners = inputs[data.draw(st.lists(st.integers(0, len(inputs) - 1), min_size=2, max_size=2))]
    first, last = corners.min(axis=0), corners.max(axis=0)
    (low,), (high,) = ranges.over(first[None], last[None])
    inside = ((first <= inputs) & (inputs <= last)).all(axis=1)
    assert low <= total[inside].min() and total[inside].max() <= high


@PLENTY
@given(plans(), st.data())
def test_a_slice_keeps_what_an_output_needs_and_nothing_else(made, data):
    plan, tables = made
    wire = data.draw(st.integers(0, len(plan.wires) - 1))
    output = replace(plan.outputs[0], parts=((wire, 1),))
    small = sliced(plan, output)
    assert len(small.wires) == len(plan.needed([wire])) and small.read == list(range(len(small.wires)))
    states = all_states(plan)
    found, expected = (run_plan(each, tables, states) for each in (small, replace(plan, outputs=(output,))))
    assert np.array_equal(found, expected)


@PLENTY
@given(plans())
def test_plain_data_is_read_back_as_it_was(made):
    plan, _ = made
    assert plan_from_plain(plan.to_plain()) == plan


@given(st.integers(-(2**63), 2**63 - 1), st.integers(1, 32))
def test_words_are_held_as_two_s_complement_says(number, bits):
    modulus = 1 << bits
    word = wrap(number, bits)
    assert (word - number) % modulus == 0 and word in word_range(bits)
    assert wrap_or_clamp(np.int64(number), bits, True) == word
    assert wrap_or_clamp(np.int64(number), bits, False) == min(max(number, word_range(bits).low), word_range(bits).high)
    assert wrap(np.array([number]), bits)[0] == word
    assert Range(number, number).bits == next(n for n in range(1, 65) if number in word_range(n))


def test_words_in_the_order_of_an_index():
    assert index_words(2).tolist() == [0, 1, -2, -1]
    assert index_words(2, signed=False).tolist() == [0, 1, 2, 3]
    assert wrap_or_clamp(np.array([2**64 - 1], dtype=np.uint64), 4, False).tolist() == [7]


def test_tables_and_angles_are_made_of_exact_words():
    """Nothing is charged for an index that is off, so an index from another table is refused."""
    block = GivenBlock((3,), UNIT, 0, 7, "key", 0.0)
    wires = (Input("q0", 3, True), Lookup("t", 0, (0,)), Lookup("u", 0, (1,)))
    output = Output("tau1", ((2, 1),), 0, UNIT * 0, 0, -40, 30, UNIT)
    plan = Plan(wires, (block,), (output,), "terms", "tables", 20)
    with pytest.raises(BddTorqueError, match="wire 2, wires must read an input or a sum of angles, and wire 1 is"):
        plan_from_plain(plan.to_plain())
    angle = AngleSum("a", 3, ((1, 1, 0),))
    with pytest.raises(BddTorqueError, match="wire 2, parts must read an input or a sum of angles"):
        plan_from_plain(replace(plan, wires=(*wires[:2], angle)).to_plain())
