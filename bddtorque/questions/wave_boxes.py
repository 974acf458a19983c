"""Branch and bound on a torque itself: boxes of positions, velocities and accelerations, and what it can be in them.

A torque is a sum of waves, (A·w) cos φ + (B·w) sin φ with phases φ = m·q, times powers of sliding positions; w are the
products of motions: 1, an acceleration, two velocities. Over a box every wave has a range of its own, and so have the
slopes along every input. Three things make boxes few:

- where a slope has one sign all over a box, the largest torque is at one end of that input, which is then no range;
- a torque is no more than its value at a point of the box and what the slopes add on the way from there;
- it is a parabola in each velocity. Where that opens upward its ends are enough, and elsewhere they miss at most a
  quarter of the coefficient times the square of the range.

Nothing is rounded outward: all sums together lose less than `MARGIN` of the sum of all amplitudes, which is added.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bddtorque.base.jit import njit
from bddtorque.words.portable import COSINE, QUARTER, QUARTER_HIGH, QUARTER_LOW, SINE

MARGIN = 1e-9
"""Relative to all amplitudes at the largest motion: more than 10⁵ operations and their sines lose in float64."""
REST, ACCELERATION, VELOCITIES = range(3)
"""What the coefficients of a row are multiplied with."""
ROUNDS = 3
"""How often ends are looked for in one box."""
VELOCITY_FIRST = 2.0
"""How much sooner velocities are split: once they are known, waves add up before they are bounded."""
ENDS_COST = 0.1
"""Of the gap that is aimed at: what taking the ends of a velocity may add to a bound."""
_SINE, _COSINE = np.array(SINE), np.array(COSINE)


@njit
def sine_cosine(angle: float) -> tuple[float, float]:
    """Return sine and cosine, the same floats on every machine; off by less than 1e-15 within a thousand turns."""
    quarters = np.rint(angle * (1 / QUARTER))
    rest = (angle - quarters * QUARTER_HIGH) - quarters * QUARTER_LOW
    square = rest * rest
    s, c = _SINE[-1], _COSINE[-1]
    for k in range(len(_SINE) - 2, -1, -1):
        s = s * square + _SINE[k]
        c = c * square + _COSINE[k]
    s = rest + rest * (square * s)
    c = (1.0 - square * 0.5) + square * (square * c)
    place = int(quarters) & 3
    if place == 0:
        return s, c
    if place == 1:
        return c, -s
    return (-s, -c) if place == 2 else (-c, s)


@njit
def _most(value: float, slope: float, cosine: float, sine: float) -> float:
    """Return the largest value·cos δ + slope·sin δ up to δ = ±r, of which cosine and sine are given; −2 for any δ."""
    size = math.sqrt(value * value + slope * slope)
    return size if value >= size * cosine else value * cosine + abs(slope) * sine


@njit
def _times(a: float, b: float, c: float, d: float) -> tuple[float, float]:
    """Return the range of products of numbers from a to b with numbers from c to d."""
    w, x, y, z = a * c, a * d, b * c, b * d
    return min(w, x, y, z), max(w, x, y, z)


@njit
def value_at(waves: Any, x: Any) -> float:
    """Return the torque at a point: positions, velocities and accelerations, (3n,)."""
    cosines, sines, phases, powers, kinds, first, second = waves
    n = phases.shape[1]
    total = 0.0
    for p in range(cosines.shape[1]):
        a = b = 0.0
        for m in range(cosines.shape[0]):
            w = 1.0
            if kinds[m] == ACCELERATION:
                w = x[2 * n + first[m]]
            elif kinds[m] == VELOCITIES:
                w = x[n + first[m]] * x[n + second[m]]
            a += cosines[m, p] * w
            b += sines[m, p] * w
        phase, factor = 0.0, 1.0
        for k in range(n):
            phase += phases[p, k] * x[k]
            for _ in range(powers[p, k]):
                factor *= x[k]
        s, c = sine_cosine(phase)
        total += factor * (a * c + b * s)
    return total


@njit
def _ranges(waves: Any, low: Any, high: Any, slopes: Any, squares: Any, space: Any) -> float:
    """Return the sum of the largest values of all waves over a box, and fill in the ranges of slopes (2, 3n).

    `squares` takes the least coefficient of each velocity's square.
    """
    cosines, sines, phases, powers, kinds, first, second = waves
    rows, count, n = cosines.shape[0], cosines.shape[1], phases.shape[1]
    space[:4, :count] = 0.0
    slopes[:] = 0.0
    squares[:] = 0.0
    for m in range(rows):
        a = b = 1.0
        if kinds[m] == ACCELERATION:
            a, b = low[2 * n + first[m]], high[2 * n + first[m]]
        elif kinds[m] == VELOCITIES:
            j, k = n + first[m], n + second[m]
            a, b = _times(low[j], high[j], low[k], high[k])
            if j == k and low[j] <= 0.0 <= high[j]:
                a = 0.0
        middle, radius = 0.5 * (a + b), 0.5 * (b - a)
        for p in range(count):
            space[0, p] += cosines[m, p] * middle
            space[1, p] += sines[m, p] * middle
        if radius != 0.0:
            for p in range(count):
                space[2, p] += abs(cosines[m, p]) * radius
                space[3, p] += abs(sines[m, p]) * radius
    total = 0.0
    for p in range(count):
        phase = reach = 0.0
        least = most = 1.0
        for k in range(n):
            phase += phases[p, k] * 0.5 * (low[k] + high[k])
            reach += abs(phases[p, k]) * 0.5 * (high[k] - low[k])
            for _ in range(powers[p, k]):
                least, most = _times(least, most, low[k], high[k])
        s, c = sine_cosine(phase)
        sr, cr = 0.0, -2.0
        if reach < math.pi:
            sr, cr = sine_cosine(reach)
        c1, c0 = _most(c, -s, cr, sr), -_most(-c, s, cr, sr)
        s1, s0 = _most(s, c, cr, sr), -_most(-s, -c, cr, sr)
        cosine, sine = max(abs(c0), abs(c1)), max(abs(s0), abs(s1))
        value, slope = space[0, p] * c + space[1, p] * s, space[1, p] * c - space[0, p] * s
        off = space[2, p] * cosine + space[3, p] * sine
        v0, v1 = -_most(-value, -slope, cr, sr) - off, _most(value, slope, cr, sr) + off
        off = space[2, p] * sine + space[3, p] * cosine
        d0, d1 = -_most(-slope, value, cr, sr) - off, _most(slope, -value, cr, sr) + off
        for k in range(n):
            if powers[p, k] > 0:
                a = b = float(powers[p, k])
                for j in range(n):
                    for _ in range(powers[p, j] - (1 if j == k else 0)):
                        a, b = _times(a, b, low[j], high[j])
                a, b = _times(a, b, v0, v1)
                slopes[0, k] += a
                slopes[1, k] += b
        if least != 1.0 or most != 1.0:
            v0, v1 = _times(least, most, v0, v1)
            d0, d1 = _times(least, most, d0, d1)
            c0, c1 = _times(least, most, c0, c1)
            s0, s1 = _times(least, most, s0, s1)
        total += v1
        for k in range(n):
            if phases[p, k] != 0.0:
                a, b = _times(phases[p, k], phases[p, k], d0, d1)
                slopes[0, k] += a
                slopes[1, k] += b
        space[4, p], space[5, p] = 0.5 * (c0 + c1), 0.5 * (c1 - c0)
        space[6, p], space[7, p] = 0.5 * (s0 + s1), 0.5 * (s1 - s0)
    for m in range(rows):
        if kinds[m] == REST:
            continue
        middle = radius = 0.0
        for p in range(count):
            middle += cosines[m, p] * space[4, p] + sines[m, p] * space[6, p]
            radius += abs(cosines[m, p]) * space[5, p] + abs(sines[m, p]) * space[7, p]
        if kinds[m] == ACCELERATION:
            slopes[0, 2 * n + first[m]] += middle - radius
            slopes[1, 2 * n + first[m]] += middle + radius
        else:
            j, k = n + first[m], n + second[m]
            if j == k:
                squares[first[m]] = middle - radius
            for one, other in ((j, k), (k, j)):
                a, b = _times(middle - radius, middle + radius, low[other], high[other])
                slopes[0, one] += a
                slopes[1, one] += b
    return total


@njit
def _bound(
    waves: Any, margin: float, low: Any, high: Any, point: Any, slopes: Any, squares: Any, space: Any
) -> tuple[float, float, int]:
    """Return a bound over a box, the value at a point of it, and the input to split; ends that are enough are taken."""
    inputs, n = len(low), len(low) // 3
    best, at, axis = np.inf, -np.inf, -1
    for _ in range(ROUNDS):
        best = min(best, _ranges(waves, low, high, slopes, squares, space) + margin)
        added, worst, axis, changed = 0.0, 0.0, -1, False
        for k in range(inputs):
            point[k] = low[k]
            if low[k] == high[k]:
                continue
            a, b = slopes[0, k] - margin, slopes[1, k] + margin
            if a >= 0.0:
                low[k] = point[k] = high[k]
                changed = True
            elif b <= 0.0:
                high[k] = low[k]
                changed = True
            else:  # both ways from the point the slopes add the same
                point[k] = min(max((b * high[k] - a * low[k]) / (b - a), low[k]), high[k])
                more = max(b * (high[k] - point[k]), a * (low[k] - point[k]))
                added += more
                weight = more * VELOCITY_FIRST if n <= k < 2 * n else more
                if weight > worst:
                    worst, axis = weight, k
        at = value_at(waves, point)
        best = min(best, at + added * (1 + 1e-12) + margin)
        if not changed:
            break
    return best, at, axis


@njit
def search(
    waves: Any, margin: float, first: Any, last: Any, found: float, gap: float, enough: float, most: int
) -> tuple[float, int]:
    """Return a bound of the torque over all of a box, and how many boxes were looked at.

    A box is done with when its bound is at most `enough`, or no more than `gap` above the largest value seen, `found`
    to begin with. At most `most` boxes are looked at.
    """
    inputs, n = len(first), len(first) // 3
    room = 1024
    lows, highs = np.empty((room, inputs)), np.empty((room, inputs))
    axes, extra, least = np.empty(room, np.int64), np.empty(room), np.empty(room)
    heap, place, spare = np.empty(room), np.empty(room, np.int64), np.arange(room)[::-1].copy()
    slopes, squares, point = np.empty((2, inputs)), np.empty(n), np.empty(inputs)
    space = np.empty((8, waves[0].shape[1]))
    low, high = first.copy(), last.copy()
    bound, at, axis = _bound(waves, margin, low, high, point, slopes, squares, space)
    found = max(found, at)
    done = -np.inf
    open_boxes, unused, looked = 1, room - 1, 1
    own = spare[unused]
    lows[own], highs[own], axes[own], extra[own], heap[0], place[0] = low, high, axis, 0.0, bound, own
    least[own] = squares[axis - n] if n <= axis < 2 * n else 0.0
    while open_boxes and looked < most:
        bound, own = heap[0], place[0]
        if bound <= max(enough, found + gap):
            break
        open_boxes -= 1
        moved, where, k = heap[open_boxes], place[open_boxes], 0
        while 2 * k + 1 < open_boxes:
            child = 2 * k + 1
            if child + 1 < open_boxes and heap[child + 1] > heap[child]:
                child += 1
            if heap[child] <= moved:
                break
            heap[k], place[k], k = heap[child], place[child], child
        heap[k], place[k] = moved, where
        axis, cost = axes[own], extra[own]
        parent_low, parent_high = lows[own].copy(), highs[own].copy()
        spare[unused] = own
        unused += 1
        if axis < 0:  # one point: its bound stands
            done = max(done, bound)
            continue
        start, end = parent_low[axis], parent_high[axis]
        middle = 0.5 * (start + end)
        ends = axis >= 2 * n
        if n <= axis < 2 * n:
            missed = max(0.0, -least[own]) * (end - start) * (end - start) / 4
            if missed <= ENDS_COST * gap:
                ends, cost = True, cost + missed
        for half in range(2):
            low[:], high[:] = parent_low, parent_high
            if half == 0:
                high[axis] = start if ends else middle
            else:
                low[axis] = end if ends else middle
            value, at, split = _bound(waves, margin, low, high, point, slopes, squares, space)
            value, looked, found = min(value + cost, bound), looked + 1, max(found, at)
            if value <= max(enough, found + gap):
                done = max(done, value)
                continue
            if unused == 0:
                lows, highs = np.concatenate((lows, lows)), np.concatenate((highs, highs))
                axes, extra, least = (
                    np.concatenate((axes, axes)),
                    np.concatenate((extra, extra)),
                    np.concatenate((least, least)),
                )
                heap, place = np.concatenate((heap, heap)), np.concatenate((place, place))
                spare = np.concatenate((np.arange(room, 2 * room)[::-1], np.empty(room, np.int64)))
                unused, room = room, 2 * room
            unused -= 1
            own = spare[unused]
            lows[own], highs[own], axes[own], extra[own] = low, high, split, cost
            least[own] = squares[split - n] if n <= split < 2 * n else 0.0
            k, open_boxes = open_boxes, open_boxes + 1
            while k > 0 and heap[(k - 1) >> 1] < value:
                heap[k], place[k], k = heap[(k - 1) >> 1], place[(k - 1) >> 1], (k - 1) >> 1
            heap[k], place[k] = value, own
    if open_boxes:
        done = max(done, heap[0])
    return max(done, -np.inf), looked


@njit
def climb(waves: Any, low: Any, high: Any, starts: Any) -> tuple[float, Any]:
    """Return a large value of the torque and its point, from some starts (N, 3n), improved one input at a time."""
    inputs, n = len(low), len(low) // 3
    best, winner = -np.inf, starts[0].copy()
    for k in range(len(starts)):
        x, step = starts[k].copy(), 0.25
        here = value_at(waves, x)
        while step > 1e-4:
            before = here
            for j in range(inputs):
                if low[j] == high[j]:
                    continue
                chosen, width = x[j], high[j] - low[j]
                for trial in range(2 if j >= 2 * n else 5):
                    tried = low[j] if trial == 0 else high[j] if trial == 1 else 0.5 * (low[j] + high[j])
                    if trial > 2:
                        tried = min(max(chosen + (step if trial == 3 else -step) * width, low[j]), high[j])
                    x[j] = tried
                    value = value_at(waves, x)
                    if value > here:
                        here, chosen = value, tried
                    x[j] = chosen
            if here <= before:
                step *= 0.5
        if here > best:
            best, winner = here, x
    return best, winner
