"""A bound of a torque over a box of positions, over its halves, theirs, ...: what is kept of their control points."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from bddtorque.proof.arc_controls import POINTS, arc_controls, halvings, slide_controls
from bddtorque.proof.control_points import LANES, corner_bounds, mix_axis
from bddtorque.proof.motion_forms import largest_motions
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
            np.empty(width),
            np.empty(count),
            np.empty(rows, np.int64),
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
        self._made = np.empty(POINTS**axes, np.int64), np.empty(POINTS**axes)
        self._roles = own.products, own.accelerations, own.still
        self.motion, self._trial = np.zeros(motions), np.zeros(motions)

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

    def halve(self, level: int, axis: int, radius: float, upper: bool) -> None:
        """Compute, at the next level, the control points of a half of the box of a level."""
        matrix = halvings(radius if self._turning[axis] else 0.0)[upper]
        before = self._first + level
        mix_axis(self._buffers[before], self._buffers[before + 1], self._own.layout, axis, matrix)

    def bound(self, level: int, aim: float, hint: int) -> tuple[float, int]:
        """Return a bound of the torque over the box of a level, no closer than `aim`, and the control point it is of.

        `hint` is the one to look at first; -1 for none.
        """
        own, values = self._own, self._buffers[self._first + level]
        best, skipped, at = -math.inf, -math.inf, -1
        block, blocks = max(hint, 0) // self._lanes.shape[1], len(self._starts)
        for which in (block, -block - 1) if blocks > 1 else (block,):
            floor = max(aim, best)
            count, below = corner_bounds(
                values, self._starts, self._lanes, own.shares, own.products, which, floor, self._corner_room, self._made
            )
            skipped = max(skipped, below)
            if count:
                points, tops = (each[:count] for each in self._made)
                if count > 1:
                    order = (-tops).argsort(kind="stable")
                    points, tops = points[order], tops[order]
                value, first = largest_motions(
                    values, points, tops, own.layout, self._roles, own.even, self._form_room, self._trial
                )
                if value > best:
                    best, at = value, int(points[first])
                    self.motion, self._trial = self._trial, self.motion
        return max(best, skipped), at

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
