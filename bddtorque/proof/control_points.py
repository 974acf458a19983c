"""Bounds of a torque over boxes of positions, by control points.

For one motion, a torque is of the second degree in the sine and cosine of every angle, and in every sliding position.
Over a box of positions the coefficients of all products of motions are a mean of 5^d control points (`arc_controls`),
and the largest torque of all motions, which is convex in the coefficients, is not beyond that of the worst of them
(`motion_forms`). Halving a box takes means of control points, so no bound grows, and it comes closer to the largest
torque with the square of the size of the box.

Nothing is rounded outward: `torque_boxes` adds what float64 may lose.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bddtorque.base.jit import njit
from bddtorque.proof.arc_controls import POINTS, arc_controls, halving, slide_controls
from bddtorque.proof.motion_forms import add_corners, cheap_bounds, largest_motion
from bddtorque.proof.wave_values import sine_cosine

LANES = 3
"""Positions whose control points are looked at side by side."""
UNKNOWN, POINT = -1, -2
"""In place of the position to halve: of a box that has no bound yet, and of one that cannot be halved."""


@njit
def _mix(source: Any, target: Any, layout: Any, axis: int, matrix: Any) -> None:
    """Multiply one position's axis of all rows with a small matrix."""
    offsets, strides = layout
    for m in range(len(strides)):
        inner = strides[m, axis]
        first, last = offsets[m], offsets[m + 1]
        if inner == 0:
            for p in range(first, last):
                target[p] = source[p]
            continue
        for begin in range(first, last, 5 * inner):
            for p in range(begin, begin + inner):
                a, b, c = source[p], source[p + inner], source[p + 2 * inner]
                d, e = source[p + 3 * inner], source[p + 4 * inner]
                for i in range(5):
                    target[p + i * inner] = (
                        matrix[i, 0] * a + matrix[i, 1] * b + matrix[i, 2] * c + matrix[i, 3] * d + matrix[i, 4] * e
                    )


@njit
def _fill_block(values: Any, places: Any, lanes: Any, block: Any) -> None:
    """Fill in the control points of all rows on some lanes, which begin at a place of each row."""
    for m in range(len(places)):
        if lanes[m, -1] == len(lanes[m]) - 1:  # one after the other
            for p in range(len(lanes[m])):
                block[m, p] = values[places[m] + p]
        else:
            for p in range(len(lanes[m])):
                block[m, p] = values[places[m] + lanes[m, p]]


