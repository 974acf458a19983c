"""Cycles that a load costs an ordinary processor: fixed numbers, never timings."""

from __future__ import annotations

LATENCIES = ((32 << 10, 4), (1 << 20, 14), (32 << 20, 50))
"""Bytes that the first, second and third level of a common cache hold, and the cycles of a load from each."""
MEMORY_LATENCY = 200
"""Cycles of a load from memory."""


def latency(size: int) -> int:
    """Return the cycles of a load from anywhere in an array of `size` bytes, on average.

    Each level of the cache holds its share of the array: of 2 MiB, half the loads are served by the second level and
    half by the third.
    """
    cycles = held = 0
    for holds, each in (*LATENCIES, (size, MEMORY_LATENCY)):
        share = max(min(size, holds) - held, 0)
        cycles += share * each
        held += share
    return (2 * cycles + size) // (2 * size) if size else LATENCIES[0][1]
