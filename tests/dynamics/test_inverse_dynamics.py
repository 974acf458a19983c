"""Newton-Euler against pinocchio, on chains of every kind; and what shapes, types and layouts it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from examples_tried import examples
from hypothesis import given, settings
from oracle import pinocchio_model, random_states, rnea
from strategies import BUILT_IN, GEOMETRIES, random_robot, relative_error, robots, seeds

import bddtorque as bt
from bddtorque.dynamics.newton_euler import torque_rows
from bddtorque.robots.parts import Joint, Link

TOLERANCE = 1e-10


@settings(max_examples=examples(150))
@given(robots(), seeds)
def test_torques_are_pinocchios(robot: bt.Robot, seed: int) -> None:
    # LAT's recursion (F01)
    states = random_states(robot, 8, seed)
    expected = rnea(pinocchio_model(robot), *states)
    assert relative_error(bt.inverse_dynamics(robot, *states), expected) < TOLERANCE


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_arms(name: str) -> None:
    robot = bt.load_robot(name)
    states = random_states(robot, 100)
    assert relative_error(bt.inverse_dynamics(robot, *states), rnea(pinocchio_model(robot), *states)) < 1e-12


NOMINAL_POSE = (0.0, np.pi / 4, -np.pi, 0.0, np.pi / 4, 0.0)


@pytest.mark.parametrize(
    ("acceleration", "published"),
    [
        (0.0, (0.0, 31.6399, 6.0351, 0.0, 0.0283, 0.0)),
        (1.0, (3.35311, 36.0025, 7.42596, 0.190043, 0.203441, 0.194133)),
    ],
)
def test_published_torques_of_the_puma(acceleration: float, published: tuple[float, ...]) -> None:
    robot = bt.load_robot("puma560")
    found = bt.inverse_dynamics(robot, NOMINAL_POSE, np.zeros(6), np.full(6, acceleration))
    # printed with four decimals, or with six digits
    np.testing.assert_allclose(found, published, rtol=5e-6, atol=5e-5 if acceleration == 0 else 5e-7)


@pytest.fixture(scope="module")
def robot() -> bt.Robot:
    return random_robot(["revolute", "prismatic", "revolute"], list(GEOMETRIES[:3]), seed=5)


@pytest.fixture(scope="module")
def states(robot: bt.Robot) -> tuple[np.ndarray, ...]:
    return random_states(robot, 6)


def test_one_state_has_one_axis(robot: bt.Robot, states: tuple[np.ndarray, ...]) -> None:
    batch = bt.inverse_dynamics(robot, *states)
    assert batch.shape == (6, 3)
    assert batch.dtype == np.float64
    for row in range(6):
        one = bt.inverse_dynamics(robot, *(array[row] for array in states))
        assert one.shape == (3,)
        np.testing.assert_array_equal(one, batch[row])


@pytest.mark.parametrize(
    "layout",
    [
        np.asfortranarray,
        lambda a: np.repeat(np.repeat(a, 2, axis=0), 3, axis=1)[::2, ::3],
        lambda a: a[::-1].copy()[::-1],
        lambda a: np.ascontiguousarray(a.T).T,
        lambda a: a.tolist(),
        lambda a: a.astype(object),
        lambda a: a.astype(">f8"),
        lambda a: np.frombuffer(a.tobytes()).reshape(a.shape),  # read-only
    ],
    ids=["fortran", "strided", "reversed", "transposed", "lists", "objects", "byte-swapped", "read-only"],
)
def test_any_memory_layout(
    layout: Callable[[np.ndarray], Any], robot: bt.Robot, states: tuple[np.ndarray, ...]
) -> None:
    given = [layout(array) for array in states]
    np.testing.assert_array_equal(bt.inverse_dynamics(robot, *given), bt.inverse_dynamics(robot, *states))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8, np.int64, np.uint16])
def test_other_number_types_are_taken_exactly(dtype: type, robot: bt.Robot) -> None:
    q, qd, qdd = (np.array([[1, 2, 3], [0, 5, 1]], dtype=dtype) for _ in range(3))
    expected = bt.inverse_dynamics(robot, *(array.astype(np.float64) for array in (q, qd, qdd)))
    np.testing.assert_array_equal(bt.inverse_dynamics(robot, q, qd, qdd), expected)


def test_a_single_row_serves_all_states(robot: bt.Robot, states: tuple[np.ndarray, ...]) -> None:
    q, qd, qdd = states
    expected = bt.inverse_dynamics(robot, q, np.tile(qd[0], (6, 1)), np.tile(qdd[0], (6, 1)))
    np.testing.assert_array_equal(bt.inverse_dynamics(robot, q, qd[0], qdd[:1]), expected)
    assert bt.inverse_dynamics(robot, q[0], qd, qdd[0]).shape == (6, 3)
    assert bt.inverse_dynamics(robot, q[:1], qd[0], qdd[0]).shape == (1, 3)


def test_an_empty_batch_has_no_torques(robot: bt.Robot) -> None:
    none = np.empty((0, 3))
    assert bt.inverse_dynamics(robot, none, none, none).shape == (0, 3)
    assert bt.inverse_dynamics(robot, none, np.zeros(3), np.zeros(3)).shape == (0, 3)
    assert bt.bias(robot, none, none).shape == (0, 3)
    assert bt.gravity_torque(robot, none).shape == (0, 3)
    assert bt.mass_matrix(robot, none).shape == (0, 3, 3)
    assert bt.forward_dynamics(robot, none, none, none).shape == (0, 3)


def test_inputs_stay_as_they_are(robot: bt.Robot, states: tuple[np.ndarray, ...]) -> None:
    before = [array.copy() for array in states]
    result = bt.inverse_dynamics(robot, *states)
    assert all(not np.shares_memory(result, array) for array in states)
    for array, kept in zip(states, before, strict=True):
        np.testing.assert_array_equal(array, kept)


def test_whole_numbers_in_a_robot_are_floats_too() -> None:
    joint, link = Joint("joint", "revolute", rotor_inertia=2), Link("link", 3, (1, 0, 0))
    robot = bt.Robot("whole", (joint,), (link,), gravity=(0, -10, 0))
    assert bt.inverse_dynamics(robot, [0], [0], [1]) == pytest.approx([2 + 3 + 30])


def test_one_compiled_form_serves_every_layout(robot: bt.Robot, states: tuple[np.ndarray, ...]) -> None:
    # a form for each mixture of read-only and repeated arrays would stall a controller's first calls
    q, qd, qdd = states
    bt.inverse_dynamics(robot, q, qd, qdd)
    compiled = list(torque_rows.signatures)  # type: ignore[attr-defined]
    for arrays in ((q, qd[0], qdd), (q[0], qd[0], qdd[0]), (q.T.copy().T, qd[:1], qdd.tolist())):
        bt.inverse_dynamics(robot, *arrays)
    assert torque_rows.signatures == compiled  # type: ignore[attr-defined]
