"""Sums in C that look different from the plan's: what is multiplied out, and what is refused; polynomials of words."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bddtorque.assurance.bit_vectors import CWord
from bddtorque.assurance.split_sums import Known, Polynomial, Rounding, SplitSums, number, polynomial, variable
from bddtorque.words.integer_range import INT32, Range, word_range

W1, W2 = "((_ sign_extend 32) w1)", "((_ sign_extend 32) w2)"
TOTAL = f"(bvadd (bvmul (_ bv4 64) {W1} {W2}) (bvmul (_ bv12 64) {W2}) (_ bv34 64))"
"""4 w1 w2 + 12 w2 + 34, which is rounded by 6 bits: the half of 64 is in it already."""
SCALED = Rounding(CWord("(bvmul w2 (_ bv3 32))", 32, False), "rounded_0", CWord("rounded_0", 32, True), 1)
FLOOR = CWord("(bvashr rounded_0 (_ bv2 32))", 32, True)


def is_multiplied_out(inside: str, bits: int, *before: Rounding, high: int = 1000, total: str = TOTAL) -> bool:
    """Tell if floor(inside/16) passes for the plan's sum, where w2 reaches from 0 to `high`."""
    last = Rounding(
        CWord(inside, bits, False), "rounded_1", CWord(f"(bvashr rounded_1 (_ bv4 {bits}))", bits, True), 16
    )
    known = {"w1": Known(32, Range(0, 1000)), "w2": Known(32, Range(0, high))}
    known |= {each.result: Known(each.body.bits, word_range(each.body.bits)) for each in (*before, last)}
    word = CWord(last.result, bits, True)
    question = SplitSums(known).question(word, [*before, last], total, 6, Range(0, 1 << 20), lambda term: term)
    return question is not None and question[0] != "false"


@pytest.mark.parametrize(
    ("inside", "bits"),
    [
        ("(bvadd (bvmul w1 w2) (bvmul w2 (_ bv3 32)) (_ bv8 32))", 32),
        (f"(bvadd (bvmul {W1} {W2}) (bvmul {W2} (_ bv3 64)) (_ bv8 64))", 64),
    ],
)
def test_a_common_power_of_two_may_be_left_out(inside: str, bits: int) -> None:
    assert is_multiplied_out(inside, bits)
    assert not is_multiplied_out(inside.replace("bv3", "bv5"), bits)
    assert not is_multiplied_out(inside.replace("bvmul w1", "bvmul w2").replace(f"bvmul {W1}", f"bvmul {W2}"), bits)


def test_a_factor_may_be_scaled_before_unless_it_overflows() -> None:
    total = f"(bvadd (bvmul (_ bv12 64) {W1} {W2}) (_ bv32 64))"
    inside = f"(bvadd (bvmul {W1} ((_ sign_extend 32) {SCALED.result})) (_ bv8 64))"
    assert is_multiplied_out(inside, 64, SCALED, total=total)
    assert is_multiplied_out(inside, 64, SCALED, total=total, high=(1 << 31) // 3)
    assert not is_multiplied_out(inside, 64, SCALED, total=total, high=(1 << 31) // 3 + 1)


def test_what_c_carries_counts_by_what_it_is_divided_by() -> None:
    """floor((w1 w2 + floor((12 w2 + 34)/4))/16): the plan's sum; nothing else is."""
    carry = Rounding(CWord("(bvadd (bvmul w2 (_ bv12 32)) (_ bv34 32))", 32, False), "rounded_0", FLOOR, 4)
    inside = f"(bvadd (bvmul w1 w2) {carry.result})"
    assert is_multiplied_out(inside, 32, carry)
    assert not is_multiplied_out(inside, 32, replace(carry, unit=2))
    assert not is_multiplied_out(inside, 32, replace(carry, unit=3))
    assert not is_multiplied_out(inside.replace("bvadd", "bvsub"), 32, carry)
    assert not is_multiplied_out(f"(bvmul w1 {carry.result})", 32, carry)


NAMES = ("w1", "w2", "hw1_3")
KNOWN = {name: Known(32, INT32) for name in NAMES}
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
    whole = polynomial(pair[1], KNOWN)
    assert whole is not None
    assert value_of(whole, words) == eval(pair[0], {}, words)


@given(TERMS, WORDS, WORDS, WORDS)
def test_a_range_holds_every_number(
    pair: tuple[str, str], one: dict[str, int], other: dict[str, int], between: dict[str, int]
) -> None:
    whole = polynomial(pair[1], KNOWN)
    assert whole is not None
    ends = {name: Range(min(one[name], other[name]), max(one[name], other[name])) for name in NAMES}
    words = {name: min(max(between[name], ends[name].low), ends[name].high) for name in NAMES}
    reach = whole.range({name: Known(32, span) for name, span in ends.items()})
    assert reach is not None
    assert value_of(whole, words) in reach


def test_a_split_factor_multiplies_out() -> None:
    low = {"lw1_3": variable("w1") - number(8) * variable("hw1_3")}
    split = number(8) * variable("hw1_3") * variable("w2") + variable("lw1_3") * variable("w2")
    assert split.replace(low) == variable("w1") * variable("w2")
    assert split.range({name: Known(32, Range(0, 1)) for name in ("w2", "hw1_3")}) is None


def test_low_bits_are_the_number_and_a_sign_is_extended_where_the_number_fits() -> None:
    known = {"w1": Known(16, Range(-100, 100)), "w2": Known(32, Range(0, 1 << 20))}
    product = "((_ sign_extend 16) (bvmul w1 (_ bv{} 16)))"
    assert polynomial(product.format(327), known) == number(327) * variable("w1")
    assert polynomial(product.format(328), known) is None  # 32,800
    assert polynomial("((_ sign_extend 32) ((_ extract 31 0) w2))", known) == variable("w2")
    assert polynomial("((_ sign_extend 16) ((_ extract 15 0) w2))", known) is None
    assert polynomial("(bvshl (bvneg w2) (_ bv3 32))", known) == number(-8) * variable("w2")


@pytest.mark.parametrize("term", ["(bvand w1 w2)", "w3", "((_ zero_extend 16) w1)", "((_ extract 31 1) w1)", "(f w1)"])
def test_other_terms_are_no_polynomials(term: str) -> None:
    assert polynomial(term, KNOWN) is None
