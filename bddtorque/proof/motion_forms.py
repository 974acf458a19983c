"""The largest torque of all motions, coefficients given: at control points, one after the other.

Motions run from -1 to 1. With coefficients held the torque is linear in accelerations, which are at one end each, and a
quadratic form in velocities. Those whose squares open upward are at corners. For each of the corners there is a form of
the others: what has to be taken off their squares to make it concave is counted as if they were at corners, too, and
the rest is below any of its tangents, of which one is taken where the rest is largest.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bddtorque.base.jit import inlined, njit_without_refcounts

CLOSE = 1e-7
"""Relative to a square: taken off each that opens downward, far more than float64 loses in showing a form concave."""
ROUNDS = 6


@inlined
def _concave(form: Any, order: Any, count: int, shift: float, least: float, lower: Any) -> bool:
    """Return whether a form is concave with so much taken off the squares of some variables: by Cholesky's factors."""
    for a in range(count):
        j = order[a]
        for b in range(a + 1):
            k = order[b]
            rest = shift - form[j, j] if a == b else -0.5 * form[j, k]
            for c in range(b):
                rest -= lower[a, c] * lower[b, c]
            if a > b:
                lower[a, b] = rest / lower[b, b]
            elif rest <= 0.5 * least:
                return False
            else:
                lower[a, a] = math.sqrt(rest)
    return True


@inlined
def _shift(form: Any, order: Any, count: int, lower: Any) -> float:
    """Return what to take off the squares of some variables, at least, so that their form is concave."""
    least = most = 0.0
    for a in range(count):
        j = order[a]
        row = form[j, j]
        for b in range(count):
            k = order[b]
            if k != j:
                row += 0.5 * abs(form[j, k])
        most = max(most, row)
        least = max(least, -CLOSE * form[j, j])
    shift = least
    for attempt in range(1, 5):  # the last one is dominated by its diagonal
        if _concave(form, order, count, shift, least, lower):
            break
        shift = least + most * 0.25 * attempt
    return shift


@inlined
def _largest_form(form: Any, even: bool, order: Any, lower: Any, x: Any, slopes: Any, point: Any) -> float:
    """Return a bound of a quadratic form of variables from -1 to 1; `point` takes where it is large.

    `form` (v, v) holds the coefficients of squares and of products, those twice. The others are room.
    """
    count = len(form)
    down, up = 0, count
    for j in range(count):
        x[j] = 1.0
        if j == 0 and not even:
            continue
        if form[j, j] < 0.0:
            order[down] = j
            down += 1
        else:
            up -= 1
            order[up] = j
    shift = _shift(form, order, down, lower)
    best = bound = -np.inf
    for code in range(1 << max(0, count - up - 1 if even else count - up)):
        for a in range(up, count):
            x[order[a]] = -1.0 if (code >> (count - 1 - a)) & 1 else 1.0
        for a in range(down):
            x[order[a]] = 0.0
        for turn in range(ROUNDS):  # up a concave hill, one variable at a time
            for a in range(down):
                j = order[a]
                slope = 0.0
                for k in range(count):
                    if k != j:
                        slope += form[j, k] * x[k]
                slopes[a] = slope
                if turn < ROUNDS - 1:
                    x[j] = min(max(0.5 * slope / (shift - form[j, j]), -1.0), 1.0)
        own = 0.0
        for j in range(count):
            for k in range(j + 1):
                own += form[j, k] * x[j] * x[k]
        if own > best:
            best = own
            for j in range(count):
                point[j] = x[j]
        most = own
        for a in range(down):
            j = order[a]
            slope = slopes[a] - 2.0 * (shift - form[j, j]) * x[j]
            most += shift * (1.0 - x[j] * x[j]) + max(slope * (1.0 - x[j]), -slope * (1.0 + x[j]))
        bound = max(bound, most)
    return bound


@njit_without_refcounts
def largest_motions(
    values: Any, points: Any, known: Any, layout: Any, roles: Any, even: bool, room: Any, motion: Any
) -> int:
    """Bound the torque of all motions at some control points, and return the one of the largest bound; -1 for none.

    Those whose bounds are not the largest anyway are left as they are.

    Parameters
    ----------
    values
        Control points of all rows, one after the other.
    points
        Control points by their numbers, those of the largest bounds first.
    known
        Bounds of all control points; those that are looked at become no larger.
    layout
        Of rows: where they begin, and their strides.
    roles
        Rows of coefficients: of products of velocities below the diagonal, (v, v), of accelerations, and of what does
        not move, (1,); -1 for none. Where velocities do not run from -x to x the first of the v is the constant 1; else
        the form is *even*, and any one sign of it may be chosen.
    room
        Memory to work in.
    motion
        Takes a motion of a large torque.
    """
    products, accelerations, still = roles
    form, lower, x, slopes, trial, order, places = room
    count, axes = len(products), layout.shape[1] - 1
    best, at = -np.inf, -1
    for candidate in range(len(points)):
        number = points[candidate]
        if known[number] <= best:
            break
        for m in range(len(layout)):
            place, rest = layout[m, axes], number
            for axis in range(axes - 1, -1, -1):
                place += rest % 5 * layout[m, axis]
                rest //= 5
            places[m] = place
        total = 0.0
        if still[0] >= 0:
            total = values[places[still[0]]]
        for j in range(len(accelerations)):
            value = values[places[accelerations[j]]]
            total += abs(value)
            trial[count + j] = 1.0 if value >= 0.0 else -1.0
        for j in range(count):
            for k in range(j + 1):
                form[j, k] = form[k, j] = values[places[products[j, k]]] if products[j, k] >= 0 else 0.0
        if count:
            total += _largest_form(form, even, order, lower, x, slopes, trial)
        known[number] = value = min(known[number], total)
        if value > best:
            best, at = value, number
            for j in range(len(trial)):
                motion[j] = trial[j]
    return at
