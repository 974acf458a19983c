"""Bounds of a torque over boxes of positions, by control points.

For one motion, a torque is of the second degree in the sine and cosine of every angle, and in every sliding position.
Over a box of d positions the coefficients of all products of motions are a mean of 5^d control points, and the largest
torque of all motions, which is convex in the coefficients, is not beyond that of the worst of them. Halving a box takes
means of control points, so no bound grows, and it comes closer to the largest torque with the square of the size of the
box. Nothing is rounded outward: `torque_boxes` adds what float64 may lose.

*Arcs.* Over an arc of half width r < π/2 a function of the second degree in the sine and cosine of one angle is a mean
of five control points, weighted with

    w_i · sin^(4-i)((r - t)/2) · sin^i((r + t)/2) / sin⁴ r ,    w = 1, 4c, 2 + 4c², 4c, 1,  c = cos r ,

which are positive and add up to 1: the trigonometric Bernstein basis (J. Sánchez-Reyes, Computer Aided Geometric Design
15, 1998). A sliding position has c = 1, which is Bernstein's own basis.

*Motions* run from -1 to 1. With coefficients held the torque is linear in accelerations, which are at one end each, and
a quadratic form in velocities. Those whose squares open upward are at corners. For each of the corners there is a form
of the others: what has to be taken off their squares to make it concave is counted as if they were at corners, too, and
the rest is below any of its tangents, of which one is taken where the rest is largest.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.jit import inlined, njit_without_refcounts
from bddtorque.words.portable import sine_cosine

Floats = npt.NDArray[np.float64]

POINTS = 5
"""Control points of an arc."""
KEPT = 4096
"""Arcs whose control points are kept: boxes have few arcs each, and share them."""
_CHOOSE = np.array([[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 2, 1, 0, 0], [1, 3, 3, 1, 0], [1, 4, 6, 4, 1]], np.float64)
LANES = 3
"""Positions whose control points are looked at side by side."""
CLOSE = 1e-7
"""Relative to a square: taken off each that opens downward, far more than float64 loses in showing a form concave."""
ROUNDS = 6


def _weights(c: float) -> Floats:
    return np.array([1.0, 4.0 * c, 2.0 + 4.0 * c * c, 4.0 * c, 1.0])


@lru_cache(maxsize=KEPT)
def arc_controls(low: float, high: float) -> Floats:
    """Return the control points (5, 5) of 1, cos q, sin q, cos 2q and sin 2q over an arc."""
    (s, centre_s), (c, centre_c) = sine_cosine(np.array([0.5 * (high - low), 0.5 * (low + high)]))
    w, sign = _weights(c), np.array([-1.0, -1.0, 0.0, 1.0, 1.0])
    cosine = np.array([c, 2.0 + 2.0 * c * c, 6.0 * c, 2.0 + 2.0 * c * c, c]) / w
    sine = sign * s * np.array([1.0, 2.0 * c, 0.0, 2.0 * c, 1.0]) / w
    square = np.array([c * c, 4.0 * c, 2.0 * c * c + 4.0, 4.0 * c, c * c]) / w
    product = sign * s * np.array([c, 2.0, 0.0, 2.0, c]) / w
    twice_c, twice_s = 2.0 * square - 1.0, 2.0 * product
    double_c, double_s = 2.0 * centre_c * centre_c - 1.0, 2.0 * centre_c * centre_s
    return np.stack(
        (
            np.ones(POINTS),
            centre_c * cosine - centre_s * sine,
            centre_s * cosine + centre_c * sine,
            double_c * twice_c - double_s * twice_s,
            double_s * twice_c + double_c * twice_s,
        ),
        axis=1,
    ).copy()


@lru_cache(maxsize=KEPT)
def slide_controls(low: float, high: float) -> Floats:
    """Return the control points (5, 5) of 1, x and x² between two ends; the last two are of nothing."""
    centre, radius, x = 0.5 * (low + high), 0.5 * (high - low), np.arange(-1.0, 1.5, 0.5)
    controls = np.zeros((POINTS, POINTS))
    controls[:, 0] = 1.0
    controls[:, 1] = centre + x * radius
    controls[:, 2] = centre * centre + 2.0 * x * centre * radius + (4.0 * x * x - 1.0) / 3.0 * radius * radius
    return controls


@lru_cache(maxsize=KEPT)
def halvings(radius: float) -> tuple[Floats, Floats]:
    """Return how control points of the halves of an arc are means of those of the arc, by its half width; 0: a slide.

    (5, 5) each, of the lower and of the upper half.
    """
    w = _weights(float(sine_cosine(np.array([radius]))[1][0]))
    lower = np.array([[_CHOOSE[4 - i, 4 - k] * w[i] for i in range(POINTS)] for k in range(POINTS)])
    lower /= lower.sum(axis=1, keepdims=True)
    return lower, lower[::-1, ::-1].copy()


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
def largest_form(form: Any, even: bool, order: Any, lower: Any, x: Any, slopes: Any, point: Any) -> float:
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
            total += largest_form(form, even, order, lower, x, slopes, trial)
        known[number] = value = min(known[number], total)
        if value > best:
            best, at = value, number
            for j in range(len(trial)):
                motion[j] = trial[j]
    return at
