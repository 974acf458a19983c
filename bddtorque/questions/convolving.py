"""Count of the combinations of values, one from each of a few lists, that add up to at least a threshold.

They are counted, not tried.

Lists hold values with counts. Two ways:

- *exact*: what cannot be part of any such sum is cut off each list; the rest is divided in two, one side's sums are
  made and sorted, and each sum of the other side is looked up among them. Fast where few combinations are near the top
  (or the bottom: then those below are counted);
- *in bins*: values are rounded down to multiples of a width, and whole lists convolved. A sum of m values is less than
  m widths above the sum of what they were rounded to, so that two counts bracket the true one.

All counts are exact integers: together below 2^62, and convolved by a Fourier transform only where its error is proved
to be below a quarter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from bddtorque.base.jit import njit
from bddtorque.questions.subjects import Integers

MAX_SIDE = 1 << 24
"""Sums of one side that are made at most: 128 MB of them."""
SORT_STEPS, LOOKUP_STEPS = 6.0, 1.5
"""Steps of a sum that is sorted, and of one that is looked up."""
FOURIER_ERROR = 16 * 2.0**-53
"""A convolution by Fourier transforms of 2^k entries errs by less than k times this times the norms; with room."""
BINCOUNT_LIMIT = 1 << 22


@dataclass(frozen=True)
class CountedWord:
    """Values, rising, and how often each occurs."""

    values: Integers
    counts: Integers

    @property
    def low(self) -> int:
        """The least value."""
        return int(self.values[0])

    @property
    def high(self) -> int:
        """The largest value."""
        return int(self.values[-1])

    @property
    def total(self) -> int:
        """Number of values, with repetitions."""
        return int(self.counts.sum())

    def from_value(self, least: int) -> CountedWord:
        """Return those of at least a value."""
        first = int(np.searchsorted(self.values, least))
        return CountedWord(self.values[first:], self.counts[first:])

    def negated(self) -> CountedWord:
        """Return the opposite values."""
        return CountedWord(-self.values[::-1], self.counts[::-1])


def counted(multiples: Integers, counts: Integers, unit: int = 1) -> CountedWord:
    """Return multiples of a unit, in any order and with repetitions, as a list."""
    (values,), occurs = distinct([multiples], counts)
    return CountedWord(values * unit, occurs)


def distinct(columns: Sequence[Integers], weights: Integers | None = None) -> tuple[list[Integers], Integers]:
    """Return the distinct rows of some columns, sorted, and how many there are of each, or the sum of their weights."""
    weights = np.ones(len(columns[0]), dtype=np.int64) if weights is None else weights
    lows = [int(column.min()) for column in columns]
    spans = [int(column.max()) - low + 1 for column, low in zip(columns, lows, strict=True)]
    if math.prod(spans) >= 1 << 62:
        rows, place = np.unique(np.stack(columns), axis=1, return_inverse=True)
        counts = np.zeros(rows.shape[1], dtype=np.int64)
        np.add.at(counts, place.reshape(-1), weights)
        return list(rows), counts
    key = np.zeros(len(columns[0]), dtype=np.int64)
    for column, low, span in zip(columns, lows, spans, strict=True):
        key = key * span + (column - low)
    if math.prod(spans) <= min(64 * len(key), BINCOUNT_LIMIT) and int(weights.sum()) < 1 << 53:
        occurs = np.bincount(key, weights=weights)  # floats: exact below 2^53
        keys = np.flatnonzero(occurs)
        counts = occurs[keys].astype(np.int64)
    else:
        order = np.argsort(key, kind="stable")
        key = key[order]
        first = np.flatnonzero(np.diff(key, prepend=key[:1] - 1))
        keys, counts = key[first], np.add.reduceat(weights[order], first)
    decoded = []
    for low, span in zip(reversed(lows), reversed(spans), strict=True):
        decoded.append(keys % span + low)
        keys = keys // span
    return decoded[::-1], counts


@dataclass(frozen=True)
class CountTask:
    """Lists cut to what matters: how many sums are at least `threshold`; `sign` and `base` make the answer of it."""

    lists: tuple[CountedWord, ...]
    threshold: int
    sign: int = 1
    base: int = 0

    def answer(self, count: int) -> int:
        """Return the count that was asked for."""
        return self.base + self.sign * count


def prepared(lists: Sequence[CountedWord], threshold: int) -> CountTask | int:
    """Return the count of sums of at least `threshold` if it is plain, else what is left to count."""
    everything = math.prod(each.total for each in lists)
    lowest, highest = sum(each.low for each in lists), sum(each.high for each in lists)
    if lowest >= threshold:
        return everything
    if highest < threshold:
        return 0
    if threshold - 1 - lowest < highest - threshold:  # those below are nearer to the bottom: count them
        return CountTask(_cut([each.negated() for each in lists], 1 - threshold), 1 - threshold, -1, everything)
    return CountTask(_cut(lists, threshold), threshold)


def _cut(lists: Sequence[CountedWord], threshold: int) -> tuple[CountedWord, ...]:
    slack = sum(each.high for each in lists) - threshold
    return tuple(each.from_value(each.high - slack) for each in lists)


def _sides(task: CountTask) -> tuple[float, tuple[CountedWord, ...], tuple[CountedWord, ...]]:
    """Return how many steps counting takes, the lists whose sums are sorted, and those looked up."""
    best: tuple[float, tuple[int, ...]] = (math.inf, ())
    places = range(len(task.lists))
    for size in range(1, len(task.lists) + 1):
        for chosen in combinations(places, size):
            made = math.prod(len(task.lists[k].values) for k in chosen)
            others = [len(task.lists[k].values) for k in places if k not in chosen]
            steps = made * SORT_STEPS + math.prod(others) * LOOKUP_STEPS
            # of the other side all sums but those with its longest list are made too
            if max(made, math.prod(others) // max(others, default=1)) <= MAX_SIDE and steps < best[0]:
                best = steps, chosen
    chosen = best[1]
    return best[0], tuple(task.lists[k] for k in chosen), tuple(task.lists[k] for k in places if k not in chosen)


def steps_of(task: CountTask) -> float:
    """Return how many steps `count_exactly` takes; infinite where it would need more memory than it may have."""
    return _sides(task)[0]


def count_exactly(task: CountTask) -> int:
    """Return how many combinations add up to at least the threshold."""
    _, sorted_side, other = _sides(task)
    known = _sums(sorted_side)
    above = np.concatenate([np.cumsum(known.counts[::-1])[::-1], [0]])
    span = known.high - known.low
    shift = max(0, span.bit_length() - max(len(known.values).bit_length(), 1))
    starts = np.searchsorted((known.values - known.low) >> shift, np.arange((span >> shift) + 2))
    split = sorted(other, key=lambda each: len(each.values))
    first = _sums(split[:-1])
    second = split[-1] if split else _sums(())
    count = _count_pairs(
        first.values, first.counts, second.values, second.counts, known.values, above, starts, shift, task.threshold
    )
    return task.answer(int(count))


def _sums(lists: Sequence[CountedWord]) -> CountedWord:
    """Return all sums of one value from each list."""
    sums = CountedWord(np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64))
    for values in lists:
        counts = np.multiply.outer(sums.counts, values.counts).reshape(-1)
        sums = counted(np.add.outer(sums.values, values.values).reshape(-1), counts)
    return sums


@njit
def _count_pairs(
    first: Integers,
    first_counts: Integers,
    second: Integers,
    second_counts: Integers,
    known: Integers,
    above: Integers,
    starts: Integers,
    shift: int,
    threshold: int,
) -> int:
    """Return how many of first + second + known are at least the threshold, counts multiplied.

    `known` rises; ``above[k]`` counts its entries from k on; ``starts[b]`` is the first entry of bucket b, buckets
    being 2^shift wide from the lowest entry.
    """
    lowest, highest = known[0], known[-1]
    total = 0
    for i in range(len(first)):
        for j in range(len(second)):
            wanted = threshold - first[i] - second[j]
            if wanted > highest:
                continue
            low = 0
            if wanted > lowest:
                bucket = (wanted - lowest) >> shift
                low, high = starts[bucket], starts[bucket + 1]
                while low < high:
                    middle = (low + high) >> 1
                    if known[middle] < wanted:
                        low = middle + 1
                    else:
                        high = middle
            total += first_counts[i] * second_counts[j] * above[low]
    return total


def count_in_bins(lists: Sequence[CountedWord], threshold: int, bins: int) -> tuple[int, int]:
    """Return bounds of how many combinations add up to at least the threshold, from about so many bins."""
    span = sum(each.high - each.low for each in lists)
    width = span // bins + 1
    left = threshold - sum(each.low for each in lists)
    binned = [np.ones(1, dtype=np.int64), np.ones(1, dtype=np.int64)]
    for each in sorted(lists, key=lambda one: len(one.values)):
        places = (each.values - each.low) // width
        own = np.bincount(places, weights=each.counts).astype(np.int64)
        binned = sorted([_convolved(binned[0], own), binned[1]], key=len)
    first, second = binned
    above = np.concatenate([np.cumsum(second[::-1])[::-1], [0]])

    def reaching(bin_sum: int) -> int:
        """Return how many have a sum of bins of at least this."""
        places = np.clip(bin_sum - np.arange(len(first)), 0, len(second))
        return sum((first.astype(object) * above[places]).tolist())

    most_above = len(lists) * (width - 1)
    return reaching(-(-left // width)), reaching(-(-(left - most_above) // width))


def _convolved(first: Integers, second: Integers) -> Integers:
    """Return the convolution of two lists of counts, exactly."""
    length = len(first) + len(second) - 1
    if min(len(first), len(second)) <= 64:
        return np.convolve(first, second)
    bits = (length - 1).bit_length()
    norms = math.sqrt(math.fsum((first.astype(np.float64) ** 2).tolist())) * float(
        np.linalg.norm(second.astype(np.float64))
    )
    if norms * bits * FOURIER_ERROR >= 0.25:
        return np.convolve(first, second)
    size = 1 << bits
    product = np.fft.irfft(np.fft.rfft(first, size) * np.fft.rfft(second, size), size)[:length]
    return np.rint(product).astype(np.int64)
