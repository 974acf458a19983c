"""The compiled loops of a sweep: states to words, and errors to largest values, sums of squares and counts in bins."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bddtorque.base.jit import njit
from bddtorque.words.kernels import half_away

BINS_PER_OCTAVE = 64
MIN_OCTAVE, MAX_OCTAVE = -16, 24
BINS = BINS_PER_OCTAVE * (MAX_OCTAVE - MIN_OCTAVE)
"""Bins of |error|, 1.1 % apart, from 2^-16 to 2^24 units: percentiles are read from these."""
PICTURE_BINS = 512
"""Even bins of the signed error from minus to plus the proved bound, or a unit where that is 0: for pictures."""

CELLS = 128
"""Even parts of an octave that hold at most one edge between two bins each."""
EDGES = 2.0 ** (np.arange(BINS_PER_OCTAVE + 1) / BINS_PER_OCTAVE)
"""Of the bins between 1 and 2."""
FIRST = np.searchsorted(EDGES, 1 + np.arange(CELLS) / CELLS, side="right") - 1
"""The bin in which each part begins."""


@njit
def round_units(units: Any, halves: Any, wraps: Any, words: Any) -> None:
    """Write the words nearest to units (k, N), as `Format.quantise` has them: angles wrap, others are clamped.

    No angle may be more than half a turn out of range; `halves` are half the number of words of each row.
    """
    for k in range(units.shape[0]):
        half = halves[k]
        for s in range(units.shape[1]):
            word = int(half_away(units[k, s]))
            if wraps[k]:
                words[k, s] = ((word + half) & (2 * half - 1)) - half
            else:
                words[k, s] = min(max(word, -half), half - 1)


@njit
def bin_of(size: float) -> int:
    """Return the bin of an |error|."""
    if not size > 2.0**MIN_OCTAVE:
        return 0
    if size >= 2.0**MAX_OCTAVE:
        return BINS - 1
    mantissa, exponent = math.frexp(size)
    mantissa *= 2.0
    place = FIRST[int((mantissa - 1.0) * CELLS)]
    place += mantissa >= EDGES[place + 1]
    return (exponent - 1 - MIN_OCTAVE) * BINS_PER_OCTAVE + place  # type: ignore[no-any-return]


@njit
def tally(
    compiled: Any,
    at_words: Any,
    at_states: Any,
    ends: Any,
    reach: Any,
    corner: Any,
    largest: Any,
    squares: Any,
    bins: Any,
    picture: Any,
    saturated: Any,
    worst: Any,
    worst_places: Any,
    overshoot: Any,
    overshoot_places: Any,
) -> None:
    """Add up the three errors of N states, see `bddtorque.sweeps.measuring`; of corners only the worst.

    Given are outputs (m, N), compiled and true ones at words and at states, the lowest and highest words (2, m) and
    how far pictures reach (m,). Of a value that needs more than its words hold, both truths are clamped, and it is
    counted; `overshoot` is how far beyond the end words one lies at most.
    """
    for j in range(at_words.shape[0]):
        low, high, half_bins = ends[0, j], ends[1, j], PICTURE_BINS / 2
        for s in range(at_words.shape[1]):
            truth = at_words[j, s]
            if truth < low - 0.5 or truth > high + 0.5:
                saturated[j] += 1
            if max(low - truth, truth - high) > overshoot[j]:
                overshoot[j], overshoot_places[j] = max(low - truth, truth - high), s
            truth, state = min(max(truth, low), high), min(max(at_states[j, s], low), high)
            errors = compiled[j, s] - truth, truth - state, compiled[j, s] - state
            if abs(errors[0]) > worst[j]:
                worst[j], worst_places[j] = abs(errors[0]), s
            if corner:
                continue
            for kind in range(3):
                size = abs(errors[kind])
                largest[kind, j] = max(largest[kind, j], size)
                squares[kind, j] += size * size
                bins[kind, j, bin_of(size)] += 1
            drawn = (errors[0] / reach[j] + 1) * half_bins
            if 0 <= drawn <= PICTURE_BINS:
                picture[j, min(int(drawn), PICTURE_BINS - 1)] += 1
