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

from bddtorque.base.jit import inlined, njit_without_refcounts

LANES = 3
"""Positions whose control points are looked at side by side."""


@njit_without_refcounts
def mix_axis(source: Any, target: Any, layout: Any, axis: int, matrix: Any) -> None:
    """Multiply one position's axis of all rows with a small matrix (5, 5).

    `layout` (rows, d + 1) holds strides of the positions in each row, 0 for one that it does not depend on, and where
    the row begins.
    """
    last_column = layout.shape[1] - 1
    for m in range(len(layout)):
        inner, first, last = layout[m, axis], layout[m, last_column], len(source)
        if m + 1 < len(layout):
            last = layout[m + 1, last_column]
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


@inlined
def _add_corners(block: Any, lanes: int, products: Any, totals: Any, slopes: Any, sums: Any, most: Any, x: Any) -> None:
    """Add to the totals the largest value of each lane's form at a corner, its squares aside.

    The first velocity is at 1, the last one at its better end; the others begin at 0.
    """
    count = len(products)
    others = max(0, count - 2)
    for j in range(count):
        m, x[j] = products[j, 0], 0.0
        for p in range(lanes):
            slopes[j, p] = block[m, p] if j and m >= 0 else 0.0
            sums[p], most[p] = 0.0, -np.inf
    for turn in range(others + (1 << others)):
        code = turn - others  # one velocity changes ends at a time
        j = turn + 1
        if code > 0:
            j = 1
            while not (code >> (j - 1)) & 1:
                j += 1
        if code != 0:
            step = 1.0 if code < 0 else -2.0 * x[j]
            x[j] += step
            for p in range(lanes):
                sums[p] += step * slopes[j, p]
            for k in range(1, count):
                m = products[max(j, k), min(j, k)]
                if k != j and m >= 0:
                    for p in range(lanes):
                        slopes[k, p] += step * block[m, p]
        if code >= 0:
            for p in range(lanes):
                most[p] = max(most[p], sums[p] + abs(slopes[count - 1, p]))
    for p in range(lanes):
        totals[p] += most[p]


@njit_without_refcounts
def size_bounds(values: Any, starts: Any, lanes: Any, shares: Any, room: Any, known: Any) -> None:
    """Bound the torque of all motions at every control point by the magnitudes of its coefficients.

    Parameters
    ----------
    values
        Control points of all rows, one after the other.
    starts, lanes
        Where each row has the control points of a block, (blocks, rows), and from there its lanes, (rows, width).
    shares
        (rows, 2): what a value, and its magnitude, are multiplied with in the bound; none of them for products, whose
        magnitudes count here.
    room
        Memory to work in.
    known
        Takes the bounds.
    """
    block, totals = room[0], room[2]
    rows, width = lanes.shape
    for number in range(len(starts)):
        for p in range(width):
            totals[p] = 0.0
        for m in range(rows):
            start, once, size = starts[number, m], shares[m, 0], shares[m, 1]
            if number and start == starts[number - 1, m]:  # the same as in the block before
                pass
            elif lanes[m, width - 1] == width - 1:  # one after the other
                for p in range(width):
                    block[m, p] = values[start + p]
            else:
                for p in range(width):
                    block[m, p] = values[start + lanes[m, p]]
            if once == 0.0:
                for p in range(width):
                    totals[p] += abs(block[m, p])
            else:
                for p in range(width):
                    totals[p] += once * block[m, p] + size * abs(block[m, p])
        for p in range(width):
            known[number * width + p] = totals[p]


@njit_without_refcounts
def corner_bounds(
    values: Any, starts: Any, lanes: Any, shares: Any, products: Any, floor: float, room: Any, known: Any
) -> None:
    """Bound the torque of all motions at control points as if no square of a velocity opened downward.

    Only those with bounds that are known to be above `floor` are looked at; their bounds become no larger. `products`
    are rows of products of velocities, (v, v) below the diagonal; -1 for none. The others are those of `size_bounds`.
    """
    block, slopes, totals, sums, most, x, (chosen, blocks, places) = room
    rows, width = lanes.shape
    count = 0
    for number in range(len(known) + 1):
        if number < len(known):
            if known[number] <= floor:
                continue
            chosen[count] = number
            count += 1
            if count < width:
                continue
        for p in range(count):
            totals[p], blocks[p], places[p] = 0.0, chosen[p] // width, chosen[p] % width
        for m in range(rows):
            once, size = shares[m, 0], shares[m, 1]
            for p in range(count):
                block[m, p] = value = values[starts[blocks[p], m] + lanes[m, places[p]]]
                totals[p] += once * value + size * abs(value)
        if len(products):
            _add_corners(block, count, products, totals, slopes, sums, most, x)
        for p in range(count):
            known[chosen[p]] = min(known[chosen[p]], totals[p])
        count = 0
