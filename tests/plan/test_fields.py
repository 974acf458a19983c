"""The type of a field says what may stand in it: every class has rules, and messages name the field and the wire."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from typing import Any

import pytest

from bddtorque.base.errors import BddTorqueError
from bddtorque.plan.blocks import BLOCKS, ProductBlock, SquareBlock
from bddtorque.plan.fields import Earlier, PlanPart, field_rules, part_from_plain
from bddtorque.plan.wires import (
    OPERATIONS,
    Add,
    AngleSum,
    Constant,
    Fused,
    Input,
    Lookup,
    Number,
    Output,
    Product,
    Sine,
)
from bddtorque.spec import field_values
from bddtorque.targets import TARGETS

WIRES = (Input("q1", 6, True), Input("qd1", 5, False), Number(1), Constant(Fraction(1, 3)))
BLOCK = ProductBlock((4, 4), True, 2, -16, 16)
EARLIER = Earlier(WIRES, (BLOCK, SquareBlock(5)))
PARTS: list[PlanPart] = [
    AngleSum("a", 7, ((0, -2, 1),), 3),
    Lookup("t", 0, (0, 1)),
    Product("p", 0, 1, 2, "blocks", 0, 0, -9, 9),
    Product("p", 0, 1, 0, "squares", 1, 0, -9, 9),
    Sine(0, True, Fraction(1, 7)),
    Add(2, 3, -1),
    Fused(2, 3, 2, -1, 1),
    BLOCK,
]


@pytest.mark.parametrize("part", [*OPERATIONS.values(), *BLOCKS.values(), Output], ids=lambda part: part.__name__)
def test_every_field_has_a_rule(part: type[PlanPart]) -> None:
    rules = field_rules(part)
    assert list(rules) == [each.name for each in fields(part)]  # type: ignore[arg-type]


@pytest.mark.parametrize("part", PARTS, ids=lambda part: f"{part.kind}-{type(part).__name__}")
def test_parts_are_read_back_and_moved(part: PlanPart) -> None:
    kinds: Any = BLOCKS if part is BLOCK else OPERATIONS
    assert part_from_plain(part.to_plain(), kinds, "wire 4", EARLIER) == part
    moved = part.moved({k: k + 10 for k in range(4)})
    assert moved.sources == tuple(wire + 10 for wire in part.sources)
    assert moved.moved({k + 10: k for k in range(4)}) == part


@pytest.mark.parametrize(
    ("place", "changes", "message"),
    [
        (0, {"parts": [[4, 1, 0]]}, r"^wire 4, parts must be between 0 and 3, got 4$"),
        (0, {"parts": [[2, 1, 0]]}, r"^wire 4, parts must read a word, and wire 2 is a float$"),
        (0, {"parts": [[0, 1]]}, r"^wire 4, parts must be a list of 3, got \[0, 1\]$"),
        (0, {"parts": 7}, r"^wire 4, parts must be a list, got 7$"),
        (0, {"bits": True}, r"^wire 4, bits must be an integer between 1 and 32, got True$"),
        (0, {"name": 3}, r"^wire 4, name must be text, got 3$"),
        (0, {"kind": "angle"}, r"^wire 4, kind must be .*'angle_sum'"),
        (0, {"kind": ["angle_sum"]}, r"^wire 4, kind must be "),
        (1, {"wires": [0]}, r"^wire 4, wires must be a list of 2, as block 0 has it, got \[0\]$"),
        (1, {"block": 2}, r"^wire 4, block must be between 0 and 1, got 2$"),
        (2, {"shift": 3}, r"^wire 4: method 'blocks' does not multiply with block 0$"),
        (2, {"piece_bits": 3}, r"^wire 4: method 'blocks' does not multiply with block 0$"),
        (2, {"block": -1}, r"^wire 4: method 'blocks' does not multiply with block -1$"),
        (2, {"method": "shift"}, r"^wire 4, method must be 'blocks', 'partial', 'squares' or 'native', got 'shift'$"),
        (2, {"low": 10}, r"^wire 4: low must be at most high, got 10 and 9$"),
        (3, {"block": 0}, r"^wire 4: method 'squares' does not multiply with block 0$"),
        (4, {"cosine": 1}, r"^wire 4, cosine must be true or false, got 1$"),
        (4, {"rest": "1/0"}, r"^wire 4, rest must be a rational such as 3/8, got '1/0'$"),
        (5, {"left": 0}, r"^wire 4, left must read a float, and wire 0 is a word$"),
        (5, {"sign": 0}, r"^wire 4, sign must be 1 or -1, got 0$"),
        (5, {"sign": True}, r"^wire 4, sign must be 1 or -1, got True$"),
        (5, {"signs": 1}, r"^wire 4: unknown key 'signs'"),
    ],
)
def test_what_does_not_fit_is_refused(place: int, changes: dict[str, Any], message: str) -> None:
    plain = PARTS[place].to_plain() | changes
    with pytest.raises(BddTorqueError, match=message):
        part_from_plain(plain, OPERATIONS, "wire 4", EARLIER)


def test_every_target_has_a_record() -> None:
    assert tuple(TARGETS) == field_values.TARGETS
    assert all(name == target.name and target.about for name, target in TARGETS.items())
    assert {name for name, target in TARGETS.items() if target.made_of_tables} == {"tables"}
