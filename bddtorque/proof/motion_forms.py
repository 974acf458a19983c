"""The largest torque of all motions, coefficients given: at one control point, or at many side by side.

Motions run from -1 to 1. With coefficients held the torque is linear in accelerations, which are at one end each, and a
quadratic form in velocities. Those whose squares open upward are at corners. For each of the corners there is a form of
the others: what has to be taken off their squares to make it concave is counted as if they were at corners, too, and
the rest is below any of its tangents, of which one is taken where the rest is largest.

*Roles* are rows of coefficients: of what does not move, of accelerations, (n,), and of products of velocities below the
diagonal, (v, v); -1 for none. Where velocities do not run from -x to x the first of the v is the constant 1; else the
form is *even*, and any one sign of it may be chosen.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bddtorque.base.jit import njit

CLOSE = 1e-7
"""Relative to a square: taken off each that opens downward, far more than float64 loses in showing a form concave."""
ROUNDS = 6


@njit
def _shift(form: Any, falling: Any, count: int, lower: Any) -> float:
    """Return what to take off the squares of some variables, at least, so that their form is concave."""
    least = most = 0.0
    for a in range(count):
        j = falling[a]
        row = form[j, j]
        for b in range(count):
            k = falling[b]
            if k != j:
                row += 0.5 * abs(form[max(j, k), min(j, k)])
        most = max(most, row)
        least = max(least, -CLOSE * form[j, j])
    for attempt in range(5):  # by Cholesky's factors; the last one is dominated by its diagonal
        shift = least + most * (0.0 if attempt == 0 else 0.25 * attempt)
        concave = attempt == 4
        for a in range(count if not concave else 0):
            for b in range(a + 1):
                j, k = falling[a], falling[b]
                rest = shift - form[j, j] if a == b else -0.5 * form[max(j, k), min(j, k)]
                for c in range(b):
                    rest -= lower[a, c] * lower[b, c]
                if a > b:
                    lower[a, b] = rest / lower[b, b]
                elif rest <= 0.5 * least:
                    lower[a, a] = -1.0
                else:
                    lower[a, a] = math.sqrt(rest)
            if lower[a, a] < 0.0:
                break
            concave = a == count - 1
        if concave:
            return shift
    return shift


@njit
def _largest_form(form: Any, even: bool, point: Any) -> float:
    """Return a bound of a quadratic form of variables from -1 to 1; `point` takes where it is large.

    `form` (v, v) holds the coefficients of squares and, below the diagonal, of products.
    """
    count = len(form)
    rising, falling, x = np.empty(count, np.int64), np.empty(count, np.int64), np.ones(count)
    up = down = 0
    for j in range(0 if even else 1, count):
        if form[j, j] < 0.0:
            falling[down] = j
            down += 1
        else:
            rising[up] = j
            up += 1
    shift = _shift(form, falling, down, np.empty((down, down))) if down else 0.0
    best = bound = -np.inf
    slopes = np.empty(count)
    for code in range(1 << max(0, up - 1 if even else up)):
        for a in range(up):
            x[rising[a]] = -1.0 if (code >> a) & 1 else 1.0
        for a in range(down):
            x[falling[a]] = 0.0
        for turn in range(ROUNDS):  # up a concave hill, one variable at a time
            for a in range(down):
                j = falling[a]
                slopes[a] = 0.0
                for k in range(count):
                    if k != j:
                        slopes[a] += form[max(j, k), min(j, k)] * x[k]
                if turn < ROUNDS - 1:
                    x[j] = min(max(0.5 * slopes[a] / (shift - form[j, j]), -1.0), 1.0)
        own = 0.0
        for j in range(count):
            for k in range(j + 1):
                own += form[j, k] * x[j] * x[k]
        if own > best:
            best = own
            point[:count] = x
        most = own
        for a in range(down):
            j = falling[a]
            slope = slopes[a] - 2.0 * (shift - form[j, j]) * x[j]
            most += shift * (1.0 - x[j] * x[j]) + max(slope * (1.0 - x[j]), -slope * (1.0 + x[j]))
        bound = max(bound, most)
    return bound


@njit
def largest_motion(values: Any, roles: Any, even: bool, form: Any, motion: Any) -> float:
    """Return a bound of the torque of all motions at one control point; `motion` takes a motion of a large one.

    `roles` are the row of what does not move, those of accelerations, and those of products of velocities.
    """
    still, accelerations, products = roles
    count = len(products)
    total = values[still] if still >= 0 else 0.0
    for j in range(len(accelerations)):
        if accelerations[j] >= 0:
            value = values[accelerations[j]]
            total += abs(value)
            motion[count + j] = 1.0 if value >= 0.0 else -1.0
    for j in range(count):
        for k in range(j + 1):
            form[j, k] = values[products[j, k]] if products[j, k] >= 0 else 0.0
    return total + (_largest_form(form, even, motion) if count else 0.0)


@njit
def add_corners(block: Any, products: Any, totals: Any, sums: Any, slopes: Any, most: Any) -> None:
    """Add to the totals the largest value of each lane's form at a corner, its squares aside.

    The first velocity is at 1, the last one at its better end.
    """
    count, lanes = len(products), len(totals)
    last = count - 1
    sums[:] = 0.0
    slopes[:] = 0.0
    for j in range(count):
        for k in range(j):
            m = products[j, k]
            if m >= 0:
                for p in range(lanes):
                    slopes[j, p] += block[m, p]
                if j < last:
                    for p in range(lanes):
                        sums[p] += block[m, p]
                        slopes[k, p] += block[m, p]
    for p in range(lanes):
        most[p] = sums[p] + abs(slopes[last, p])
    x = np.ones(count)
    for code in range(1, 1 << max(0, count - 2)):  # one velocity changes ends at a time
        j = 1
        while not (code >> (j - 1)) & 1:
            j += 1
        step = -2.0 * x[j]
        x[j] = -x[j]
        for p in range(lanes):
            sums[p] += step * slopes[j, p]
        for k in range(count):
            m = products[j, k] if k < j else products[k, j]
            if k != j and m >= 0:
                for p in range(lanes):
                    slopes[k, p] += step * block[m, p]
        for p in range(lanes):
            value = sums[p] + abs(slopes[last, p])
            most[p] = value if value > most[p] else most[p]
    for p in range(lanes):
        totals[p] += most[p]


@njit
def cheap_bounds(block: Any, roles: Any, totals: Any, sizes: Any) -> float:
    """Fill in what accelerations and squares give on each lane, and how much products may add; return the most."""
    still, accelerations, products = roles
    totals[:] = 0.0
    sizes[:] = 0.0
    if still >= 0:
        totals[:] = block[still]
    for m in accelerations:
        if m >= 0:
            for p in range(len(totals)):
                totals[p] += abs(block[m, p])
    for j in range(len(products)):
        for k in range(j + 1):
            m = products[j, k]
            if m >= 0 and j == k:
                for p in range(len(totals)):
                    totals[p] += max(block[m, p], 0.0)
            elif m >= 0:
                for p in range(len(totals)):
                    sizes[p] += abs(block[m, p])
    most = -np.inf
    for p in range(len(totals)):
        most = max(most, totals[p] + sizes[p])
    return most
