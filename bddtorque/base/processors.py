"""How many processors there are to use."""

from __future__ import annotations

import os
from typing import Any

from bddtorque.base.plain import at_least


def usable_processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def checked_processors(given: Any) -> int:
    """Return a number of processors, 1 or more; None stands for as many as this process may use.

    Raise `BddTorqueError` for anything else, booleans and fractions included.
    """
    return usable_processors() if given is None else at_least(given, 1, "processors")
