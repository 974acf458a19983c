"""Poses and rotations that the readers share: exact where an angle is a multiple of a quarter turn.

What is compiled depends on these numbers to the last bit, so they are the same on every machine: sums of products in
one order, where a library's matrix product may add otherwise or fused, and sines that are correctly rounded, where
those of a system's own library need not be.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

_QUARTERS = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))
_PRECISION = 160
_NOISE = 1e-15
"""Rotation entries below this are rounding noise of a few last bits, whatever the tolerance asked for."""


@dataclass(frozen=True, slots=True)
class Pose:
    """A frame seen from another one: orientation (3, 3) and origin (3,) in m."""

    rotation: Array
    translation: Array

    def __matmul__(self, inner: Pose) -> Pose:
        moved = self.translation + times(self.rotation, inner.translation)
        return Pose(times(self.rotation, inner.rotation), moved)


def times(left: Array, right: Array) -> Array:
    """Return the product of two small matrices, or of a matrix and a vector, by sums of products in one order.

    What is too large for a float is infinite, without a warning.
    """
    if right.ndim == 1:
        return times(left, right[:, None])[:, 0]
    with np.errstate(over="ignore", invalid="ignore"):
        product: Array = (left[:, :, None] * right[None, :, :]).sum(axis=1)
    return product


def dot(left: Iterable[float], right: Iterable[float]) -> float:
    """Return the scalar product of two vectors (3,), added from the first component to the last."""
    x, y, z = (float(a) * float(b) for a, b in zip(left, right, strict=True))
    return x + y + z


def _length(vector: Array) -> float:
    return math.sqrt(dot(vector, vector))


def identity() -> Pose:
    """Return the pose of a frame in itself."""
    return Pose(np.eye(3), np.zeros(3))


def cos_sin(angle: float) -> tuple[float, float]:
    """Return cosine and sine of an angle in rad; exact at what float64 makes of multiples of π/2."""
    quarters = round(angle / (math.pi / 2))
    if abs(angle - quarters * (math.pi / 2)) <= 2 * math.ulp(max(abs(angle), 1.0)):
        return _QUARTERS[quarters % 4]
    precise = _precise()
    return _nearest(precise.cos(angle)), _nearest(precise.sin(angle))


def angle_of(y: float, x: float) -> float:
    """Return the angle of the direction (x, y) in rad, from −π to π, correctly rounded."""
    if y == 0.0 or x == 0.0:
        return math.atan2(y, x)  # of a quarter turn, or of none, nobody makes anything else
    return _nearest(_precise().atan2(y, x))


@cache
def _precise() -> Any:
    """Return arithmetic of so many bits that what it rounds to 53 is right; its precision is nobody else's."""
    import mpmath  # noqa: PLC0415 - for the compiler alone

    context = mpmath.MPContext()
    context.prec = _PRECISION
    return context


def _nearest(number: Any) -> float:
    """Return the float next to a number of many bits: that of a fraction is, whatever mpmath's own would be."""
    mantissa, exponent = (int(part) for part in number.man_exp)
    return math.copysign(float(abs(mantissa) * Fraction(2) ** exponent), number)


def rotation_x(angle: float) -> Array:
    """Return the rotation about x by an angle in rad, shape (3, 3)."""
    c, s = cos_sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def rotation_y(angle: float) -> Array:
    """Return the rotation about y by an angle in rad, shape (3, 3)."""
    c, s = cos_sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def rotation_z(angle: float) -> Array:
    """Return the rotation about z by an angle in rad, shape (3, 3)."""
    c, s = cos_sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def rotation_rpy(angles: Sequence[float]) -> Array:
    """Return Rz(yaw)·Ry(pitch)·Rx(roll) for (roll, pitch, yaw) in rad: the convention of URDF, shape (3, 3)."""
    (cr, sr), (cp, sp), (cy, sy) = (cos_sin(angle) for angle in angles)
    return np.array(
        [
            [cp * cy, sp * (sr * cy) - cr * sy, sp * (cr * cy) + sr * sy],
            [cp * sy, sp * (sr * sy) + cr * cy, sp * (cr * sy) - sr * cy],
            [-sp, cp * sr, cp * cr],
        ]
    )


