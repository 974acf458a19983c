"""Search over grids of positions for the largest coefficients of a torque: angle by angle, depth first.

Coefficients come as one array (5, ..., 5, rows): what 1, cos q, sin q, cos 2q, sin 2q of each position are multiplied
with, or 1, x, x² of a sliding one. Taking a point along the first position leaves an array of one position less. What
the others may still add is bounded by amplitudes: where that is below a threshold, nothing behind it is looked at.
`torque_grids` says why a grid is enough, and counts what float64 may lose here.

A row is multiplied with something of a motion that runs from -1 to 1, by its kind: with nothing, an acceleration, the
square of a velocity, or two different ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bddtorque.base.jit import njit, njit_without_refcounts
from bddtorque.proof.control_points import largest_form

STILL, PUSHED, SQUARE, PRODUCT = range(4)
POINTS = 5
"""Functions of a position."""
DEEP = 64
"""Points of the last position that cost as much as one step deeper."""


@njit_without_refcounts
def _corners(values: Any, products: Any, x: Any, slopes: Any) -> Any:
    """Return the largest and the smallest sum of products of two different velocities, each at an end."""
    count = len(products)
    if count < 2:
        return 0.0, 0.0
    last, total = count - 1, 0.0
    for j in range(count):
        x[j], slopes[j] = 1.0, 0.0
        for k in range(count):
            if products[j, k] >= 0:
                slopes[j] += values[products[j, k]]
        total += 0.5 * slopes[j]
    total -= slopes[last]
    most, least = total + abs(slopes[last]), total - abs(slopes[last])
    for code in range(1, 1 << max(0, count - 2)):  # one velocity changes ends at a time; the first one stays
        j, rest = 1, code
        while not rest & 1:
            rest >>= 1
            j += 1
        step = -2.0 * x[j]
        x[j] += step
        own = slopes[j]
        if products[last, j] >= 0:
            own -= values[products[last, j]]
        total += step * own
        for k in range(count):
            if products[j, k] >= 0:
                slopes[k] += step * values[products[j, k]]
        most, least = max(most, total + abs(slopes[last])), min(least, total - abs(slopes[last]))
    return most, least


@njit_without_refcounts
def _add_up(values: Any, more: Any, kinds: Any, products: Any, x: Any, slopes: Any, ends: Any) -> None:
    """Bound a torque, and minus it, for coefficients that may differ by `more`; squares that open downward are 0."""
    most = least = 0.0
    for row in range(len(kinds)):
        value, other = values[row], more[row]
        if kinds[row] == STILL:
            most += other + value
            least += other - value
        elif kinds[row] == PUSHED:
            most += other + abs(value)
            least += other + abs(value)
        elif kinds[row] == SQUARE:
            most += max(0.0, other + value)
            least += max(0.0, other - value)
        else:
            most += other
            least += other
    high, low = _corners(values, products, x, slopes)
    ends[0], ends[1] = most + high, least - low


@njit_without_refcounts
def _with_forms(
    values: Any, kinds: Any, products: Any, squares: Any, even: bool, sign: float, room: Any, point: Any
) -> float:
    """Bound a torque (`sign` 1), or minus it, with the squares that open downward; `point` takes the velocities."""
    form, lower, order, x, slopes = room
    count, total = len(products), 0.0
    for row in range(len(kinds)):
        if kinds[row] == STILL:
            total += sign * values[row]
        elif kinds[row] == PUSHED:
            total += abs(values[row])
    if count:
        for j in range(count):
            for k in range(count):
                form[j, k] = sign * values[products[j, k]] if products[j, k] >= 0 else 0.0
            form[j, j] = sign * values[squares[j]] if squares[j] >= 0 else 0.0
        total += largest_form(form, even, order, lower, x, slopes, point)
    return total


@njit_without_refcounts
def _spread(source: Any, first: int, size: int, rows: int, groups: Any, count: int, sums: Any, more: Any) -> None:
    """Bound what each coefficient varies by: amplitudes, of each group of waves of the same degrees."""
    for row in range(rows):
        more[row] = 0.0
    for group in range(count):
        for row in range(rows):
            sums[group, row] = 0.0
    for place in range(1, size):
        group, begin = groups[place], first + place * rows
        for row in range(rows):
            sums[group, row] += source[begin + row] * source[begin + row]
    for group in range(1, count):
        for row in range(rows):
            more[row] += np.sqrt(sums[group, row])


@njit_without_refcounts
def _take(source: Any, first: int, target: Any, begin: int, size: int, factors: Any) -> None:
    """Take a point along the first position."""
    a, b, c, d, e = factors[0], factors[1], factors[2], factors[3], factors[4]
    for i in range(size):
        p = first + i
        target[begin + i] = (
            a * source[p]
            + b * source[p + size]
            + c * source[p + 2 * size]
            + d * source[p + 3 * size]
            + e * source[p + 4 * size]
        )


@njit
def search_grid(
    coefficients: Any, grids: Any, tables: Any, first: int, groups: Any, roles: Any, floors: Any, coarse: bool,
    most: int, ends: Any, places: Any, work: Any,
) -> None:  # fmt: skip
    """Find the largest torque, and minus the smallest, over a grid, from one point of the first position on.

    Parameters
    ----------
    coefficients
        All of them, rows last, one after the other; positions in the order in which they are taken.
    grids, tables
        Number of points along each position, and the functions of the position there, (positions, points, 5).
    first
        The point of the first position.
    groups
        For each number of positions left, which waves have the same degrees.
    roles
        Kinds of the rows; rows of products and of squares of velocities, -1 for none; whether velocities are even.
    floors
        Two torques: what is not above these is not looked at.
    coarse
        Whether only the larger of the two torques is looked for, and about.
    most
        Work to do. What is left then counts by its amplitudes.
    ends, places
        Take the largest bounds, and the points that they are of, (2, positions).
    work
        Counts points and steps.
    """
    kinds, products, squares, even = roles
    axes, rows, count = len(grids), len(kinds), len(products)
    begins = np.zeros(axes + 2, np.int64)
    size = len(coefficients) // rows
    for level in range(axes):
        size //= POINTS
        begins[level + 2] = begins[level + 1] + size * rows
    values, more, none = np.empty(rows), np.empty(rows), np.zeros(rows)
    taken, sums = np.empty(begins[axes + 1] + 1), np.empty((3 ** max(axes - 1, 1), rows))
    x, slopes, point, own = np.empty(count + 1), np.empty(count + 1), np.empty(count + 1), np.empty(2)
    room = np.zeros((count, count)), np.zeros((count, count)), np.zeros(count + 1, np.int64), x, slopes
    last = grids[axes - 1]
    line, sizes, sides = np.empty((rows, last)), np.empty(last), np.empty(last)
    waves = np.empty((POINTS, last))
    for p in range(last):
        for k in range(POINTS):
            waves[k, p] = tables[axes - 1, p, k]
    at = np.zeros(axes, np.int64)
    level = 0
    at[0] = first
    done = 0
    while level >= 0:
        if at[level] >= grids[level] or (level == 0 and at[0] > first):
            level -= 1
            if level >= 0:
                at[level] += 1
            continue
        left = axes - level - 1
        size, begin = POINTS**left, begins[level + 1]
        source, start = (coefficients, 0) if level == 0 else (taken, begins[level])
        _take(source, start, taken, begin, size * rows, tables[level, at[level]])
        done += DEEP
        floor, other = (max(floors[0], ends[0]), max(floors[1], ends[1]))
        if coarse:
            floor = other = max(floor, other)
        for row in range(rows):
            values[row], more[row] = taken[begin + row], 0.0
        if left:
            _spread(taken, begin, size, rows, groups[left], 3**left, sums, more)
        _add_up(values, more, kinds, products, x, slopes, own)
        if done > most and left:
            for side in range(2):
                if own[side] > ends[side]:
                    ends[side] = own[side]
                    places[side, :] = 0
                    places[side, : level + 1] = at[: level + 1]
        if (own[0] <= floor and own[1] <= other) or (done > most and left):
            at[level] += 1
            continue
        if left != 1:
            if left:
                level += 1
                at[level] = 0
                continue
            for side in range(2):  # the only position
                bound = own[side]
                if not coarse and bound > floors[side]:
                    sign = 1.0 - 2.0 * side
                    bound = min(bound, _with_forms(values, kinds, products, squares, even, sign, room, point))
                if bound > ends[side]:
                    ends[side] = bound
                    places[side, :] = at
            done += 1
            at[level] += 1
            continue
        for p in range(last):  # the last position: all its points side by side
            sizes[p], sides[p] = 0.0, 0.0
        for row in range(rows):
            begin = begins[level + 1] + row
            a, b, c = taken[begin], taken[begin + rows], taken[begin + 2 * rows]
            d, e = taken[begin + 3 * rows], taken[begin + 4 * rows]
            kind = kinds[row]
            once = 1.0 if kind == STILL else (0.5 if kind == SQUARE else 0.0)
            size_share = 1.0 - once
            for p in range(last):
                value = a + b * waves[1, p] + c * waves[2, p] + d * waves[3, p] + e * waves[4, p]
                line[row, p] = value
                sizes[p] += size_share * abs(value)
                sides[p] += once * value
        done += last
        for p in range(last):
            if sizes[p] + sides[p] <= max(floors[0], ends[0]) and sizes[p] - sides[p] <= max(floors[1], ends[1]):
                continue
            for row in range(rows):
                values[row] = line[row, p]
            _add_up(values, none, kinds, products, x, slopes, own)
            done += 1
            for side in range(2):
                bound = own[side]
                if not coarse and bound > max(floors[side], ends[side]):
                    sign = 1.0 - 2.0 * side
                    bound = min(bound, _with_forms(values, kinds, products, squares, even, sign, room, point))
                if bound > ends[side]:
                    ends[side] = bound
                    places[side, :] = at
                    places[side, axes - 1] = p
        at[level] += 1
    work[0] += done


@njit
def climb(
    coefficients: Any, tables: Any, counts: Any, at: Any, side: int, roles: Any, sweeps: int, weights: Any, motion: Any
) -> float:
    """Climb to a large torque (`side` 0), or small (1), from a point of a fine grid; return it, minus it for 1.

    Motions and positions are held in turn. `at` takes the point, `weights` what coefficients are multiplied with,
    `motion` velocities and accelerations.
    """
    kinds, products, squares, even = roles
    axes, rows, count = len(counts), len(kinds), len(products)
    size = len(coefficients) // rows
    values, own, parts = np.empty(rows), np.empty(size), np.empty((2, max(size, 1)))
    whole = np.empty((2, len(coefficients)))
    x, slopes, point = np.empty(count + 1), np.empty(count + 1), np.empty(count + 1)
    room = np.zeros((count, count)), np.zeros((count, count)), np.zeros(count + 1, np.int64), x, slopes
    sign, best = 1.0 - 2.0 * side, -np.inf
    for _ in range(sweeps):
        left, which = size, 0
        whole[0, :] = coefficients
        for axis in range(axes):
            left //= POINTS
            _take(whole[which], 0, whole[1 - which], 0, left * rows, tables[axis, at[axis]])
            which = 1 - which
        for row in range(rows):
            values[row] = whole[which, row]
        _with_forms(values, kinds, products, squares, even, sign, room, point)
        pushes = count
        total = 0.0
        for row in range(rows):
            weight = sign
            if kinds[row] == PUSHED:
                weight = 1.0 if values[row] >= 0.0 else -1.0
                motion[pushes] = sign * weight
                pushes += 1
            weights[row] = weight
        for j in range(count):
            motion[j] = point[j]
            if squares[j] >= 0:
                weights[squares[j]] = sign * point[j] * point[j]
            for k in range(j):
                if products[j, k] >= 0:
                    weights[products[j, k]] = sign * point[j] * point[k]
        for row in range(rows):
            total += weights[row] * values[row]
        if total <= best + 1e-7 * abs(best):
            best = max(best, total)
            break
        best = total
        for place in range(size):
            value = 0.0
            for row in range(rows):
                value += weights[row] * coefficients[place * rows + row]
            own[place] = value
        for turn in range(2 * axes):
            axis = turn % axes
            parts[0, :size] = own
            left, which, before = size, 0, 1
            for other in range(axes):  # those before the axis are taken in front of it
                left //= POINTS
                if other == axis:
                    before = POINTS
                    continue
                factors = tables[other, at[other]]
                for b in range(before):
                    _take(parts[which], b * POINTS * left, parts[1 - which], b * left, left, factors)
                which = 1 - which
            top, winner = -np.inf, at[axis]
            for p in range(counts[axis]):
                table = tables[axis, p]
                value = 0.0
                for k in range(POINTS):
                    value += table[k] * parts[which, k]
                if value > top:
                    top, winner = value, p
            at[axis] = winner
    return best
