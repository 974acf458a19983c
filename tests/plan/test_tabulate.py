"""Tables exactly rounded: every entry against mpmath, ties and near-ties, errors that are true maxima, any chunking."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from covering import plan_within
from exact import exact_value, long, long_outputs
from examples_tried import examples
from hypothesis import assume, given, settings
from plan_samples import samples

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.tracer import Tracer
from bddtorque.plan import tabulate as module
from bddtorque.plan.blocks import FunctionBlock, ProductBlock
from bddtorque.plan.tabulate import memory_needed, tabulate
from bddtorque.words.argument import Argument


def block(build, arguments, lsb, low=-(1 << 20), high=1 << 20):
    tracer = Tracer()
    inputs = [tracer.input(f"x{k}") for k in range(len(arguments))]
    return FunctionBlock(tracer.graph([build(tracer, *inputs)], ["f"]), tuple(arguments), Fraction(lsb), low, high)


def exactly(each: FunctionBlock) -> tuple[list[int], mpmath.mpf]:
    """Return every word of the table in the order of its index, and the largest error in units, by mpmath alone."""
    words, worst = [], mpmath.mpf(0)
    with mpmath.workdps(60):
        unit = mpmath.mpf(each.lsb.numerator) / each.lsb.denominator
        for index in range(1 << sum(each.input_widths)):
            inputs, rest = {}, index
            for k, argument in reversed(list(enumerate(each.arguments))):
                word = rest & ((1 << argument.bits) - 1)
                rest >>= argument.bits
                inputs[f"x{k}"] = exact_value(argument, word - ((word >> (argument.bits - 1)) << argument.bits))
            units = each.graph.evaluate(inputs, mpmath)[0] / unit
            magnitude = abs(units)
            near = int(mpmath.floor(magnitude + mpmath.mpf(1) / 2 + mpmath.mpf(10) ** -50))  # ties away from zero
            words.append(near if units >= 0 else -near)
            worst = max(worst, abs(magnitude - near))
    return words, worst


ANGLE, WORD = Argument("angle", 5), Argument("word", 5, Fraction(1, 16))
CASES = {
    "sine": block(lambda t, x: 3.7 * t.sin(x), [ANGLE], Fraction(1, 9)),
    "offset and sign": block(
        lambda t, x: t.cos(2 * x), [Argument("angle", 6, Fraction(-1), Fraction(0.3))], Fraction(1, 40)
    ),
    "two words": block(lambda t, x, y: (15.75 + 10.0 * t.cos(x)) * y, [ANGLE, WORD], Fraction(25, 64)),
    "asymmetric": block(
        lambda t, x, y: t.sin(x) * y * y, [ANGLE, Argument("word", 4, Fraction(-1, 7), Fraction(0.4))], Fraction(1, 50)
    ),
    "ties everywhere": block(lambda t, x: 0.5 * x, [Argument("word", 6)], 1),
    "ties of sines": block(lambda t, x, y: t.sin(x) * t.sin(x) * y, [Argument("angle", 3), Argument("word", 5)], 1),
    "nothing": block(lambda t, x: 1e-9 * x, [WORD], 1),
}


@pytest.mark.parametrize("each", CASES.values(), ids=CASES)
def test_every_entry_is_exactly_rounded_and_the_error_is_its_maximum(each):
    table, facts = tabulate(each)
    words, worst = exactly(each)
    assert table.values.tolist() == words
    assert (facts.low, facts.high) == (min(words), max(words))
    units = facts.error / float(each.lsb)
    assert worst <= units <= worst + 2.0**-19  # proved, and no larger than the grid it is rounded up to


@settings(max_examples=examples(30))
@given(samples(outputs=1))
def test_blocks_of_any_plan_are_exactly_rounded(sample):
    try:
        plan = plan_within(sample.graph, sample.arguments, sample.targets, 1.0, 10)
    except BddTorqueError:
        assume(False)
    blocks = [block for block in plan.blocks if isinstance(block, FunctionBlock)]
    assume(blocks)
    for each in blocks:
        table, facts = tabulate(each)
        grids = np.meshgrid(*(argument.words() for argument in each.arguments), indexing="ij")
        words = {f"x{k}": grid.reshape(-1) for k, grid in enumerate(grids)}
        arguments = {f"x{k}": argument for k, argument in enumerate(each.arguments)}
        units = long_outputs(each.graph, arguments, words)[0] / long(each.lsb)
        distance = np.abs(table.values - units)
        assert (distance <= 0.5 + 1e-12).all()
        assert float(distance.max()) - 1e-12 <= facts.error / float(each.lsb)


@pytest.mark.parametrize("tiny", [2.0**-40, 2.0**-45, 2.0**-52])
@pytest.mark.parametrize("side", [1, -1])
def test_what_is_within_1e_12_of_a_tie_is_decided_right(tiny, side):
    # x/2 + side·tiny at odd words: next to a tie, nearer than 1e-12 units, and never one
    each = block(lambda t, x: 0.5 * x, [Argument("word", 5, Fraction(1), Fraction(2 * side * tiny))], 1)
    table, _ = tabulate(each)
    expected = [math.floor(abs(v := Fraction(word, 2) + Fraction(side * tiny)) + Fraction(1, 2)) * (1 if v > 0 else -1)
                for word in each.arguments[0].words().tolist()]  # fmt: skip
    assert table.values.tolist() == expected


def test_near_ties_go_to_extended_precision(monkeypatch):
    asked = []
    right = module.rounded_exactly
    monkeypatch.setattr(module, "rounded_exactly", lambda *given: asked.append(len(given[2])) or right(*given))
    tabulate(CASES["ties everywhere"])
    assert asked == [32]  # the odd words, and no other


@pytest.mark.parametrize("entries", [1, 2, 3, 7, 32, 33, 100])
@pytest.mark.parametrize("name", ["two words", "asymmetric", "sine"])
def test_chunks_give_the_same_table(monkeypatch, entries, name):
    whole, facts = tabulate(CASES[name])
    monkeypatch.setattr(module, "_entries_at_once", lambda each: entries)
    parts, again = tabulate(CASES[name])
    assert np.array_equal(whole.values, parts.values) and facts == again


def test_chunks_stay_within_the_memory_promised(monkeypatch):
    sizes = []
    right = module._evaluated
    monkeypatch.setattr(
        module, "_evaluated", lambda each, axes: sizes.append(math.prod(map(len, axes))) or right(each, axes)
    )
    monkeypatch.setattr(module, "CHUNK_BYTES", 1 << 14)
    for each in (CASES["two words"], block(lambda t, x, y: x * y, [Argument("word", 2), Argument("word", 9)], 4)):
        sizes.clear()
        tabulate(each)
        assert len(sizes) > 2 and max(sizes) * module._bytes_per_entry(each) <= memory_needed(each) <= 1 << 14


def test_a_table_beyond_the_planned_range_is_refused():
    each = CASES["sine"]
    with pytest.raises(BddTorqueError, match="range of the plan is not sound"):
        tabulate(FunctionBlock(each.graph, each.arguments, each.lsb, -33, 32))
    with pytest.raises(BddTorqueError, match="range of the plan is not sound"):
        tabulate(ProductBlock((3, 3), True, 0, -16, 15))


@pytest.mark.parametrize("shift", [0, 1, 3, 5])
@pytest.mark.parametrize("signed", [True, False])
def test_products_are_rounded_half_up(signed, shift):
    table, facts = tabulate(ProductBlock((4, 3), signed, shift, -64, 128))
    words = [
        [word - (1 << bits if signed and word >> (bits - 1) else 0) for word in range(1 << bits)] for bits in (4, 3)
    ]
    expected = [math.floor(Fraction(x * y, 1 << shift) + Fraction(1, 2)) for x in words[0] for y in words[1]]
    assert table.values.tolist() == expected
    assert (facts.error, facts.low, facts.high) == (0.0, min(expected), max(expected))
