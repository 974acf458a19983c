"""Polynomials of words: what a term means, replaced variables, ranges."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bddtorque.assurance.polynomials import Polynomial, number, polynomial, variable
from bddtorque.words.integer_range import INT32, Range

NAMES = ("w1", "w2", "hw1_3")
WORDS = st.fixed_dictionaries({name: st.integers(INT32.low, INT32.high) for name in NAMES})


def term_of(value: int, bits: int) -> str:
    return f"(_ bv{value % (1 << bits)} {bits})"


TERMS = st.recursive(
    st.sampled_from([(name, f"((_ sign_extend 32) {name})") for name in NAMES])
    | st.integers(-1000, 1000).map(lambda value: (str(value), term_of(value, 64))),
    lambda inner: st.builds(
        lambda operation, left, right: (
            f"({left[0]} {operation[0]} {right[0]})",
            f"({operation[1]} {left[1]} {right[1]})",
        ),
        st.sampled_from([("+", "bvadd"), ("-", "bvsub"), ("*", "bvmul")]),
        inner,
        inner,
    ),
    max_leaves=6,
)
"""Expressions of Python, and the same as terms."""


def value_of(whole: Polynomial, words: dict[str, int]) -> int:
    result = whole.replace({name: number(word) for name, word in words.items()})
    return result.coefficients.get((), 0)


@given(TERMS, WORDS)
def test_a_term_is_the_number_that_its_expression_gives(pair: tuple[str, str], words: dict[str, int]) -> None:
    whole = polynomial(pair[1])
    assert whole is not None
    assert value_of(whole, words) == eval(pair[0], {}, words)


@given(TERMS, WORDS, WORDS, WORDS)
def test_a_range_holds_every_number(
    pair: tuple[str, str], one: dict[str, int], other: dict[str, int], between: dict[str, int]
) -> None:
    whole = polynomial(pair[1])
    assert whole is not None
    ends = {name: Range(min(one[name], other[name]), max(one[name], other[name])) for name in NAMES}
    words = {name: min(max(between[name], ends[name].low), ends[name].high) for name in NAMES}
    reach = whole.range(ends)
    assert reach is not None
    assert value_of(whole, words) in reach


def test_a_split_factor_multiplies_out() -> None:
    low = {"lw1_3": variable("w1") - number(8) * variable("hw1_3")}
    split = number(8) * variable("hw1_3") * variable("w2") + variable("lw1_3") * variable("w2")
    assert split.replace(low) == variable("w1") * variable("w2")
    assert split.range({"w2": Range(0, 1), "hw1_3": Range(0, 1)}) is None


@pytest.mark.parametrize("term", ["(bvand w1 w2)", "((_ sign_extend 16) w1)", "(bvadd w1 ((_ extract 31 0) w2))"])
def test_other_terms_are_no_polynomials(term: str) -> None:
    assert polynomial(term) is None
