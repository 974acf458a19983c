"""Diagrams whose size is known, from the literature or from dd building the same functions by logical operations."""

from __future__ import annotations

from typing import Any

import dd.autoref
import numpy as np
import pytest
from diagram_samples import from_function, interleaved, rounded_product

from bddtorque.plan.forms import Bits, check_form
from bddtorque.plan.reduction import build, reduce
from bddtorque.plan.table import Table


class Independent:
    """Functions built in dd.autoref by and, or, xor: nothing of it is ours."""

    def __init__(self, order: tuple[int, ...]) -> None:
        self.manager = dd.autoref.BDD()
        self.manager.configure(reordering=False)
        self.manager.declare(*[f"x{variable}" for variable in order])

    def word(self, first: int, width: int) -> list[Any]:
        """Bits of an input word, least significant first; `first` is the variable of its most significant bit."""
        return [self.manager.var(f"x{first + width - 1 - bit}") for bit in range(width)]

    def add(self, a: list[Any], b: list[Any]) -> list[Any]:
        carry, total = self.manager.false, []
        for x, y in zip(a, b, strict=True):
            either = self.manager.apply("xor", x, y)
            total.append(self.manager.apply("xor", either, carry))
            carry = (x & y) | (carry & either)
        return [*total, carry]

    def multiply(self, a: list[Any], b: list[Any]) -> list[Any]:
        false = self.manager.false
        total = [false] * (len(a) + len(b))
        for shift, bit in enumerate(b):
            partial = [false] * shift + [bit & x for x in a] + [false] * (len(b) - shift)
            total = self.add(total, partial)[:-1]
        return total

    def size(self, functions: list[Any]) -> int:
        """Number of decision nodes of these functions; they must be all that is alive."""
        self.manager.collect_garbage()
        assert functions
        return len(self.manager) - 1


@pytest.mark.parametrize("width", [1, 2, 5, 8])
def test_comparator(width: int) -> None:
    table = from_function(lambda a, b: a < b, (width, width), 1, False)
    assert build(table, interleaved(width)).node_count == 3 * width - 1


@pytest.mark.parametrize("width", [2, 4, 6])
@pytest.mark.parametrize("shuffled", [False, True])
def test_adder(width: int, shuffled: bool) -> None:
    order = interleaved(width) if not shuffled else tuple(reversed(range(2 * width)))
    table = from_function(lambda a, b: a + b, (width, width), width + 1, False)
    other = Independent(order)
    total = other.add(other.word(0, width), other.word(width, width))
    assert build(table, order).node_count == other.size(total)


def test_adder_grows_linearly_when_interleaved() -> None:
    counts = [
        build(from_function(lambda a, b: a + b, (w, w), w + 1, False), interleaved(w)).node_count for w in range(2, 9)
    ]
    assert len(set(np.diff(counts))) == 1


@pytest.mark.parametrize("inputs", [6, 8])
def test_hidden_weighted_bit(inputs: int) -> None:
    """HWB(x) = x_weight(x), x_0 = 0: exponential under every order (Bryant 1991)."""
    index = np.arange(1 << inputs)
    weight = np.bitwise_count(index).astype(np.int64)
    bits = np.where(weight == 0, 0, (index >> (inputs - weight)) & 1)  # x_1 is the most significant
    order = tuple(range(inputs))
    other = Independent(order)
    variables = [other.manager.var(f"x{variable}") for variable in order]
    exactly = [other.manager.true]  # exactly[k]: k of the variables so far are 1
    for variable in variables:
        exactly = [
            ((exactly[k] & ~variable) if k < len(exactly) else other.manager.false)
            | ((exactly[k - 1] & variable) if k > 0 else other.manager.false)
            for k in range(len(exactly) + 1)
        ]
    function = other.manager.false
    for k, variable in enumerate(variables, start=1):
        function |= exactly[k] & variable
    del exactly, variables, variable
    assert build(Table(bits, (inputs,), 1, False), order).node_count == other.size([function])


@pytest.mark.parametrize("width", [3, 6])
def test_whole_multiplier(width: int) -> None:
    order = tuple(range(2 * width))
    table = from_function(lambda a, b: a * b, (width, width), 2 * width, False)
    other = Independent(order)
    product = other.multiply(other.word(0, width), other.word(width, width))
    assert build(table, order).node_count == other.size(product)


def test_middle_bit_of_an_8_by_8_multiplier() -> None:
    order = interleaved(8)
    table = from_function(lambda a, b: (a * b) >> 7 & 1, (8, 8), 1, False)
    other = Independent(order)
    middle = [other.multiply(other.word(0, 8), other.word(8, 8))[7]]
    assert build(table, order).node_count == other.size(middle)


def test_two_to_the_twenty_rows() -> None:
    """A block of 20 input bits."""
    table = rounded_product(10, 14)
    diagram = build(table)
    assert diagram.node_count == 76_988
    check_form(Bits.from_diagram(diagram), table)


def test_reduce_of_two_to_the_twenty_rows() -> None:
    table = rounded_product(10, 14)
    result = reduce(table)
    np.testing.assert_array_equal(result.diagram.expand(), table.values)
