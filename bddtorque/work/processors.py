"""How many processors there are to use."""

from __future__ import annotations

import os
from operator import index
from typing import Any

import numpy as np

from bddtorque.base.errors import BddTorqueError


def usable_processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def checked_processors(given: Any) -> int:
    """Return a number of processors, 1 or more; None stands for as many as this process may use.

    Raises
    ------
    BddTorqueError
        For anything else, booleans and fractions included.
    """
    if given is None:
        return usable_processors()
    try:
        count = -1 if isinstance(given, bool | np.bool_) else index(given)
    except TypeError:
        count = -1
    if count < 1:
        raise BddTorqueError(f"processors must be an integer of at least 1, got {given!r:.40}")
    return count
