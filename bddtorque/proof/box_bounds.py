"""A bound of a torque over a box of positions, over its halves, theirs, ...: what is kept of their control points."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from bddtorque.proof.control_points import (
    LANES,
    POINTS,
    arc_controls,
    corner_bounds,
    halvings,
    largest_motions,
    mix_axis,
    size_bounds,
    slide_controls,
)
from bddtorque.proof.motion_rows import MotionRows

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class BoxBounds:
    """Control points of a box, of a half of it, of a half of that, and so on.

    Attributes
    ----------
    motion
        A motion that has a large torque at the control point that the last bound is of: velocities, accelerations.
    """

    def __init__(self, own: MotionRows, turning: list[bool], levels: int) -> None:
        self._own, self._turning = own, turning
        axes, rows = len(turning), len(own.layout)
        self._first = max(axes, 1) - 1
        self._buffers = np.empty((self._first + levels, len(own.coefficients)))
        self._arcs: list[tuple[float, float]] = [(math.nan, math.nan)] * axes
        inside = min(LANES, axes)
        strides, begins = own.layout[:, :-1], own.layout[:, -1]
        self._strides = strides
        self._along = begins[:, None, None] + strides[:, :, None] * np.arange(POINTS)
        self._lanes = np.ascontiguousarray(strides[:, axes - inside :] @ _indices(inside))
        self._starts = np.ascontiguousarray((begins[:, None] + strides[:, : axes - inside] @ _indices(axes - inside)).T)
        width, count = POINTS**inside, len(own.products)
        motions = count + len(own.accelerations)
        self._corner_room = (
            np.empty((rows, width)),
            np.empty((count, width)),
            np.empty(width),
            np.empty(width),
            np.empty(width),
            np.empty(count),
            tuple(np.empty((3, width), np.int64)),
        )
        self._form_room = (
            np.empty((count, count)),
            np.empty((count, count)),
            np.empty(count),
            np.empty(count),
            np.empty(motions),
            np.empty(count, np.int64),
            np.empty(rows, np.int64),
        )
        self._known = np.empty((levels, POINTS**axes))
        self._plain = np.array([[*(POINTS ** np.arange(axes)[::-1]), 0]], np.int64)
        self._roles = own.products, own.accelerations, own.still
        self.motion = np.zeros(motions)

    def take(self, low: list[float], high: list[float]) -> None:
        """Compute the control points of a box, at level 0, axis by axis; what the first have in common is kept."""
        same = True
        if not low:
            self._buffers[0] = self._own.coefficients
        for axis, arc in enumerate(zip(low, high, strict=True)):
            same = same and self._arcs[axis] == arc
            if not same:
                self._arcs[axis] = arc
                controls = arc_controls if self._turning[axis] else slide_controls
                source = self._buffers[axis - 1] if axis else self._own.coefficients
                mix_axis(source, self._buffers[axis], self._own.layout, axis, controls(*arc))
        size_bounds(
            self._buffers[self._first], self._starts, self._lanes, self._own.shares, self._corner_room, self._known[0]
        )

    def halve(self, level: int, axis: int, radius: float, upper: bool, aim: float) -> None:
        """Compute, at the next level, the control points of a half of the box of a level, if any may be above `aim`.

        They are means of those of the box, and the largest torque of all motions is convex in them: so it is no larger
        than the mean of the bounds known of these.
        """
        matrix = halvings(radius if self._turning[axis] else 0.0)[upper]
        mix_axis(self._known[level], self._known[level + 1], self._plain, axis, matrix)
        if self._known[level + 1].max() > aim:
            before = self._first + level
            mix_axis(self._buffers[before], self._buffers[before + 1], self._own.layout, axis, matrix)

    def bound(self, level: int, aim: float) -> tuple[float, int]:
        """Return a bound of the torque over the box of a level, no closer than `aim`, and the control point it is of.

        That is -1 where the bound is not above `aim`.
        """
        own, values, known = self._own, self._buffers[self._first + level], self._known[level]
        at = -1
        if known.max() > aim:
            corner_bounds(values, self._starts, self._lanes, own.shares, own.products, aim, self._corner_room, known)
            points = np.flatnonzero(known > aim)
            points = points[(-known[points]).argsort(kind="stable")]
            at = largest_motions(values, points, known, own.layout, self._roles, own.even, self._form_room, self.motion)
        return float(known.max()), at

    def bends(self, level: int, at: int) -> list[float]:
        """Return how far the control points through one of them are from a straight line, along each position."""
        values, factors = self._buffers[self._first + level], np.append(self.motion, 1.0)
        weight = factors[self._own.factors[0]] * factors[self._own.factors[1]]
        back = self._strides * np.array(np.unravel_index(at, (POINTS,) * self._strides.shape[1]), np.int64)
        along = self._along + (back.sum(axis=1, keepdims=True) - back)[:, :, None]
        lines = (weight[:, None, None] * values[along]).sum(axis=0)  # in order: the same on every machine
        bends: list[float] = np.abs(lines[:, :-2] - 2.0 * lines[:, 1:-1] + lines[:, 2:]).max(axis=1).tolist()
        return bends


def _indices(axes: int) -> Integers:
    """Return the indices of all control points of some positions, (axes, 5^axes)."""
    return np.indices((POINTS,) * axes, np.int64).reshape(axes, POINTS**axes)
