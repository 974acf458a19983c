"""Rotations that are exact where they should be, and orthonormal always."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bddtorque.robots.frames import align_z, cos_sin, rotation_about, rotation_rpy, snap_rotation, unit

angles = st.floats(-7.0, 7.0)
components = st.one_of(st.floats(-1.0, 1.0), st.sampled_from([0.0, 1.0, -1.0]))


def assert_rotation(rotation: np.ndarray, tolerance: float = 4e-15) -> None:
    assert np.abs(rotation.T @ rotation - np.eye(3)).max() <= tolerance
    assert np.linalg.det(rotation) > 0


@given(angles, angles, angles)
def test_rpy_is_that_of_urdf(roll: float, pitch: float, yaw: float) -> None:
    np.testing.assert_allclose(rotation_rpy((roll, pitch, yaw)), pin.rpy.rpyToMatrix(roll, pitch, yaw), atol=1e-14)


@pytest.mark.parametrize("quarters", range(-9, 10))
def test_multiples_of_a_quarter_turn(quarters: int) -> None:
    found = cos_sin(quarters * math.pi / 2)
    assert set(map(abs, found)) == {0.0, 1.0}
    np.testing.assert_allclose(found, (math.cos(quarters * math.pi / 2), math.sin(quarters * math.pi / 2)), atol=1e-14)
    assert cos_sin(quarters * math.pi / 2 + 1e-12) != found


@given(st.tuples(components, components, components).filter(lambda v: max(map(abs, v)) > 1e-6), angles)
def test_axes(axis: tuple[float, float, float], angle: float) -> None:
    direction = unit(np.array(axis), 0.0)
    aligned = align_z(direction)
    assert_rotation(aligned)
    np.testing.assert_allclose(aligned[:, 2], direction, atol=1e-15)
    expected = pin.AngleAxis(angle, direction).toRotationMatrix()
    np.testing.assert_allclose(rotation_about(direction, angle), expected, atol=1e-14)


@pytest.mark.parametrize("axis", [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)])
def test_coordinate_axes_are_aligned_exactly(axis: tuple[int, int, int]) -> None:
    aligned = align_z(np.array(axis, dtype=float))
    assert set(np.abs(aligned).ravel()) == {0.0, 1.0}
    assert tuple(aligned[:, 2]) == axis


def test_unit() -> None:
    assert unit(np.zeros(3), 0.0) is None
    np.testing.assert_array_equal(unit(np.array([0.0, 3.0, 1e-12]), 1e-9), [0.0, 1.0, 0.0])
    np.testing.assert_allclose(unit(np.array([1e-200, 1e-200, 0.0]), 0.0), [math.sqrt(0.5), math.sqrt(0.5), 0.0])
    np.testing.assert_allclose(unit(np.array([1e200, 0.0, 1e200]), 0.0), [math.sqrt(0.5), 0.0, math.sqrt(0.5)])


@given(angles, angles, angles, st.sampled_from([0.0, 1e-12, 1e-9, 1e-3]))
def test_snapping_keeps_rotations_and_moves_them_little(r: float, p: float, y: float, tolerance: float) -> None:
    rotation = rotation_rpy((r, p, y))
    snapped = snap_rotation(rotation, tolerance)
    assert_rotation(snapped)
    assert np.abs(snapped - rotation).max() <= 2 * max(tolerance, 1e-15)


@given(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), angles, st.integers(0, 2))
def test_near_quarter_turns_become_exact(i: int, j: int, k: int, free: float, which: int) -> None:
    turns = [i * 1.57079632679, j * 1.57079632679, k * 1.57079632679]
    snapped = snap_rotation(rotation_rpy(turns), 1e-9)
    assert set(np.abs(snapped).ravel()) == {0.0, 1.0}
    np.testing.assert_allclose(snapped, rotation_rpy(turns), atol=1e-10)
    turned = rotation_rpy([free if axis == which else 0.0 for axis in range(3)])  # about a coordinate axis
    kept = snap_rotation(rotation_rpy(turns) @ turned, 1e-9)
    assert_rotation(kept)
    assert (kept == 0.0).sum() >= 4
    np.testing.assert_allclose(kept, rotation_rpy(turns) @ turned, atol=1e-9)
