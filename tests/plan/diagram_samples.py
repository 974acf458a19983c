"""Tables for the tests of this folder: random ones by hypothesis, and a few with a known meaning."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import strategies as st

from bddtorque.base.errors import BddTorqueError
from bddtorque.plan.engine import make_engine
from bddtorque.plan.table import Table
from bddtorque.words.integer_range import word_range

CUDD_MISSING = False
try:
    make_engine("cudd")
except BddTorqueError:
    CUDD_MISSING = True

needs_cudd = pytest.mark.skipif(CUDD_MISSING, reason="dd.cudd is not installed here")
every_engine = pytest.mark.parametrize("engine", [pytest.param("cudd", marks=needs_cudd), "autoref"])
"""Runs a test with each engine of dd."""


@st.composite
def tables(draw: st.DrawFn, most_input_bits: int = 9, most_output_bits: int = 7) -> Table:
    """Tables of one to three words; from all random to nearly constant, so that sharing is exercised too."""
    widths = draw(
        st.lists(st.integers(1, 5), min_size=1, max_size=3).filter(lambda found: sum(found) <= most_input_bits)
    )
    bits = draw(st.integers(1, most_output_bits))
    signed = draw(st.booleans())
    lowest, highest = word_range(bits, signed)
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    distinct = random.integers(lowest, highest, size=draw(st.integers(1, 12)), endpoint=True)
    size = 1 << sum(widths)
    few = distinct[random.integers(0, len(distinct), size)]
    everything = random.integers(lowest, highest, size, endpoint=True)
    return Table(draw(st.sampled_from([few, np.sort(few), everything])), tuple(widths), bits, signed)


@st.composite
def ordered_tables(draw: st.DrawFn) -> tuple[Table, tuple[int, ...]]:
    """A table and a random variable order."""
    table = draw(tables())
    return table, tuple(draw(st.permutations(range(table.input_bits))))


def from_function(
    function: Callable[..., object], widths: tuple[int, ...], bits: int, signed: bool, signed_inputs: bool = False
) -> Table:
    """Tabulate an integer function of whole arrays of words."""
    axes = []
    for width in widths:
        word = np.arange(1 << width)
        axes.append(np.where(word >> (width - 1) == 1, word - (1 << width), word) if signed_inputs else word)
    values = np.asarray(function(*np.meshgrid(*axes, indexing="ij")))
    return Table(values.reshape(-1).astype(np.int64), widths, bits, signed)


def rounded_product(width: int, bits: int) -> Table:
    """Product of two two's complement words, rounded to `bits` bits and saturated: the commonest block there is."""
    shift = 2 * width - 1 - bits
    lowest, highest = word_range(bits, True)

    def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.clip((a * b + (1 << shift >> 1)) >> shift, lowest, highest)

    return from_function(product, (width, width), bits, True, signed_inputs=True)


def parity(bits: int) -> Table:
    index = np.arange(1 << bits)
    return Table(np.bitwise_count(index).astype(np.int64) & 1, (bits,), 1, False)


def interleaved(width: int) -> tuple[int, ...]:
    return tuple(variable for depth in range(width) for variable in (depth, width + depth))
