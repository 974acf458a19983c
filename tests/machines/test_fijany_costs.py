"""FIJ's totals and speed-ups: what is printed, what its parts add up to, what follows (F21 to F23)."""

from __future__ import annotations

import pytest

from bddtorque.base.errors import BddTorqueError
from machines.fijany.array_costs import PRINTED, SUM_OF_PARTS, CostFormula, doublings_of, fitted, speed_up
from machines.fijany.owned_words import Path

SERIAL = PRINTED["articulated body"]


def test_the_printed_parts_add_up_but_for_the_total() -> None:  # F21
    for whole, parts in {
        "step 1": ("(16) R(j+1,j)", "(17) R(n+1,j)", "(18) shift", "(20) P", "(21) H", "(22) K"),
        "step 2": ("(24) P(j,i)", "(25) Vd", "(26) F", "(27) N"),
        "step 3": ("(28)-(29) F, N", "(30) a"),
        "inertia matrix": ("step 1", "step 2", "step 3"),
    }.items():
        assert sum((PRINTED[part] for part in parts), CostFormula()) == PRINTED[whole]
    total = PRINTED["total"]
    assert (SUM_OF_PARTS.per_joint, SUM_OF_PARTS.per_doubling) == (total.per_joint, total.per_doubling)
    assert SUM_OF_PARTS.constant == Path(248, 171)
    assert total.constant == Path(238, 171)  # misprinted


def test_speed_up_at_six_joints_is_not_six() -> None:  # F22
    assert SERIAL.at(6) == Path(2082, 1639)
    assert speed_up(SERIAL, PRINTED["total"], 6) == pytest.approx(3721 / 682)
    assert speed_up(SERIAL, SUM_OF_PARTS, 6) == pytest.approx(3721 / 692)
    assert round(speed_up(SERIAL, PRINTED["total"], 6), 2) == 5.46
    assert round(speed_up(SERIAL, SUM_OF_PARTS, 6), 2) == 5.38
    assert speed_up(SERIAL, PRINTED["total"], 7) > 6  # it is six from seven joints on


@pytest.mark.parametrize(("n", "factor"), [(7, 6.41), (8, 7.35), (12, 9.85), (100, 46.0), (1000, 109.6)])
def test_speed_ups(n: int, factor: float) -> None:
    assert speed_up(SERIAL, PRINTED["total"], n) == pytest.approx(factor, abs=0.06)


def test_asymptotic_speed_up() -> None:  # F23
    assert speed_up(SERIAL, PRINTED["total"], 10**9) == pytest.approx(682 / 5, rel=1e-5)
    first = {
        name: next(n for n in range(2, 2000) if speed_up(SERIAL, formula, n) > 100)
        for name, formula in (("printed", PRINTED["total"]), ("parts", SUM_OF_PARTS))
    }
    assert first == {"printed": 672, "parts": 678}


def test_formulas() -> None:
    assert [doublings_of(n) for n in (1, 2, 3, 4, 5, 8, 9, 1024, 1025)] == [0, 1, 2, 2, 3, 3, 4, 10, 11]
    formula = CostFormula(Path(3, 2), Path(33, 48), Path(-2, 5))
    assert str(formula) == "(3m+2a)n + (33m+48a)L + (-2m+5a)"
    assert formula.at(9) == Path(27 + 4 * 33 - 2, 18 + 4 * 48 + 5)
    assert fitted({n: formula.at(n) for n in (3, 4, 9, 20)}) == formula
    with pytest.raises(BddTorqueError, match="at n = 3 is not"):
        fitted({n: Path(n * n, 0) for n in (3, 4, 9, 20)})
    with pytest.raises(BddTorqueError, match="tell n, log n and 1 apart"):
        fitted({n: formula.at(n) for n in (3, 4)})
