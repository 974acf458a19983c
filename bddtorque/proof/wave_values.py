"""A torque at a point by its waves, and a search for a large one.

See `wave_boxes` for what waves are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bddtorque.base.jit import uncounted
from bddtorque.words.portable import COSINE, QUARTER, QUARTER_HIGH, QUARTER_LOW, SINE

REST, ACCELERATION, VELOCITIES = range(3)
"""What the coefficients of a row are multiplied with."""
GAIN = 1e-5
"""Relative to the torque: a round of changes that gains less is followed by smaller ones."""
_SINE, _COSINE = np.array(SINE), np.array(COSINE)


@uncounted
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


@uncounted
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


@uncounted
def climb(waves: Any, low: Any, high: Any, points: Any) -> tuple[float, int]:
    """Improve points (N, 3n) one input at a time; return the largest torque, and at which of them it is."""
    inputs, n = len(low), len(low) // 3
    best, winner = -np.inf, 0
    for k in range(len(points)):
        x, step = points[k], 0.25
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
            if here <= before + GAIN * abs(before):
                step *= 0.5
        if here > best:
            best, winner = here, k
    return best, winner