@njit
def _bound(values: Any, rows: Any, aim: float, hint: int, motion: Any, space: Any) -> tuple[float, int]:
    """Return a bound of the torque over a box, no closer than `aim`, and the control point that has it; -1 for none.

    `hint` is the one to look at first.
    """
    (offsets, strides), lanes, roles, even = rows
    block, totals, sizes, sums, slopes, most, form, places, trial = space
    axes, width = strides.shape[1], lanes.shape[1]
    blocks = POINTS ** max(0, axes - LANES)
    best, skipped, at = -np.inf, -np.inf, -1
    for turn in range(blocks):
        number = (hint // width + turn) % blocks if hint >= 0 else turn
        for m in range(len(places)):
            places[m] = offsets[m]
        rest = number
        for axis in range(axes - LANES - 1, -1, -1):
            index = rest % POINTS
            rest //= POINTS
            for m in range(len(places)):
                places[m] += index * strides[m, axis]
        _fill_block(values, places, lanes, block)
        cheap = cheap_bounds(block, roles, totals, sizes)
        if cheap <= max(aim, best):
            skipped = max(skipped, cheap)
            continue
        if len(roles[2]):
            add_corners(block, roles[2], totals, sums, slopes, most)
        for _ in range(width):
            p = int(np.argmax(totals))
            if totals[p] <= max(aim, best):
                skipped = max(skipped, totals[p])
                break
            value = min(totals[p], largest_motion(block[:, p], roles, even, form, trial))
            totals[p] = -np.inf
            if value > best:
                best, at = value, number * width + p
                motion[:] = trial
    return max(best, skipped), at


@njit
def _bend(values: Any, rows: Any, at: int, motion: Any, bends: Any, form: Any) -> None:
    """Fill in how far the control points through one of them are from a straight line, along each position.

    `form` is where the weights of the rows are kept.
    """
    (offsets, strides), _, roles, _ = rows
    still, accelerations, products = roles
    count, axes = len(products), strides.shape[1]
    weight = form
    weight[:] = 0.0
    if still >= 0:
        weight[still] = 1.0
    for j in range(len(accelerations)):
        if accelerations[j] >= 0:
            weight[accelerations[j]] = motion[count + j]
    for j in range(count):
        for k in range(j + 1):
            if products[j, k] >= 0:
                weight[products[j, k]] = motion[j] * motion[k]
    line = np.empty(POINTS)
    for axis in range(axes):
        own = (at // POINTS ** (axes - 1 - axis)) % POINTS
        line[:] = 0.0
        for m in range(len(strides)):
            place, rest = offsets[m], at
            for k in range(axes - 1, -1, -1):
                place += (rest % POINTS) * strides[m, k]
                rest //= POINTS
            for i in range(POINTS):
                line[i] += weight[m] * values[place + (i - own) * strides[m, axis]]
        bends[axis] = 0.0
        for i in range(1, POINTS - 1):
            bends[axis] = max(bends[axis], abs(line[i - 1] - 2.0 * line[i] + line[i + 1]))


@njit
def _controls(coefficients: Any, rows: Any, low: Any, high: Any, turning: Any, buffers: Any, arcs: Any) -> None:
    """Fill in the control points of a box of positions, axis by axis, one buffer each.

    `arcs` (d, 2) are those of the box that was there before: what the first axes have in common is kept.
    """
    matrix, same = np.empty((5, 5)), True
    if not len(low):
        buffers[0] = coefficients
    for axis in range(len(low)):
        same = same and arcs[axis, 0] == low[axis] and arcs[axis, 1] == high[axis]
        if same:
            continue
        arcs[axis, 0], arcs[axis, 1] = low[axis], high[axis]
        centre, radius = 0.5 * (low[axis] + high[axis]), 0.5 * (high[axis] - low[axis])
        if turning[axis]:
            s, c = sine_cosine(radius)
            centre_s, centre_c = sine_cosine(centre)
            arc_controls(c, s, centre_c, centre_s, matrix)
        else:
            slide_controls(centre, radius, matrix)
        _mix(coefficients if axis == 0 else buffers[axis - 1], buffers[axis], rows[0], axis, matrix)


@njit
def look(
    coefficients: Any, rows: Any, turning: Any, box: Any, aim: float, buffers: Any, arcs: Any, made: Any, most: int
) -> tuple[int, int]:
    """Bound a box, or if that is done its halves, and halves of these that are not below `aim`, for a few levels.

    Parameters
    ----------
    coefficients, rows
        Of all rows one after the other, (5, ..., 5) each: what 1, cos q, sin q, cos 2q, sin 2q of an angle, or 1, x, x²
        of a sliding position, are multiplied with. Their layout, lanes, roles, and whether they are even.
    turning
        Whether each position is an angle.
    box
        Ends of the positions, (2, d), and what was found of it: the position to halve, and the
        control point.
    buffers, arcs
        Control points, one buffer a position and one for each level of halves; and the arcs that the former are of.
    made
        Takes the boxes left: ends, bounds, what to halve, control points, and motions.
    most
        How many boxes to bound, at most.

    Returns
    -------
    int
        How many boxes are left.
    int
        How many were bounded.
    """
    lows, highs, bounds, splits, hints, motions = made
    ends, first_axis, first_hint = box
    (_, strides), lanes, (_, accelerations, products), _ = rows
    axes, count, width = len(turning), len(products), lanes.shape[1]
    first = max(axes, 1) - 1
    levels = len(buffers) - first
    space = (
        np.empty((len(strides), width)),
        np.empty(width),
        np.empty(width),
        np.empty(width),
        np.empty((count, width)),
        np.empty(width),
        np.empty((count, count)),
        np.empty(len(strides), np.int64),
        np.empty(count + len(accelerations)),
    )
    low, high = np.empty((levels, axes)), np.empty((levels, axes))
    split, hint = np.empty(levels, np.int64), np.empty(levels, np.int64)
    motion, bends, matrix, weight = (
        np.zeros(count + len(accelerations)),
        np.empty(axes),
        np.empty((5, 5)),
        np.empty(len(strides)),
    )
    tasks, waiting, left, looked = np.empty((2 * levels + 1, 2), np.int64), 0, 0, 0
    low[0], high[0], split[0], hint[0] = ends[0], ends[1], first_axis, first_hint
    _controls(coefficients, rows, low[0], high[0], turning, buffers, arcs)
    if first_axis == UNKNOWN:
        tasks[0], waiting = (-1, 0), 1
    else:
        tasks[0], tasks[1], waiting = (0, 1), (0, 0), 2
    while waiting:
        waiting -= 1
        parent, side = tasks[waiting]
        level = parent + 1
        if parent >= 0:
            axis = split[parent]
            c = sine_cosine(0.5 * (high[parent, axis] - low[parent, axis]))[1] if turning[axis] else 1.0
            low[level], high[level] = low[parent], high[parent]
            middle = 0.5 * (low[parent, axis] + high[parent, axis])
            if side:
                low[level, axis] = middle
            else:
                high[level, axis] = middle
            halving(c, side == 1, matrix)
            _mix(buffers[first + parent], buffers[first + level], rows[0], axis, matrix)
        bound, at = _bound(buffers[first + level], rows, aim, hint[max(parent, 0)], motion, space)
        looked += 1
        split[level], hint[level] = POINT, at
        if at >= 0:
            _bend(buffers[first + level], rows, at, motion, bends, weight)
            worst = -1.0
            for axis in range(axes):
                if high[level, axis] > low[level, axis] and bends[axis] > worst:
                    split[level], worst = axis, bends[axis]
        if bound > aim and split[level] >= 0 and level + 1 < levels and looked + waiting + 2 <= most:
            tasks[waiting], tasks[waiting + 1] = (level, 1), (level, 0)
            waiting += 2
            continue
        lows[left], highs[left], bounds[left] = low[level], high[level], bound
        splits[left], hints[left], motions[left] = split[level], at, motion
        left += 1
    return left, looked
