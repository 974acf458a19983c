"""Sums in C that look different from the plan's: what is multiplied out, and what is refused."""

from dataclasses import replace

import pytest

from bddtorque.assurance.c_words import CWord
from bddtorque.assurance.polynomials import Known
from bddtorque.assurance.split_sums import Rounding, SplitSums
from bddtorque.words.integer_range import Range, word_range

W1, W2 = "((_ sign_extend 32) w1)", "((_ sign_extend 32) w2)"
TOTAL = f"(bvadd (bvmul (_ bv4 64) {W1} {W2}) (bvmul (_ bv12 64) {W2}) (_ bv34 64))"
"""4 w1 w2 + 12 w2 + 34, which is rounded by 6 bits: the half of 64 is in it already."""
SCALED = Rounding(CWord("(bvmul w2 (_ bv3 32))", 32, False), "rounded_0", CWord("rounded_0", 32, True), 1)
FLOOR = CWord("(bvashr rounded_0 (_ bv2 32))", 32, True)


def is_multiplied_out(inside: str, bits: int, *before: Rounding, high: int = 1000, total: str = TOTAL) -> bool:
    """Whether floor(inside/16) passes for the plan's sum, where w2 reaches from 0 to `high`."""
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
