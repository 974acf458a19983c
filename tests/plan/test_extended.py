"""Rounding in extended precision: ties away from zero, and near-ties that float64 cannot tell from them."""

from fractions import Fraction

import pytest

from bddtorque.dynamics.tracer import Tracer
from bddtorque.plan.tabulate import rounded_exactly
from bddtorque.words.argument import Argument


def rounded(build, words, lsb=Fraction(1), bits=8, scale=Fraction(1, 2), kind="word", centre=Fraction(0)):
    tracer = Tracer()
    graph = tracer.graph([build(tracer, tracer.input("x"))], ["f"])
    argument = Argument(kind, bits, scale, centre)
    return rounded_exactly(graph, {"x": argument}, [{"x": word} for word in words], lsb)


def test_exact_ties_go_away_from_zero():
    assert rounded(lambda t, x: 1.0 * x, [-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5]) == [
        -3,
        -2,
        -2,
        -1,
        -1,
        0,
        1,
        1,
        2,
        2,
        3,
    ]


@pytest.mark.parametrize("tiny", [1e-12, 1e-20, 1e-30, 1e-40])
def test_what_is_nearly_a_tie_is_none(tiny):
    shift = Fraction(tiny)
    assert rounded(lambda t, x: 1.0 * x, [1, 3, -1, -3], centre=-shift) == [0, 1, -1, -2]
    assert rounded(lambda t, x: 1.0 * x, [1, 3, -1, -3], centre=shift) == [1, 2, 0, -1]


def test_sines_at_exact_places_tie():
    # sin² 45° = 1/2 and sin 45°·cos 45° = 1/2: float64 gives neither exactly
    assert rounded(lambda t, x: t.sin(x) * t.sin(x), [1, -1, 3, 0, 2], bits=3, kind="angle", scale=Fraction(1)) == [
        1, 1, 1, 0, 1,
    ]  # fmt: skip
    assert rounded(lambda t, x: -(t.sin(x) * t.cos(x)), [1, -1, 0], bits=3, kind="angle", scale=Fraction(1)) == [
        -1, 1, 0,
    ]  # fmt: skip


def test_offsets_of_angles_are_exact():
    offset = Fraction(1.0)
    found = rounded(lambda t, x: t.cos(x), [0, 1], bits=2, kind="angle", scale=Fraction(-1), centre=offset,
                    lsb=Fraction(1, 10**9))  # fmt: skip
    assert found == [540302306, 841470985]  # cos 1, and cos(1 − 90°) = sin 1
