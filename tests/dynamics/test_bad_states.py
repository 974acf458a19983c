"""Bad states: one clear line each, which names the array and what was wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import bddtorque as bt
from bddtorque.robots.parts import Joint, Link

ROBOT = bt.Robot(
    "two",
    (Joint("hip", "revolute"), Joint("knee", "revolute", translation=(1, 0, 0))),
    (Link("thigh", 1, (0.5, 0, 0)), Link("shin", 1, (0.5, 0, 0))),
)
GOOD = [0.1, 0.2]
CALLS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "inverse_dynamics": (bt.inverse_dynamics, ("q", "qd", "qdd")),
    "forward_dynamics": (bt.forward_dynamics, ("q", "qd", "tau")),
    "bias": (bt.bias, ("q", "qd")),
    "gravity_torque": (bt.gravity_torque, ("q",)),
    "mass_matrix": (bt.mass_matrix, ("q",)),
}


def message(bad: Any, call: str = "inverse_dynamics", argument: int = 0) -> str:
    function, names = CALLS[call]
    arguments: list[Any] = [GOOD] * len(names)
    arguments[argument] = bad
    with pytest.raises(bt.BddTorqueError) as caught:
        function(ROBOT, *arguments)
    text = str(caught.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    ("call", "argument"), [(call, k) for call, (_, names) in CALLS.items() for k in range(len(names))]
)
def test_every_array_of_every_call_is_named(call: str, argument: int) -> None:
    name = CALLS[call][1][argument]
    assert message([0.0, np.nan], call, argument).startswith(f"{name} must be finite, got nan")
    assert message([0.0, 1.0, 2.0], call, argument).startswith(f"{name} must have shape (2,) or (N, 2)")
    assert message("a pose", call, argument) == f"{name} must be an array of real numbers, got text"


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_found(value: float) -> None:
    batch = np.zeros((5, 2))
    batch[3, 1] = value
    expected = f"{value} at state 3 (from 0), joint 2 ('knee')"
    assert message(batch, argument=2) == f"qdd must be finite, got {expected}"
    assert message(np.asfortranarray(batch), argument=1) == f"qd must be finite, got {expected}"


@pytest.mark.parametrize(
    ("bad", "given"),
    [
        (0.5, "()"),
        ([], "(0,)"),
        ([1.0], "(1,)"),
        (np.zeros((2, 3)), "(2, 3)"),
        (np.zeros((3, 2, 2)), "(3, 2, 2)"),
        (np.zeros((0, 3)), "(0, 3)"),
    ],
)
def test_wrong_shapes(bad: Any, given: str) -> None:
    assert message(bad) == f"q must have shape (2,) or (N, 2) for 'two', got {given}"


@pytest.mark.parametrize("bad", [[[0.1, 0.2], [0.3]], [0.1, [0.2]], ((1, 2), (3, 4, 5))])
def test_ragged_lists(bad: Any) -> None:
    assert message(bad) == f"q must have rows of one length, got a ragged {type(bad).__name__}"


@pytest.mark.parametrize(
    ("bad", "given"),
    [
        (["0.1", "0.2"], "text"),  # NumPy would read them as numbers
        ([b"1", b"2"], "text"),
        (np.array(["1", 2.0], dtype=object), "objects"),
        ([0.1, None], "objects"),
        (None, "objects"),
        ({"q1": 0.1}, "objects"),
        ([0.1, 10**400], "objects (int too large to convert to float)"),
        ([0.1 + 0.2j, 0], "complex128"),
        ([True, False], "bool"),
        (np.array([1, 2], dtype="datetime64[s]"), "datetime64[s]"),
    ],
)
def test_what_is_no_number(bad: Any, given: str) -> None:
    assert message(bad).startswith(f"q must be an array of real numbers, got {given}")


def test_exact_numbers_are_taken() -> None:
    found = bt.inverse_dynamics(ROBOT, [Fraction(1, 4), Fraction(1, 2)], GOOD, GOOD)
    np.testing.assert_array_equal(found, bt.inverse_dynamics(ROBOT, [0.25, 0.5], GOOD, GOOD))


def test_batches_of_unequal_length() -> None:
    with pytest.raises(bt.BddTorqueError, match=r"^states must have the same number of rows, got q 3, qd 4, qdd 1$"):
        bt.inverse_dynamics(ROBOT, np.zeros((3, 2)), np.zeros((4, 2)), np.zeros(2))
    with pytest.raises(bt.BddTorqueError, match="got q 0, qd 4, qdd 1"):
        bt.inverse_dynamics(ROBOT, np.zeros((0, 2)), np.zeros((4, 2)), np.zeros(2))