def rotation_quaternion(w: float, x: float, y: float, z: float) -> Array:
    """Return the rotation of a quaternion of any length but 0, shape (3, 3)."""
    largest = max(abs(w), abs(x), abs(y), abs(z))
    if largest < 1e-100 or largest > 1e100:  # so that squares can neither vanish nor overflow
        w, x, y, z = (each / largest for each in (w, x, y, z))
    s = 2.0 / (w * w + x * x + y * y + z * z)
    return np.array(
        [
            [1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)],
            [s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)],
            [s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)],
        ]
    )


def rotation_about(axis: Array, angle: float) -> Array:
    """Return the rotation about a unit axis by an angle in rad, shape (3, 3)."""
    to_axis = align_z(axis)
    return times(times(to_axis, rotation_z(angle)), to_axis.T)


def align_z(axis: Array) -> Array:
    """Return a rotation whose third column is the unit vector `axis`, shape (3, 3).

    Along ±x and ±y it is a quarter turn, along -z a half turn about x, so that chains of such axes stay sparse.
    """
    x, y, z = (float(component) for component in axis)
    if x == y == 0.0:
        return np.eye(3) if z > 0 else rotation_x(math.pi)
    if x == z == 0.0:
        return rotation_x(math.copysign(math.pi / 2, -y))
    if y == z == 0.0:
        return rotation_y(math.copysign(math.pi / 2, x))
    third = np.array([x, y, z])
    # The coordinate axis furthest from `axis` gives the first column: no division by something small.
    first = np.eye(3)[int(np.argmin(np.abs(third)))]
    first = first - dot(first, third) * third
    first /= _length(first)
    return np.stack([first, np.cross(third, first), third], axis=1)


def unit(axis: Array, tolerance: float) -> Array | None:
    """Return `axis` (3,) with length one and components within `tolerance` of zero made zero; None for no direction."""
    largest = float(np.abs(axis).max())
    if largest == 0.0:
        return None
    scaled = axis / largest  # first, so that the squares can neither overflow nor vanish
    direction: Array = scaled / _length(scaled)
    direction = np.where(np.abs(direction) <= tolerance, 0.0, direction)
    return direction / _length(direction)


def snap_rotation(rotation: Array, tolerance: float) -> Array:
    """Return a rotation (3, 3) made exact where it keeps a coordinate axis to within `tolerance`.

    Where one axis is carried onto another, ±, to within `tolerance` (rpy = 1.57079632679 leaves 5e-12), that row and
    column become exactly 0 and ±1, and the remaining 2×2 block is made an exact rotation. Other rotations only lose
    the noise of the last bits, so the result is always orthonormal.
    """
    if tolerance <= 0.0:
        return rotation
    for row in range(3):
        for column in range(3):
            rows, columns = [k for k in range(3) if k != row], [k for k in range(3) if k != column]
            if max(np.abs(rotation[row, columns]).max(), np.abs(rotation[rows, column]).max()) <= tolerance:
                snapped = np.zeros((3, 3))
                snapped[row, column] = math.copysign(1.0, rotation[row, column])
                snapped[np.ix_(rows, columns)] = _snap_block(rotation[np.ix_(rows, columns)], tolerance)
                return snapped
    return np.where(np.abs(rotation) <= _NOISE, 0.0, rotation)


def _snap_block(block: Array, tolerance: float) -> Array:
    """Return the orthogonal 2×2 matrix nearest to `block`, a quarter turn if within `tolerance` of one."""
    sign = math.copysign(1.0, block[0, 0] * block[1, 1] - block[0, 1] * block[1, 0])  # a turn, or a mirrored one
    c, s = block[0, 0] + sign * block[1, 1], block[1, 0] - sign * block[0, 1]
    length = math.hypot(c, s)
    c, s = c / length, s / length
    if abs(s) <= tolerance:
        c, s = math.copysign(1.0, c), 0.0
    elif abs(c) <= tolerance:
        c, s = 0.0, math.copysign(1.0, s)
    return np.array([[c, -sign * s], [s, sign * c]])
