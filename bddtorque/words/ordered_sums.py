"""Sums of floats that are the same whatever Python adds them."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from functools import reduce


def added(numbers: Iterable[float]) -> float:
    """Return the sum of floats, added from the first to the last.

    Python's own `sum` compensates for what it rounds, from version 3.12 on: its last bit depends on the version, and
    plans and certificates must not.
    """
    return reduce(operator.add, numbers, 0.0)
