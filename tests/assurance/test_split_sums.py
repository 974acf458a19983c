"""Sums in C that look different from the plan's: what is multiplied out, and what is refused."""

import pytest

from bddtorque.assurance.c_execution import Word
from bddtorque.assurance.split_sums import Rounding, SplitSums
from bddtorque.words.integer_range import Range

W1, W2 = "((_ sign_extend 32) w1)", "((_ sign_extend 32) w2)"
TOTAL = f"(bvadd (bvmul (_ bv4 64) {W1} {W2}) (bvmul (_ bv12 64) {W2}) (_ bv34 64))"
"""4 w1 w2 + 12 w2 + 34, which is rounded by 6 bits: the half of 64 is in it already."""
SCALED = Rounding("rounded_0", Word("(bvmul w2 (_ bv3 32))", 32, False), "rounded_0", 1)


def is_multiplied_out(inside: str, bits: int, *before: Rounding, high: int = 1000) -> bool:
    """Whether floor(inside/16) passes for the plan's sum, where w2 reaches from 0 to `high`."""
    sums = SplitSums({"w1": Range(0, 1000), "w2": Range(0, high)})
    last = Rounding("rounded_1", Word(inside, bits, False), "(bvashr rounded_1 (_ bv4 32))", 16)
    word = Word(last.result, 32, True)
    return sums.question(word, [*before, last], TOTAL, 6, Range(0, 1 << 20), lambda term: term) is not None


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
    inside = f"(bvadd (bvmul {W1} {W2}) ((_ sign_extend 32) rounded_0) (_ bv8 64))"
    assert is_multiplied_out(inside, 64, SCALED)
    assert is_multiplied_out(inside, 64, SCALED, high=(1 << 31) // 3)
    assert not is_multiplied_out(inside, 64, SCALED, high=(1 << 31) // 3 + 1)
