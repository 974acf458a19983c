"""The state that a page begins with, and that its maps are made around."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import cycle

from bddtorque.words import Format, Formats

SHARES = ((0.09, -0.17, 0.21, -0.12, 0.15, -0.08, 0.11), (0.3, -0.22, 0.26, -0.31, 0.19), (-0.24, 0.29, 0.2, -0.27))
"""Of the whole of each word's range, joint after joint: positions, velocities, accelerations; bent, and moving."""


def start_words(formats: Formats) -> list[list[int]]:
    """Return q, qd and qdd words of a state that shows something of everything."""
    return [_placed(tuple(kind), shares) for kind, shares in zip(formats.inputs, SHARES, strict=True)]


def _placed(words: Sequence[Format], shares: Sequence[float]) -> list[int]:
    return [_within(word, round(share * (1 << word.bits))) for word, share in zip(words, cycle(shares), strict=False)]


def _within(word: Format, place: int) -> int:
    """Return a word within the limits that an angle may have."""
    low, high = word.lowest, word.highest
    if word.kind == "angle":
        low = max(low, math.ceil(word.low / word.lsb)) if word.low > -math.pi else low
        high = min(high, math.floor(word.high / word.lsb)) if word.high < math.pi else high
    return min(max(place, low), high)
