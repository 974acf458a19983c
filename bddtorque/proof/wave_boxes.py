"""Bounds of a torque over boxes of positions and velocities, by its waves.

A torque is a sum of waves, (A·w) cos φ + (B·w) sin φ with phases φ = m·q, times powers of sliding positions; w are the
products of motions: 1, an acceleration, two velocities. With the positions held it is linear in each acceleration, so
that one end of each is enough, and a quadratic form in the velocities, for which the corners of their box are enough:
of squares that open downward one has its peak, the others are replaced by their tangents, which is made good by
splitting velocities. So only positions are searched, and few velocities. A box of positions has two bounds:

- every coefficient of a product of motions has a range, wave by wave;
- around the middle of the box the torque is linear in the positions, and its largest value is at a corner, for all
  motions at once; what curves away from that is the cosine of how far each phase goes, times its wave.

The second one misses the largest value by the square of the size of a box, which makes boxes few.

Nothing is rounded outward: all sums together lose less than `MARGIN` of the sum of all amplitudes, which is added.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.jit import uncounted
from bddtorque.proof.wave_values import ACCELERATION, REST, VELOCITIES, sine_cosine

MARGIN = 1e-9
"""Relative to all amplitudes at the largest motion: more than 10⁵ operations and their sines lose in float64."""
CLAMPED = 0.5
"""Phases that go further are held to their amplitudes."""
WEIGHTS, LEAST, MOST, HERE = range(4)
"""Of rows: how large what they are multiplied with can be, the ends of their coefficients, and coefficients at a point.
"""
SHARE, LOST, UNUSED, RADIUS, CENTRE, FAR, ALONG, SIDE, MOTIONS = range(9)
"""Of positions and velocities: what each has in the curving, what the square of each adds to the bound (the same, of
points that do not matter), the box around its middle, slopes of powers, the side of a corner, and room for motions."""


@uncounted
def _times(a: float, b: float, c: float, d: float) -> tuple[float, float]:
    """Return the range of products of numbers from a to b with numbers from c to d."""
    w, x, y, z = a * c, a * d, b * c, b * d
    return min(w, x, y, z), max(w, x, y, z)


@uncounted
def _at_corners(forms: Any, low: Any, high: Any, lost: Any, space: Any, free: Any) -> tuple[float, float]:
    """Return a bound of a quadratic form over a box, and its largest value at a corner or at the peak of one variable.

    `forms` holds the coefficients of squares and of products of two, the latter twice. `lost` takes what each variable
    adds to the bound for its square that opens downward: one of them has its peak instead. `space` and `free` have
    room for numbers of all variables.
    """
    n, x, linear = len(low), space[0], space[1]
    peak, worst, extra = -1, 0.0, 0.0
    for j in range(n):
        lost[j] = max(0.0, -forms[j, j]) * 0.25 * (high[j] - low[j]) ** 2
        extra += lost[j]
        if lost[j] > worst:
            worst, peak = lost[j], j
    if peak >= 0:
        lost[peak] = 0.0
        extra = 0.0
        for j in range(n):
            extra += lost[j]
    count = 0
    for j in range(n):
        x[j], linear[j] = low[j], 0.0
    if peak >= 0:
        x[peak] = 0.0
    for j in range(n):
        if j != peak and high[j] > low[j]:
            free[count] = j
            count += 1
        for k in range(n):
            if k != j:
                linear[j] += forms[j, k] * x[k]
    here = 0.0
    for j in range(n):
        here += x[j] * (forms[j, j] * x[j] + 0.5 * linear[j])
    best = -np.inf
    for code in range(1, (1 << count) + 1):  # one variable changes ends at a time
        value = here
        if peak >= 0:
            square, slope = forms[peak, peak], linear[peak]
            at = min(max(-0.5 * slope / square, low[peak]), high[peak])
            value += at * (square * at + slope)
        best = max(best, value)
        if code == 1 << count:
            break
        bit = 0
        while not (code >> bit) & 1:
            bit += 1
        j = free[bit]
        end = high[j] if x[j] == low[j] else low[j]
        step = end - x[j]
        here += step * (linear[j] + forms[j, j] * (end + x[j]))
        for k in range(n):
            if k != j:
                linear[k] += forms[j, k] * step
        x[j] = end
    return best + extra, best


@uncounted
def _over_motions(waves: Any, coefficients: Any, low: Any, high: Any, lost: Any, space: Any) -> tuple[float, float]:
    """Return a bound of the torque over all motions, and a value that it has, the coefficients of all rows given."""
    kinds, first, second = waves[4], waves[5], waves[6]
    forms, points, places = space[2], space[3], space[4]
    n = len(low) // 3
    total = 0.0
    for j in range(n):
        for k in range(n):
            forms[j, k] = 0.0
    for m in range(len(coefficients)):
        if kinds[m] == REST:
            total += coefficients[m]
        elif kinds[m] == ACCELERATION:
            j = 2 * n + first[m]
            total += max(coefficients[m] * low[j], coefficients[m] * high[j])
        else:
            forms[first[m], second[m]] = forms[second[m], first[m]] = coefficients[m]
    most, value = _at_corners(forms, low[n : 2 * n], high[n : 2 * n], lost, points[MOTIONS:], places[0])
    return total + most, total + value


@uncounted
def _weigh(waves: Any, low: Any, high: Any, found: Any) -> None:
    """Fill in how large what each row is multiplied with can be."""
    kinds, first, second = waves[4], waves[5], waves[6]
    n = len(low) // 3
    for m in range(len(kinds)):
        found[m] = 1.0
        if kinds[m] == ACCELERATION:
            j = 2 * n + first[m]
            found[m] = max(abs(low[j]), abs(high[j]))
        elif kinds[m] == VELOCITIES:
            j, k = n + first[m], n + second[m]
            found[m] = max(abs(low[j]), abs(high[j])) * max(abs(low[k]), abs(high[k]))


@uncounted
def _power(powers: Any, x: Any, without: int) -> float:
    """Return the product of powers, or its slope along one position; n for none."""
    product = 1.0
    for k in range(len(powers)):
        times = powers[k]
        if k == without:
            product *= times
            times -= 1
        for _ in range(times):
            product *= x[k]
    return product


@uncounted
def _expand(waves: Any, low: Any, high: Any, space: Any) -> float:
    """Fill in all rows around the middle of a box (see `box_space`), and return how far the torque curves away."""
    cosines, sines, phases, powers = waves[0], waves[1], waves[2], waves[3]
    rows, count, n = cosines.shape[0], cosines.shape[1], phases.shape[1]
    slopes, points, weights = space[0], space[3], space[1][WEIGHTS]
    least_of, most_of = space[1][LEAST], space[1][MOST]
    share, radius, centre, far, along = points[SHARE], points[RADIUS], points[CENTRE], points[FAR], points[ALONG]
    for k in range(n):
        radius[k], centre[k] = 0.5 * (high[k] - low[k]), 0.5 * (high[k] + low[k])
        far[k] = abs(centre[k]) + radius[k]
        share[k] = along[k] = 0.0
    for m in range(rows):
        least_of[m] = most_of[m] = 0.0
        for k in range(n + 1):
            slopes[m, k] = 0.0
    curved = 0.0
    for p in range(count):
        phase = reach = 0.0
        least = most = 1.0
        slides = False
        for k in range(n):
            phase += phases[p, k] * centre[k]
            reach += abs(phases[p, k]) * radius[k]
            for _ in range(powers[p, k]):
                slides = True
                least, most = _times(least, most, low[k], high[k])
        s, c = sine_cosine(phase)
        flat, wide = -1.0, 1.0  # how far the cosine falls, and the sine rises, at most
        drop, bend = 2.0, reach + 1.0
        if reach < math.pi:
            wide, flat = sine_cosine(reach)
            drop, bend = 1.0 - flat, reach - wide
            if reach < 0.01:  # 1 − cos x and x − sin x are at most this, and differences of floats no better
                drop, bend = 0.5 * reach * reach, reach * reach * reach / 6
            if reach > 0.5 * math.pi:
                wide = 1.0
        factor = largest = 1.0
        if slides:
            factor, largest = _power(powers[p], centre, n), _power(powers[p], far, n)
            for k in range(n):
                along[k] = _power(powers[p], centre, k) * radius[k] if powers[p, k] else 0.0
        values = turned = 0.0
        for m in range(rows):
            x, y = cosines[m, p], sines[m, p]
            if x == 0.0 and y == 0.0:
                continue
            value, slope = x * c + y * s, y * c - x * s
            slopes[m, 0] += factor * value
            for k in range(n):
                slopes[m, 1 + k] += factor * slope * phases[p, k] * radius[k]
            if slides:
                for k in range(n):
                    slopes[m, 1 + k] += along[k] * value
            values += weights[m] * abs(value)
            turned += weights[m] * abs(slope)
            low_end = min(value, value * flat) - abs(slope) * wide
            high_end = max(value, value * flat) + abs(slope) * wide
            if reach > CLAMPED:
                size = math.sqrt(x * x + y * y)
                low_end, high_end = max(low_end, -size), min(high_end, size)
            if slides:
                low_end, high_end = _times(least, most, low_end, high_end)
            least_of[m] += low_end
            most_of[m] += high_end
        bent = largest * (values * drop + turned * bend)
        if slides:  # a product of powers moves no further than with all its numbers positive
            first = 0.0
            for k in range(n):
                first += abs(along[k])
            moved = largest - abs(factor)
            slid = moved * (values * drop + turned * reach) + values * max(0.0, moved - first)
            for k in range(n):
                if powers[p, k]:
                    share[k] += slid
            curved += slid
        curved += bent
        if reach > 0.0:
            for k in range(n):
                share[k] += bent * abs(phases[p, k]) * radius[k] / reach
    return curved


def box_space(rows: int, joints: int) -> tuple[npt.NDArray[Any], ...]:
    """Return the memory that `bound_boxes` works in: with none of its own it is compiled in half the time."""
    return (
        np.empty((rows, joints + 1)),  # coefficients of rows, and their slopes times half of each range
        np.empty((HERE + 1, rows)),  # numbers of rows
        np.empty((joints, joints)),  # the coefficients of products of velocities
        np.empty((MOTIONS + 2, joints)),  # numbers of positions or velocities
        np.empty((2, joints), dtype=np.int64),
    )


@uncounted
def bound_boxes(waves: Any, lows: Any, highs: Any, bounds: Any, values: Any, splits: Any, space: Any) -> None:
    """Fill in, for boxes (N, 3n), bounds, values at their middles, and which input to split next; −1 for a point."""
    slopes, points, axes = space[0], space[3], space[4][1]
    weights, least, most_of, here = space[1][WEIGHTS], space[1][LEAST], space[1][MOST], space[1][HERE]
    share, lost, unused, side = points[SHARE], points[LOST], points[UNUSED], points[SIDE]
    rows, n = len(weights), len(share)
    for box in range(len(lows)):
        low, high = lows[box], highs[box]
        _weigh(waves, low, high, weights)
        curved = _expand(waves, low, high, space)
        width = 0.0
        for m in range(rows):
            here[m] = 0.5 * (least[m] + most_of[m])
            width += 0.5 * (most_of[m] - least[m]) * weights[m]
        bound = _over_motions(waves, here, low, high, lost, space)[0] + width
        for m in range(rows):
            here[m] = slopes[m, 0]
        most, value = _over_motions(waves, here, low, high, lost, space)
        if most + curved < bound:  # else the corners cannot be lower either
            corner, count = -np.inf, 0
            for k in range(n):
                side[k] = -1.0
                if high[k] > low[k]:
                    axes[count] = k
                    count += 1
                    for m in range(rows):
                        here[m] -= slopes[m, 1 + k]
            for code in range(1, (1 << count) + 1):
                corner = max(corner, _over_motions(waves, here, low, high, unused, space)[0])
                if corner + curved >= bound or code == 1 << count:
                    break
                bit = 0
                while not (code >> bit) & 1:
                    bit += 1
                k = axes[bit]
                side[k] = -side[k]
                for m in range(rows):
                    here[m] += 2.0 * side[k] * slopes[m, 1 + k]
            bound = min(bound, corner + curved)
        axis, worst = -1, -1.0
        for k in range(n):
            if high[k] > low[k] and share[k] > worst:
                axis, worst = k, share[k]
            if lost[k] > worst:
                axis, worst = n + k, lost[k]
        bounds[box], values[box], splits[box] = bound, value, axis
